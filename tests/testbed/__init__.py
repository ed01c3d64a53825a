"""The real parts that Trimtab is tested against, each started in its own folder on free loopback ports.

`with Testbed(folder) as bed: bed.start("kubernetes", "kueue", "kwok")`, or `python -m tests.testbed up …`.
"""

from tests.testbed.bed import Testbed
from tests.testbed.parts import PartMissing

__all__ = ["PartMissing", "Testbed"]
