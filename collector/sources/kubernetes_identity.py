"""Where the API server is and who we are there: a thin, thread-safe hold on the `kubernetes` library's configuration.

All that is difficult (kubeconfig, in-cluster service account, exec plugins, token refresh, TLS, proxies) is its work.
"""

from __future__ import annotations

import binascii
import os
import ssl
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import urllib3
from kubernetes.client.configuration import Configuration
from kubernetes.client.rest import RESTClientObject
from kubernetes.config import incluster_config
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.dateutil import parse_rfc3339
from kubernetes.config.kube_config import KUBE_CONFIG_DEFAULT_LOCATION, FileOrData, KubeConfigLoader, KubeConfigMerger
from urllib3.exceptions import HTTPError
from yaml import YAMLError

from collector.sources.errors import CredentialsProblem
from collector.sources.kubernetes_helper import credentials_of

_CONNECTIONS: Final = 32
_MOST_BYTES: Final = 16 * 2**20


class KubernetesIdentity:
    """Address, TLS and token, as the files say now. Methods raise CredentialsProblem naming the file or server."""

    def __init__(self, kubeconfig: Path | None = None, context: str | None = None) -> None:
        self._kubeconfig, self._context = kubeconfig, context
        self._lock = threading.Lock()
        self._configuration = _configuration(kubeconfig, context)
        self._pool = _pool(self._configuration)

    @property
    def server(self) -> str:
        """Address of the API server."""
        return str(self._configuration.host)

    @property
    def pool(self) -> urllib3.PoolManager:
        """Connections to it, with TLS set up."""
        return self._pool

    def token(self) -> str | None:
        """The Authorization header, refreshed when it is due; None for an identity by certificate."""
        with self._lock:  # an exec plugin should not run once per thread
            try:
                return self._configuration.get_api_key_with_prefix("BearerToken", alias="authorization")
            except (ConfigException, OSError) as problem:
                raise CredentialsProblem(self.server, str(problem)) from problem

    def renew(self) -> None:
        """Read everything again: token files and certificates of exec plugins change without notice."""
        with self._lock:
            self._configuration = _configuration(self._kubeconfig, self._context)
            self._pool = _pool(self._configuration)


class _Loader(KubeConfigLoader):
    """The library's, with helpers that are run within bounds and whose failure is an error."""

    def _load_from_exec_plugin(self) -> bool | None:
        user: Any = self._user
        cluster: Any = self._cluster
        if "exec" not in user:
            return None
        folder = self._get_base_path(user.path)  # type: ignore[no-untyped-call]  # the library's
        status = credentials_of(user["exec"].value, folder, cluster.value)
        if status.get("token"):
            self.token = f"Bearer {status['token']}"
        else:
            self.cert_file = _kept_as_file(status, "clientCertificateData")
            self.key_file = _kept_as_file(status, "clientKeyData")
        if status.get("expirationTimestamp"):
            self.expiry = parse_rfc3339(status["expirationTimestamp"])  # type: ignore[no-untyped-call]  # the library's
        return True


def _kept_as_file(status: Mapping[str, Any], key: str) -> str | None:
    found: Any = FileOrData(status, None, data_key_name=key, base64_file_content=False)  # type: ignore[no-untyped-call]
    name: str | None = found.as_file()
    return name


def _configuration(kubeconfig: Path | None, context: str | None) -> Configuration:
    configuration = Configuration()
    configuration.connection_pool_maxsize = _CONNECTIONS
    token_file = Path(incluster_config.SERVICE_TOKEN_FILENAME)
    in_cluster = kubeconfig is None and context is None and token_file.exists()
    place = str(token_file if in_cluster else kubeconfig or "$KUBECONFIG or ~/.kube/config")
    try:
        if in_cluster:
            incluster_config.load_incluster_config(configuration)  # type: ignore[no-untyped-call]  # the library's
        else:
            _load(configuration, str(kubeconfig or KUBE_CONFIG_DEFAULT_LOCATION), context)
    except (ConfigException, YAMLError, OSError, ValueError, TypeError, KeyError, AttributeError) as problem:
        # The library meets a document of the wrong shape with whatever Python says about it.
        raise CredentialsProblem(place, f"gives no address and identity: {_in_words(problem)}") from problem
    return configuration


def _load(configuration: Configuration, names: str, context: str | None) -> None:
    """What `load_kube_config` does, refusing what it lets slip: no files, and a user that is nowhere."""
    for name in filter(None, names.split(os.pathsep)):
        _refuse_other_than_files(Path(name).expanduser())
    merged = KubeConfigMerger(names).config  # type: ignore[no-untyped-call]  # the library's
    if merged is None:
        raise ConfigException("no such file")
    loader: Any = _Loader(config_dict=merged, active_context=context)  # type: ignore[no-untyped-call]  # the library's
    chosen = loader.current_context
    user = chosen["context"].get("user")
    if loader._user is None and (user or str(loader._cluster["server"]).startswith("https")):
        missing = f"user {user}, who is not in it" if user else "no user"
        raise ConfigException(f"context {chosen['name']} names {missing}")
    loader.load_and_set(configuration)


def _refuse_other_than_files(path: Path) -> None:
    """A pipe would be empty when it is read again, a device never ends."""
    if path.exists() and not path.is_file():
        raise ConfigException("a folder, a pipe or a device and no regular file")
    if path.exists() and path.stat().st_size > _MOST_BYTES:
        raise ConfigException(f"more than {_MOST_BYTES // 2**20} MiB")


def _in_words(problem: Exception) -> str:
    match problem:
        case ConfigException():
            return str(problem)
        case YAMLError():
            mark = getattr(problem, "problem_mark", None)
            return "no YAML" + (f", from line {mark.line + 1} on" if mark is not None else "")
        case UnicodeDecodeError():
            return "bytes that are no UTF-8"
        case binascii.Error():
            return "certificate or key data that is no base64"
        case OSError():
            return "a file in it that can not be read" if problem.filename else "a file that can not be read"
    return "a document of another shape than a kubeconfig has"


def _pool(configuration: Configuration) -> urllib3.PoolManager:
    _check_certificates(configuration)
    try:
        return RESTClientObject(configuration).pool_manager
    except (HTTPError, OSError, ValueError) as problem:
        raise CredentialsProblem(str(configuration.host), f"TLS cannot be set up: {problem}") from problem


def _check_certificates(configuration: Configuration) -> None:
    """Load what the pool would only load when it connects, and then blame on the server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    place = str(configuration.host)
    if configuration.ssl_ca_cert and configuration.verify_ssl:
        try:
            context.load_verify_locations(cafile=configuration.ssl_ca_cert)
        except (OSError, ValueError):  # an SSLError is an OSError
            raise CredentialsProblem(place, "its certificate-authority holds no certificate in PEM form") from None
    if configuration.cert_file:
        try:
            context.load_cert_chain(configuration.cert_file, configuration.key_file)
        except (OSError, ValueError):
            problem = "client certificate and key are no pair in PEM form"
            raise CredentialsProblem(place, problem) from None
