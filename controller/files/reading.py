"""The one way to read a file that a person names: regular files only, never more than a bound, UTF-8.

A pipe or a device would hang or never end; a file of the wrong size or encoding is a mistake with its place. Knows
nothing of what the text means.
"""

from __future__ import annotations

import errno
import gzip
import os
import stat
import zlib
from pathlib import Path
from typing import BinaryIO, Final

from controller.api.errors import InputError, Mistake
from controller.api.shown_values import printable

MOST_TEXT_BYTES: Final = 16 * 2**20
"""Documents, manifests, tokens: more is another file than was meant."""

_CHUNK_BYTES: Final = 2**20
_GZIP: Final = b"\x1f\x8b"
_TROUBLES: Final = {
    errno.ENOENT: "no such file or folder",
    errno.ENOTDIR: "no such file or folder",
    errno.EACCES: "a place without the right to use it",
    errno.EPERM: "a place without the right to use it",
    errno.EISDIR: "a folder",
    errno.ELOOP: "a link that leads in a circle",
    errno.ENAMETOOLONG: "a name that is too long",
    errno.ENOSPC: "a place with no room left",
    errno.EDQUOT: "a place with no room left",
    errno.EROFS: "a place that is read only",
    errno.EMFILE: "too many open files",
    errno.ENFILE: "too many open files",
}
_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def trouble_in_words(error: OSError) -> str:
    """What stands in the way of a file, without the words of the operating system."""
    return _TROUBLES.get(error.errno or 0, "a place that can not be used")


def read_text(path: Path, expected: str, option: str = "") -> str:
    """The text of a small file, without a byte order mark. `option` is what named the file, for the message.

    Raises InputError that says what is there instead of what was `expected`.
    """
    data = _read(path, expected, MOST_TEXT_BYTES, option, unpack=False)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise mistaken(path, "bytes that are no UTF-8", f"{expected} in UTF-8", option) from None


def read_packed(path: Path, expected: str, most_bytes: int, option: str = "") -> bytes:
    """The whole file, unpacked if it is gzip, `most_bytes` at most before and after. Raises InputError."""
    return _read(path, expected, most_bytes, option, unpack=True)


def mistaken(path: Path, value: str, expected: str, option: str = "") -> InputError:
    """The error about a file."""
    return InputError((Mistake(printable(f"{option} {path}".strip()), value, expected),))


def _read(path: Path, expected: str, most_bytes: int, option: str, *, unpack: bool) -> bytes:
    try:
        with _opened(path, expected, option) as file:
            is_packed = unpack and file.read(2) == _GZIP
            file.seek(0)
            data = _at_most(gzip.GzipFile(fileobj=file) if is_packed else file, most_bytes + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise mistaken(path, "a gzip file that is cut off or damaged", expected, option) from None
    except OSError as error:
        raise mistaken(path, _missing(path, error), expected, option) from None
    if len(data) > most_bytes:
        raise mistaken(path, f"more than {most_bytes // 2**20} MiB", expected, option)
    return data


def _at_most(file: BinaryIO | gzip.GzipFile, most_bytes: int) -> bytes:
    """In chunks: one read of the whole bound would ask for that much memory at once."""
    data = bytearray()
    while len(data) < most_bytes and (chunk := file.read(min(_CHUNK_BYTES, most_bytes - len(data)))):
        data += chunk
    return bytes(data)


def _opened(path: Path, expected: str, option: str) -> BinaryIO:
    """The file, open for reading. Opening does not wait: a pipe may have nobody at its other end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    file = os.fdopen(descriptor, "rb") if stat.S_ISREG(mode := os.fstat(descriptor).st_mode) else None
    if file is None:
        os.close(descriptor)
        kind = next((words for is_kind, words in _KINDS if is_kind(mode)), "no file")
        raise mistaken(path, kind, expected, option)
    return file


def _missing(path: Path, error: OSError) -> str:
    if error.errno == errno.ENOENT and path.is_symlink():
        return "a link to a file that is not there"
    return trouble_in_words(error)
