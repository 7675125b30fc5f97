"""What the environment says about callers, read once and whole: a server that cannot read it does not start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from specloom.core import (
    NAME,
    VARIABLES,
    Fault,
    VariableError,
    VariableProblems,
    dataclass,
    parse_duration,
    read_variable,
    state_folder,
)
from specloom.net import ParsedUrl, check_url

from .api_keys import find_api_keys
from .identity import is_scope
from .metadata import ENDPOINT, ResourceMetadata, locate_metadata
from .revocations import FILE_NAME
from .scopes import ScopePolicy

SHORTEST_REFRESH, LONGEST_REFRESH = 60.0, 86_400.0


@dataclass(frozen=True, slots=True)
class IdentitySettings:
    """Who may call, and how it is found out."""

    issuer: str = ""
    """The issuer of tokens, as they name it; "" where there is none."""
    audience: str = ""
    """What a token has to be made for."""
    resource: str = ""
    """The address of the endpoint as clients know it, "" where it is not known."""
    public_url: str = ""
    tenant_claim: str = "tenant_id"
    require_tenant: bool = False
    refresh: float = 3600.0
    """Seconds after which the issuer's keys are read again."""
    scopes: ScopePolicy = ScopePolicy()
    anonymous: bool = False
    """Whether callers without a credential are admitted."""
    api_keys: str = ""
    """The file of API keys."""
    revocations: str = ""
    """The file of what is revoked; "" keeps that in memory."""
    tenants: str = ""
    """The file or folder of what tenants have set for themselves, "" where there is none."""
    server_name: str = NAME
    """What the server is called."""

    @property
    def issuer_host(self) -> str:
        """The tenant of tokens that name none."""
        return urlsplit(self.issuer).hostname or ""

    @property
    def metadata(self) -> ResourceMetadata | None:
        """What clients read before they ask for a token; None without an issuer."""
        if not self.issuer:
            return None
        where = locate_metadata(self.resource, self.public_url)
        return ResourceMetadata(self.resource, self.issuer, where, self.scopes.supported, self.server_name)


def read_identity_settings(environ: Mapping[str, str]) -> IdentitySettings:
    """The settings; a VariableError with one sentence for each thing that cannot be read or does not go together."""
    from specloom.server import name_server

    problems = VariableProblems()

    def attempt(function: Callable[..., Any], *values: Any, otherwise: Any = "") -> Any:
        return problems.attempt(lambda: function(*values), otherwise)

    read = {name: attempt(read_variable, name, environ, otherwise=VARIABLES[name].default) for name in _NAMES}
    issuer = attempt(_read_url, "OAUTH_ISSUER_URL", read["OAUTH_ISSUER_URL"])
    public = attempt(_read_url, "PUBLIC_URL", read["PUBLIC_URL"]).rstrip("/")
    audience: str = read["OAUTH_AUDIENCE"] or ""
    if issuer:
        attempt(_check_audience, audience, public)
        attempt(_check_isolation, environ)
    is_url = audience.startswith(("https://", "http://"))
    if is_url:
        attempt(_read_url, "OAUTH_AUDIENCE", audience)
    resource = audience.rstrip("/") if is_url else f"{public}{ENDPOINT}" if public else ""
    required = attempt(_read_scopes, "REQUIRED_SCOPES", read["REQUIRED_SCOPES"] or "", otherwise=())
    problems.add(*_find_unused(environ, read))
    claim: str = read["OAUTH_TENANT_CLAIM"]
    if claim in _TAKEN_CLAIMS:
        problems.add(f"OAUTH_TENANT_CLAIM is {claim!r}, which says something else; name the claim of the tenant")
    refresh = attempt(_read_interval, "JWKS_REFRESH_INTERVAL", read["JWKS_REFRESH_INTERVAL"], otherwise=0.0)
    if problems.sentences:
        raise VariableError(*problems.sentences)
    return IdentitySettings(
        issuer=issuer,
        audience=audience or resource,
        resource=resource,
        public_url=public,
        tenant_claim=claim,
        require_tenant=read["OAUTH_REQUIRE_TENANT"],
        refresh=refresh,
        scopes=ScopePolicy(read["ENFORCE_SCOPES"], required, read["SCOPES_OPTIONAL"]),
        anonymous=read["ALLOW_ANONYMOUS_HTTP"],
        api_keys=find_api_keys(environ),
        revocations=str(Path(state_folder(environ)) / FILE_NAME),
        tenants=read["SPECLOOM_TENANTS"] or "",
        server_name=name_server(environ)[0],
    )


_NAMES = (
    "OAUTH_ISSUER_URL", "OAUTH_AUDIENCE", "PUBLIC_URL", "OAUTH_TENANT_CLAIM", "OAUTH_REQUIRE_TENANT", "ENFORCE_SCOPES",
    "REQUIRED_SCOPES", "SCOPES_OPTIONAL", "JWKS_REFRESH_INTERVAL", "ALLOW_ANONYMOUS_HTTP", "SPECLOOM_TENANTS",
)  # fmt: skip
_NEEDS = {
    "OAUTH_AUDIENCE": "OAUTH_ISSUER_URL", "OAUTH_TENANT_CLAIM": "OAUTH_ISSUER_URL",
    "OAUTH_REQUIRE_TENANT": "OAUTH_ISSUER_URL", "JWKS_REFRESH_INTERVAL": "OAUTH_ISSUER_URL",
    "REQUIRED_SCOPES": "ENFORCE_SCOPES", "SCOPES_OPTIONAL": "ENFORCE_SCOPES",
}  # fmt: skip
"""Variables that are read only where another one is set: a server that looked as if it held to them would not."""
_TAKEN_CLAIMS = frozenset({"sub", "aud", "exp", "nbf", "iat", "jti", "scope", "scp"})


def is_loopback(host: str) -> bool:
    """Whether a host in a URL is this machine, as far as its name says."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def check_key_url(url: str) -> ParsedUrl:
    """The parts of an address of an issuer: https, or http on this machine; a ValueError says what is wrong."""
    try:
        parsed = check_url(url, allow_private=True)
    except Fault as fault:
        raise ValueError(fault.message) from None
    if parsed.scheme != "https" and not is_loopback(parsed.host):
        raise ValueError(f"{parsed.host} has to be reached by https; http is for loopback alone.")
    return parsed


def _read_url(name: str, text: str | None) -> str:
    if not text:
        return ""
    try:
        check_key_url(text)
    except ValueError as error:
        raise VariableError(f"{name} cannot be used: {error}") from None
    if "?" in text or "#" in text:
        raise VariableError(f"{name} has a query or a fragment; write it as https://host/path")
    return text


def _find_unused(environ: Mapping[str, str], read: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each variable that is set and that nothing would look at."""
    for name, needed in _NEEDS.items():
        if environ.get(name, "").strip() and read[name] is not False and not read[needed]:
            remedy = f"set {needed}{'=true' if VARIABLES[needed].kind == 'boolean' else ''} as well, or leave it out"
            yield f"{name} is set but nothing asks for it; {remedy}"


def _check_audience(audience: str, public: str) -> None:
    if not audience and not public:
        raise VariableError(
            "OAUTH_ISSUER_URL is set, and nothing says what tokens have to be made for; "
            "set PUBLIC_URL to the address of this server, or OAUTH_AUDIENCE"
        )
    if not public and not audience.startswith(("https://", "http://")):
        raise VariableError(
            f"OAUTH_AUDIENCE is {audience!r}, which is no address; set PUBLIC_URL so that clients find this server"
        )


def _check_isolation(environ: Mapping[str, str]) -> None:
    if not environ.get("CACHE_ISOLATION", "").strip():
        raise VariableError(
            "OAUTH_ISSUER_URL is set, so callers may be of several tenants; set CACHE_ISOLATION to shared or tenant"
        )


def _read_scopes(name: str, text: str) -> tuple[str, ...]:
    """Scopes with commas or blanks between them."""
    scopes = tuple(dict.fromkeys(text.replace(",", " ").split()))
    for scope in scopes:
        if not is_scope(scope):
            raise VariableError(f"{name} has {scope!r}, which is no scope; write visible ASCII without quotes")
    return scopes


def _read_interval(name: str, text: str) -> float:
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise VariableError(f"{name}: {error}") from None
    if not SHORTEST_REFRESH <= seconds <= LONGEST_REFRESH:
        raise VariableError(f"{name} is {text!r}; write 1m to 24h")
    return seconds
