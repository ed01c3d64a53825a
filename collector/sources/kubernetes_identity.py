"""Where the API server is and who we are there: a thin, thread-safe hold on the `kubernetes` library's configuration.

All that is difficult (kubeconfig, in-cluster service account, exec plugins, token refresh, TLS, proxies) is its work.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

import urllib3
from kubernetes.client.configuration import Configuration
from kubernetes.client.rest import RESTClientObject
from kubernetes.config import incluster_config
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.kube_config import load_kube_config
from urllib3.exceptions import HTTPError
from yaml import MarkedYAMLError, YAMLError

from collector.sources.errors import CredentialsProblem

_CONNECTIONS: Final = 32


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
            load_kube_config(  # type: ignore[no-untyped-call]  # the library's
                config_file=None if kubeconfig is None else str(kubeconfig),
                context=context,
                client_configuration=configuration,
                persist_config=False,
            )
    except (ConfigException, YAMLError, OSError, ValueError, TypeError, KeyError, AttributeError) as problem:
        raise CredentialsProblem(place, f"gives no address and identity: {_in_words(problem)}") from problem
    return configuration


def _in_words(problem: Exception) -> str:
    """Why it gives none. The library meets a document of the wrong shape with whatever Python says about it."""
    if isinstance(problem, ConfigException):
        said = str(problem).removeprefix("Invalid kube-config file. ").rstrip(".")
        return "no such file" if said == "No configuration found" else said
    if isinstance(problem, MarkedYAMLError) and problem.problem_mark is not None:
        return f"no YAML from line {problem.problem_mark.line + 1} on"
    return "it can not be read" if isinstance(problem, OSError) else "it has not the shape of a kubeconfig"


def _pool(configuration: Configuration) -> urllib3.PoolManager:
    try:
        return RESTClientObject(configuration).pool_manager
    except (HTTPError, OSError, ValueError) as problem:
        raise CredentialsProblem(str(configuration.host), f"TLS cannot be set up: {problem}") from problem
