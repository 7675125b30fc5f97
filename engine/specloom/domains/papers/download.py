"""Fetches one document: every hop is checked before it is asked, and a PDF has to be one."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin, urlsplit

from specloom.core import Fault, Policy, Request, Response
from specloom.net import check_url

from . import pacing
from .config import setting
from .errors import Refusal, find_private_address, from_fault

if TYPE_CHECKING:
    from specloom.core import Header, Secret
    from specloom.plugins import Context


# --- Which hosts a source may lead to, what a refused one is told, and which setting would let it in ------------------


HOSTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "arxiv": ("arxiv.org", "export.arxiv.org", "*.arxiv.org"),
        "ar5iv": ("ar5iv.labs.arxiv.org",),
        "tdm-aps": ("harvest.aps.org",),
        "oa-publisher": (
            *("*.springer.com", "*.springeropen.com", "*.springernature.com", "*.nature.com", "*.wiley.com"),
            *("*.elsevier.com", "*.sciencedirect.com", "*.frontiersin.org", "*.mdpi.com", "*.plos.org"),
            *("*.biorxiv.org", "*.medrxiv.org", "europepmc.org", "*.europepmc.org", "*.nih.gov"),
            *("*.ncbi.nlm.nih.gov", "*.aps.org", "scipost.org", "*.scipost.org", "*.iop.org"),
            *("doaj.org", "*.doaj.org", "arxiv.org", "*.arxiv.org"),
        ),
    }
)
"""The hosts that documents of a source come from, as its published list has them."""

ADDED_TO = "oa-publisher"
"""The source whose hosts an operator may add to; those of the others are fixed, so no setting is told that adds one."""

ADDRESSING = frozenset({"doi.org", "dx.doi.org", "hdl.handle.net"})
"""Registries that only pass on; the host after them is judged as usual."""

LONGEST_NAME = 253
"""Characters that a host may have (RFC 1035: 255 octets, lengths included)."""

TRUST: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "trust_academic_repos": (
            *("*.ac.uk", "*.ac.jp", "*.jst.go.jp", "*.edu.au", "*.edu.cn", "*.ac.cn", "*.edu.pl", "*.ac.nz"),
            *("*.ac.za", "*.ac.in", "*.edu.br", "*.edu.tw", "*.edu.tr", "*.edu.ar", "*.edu.mx"),
        ),
        "trust_oa_registries": (
            *("scielo.org", "*.scielo.org", "*.scielo.br", "zenodo.org", "*.zenodo.org", "osf.io", "*.osf.io"),
            *("hal.science", "*.hal.science", "core.ac.uk"),
        ),
    }
)
"""Further hosts that the operator may let in by one switch each."""


def allowed_hosts(source: str, config: Mapping[str, Any]) -> tuple[str, ...]:
    """The host patterns of a source: its own, and for open copies those that the operator added."""
    own = HOSTS[source]
    if source != ADDED_TO:
        return own
    added = _listed(config, "DOIGET_ADDITIONAL_HOSTS")
    flags = [name for name in TRUST if setting(config, f"DOIGET_{name.upper()}")]
    return (*own, *added, *(host for name in flags for host in TRUST[name]))


def matches(host: str, patterns: tuple[str, ...]) -> bool:
    """Whether a host is one of the patterns; `*.x` is x and everything below it, and never `notx`."""
    host = host.lower().rstrip(".")
    for pattern in patterns:
        bare = pattern.removeprefix("*.").lower()
        if host == bare or (pattern.startswith("*.") and host.endswith(f".{bare}")):
            return True
    return False


def check_hop(url: str, source: str, config: Mapping[str, Any], hop: int | None) -> str:
    """The URL, when it may be asked as the first request (`hop` None) or at a redirect; else what refuses it."""
    where = {} if hop is None else {"hop_index": hop}
    leads = f"{source} leads" if hop is None else f"{source} leads at hop {hop}"
    try:
        parts = urlsplit(url)
        host, scheme, user = (parts.hostname or "").lower(), parts.scheme.lower(), parts.username
        _check_name(host)
        _check_name(scheme)
    except ValueError:
        raise Refusal("NETWORK_ERROR", f"{source} leads to something that is not a URL.") from None
    if scheme != "https":
        raise Refusal(
            "CAPABILITY_DENIED",
            f"{leads} to {host or 'an address'} over {scheme or 'no scheme'}, and only https is asked.",
            denial={"reason": "insecure_scheme", "source": source, "attempted": scheme, "expected": ["https"], **where},
        )
    if user is not None or not host:
        raise Refusal("NETWORK_ERROR", f"{source} leads to an address with a user name or without a host.")
    blocked = _listed(config, "DOIGET_BLOCKED_HOSTS")
    if matches(host, blocked):
        raise Refusal(
            "CAPABILITY_DENIED",
            f"{leads} to {host}, which is on the list of blocked hosts.",
            denial={"reason": "host_in_block_list", "source": source, "attempted": host, **where},
            remediation=remedies(host, blocked=True),
        )
    patterns = allowed_hosts(source, config)
    if host not in ADDRESSING and not matches(host, patterns):
        raise Refusal(
            "CAPABILITY_DENIED",
            f"{leads} to {host}, which is not among the hosts allowed for it ({', '.join(patterns)}).",
            denial={
                "reason": "redirect_not_in_allowlist",
                "source": source,
                "attempted": host,
                "expected": list(patterns),
                **where,
            },
            remediation=remedies(host) if source == ADDED_TO else (),
        )
    try:
        return str(check_url(url))
    except Fault as fault:
        raise Refusal("NETWORK_ERROR", fault.message) from None


def _check_name(name: str) -> None:
    """ValueError for what can be no host or scheme: it is told to callers, and a server may put any text there."""
    if len(name) > LONGEST_NAME or " " in name or not name.isprintable():
        raise ValueError(name)


def remedies(host: str, *, blocked: bool = False) -> list[dict[str, str]]:
    """What the operator could set so that a host is asked, the narrowest first."""
    if blocked:
        return [
            {
                "kind": "additional_host",
                "value": host,
                "note": "take it out of DOIGET_BLOCKED_HOSTS first; the block wins over every other list",
            }
        ]
    labels = host.split(".")
    found = [{"kind": "additional_host", "value": host, "note": "this host alone"}]
    # Country registries sell names below a second label (ac.uk), so three labels stay where the last two are short.
    kept = 3 if len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3 else 2
    if len(labels) > kept and not labels[-1].isdecimal():
        apex = ".".join(labels[-kept:])
        found.append({"kind": "additional_host", "value": f"*.{apex}", "note": f"{apex} and every host below it"})
    found += [
        {"kind": "trust_flag", "value": name, "note": f"set DOIGET_{name.upper()}=true"}
        for name, patterns in TRUST.items()
        if matches(host, patterns)
    ]
    return found


def _listed(config: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The host patterns of a setting: in a variable they stand between commas, in the file they are a list."""
    said = setting(config, name) or ()
    return tuple(one.strip().lower() for one in (said.split(",") if isinstance(said, str) else said) if one.strip())


MAX_BYTES = 100_000_000
REDIRECTS = 10
TIMEOUT, SILENCE = 300.0, 60.0
"""Seconds for a whole document, and for the next bytes of one: five silent hosts would keep everybody waiting."""
MAGIC = b"%PDF-"

_SECONDS = re.compile(r"[0-9]{1,9}")
_MOVED = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410, 451})


async def download(context: Context, url: str, source: str, *, token: Secret | None = None) -> bytes:
    """The PDF at an address; Refusal with the reason for anything that is not allowed or not one.

    A `token` goes to the hosts of the source alone, wherever a redirect leads.
    """
    response = await _follow(context, url, source, "application/pdf, */*;q=0.1", token)
    _check_magic(response, source)
    return response.body


async def obtain(context: Context, url: str, source: str, *, accept: str) -> bytes:
    """What is at an address and is no PDF, a page or an archive; Refusal where it may not or cannot be had."""
    return (await _follow(context, url, source, accept, None)).body


async def _follow(context: Context, url: str, source: str, accept: str, token: Secret | None) -> Response:
    url = check_hop(_encoded(url), source, context.config, None)
    for hop in range(REDIRECTS + 1):
        response = await _send(context, url, source, accept, token)
        location = response.headers.get("location") if response.status in _MOVED else None
        if location is None:
            _check_status(response, url, source, has_token=token is not None, now=context.now())
            return response
        try:
            url = urljoin(url, _to_text(location))
        except ValueError:
            raise Refusal("NETWORK_ERROR", f"{source} leads to something that is not a URL.") from None
        url = check_hop(_encoded(url), source, context.config, hop)
    raise Refusal("NETWORK_ERROR", f"{source} redirects more than {REDIRECTS} times.")


async def _send(context: Context, url: str, source: str, accept: str, token: Secret | None) -> Response:
    policy = Policy(timeout=TIMEOUT, idle=SILENCE, max_bytes=MAX_BYTES, redirects=0)
    headers: tuple[tuple[str, Header], ...] = (("Accept", accept),)
    if token is not None and matches(_host(url), HOSTS[source]):
        headers += (("Authorization", token),)
    try:
        async with pacing.turn(_paced_as(url, source), live=context.is_live):
            return await context.send(Request("GET", url, headers=headers, policy=policy))
    except Fault as fault:
        raise _refused(fault, source) from None
    except TimeoutError:
        raise Refusal("FETCH_TIMEOUT", f"{source} gave no complete answer within {TIMEOUT:g} seconds.") from None


def _encoded(url: str) -> str:
    """An address with blanks of its path and query as browsers send them; a host with blanks stays, and is none."""
    start, slashes, rest = url.strip().partition("://")
    host, slash, path = rest.partition("/")
    return f"{start}{slashes}{host}{slash}{path.replace(' ', '%20')}"


def _to_text(location: str) -> str:
    """A Location header, whose letters beyond ASCII servers send as UTF-8."""
    with contextlib.suppress(UnicodeError):
        location = location.encode("latin-1").decode("utf-8")
    return location.strip()


def _paced_as(url: str, source: str) -> str:
    """Whose turn a request takes: what arXiv asks for holds for its hosts, also where an open copy leads there."""
    return "arxiv" if source == "oa-publisher" and matches(_host(url), HOSTS["arxiv"]) else source


def _refused(fault: Fault, source: str) -> Refusal:
    if fault.kind == "too_large":
        known = {} if fault.size is None else {"actual": fault.size}
        said = "more" if fault.size is None else f"{fault.size} bytes or more, which is more"
        return Refusal(
            "NETWORK_ERROR",
            f"{source} sends {said} than the {MAX_BYTES} bytes that a document may have.",
            denial={"reason": "size_cap_exceeded", "source": source, "cap": MAX_BYTES, **known},
        )
    address = find_private_address(fault)
    if address:
        attempted = f"[{address}]:443" if ":" in address else f"{address}:443"
        return Refusal(
            "NETWORK_ERROR",
            f"{source} leads to the private address {attempted}, which is never asked.",
            denial={"reason": "ssrf_private_address", "source": source, "attempted": attempted},
        )
    if fault.kind == "validation":
        return Refusal("NETWORK_ERROR", fault.message)
    return from_fault(fault)


def _check_status(response: Response, url: str, source: str, *, has_token: bool, now: float) -> None:
    host, delay = _host(url), _find_delay(response.headers.get("retry-after", ""), now)
    if has_token and response.status in (401, 403):
        raise Refusal(
            "CAPABILITY_DENIED",
            f"{host} does not give this document to the key that is set for {source} (HTTP {response.status}).",
            denial={"reason": "capability_not_granted", "source": source},
        )
    if response.status in _GONE:
        raise Refusal("NOT_FOUND", f"{host} says that the document does not exist (HTTP {response.status}).")
    if response.status == 429:
        raise Refusal("RATE_LIMITED", f"{host} asks to slow down.", retry_after_ms=delay)
    if not 200 <= response.status < 300:
        said = f"{host} answered with HTTP {response.status} instead of the document."
        raise Refusal("NETWORK_ERROR", said, retry_after_ms=delay)


def _find_delay(said: str, now: float) -> int | None:
    """Milliseconds until the time that a server named, in seconds or as a date (RFC 9110, 10.2.3); None for no time."""
    if _SECONDS.fullmatch(said):
        return int(said) * 1000
    try:
        return max(0, math.ceil(parsedate_to_datetime(said).timestamp() - now)) * 1000
    except (ValueError, OverflowError):
        return None


def _check_magic(response: Response, source: str) -> None:
    head = response.body[: len(MAGIC)]
    if head != MAGIC:
        raise Refusal(
            "NETWORK_ERROR",
            f"{source} sent no PDF: the first bytes are {head.hex() or 'missing'}, and {MAGIC.decode()} was expected.",
            denial={
                "reason": "content_type_mismatch",
                "source": source,
                "attempted": head.hex(),
                "expected": [MAGIC.decode()],
            },
        )


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


# --- Publishers that give text miners more than everybody: each is asked about its own DOIs alone, under an
# agreement ------------------------------------------------------------------------------------------------------------
# An operator has an agreement with a publisher and a key from it, and sets both; one without the other grants nothing.


@dataclass(frozen=True, slots=True)
class Publisher:
    """A publisher's service: the prefixes of its DOIs, the provider behind it, and where its documents are."""

    name: str
    title: str
    prefixes: tuple[str, ...]
    documents: str = ""
    """The address of a document before its DOI; empty where only records are given."""

    @property
    def source(self) -> str:
        """How the service is called in answers and in the log."""
        return f"tdm-{self.name}"

    @property
    def provider(self) -> str:
        """The provider that gives its records."""
        return f"tdm_{self.name}"

    @property
    def agreement(self) -> str:
        """The variable that is 1 where the operator has agreed."""
        return f"DOIGET_AGREE_TDM_{self.name.upper()}"

    @property
    def key(self) -> str:
        """The variable of the key."""
        return f"DOIGET_KEY_{self.name.upper()}"

    def missing(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """The variables that are still to be set before it may be asked; none when it is granted."""
        agreed = str(config.get(self.agreement) or "").strip() == "1"
        return (*(() if agreed else (self.agreement,)), *(() if config.get(self.key) else (self.key,)))

    def has(self, doi: str) -> bool:
        """Whether a DOI is one of its own."""
        return doi.partition("/")[0] in self.prefixes

    def url_of(self, doi: str) -> str:
        """Where the document of a DOI is."""
        return self.documents + quote(doi, safe="/")


PUBLISHERS = (
    Publisher("elsevier", "Elsevier", ("10.1016", "10.1006", "10.1053")),
    Publisher("aps", "APS", ("10.1103",), "https://harvest.aps.org/v2/journals/articles/"),
    Publisher("springer", "Springer Nature", ("10.1007", "10.1038", "10.1057", "10.1140")),
)
"""In the order in which they are told. One publisher has a DOI at most."""


def granted(config: Mapping[str, Any]) -> tuple[Publisher, ...]:
    """The publishers that may be asked with these settings."""
    return tuple(one for one in PUBLISHERS if not one.missing(config))


def publisher_of(doi: str) -> Publisher | None:
    """The publisher whose DOI this is, among those that are known here."""
    return next((one for one in PUBLISHERS if one.has(doi)), None)
