"""One self-signed certificate for the loopback address, made with openssl. May not touch any other file."""

from __future__ import annotations

import fcntl
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.parts import OPENSSL


@dataclass(frozen=True)
class Certificate:
    """tls.crt is the certificate and the authority to trust for it; tls.key its private key."""

    folder: Path

    @property
    def certificate(self) -> Path:
        """The certificate (PEM)."""
        return self.folder / "tls.crt"

    @property
    def key(self) -> Path:
        """The private key (PEM, elliptic curve)."""
        return self.folder / "tls.key"


def loopback_certificate(folder: Path) -> Certificate:
    """The certificate of a folder, made when it is not there; valid for ten years. Safe against two callers at once."""
    made = Certificate(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.certificate.exists():
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                fresh = Certificate(Path(scratch))
                _create(fresh)
                fresh.key.rename(made.key)
                fresh.certificate.rename(made.certificate)
    return made


def _create(target: Certificate) -> None:
    extensions = (
        "subjectAltName=IP:127.0.0.1,DNS:localhost",
        "keyUsage=critical,digitalSignature,keyCertSign",
        "extendedKeyUsage=serverAuth",
    )
    command = [
        str(OPENSSL.binary("openssl")),
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
    ]
    command += ["-nodes", "-days", "3650", "-subj", "/CN=trimtab-testbed"]
    command += ["-keyout", str(target.key), "-out", str(target.certificate)]
    for extension in extensions:
        command += ["-addext", extension]
    subprocess.run(command, check=True, capture_output=True)
