"""Where the public traces lie: one folder per trace, its files plain or gzip. Finds files; reads none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from controller.api.errors import InputError, Mistake
from controller.api.shown_values import printable

USUAL = (Path("traces"), Path("shared/traces"), Path("../shared/traces"))
"""Where the folder is looked for when nobody says where it is."""


@dataclass(frozen=True, slots=True)
class TraceFolder:
    """The folder; None when there is none, which hurts only recipes that need one."""

    path: Path | None

    @classmethod
    def found(cls, said: Path | None) -> TraceFolder:
        """The folder that was named, or the first usual one that is there. Raises InputError for a wrong name."""
        if said is None:
            return cls(next((path for path in USUAL if path.is_dir()), None))
        if not said.is_dir():
            raise InputError((Mistake("--traces", printable(str(said)), "a folder with one folder per trace"),))
        return cls(said)

    def file(self, name: str) -> Path:
        """A file such as philly/philly.csv, plain or as gzip. Raises InputError when neither is there."""
        if self.path is None:
            raise InputError((Mistake("--traces", "not given", f"the folder that holds {name} or {name}.gz"),))
        plain = self.path / name
        packed = plain.with_name(plain.name + ".gz")
        for path in (plain, packed):
            if path.is_file():
                return path
        raise InputError((Mistake("--traces", printable(str(plain)), "this file, plain or with .gz"),))

    def files(self, name: str, prefix: str) -> tuple[Path, ...]:
        """All CSV files, plain or gzip, in a trace's folder whose names begin so. Raises InputError without any."""
        place = None if self.path is None else self.path / name
        found = () if place is None else sorted([*place.glob(f"{prefix}*.csv"), *place.glob(f"{prefix}*.csv.gz")])
        if not found:
            value = "not given" if place is None else printable(str(place))
            raise InputError((Mistake("--traces", value, f"a folder {name} with files {prefix}*.csv or .csv.gz"),))
        return tuple(found)
