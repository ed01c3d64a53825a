#!/usr/bin/env bash
# Makes a checkout ready for one kind of target: setup.sh demo|code|all. System packages (Debian, as root), then .venv from
# the hash-pinned lock. Safe to repeat: does nothing when nothing has changed.
#   demo  Prometheus, Alertmanager and what the program itself needs
#   code  what checks and fast tests need; nothing but Python and git from the system
#   all   the real parts of the slow tests as well
set -euo pipefail
cd "$(dirname "$0")/.."

readonly FOR=${1:-all}
case "$FOR" in demo | code | all) ;; *)
  echo "setup: got '$FOR', expected demo, code or all" >&2
  exit 2
  ;;
esac

say() { printf 'setup: %s\n' "$*" >&2; }

missing=()
need() { # need PACKAGE COMMAND...: the package is missing when the command fails
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}

find_python() {
  local candidate
  for candidate in "${PYTHON:-python3}" python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
}

alertmanager_here() { command -v prometheus-alertmanager || command -v alertmanager; }
initdb_here() { command -v initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb'; }

look_for_packages() {
  need ca-certificates test -e /etc/ssl/certs/ca-certificates.crt
  [ -x .venv/bin/python ] || need python3-venv python3 -c 'import ensurepip'
  if [ "$FOR" != code ]; then
    need prometheus command -v prometheus
    need prometheus-alertmanager alertmanager_here
  fi
  [ "$FOR" = demo ] || need git command -v git
  [ "$FOR" = all ] || return 0
  need prometheus command -v promtool
  need prometheus-alertmanager command -v amtool
  need ceph-mon command -v ceph-mon
  need ceph-mgr command -v ceph-mgr
  need ceph-osd command -v ceph-osd
  need ceph-mds command -v ceph-mds
  need ceph-common command -v rbd
  need python3-rados dpkg-query -s python3-rados
  need python3-rbd dpkg-query -s python3-rbd
  need python3-cephfs dpkg-query -s python3-cephfs
  need ucx-utils command -v ucx_perftest
  need iproute2 command -v ip
  need iperf3 command -v iperf3
  need postgresql initdb_here
}

install_system_packages() {
  look_for_packages
  [ ${#missing[@]} -gt 0 ] || return 0
  local wanted
  wanted=$(printf '%s\n' "${missing[@]}" | sort -u | tr '\n' ' ')
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    say "missing: ${wanted% }"
    say "not installed, since that takes root on Debian or Ubuntu: apt-get install --no-install-recommends ${wanted% }"
    say "going on without; what needs them will say so"
    return 0
  fi
  say "installing ${wanted% }"
  export DEBIAN_FRONTEND=noninteractive
  if [[ " ${missing[*]} " == *" postgresql "* ]]; then # only its programs are wanted, no server of the system's own
    mkdir -p /etc/postgresql-common/createcluster.d
    echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/trimtab.conf
  fi
  apt-get -qq update
  # shellcheck disable=SC2086 # names of packages, one word each
  apt-get -qq install -y --no-install-recommends $wanted >build/apt.log 2>&1 ||
    { tail -n 20 build/apt.log >&2; exit 1; }
}

make_environment() {
  local python locks=(requirements/dev.txt)
  [ "$FOR" != demo ] || locks=(requirements/base.txt requirements/build.txt)
  # What was filled for the checks has all that the demo needs.
  if filled_from requirements/dev.txt || { [ "$FOR" = demo ] && filled_from "${locks[@]}"; }; then return 0; fi
  if [ ! -x .venv/bin/python ]; then
    python=$(find_python)
    [ -n "$python" ] || { say "Python 3.11 or newer is needed"; exit 1; }
    if ! "$python" -m venv .venv; then
      rm -rf .venv
      say "$python can make no environment; on Debian or Ubuntu, as root: apt-get install python3-venv"
      exit 1
    fi
  fi
  say "filling .venv from ${locks[*]}"
  .venv/bin/python -m pip install --quiet --require-hashes "${locks[@]/#/--requirement=}"
  .venv/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
  sha256sum "${locks[@]}" pyproject.toml >.venv/trimtab-lock
}

filled_from() { # whether .venv was filled from just these files, as they are now
  sha256sum "$@" pyproject.toml 2>/dev/null | cmp --silent - .venv/trimtab-lock
}

mkdir -p build
exec 9>build/setup.lock
flock 9 # two targets at once must not fill one environment together
install_system_packages
make_environment
