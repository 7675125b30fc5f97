"""How an HTTP server is set up: one immutable value, read from the environment, or one sentence on what is wrong."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from specloom.core import VariableError, VariableProblems, dataclass, read_variable

if TYPE_CHECKING:
    Network = ipaddress.IPv4Network | ipaddress.IPv6Network

ENDPOINT = "/mcp"
"""The path of the one endpoint of the protocol."""
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
ADDRESS_SHARE = 16
"""One address may have so much of all connections: one in so many."""
HIGHEST_PORT = 65_535


class SettingsError(VariableError):
    """Settings with which no HTTP server is started: one sentence for each, with its name and what to write."""


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Where an HTTP server listens, for whom it answers, and the bounds on connections and requests."""

    host: str
    port: int
    public_url: str
    """Where clients reach it, without a slash at the end: PUBLIC_URL, or what it listens on."""
    hosts: frozenset[str]
    """Hosts that a request may be for, in lower case, with and without port; `*` for any."""
    origins: frozenset[str]
    any_loopback_origin: bool
    """Whether pages of this machine may call, whatever their port."""
    strict_origins: bool
    proxies: tuple[Network, ...]
    """Networks of the proxies whose word on the client's address is taken; none where they are not trusted."""
    body_bytes: int
    header_bytes: int
    connections: int
    header_seconds: float
    body_seconds: float
    idle_seconds: float
    shutdown_seconds: float
    content_security_policy: str
    referrer_policy: str

    @property
    def connections_an_address(self) -> int:
        """Connections that one address may have."""
        return max(self.connections // ADDRESS_SHARE, 1)

    def move(self, port: int) -> HttpSettings:
        """The same for another port, with the hosts that requests to it are for."""
        hosts = {name.removesuffix(f":{self.port}") for name in self.hosts}
        hosts |= {f"{name}:{port}" for name in hosts if name != "*"}
        return replace(self, port=port, hosts=frozenset(hosts))

    @property
    def local_url(self) -> str:
        """Where it listens."""
        return f"http://{_bracket(self.host)}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether nobody but this machine can reach it."""
        return _is_loopback(self.host)

    @property
    def is_known_here_alone(self) -> bool:
        """Whether the address that clients use leads to this machine from here alone."""
        host = urlsplit(self.public_url).hostname or ""
        return _is_loopback(host) or host == self.host.lower()


def read_settings(environ: Mapping[str, str], address: str = "") -> HttpSettings:
    """The settings of an environment; `address` is what the command names, `[HOST:]PORT`."""
    problems = VariableProblems()

    def read(name: str) -> Any:
        return problems.attempt(lambda: read_variable(name, environ), None)

    host, port = problems.attempt(lambda: split_address(address, environ), ("127.0.0.1", 0))
    public = problems.attempt(lambda: _read_public_url(environ), "") or f"http://{_bracket(host)}:{port}"
    settings = HttpSettings(
        host=host,
        port=port,
        public_url=public,
        hosts=problems.attempt(lambda: _read_hosts(environ, host, port, public), frozenset()),
        origins=problems.attempt(lambda: frozenset(_read_origins(environ)), frozenset()),
        any_loopback_origin=_is_loopback(host) and not environ.get("ALLOWED_ORIGINS", "").strip(),
        strict_origins=read("CORS_STRICT"),
        proxies=problems.attempt(lambda: _read_proxies(environ), ()),
        body_bytes=read("MAX_REQUEST_BODY_BYTES"),
        header_bytes=read("HTTP_MAX_HEADER_BYTES"),
        connections=read("HTTP_MAX_CONNECTIONS"),
        header_seconds=read("HTTP_READ_HEADER_TIMEOUT"),
        body_seconds=read("HTTP_READ_TIMEOUT"),
        idle_seconds=read("HTTP_IDLE_TIMEOUT"),
        shutdown_seconds=read("HTTP_SHUTDOWN_TIMEOUT"),
        content_security_policy=read("HTTP_CSP"),
        referrer_policy=read("HTTP_REFERRER_POLICY"),
    )
    if problems.sentences:
        raise SettingsError(*problems.sentences)
    return settings


def split_address(address: str, environ: Mapping[str, str]) -> tuple[str, int]:
    """Host and port of what the command names, filled up from HOST and PORT."""
    host, _, port = address.rpartition(":")
    if not address.strip():
        port = environ.get("PORT", "").strip()
        if not port:
            raise SettingsError("no port is named: write `--http 8080`, `--http 0.0.0.0:8080`, or set PORT")
    if not (port.isascii() and port.isdigit() and int(port) <= HIGHEST_PORT):
        raise SettingsError(f"{address or port!r} is no address to listen on; write [HOST:]PORT, such as 8080")
    return host.removeprefix("[").removesuffix("]") or str(read_variable("HOST", environ)), int(port)


def _bracket(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _read_public_url(environ: Mapping[str, str]) -> str:
    text = environ.get("PUBLIC_URL", "").strip()
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        is_fit = parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.fragment)
        is_fit = is_fit and parts.username is None and parts.port != 0
    except ValueError:
        is_fit = False
    if not is_fit:
        raise SettingsError(f"PUBLIC_URL is {text!r}; write the address that clients use, such as https://mcp.example")
    return text.rstrip("/")


def _read_hosts(environ: Mapping[str, str], host: str, port: int, public: str) -> frozenset[str]:
    names = {host, urlsplit(public).netloc}
    if _is_loopback(host):
        names |= set(LOOPBACK_NAMES)
    bracketed = {f"[{name}]" if name.count(":") > 1 and not name.startswith("[") else name for name in names if name}
    listed = [part.strip() for part in environ.get("ALLOWED_HOSTS", "").split(",") if part.strip()]
    for name in listed:
        if "/" in name or " " in name:
            raise SettingsError(f"ALLOWED_HOSTS has {name!r}; write hosts alone, such as mcp.example.com")
    bracketed |= set(listed)
    with_port = {f"{name}:{port}" for name in bracketed if name != "*"}
    return frozenset(name.lower() for name in bracketed | with_port)


def _read_origins(environ: Mapping[str, str]) -> list[str]:
    origins = [part.strip().rstrip("/") for part in environ.get("ALLOWED_ORIGINS", "").split(",") if part.strip()]
    for origin in origins:
        parts = urlsplit(origin)
        if origin != "*" and (parts.scheme not in ("http", "https") or not parts.netloc or parts.path):
            raise SettingsError(f"ALLOWED_ORIGINS has {origin!r}; write origins, such as https://app.example.com")
    return [origin.lower() for origin in origins]


def _read_proxies(environ: Mapping[str, str]) -> tuple[Network, ...]:
    listed = [part.strip() for part in environ.get("TRUSTED_PROXIES", "").split(",") if part.strip()]
    if not read_variable("TRUST_PROXY", environ):
        if listed:
            raise SettingsError("TRUSTED_PROXIES is set, but TRUST_PROXY is not; set it to true, or leave both out")
        return ()
    try:
        return tuple(ipaddress.ip_network(one, strict=False) for one in listed or ("127.0.0.0/8", "::1/128"))
    except ValueError:
        raise SettingsError(
            f"TRUSTED_PROXIES is {', '.join(listed)!r}; write addresses and networks, such as 10.0.0.0/8"
        ) from None
