#!/usr/bin/env bash
# Makes a checkout ready: system packages (Debian, as root), then .venv from the hash-pinned lock.
# Safe to repeat: does nothing when nothing has changed.
set -euo pipefail
cd "$(dirname "$0")/.."

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

find_initdb() { command -v initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb'; }

install_system_packages() {
  need git command -v git
  need ca-certificates test -e /etc/ssl/certs/ca-certificates.crt
  need prometheus command -v promtool
  need prometheus-alertmanager command -v amtool
  need ceph-mon command -v ceph-mon
  need ceph-mgr command -v ceph-mgr
  need ceph-osd command -v ceph-osd
  need ceph-common command -v rbd
  need python3-rados dpkg-query -s python3-rados
  need python3-rbd dpkg-query -s python3-rbd
  need ucx-utils command -v ucx_perftest
  need iproute2 command -v ip
  need iperf3 command -v iperf3
  need postgresql find_initdb
  [ -x .venv/bin/python ] || need python3-venv python3 -c 'import ensurepip'
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    say "missing and not installed (needs root on Debian or Ubuntu): ${missing[*]}"
    say "tests that need them will say so; going on with the rest"
    return 0
  fi
  say "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  if [[ " ${missing[*]} " == *" postgresql "* ]]; then # only its programs are wanted, no server of the system's own
    mkdir -p /etc/postgresql-common/createcluster.d
    echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/trimtab.conf
  fi
  apt-get -qq update
  apt-get -qq install -y --no-install-recommends "${missing[@]}" >build/apt.log 2>&1 ||
    { tail -n 20 build/apt.log >&2; exit 1; }
}

make_environment() {
  local python stamp=.venv/trimtab-lock
  if sha256sum --check --status "$stamp" 2>/dev/null; then return 0; fi
  if [ ! -x .venv/bin/python ]; then
    python=$(find_python)
    [ -n "$python" ] || { say "Python 3.11 or newer is needed"; exit 1; }
    "$python" -m venv .venv
  fi
  say "filling .venv from requirements/dev.txt"
  .venv/bin/python -m pip install --quiet --require-hashes -r requirements/dev.txt
  .venv/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
  sha256sum requirements/dev.txt pyproject.toml >"$stamp"
}

mkdir -p build
exec 9>build/setup.lock
flock 9 # two targets at once must not fill one environment together
install_system_packages
make_environment
