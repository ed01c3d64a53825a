"""From `--accounting` to an open history. The database library is loaded only here, and only when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from collector.accounting.schema.clock_text import clocks_of
from collector.accounting.schema.rows import Transition
from collector.assemble.clocks import WaitClocks
from collector.model.snapshot import Work
from controller.api.errors import InputError, Mistake
from controller.api.shown_values import told
from controller.cli.values import duration_for
from controller.runtime.keeping import Keeping
from controller.runtime.ledger_store import LedgerStore

if TYPE_CHECKING:
    from collector.accounting.store import Store

_DAY_SECONDS = 86400.0
_KEPT = duration_for(
    "--accounting-keep", _DAY_SECONDS, 36500 * _DAY_SECONDS, "a duration of a day at least, such as 400d"
)


def open_store(address: str) -> Store:
    """A history to read. Raises InputError for an address that is none, and StoreProblem."""
    store = _store(address)
    store.begin_reading()
    return store


@dataclass(frozen=True, slots=True)
class History:
    """The history of one cluster, for a verb that looks at the cluster itself as well."""

    store: Store
    cluster: str

    @classmethod
    def opened(cls, address: str, cluster: str | None) -> History:
        """Raises InputError and StoreProblem."""
        store = open_store(address)
        return cls(store, the_cluster(store, cluster))

    def clocks(self) -> WaitClocks:
        """The wait clocks as the collector left them at its last look."""
        return clocks_of(self.store.memory(self.cluster))

    def named(self, title: str) -> tuple[Transition, ...]:
        """Everything about work of that namespace/name or name, also what is no more; the last to begin comes last."""
        from collector.accounting.store import Wanted

        namespace, _, name = title.removeprefix("workload/").rpartition("/")
        return tuple(self.store.transitions(Wanted(self.cluster, namespace=namespace or None, name=name)))

    def of(self, work: Work) -> tuple[Transition, ...]:
        """Everything about one piece of work, with what was submitted before it as the same."""
        from collector.accounting.store import Wanted

        own = tuple(self.store.transitions(Wanted(self.cluster, uid=work.uid)))
        same = own[-1].key if own else ""
        if same != work.key:  # a key of a sweep speaks of other work as well
            return own
        return tuple(self.store.transitions(Wanted(self.cluster, key=same)))


def keeping_of(address: str, keep: str, cluster: str, ledger: LedgerStore) -> Keeping:
    """What keeps the history of a cluster, and of the changes in its ledger. Opens nothing yet. Raises InputError."""
    from collector.accounting.recorder import Recorder

    return Keeping(Recorder(_store(address), cluster, _KEPT(keep)), cluster, lambda: ledger.load().changes)


def the_cluster(store: Store, wanted: str | None) -> str:
    """The cluster that is meant: the wanted one, else the only one. Raises InputError."""
    known = store.clusters()
    if wanted in known or (wanted is None and len(known) == 1):
        return wanted or known[0]
    value = wanted if wanted is not None else f"none of {len(known)}"
    names = ", ".join(known) or "none yet"
    raise InputError((Mistake("--cluster", value, f"one that the history knows: {names}"),))


def _store(address: str) -> Store:
    from collector.accounting.address import read_address
    from collector.accounting.store import Store

    try:
        return Store(read_address(address))
    except ValueError as error:
        raise InputError((Mistake("--accounting", told(_without_password(address)), str(error)),)) from None


def _without_password(address: str) -> str:
    scheme, separator, rest = address.partition("://")
    return f"{scheme}://…{rest[rest.rindex('@') :]}" if separator and "@" in rest else address
