"""Fetches one document: every hop is checked against its source's hosts before it is asked, and a PDF has to be one."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urljoin, urlsplit

from specloom.core import Fault, Header, Policy, Request, Response, Secret
from specloom.domains.scrape.fetch.politeness import read_retry_after
from specloom.net import check_url, host_matches
from specloom.plugins import Context

from .config import DATA, setting
from .errors import PaperFault, find_private_address, to_paper_fault
from .limits import turn

HOSTS: Mapping[str, list[str]] = DATA["hosts"]
"""The hosts that documents of a source come from, as its published list has them."""
TRUST: Mapping[str, list[str]] = DATA["trust"]
"""Further hosts that the operator may let in by one switch each."""
ADDED_TO = "oa-publisher"
"""The source whose hosts an operator may add to; those of the others are fixed, so no setting is told that adds one."""
ADDRESSING = frozenset({"doi.org", "dx.doi.org", "hdl.handle.net"})
"""Registries that only pass on; the host after them is judged as usual."""
LONGEST_NAME = 253
"""Characters that a host may have (RFC 1035: 255 octets, lengths included)."""
MAX_BYTES = 100_000_000
REDIRECTS = 10
TIMEOUT, SILENCE = 300.0, 60.0
"""Seconds for a whole document, and for the next bytes of one: five silent hosts would keep everybody waiting."""
MAGIC = b"%PDF-"

_MOVED = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410, 451})


async def download(context: Context, url: str, source: str, *, token: Secret | None = None) -> bytes:
    """The PDF at an address; a fault with the reason for anything that is not allowed or not one.

    A `token` goes to the hosts of the source alone, wherever a redirect leads.
    """
    body = await obtain(context, url, source, accept="application/pdf, */*;q=0.1", token=token)
    head = body[: len(MAGIC)]
    if head != MAGIC:
        raise _denied(
            *("NETWORK_ERROR", "content_type_mismatch", source),
            f"{source} sent no PDF: the first bytes are {head.hex() or 'missing'}, and {MAGIC.decode()} was expected.",
            attempted=head.hex(),
            expected=[MAGIC.decode()],
        )
    return body


async def obtain(context: Context, url: str, source: str, *, accept: str, token: Secret | None = None) -> bytes:
    """What is at an address of a source, followed over redirects; a fault where it may not or cannot be had."""
    url = check_hop(url, source, context.config, None)
    for hop in range(REDIRECTS + 1):
        response = await _send(context, url, source, accept, token)
        location = response.headers.get("location") if response.status in _MOVED else None
        if location is None:
            _check_status(response, url, source, has_token=token is not None, now=context.now())
            return response.body
        try:
            url = urljoin(url, _to_text(location))
        except ValueError:
            raise PaperFault("NETWORK_ERROR", f"{source} leads to something that is not a URL.") from None
        url = check_hop(url, source, context.config, hop)
    raise PaperFault("NETWORK_ERROR", f"{source} redirects more than {REDIRECTS} times.")


async def _send(context: Context, url: str, source: str, accept: str, token: Secret | None) -> Response:
    policy = Policy(timeout=TIMEOUT, idle=SILENCE, max_bytes=MAX_BYTES, redirects=0)
    host = _host(url)
    headers: tuple[tuple[str, Header], ...] = (("Accept", accept),)
    if token is not None and matches(host, HOSTS[source]):
        headers += (("Authorization", token),)
    # What arXiv asks for holds for its hosts, also where an open copy leads there.
    paced = "arxiv" if source == "oa-publisher" and matches(host, HOSTS["arxiv"]) else source
    try:
        async with turn(context, paced):
            return await context.send(Request("GET", url, headers=headers, policy=policy))
    except TimeoutError:
        raise PaperFault("FETCH_TIMEOUT", f"{source} gave no complete answer within {TIMEOUT:g} seconds.") from None
    except Fault as fault:
        raise _to_denial(fault, source) from None


def _to_denial(fault: Fault, source: str) -> PaperFault:
    """A fault of the transport under its code, with the reason where a rule of this side ended the request."""
    if fault.kind == "too_large":
        size: dict[str, Any] = {} if fault.size is None else {"actual": fault.size}
        many = "more" if fault.size is None else f"{fault.size} bytes or more, which is more"
        message = f"{source} sends {many} than the {MAX_BYTES} bytes that a document may have."
        return _denied("NETWORK_ERROR", "size_cap_exceeded", source, message, cap=MAX_BYTES, **size)
    if address := find_private_address(fault):
        place = f"[{address}]:443" if ":" in address else f"{address}:443"
        message = f"{source} leads to the private address {place}, which is never asked."
        return _denied("NETWORK_ERROR", "ssrf_private_address", source, message, attempted=place)
    return PaperFault("NETWORK_ERROR", fault.message) if fault.kind == "validation" else to_paper_fault(fault)


def _check_status(response: Response, url: str, source: str, *, has_token: bool, now: float) -> None:
    host, seconds = _host(url), read_retry_after(response.headers.get("retry-after", ""), now)
    delay = None if seconds is None else math.ceil(seconds) * 1000
    if has_token and response.status in (401, 403):
        message = f"{host} does not give this document to the key that is set for {source} (HTTP {response.status})."
        raise _denied("CAPABILITY_DENIED", "capability_not_granted", source, message)
    if response.status in _GONE:
        raise PaperFault("NOT_FOUND", f"{host} says that the document does not exist (HTTP {response.status}).")
    if response.status == 429:
        raise PaperFault("RATE_LIMITED", f"{host} asks to slow down.", retry_after_ms=delay)
    if not 200 <= response.status < 300:
        message = f"{host} answered with HTTP {response.status} instead of the document."
        raise PaperFault("NETWORK_ERROR", message, retry_after_ms=delay)


def allowed_hosts(source: str, config: Mapping[str, Any]) -> list[str]:
    """The host patterns of a source: its own, and for open copies those that the operator added."""
    if source != ADDED_TO:
        return HOSTS[source]
    trusted = [host for name, hosts in TRUST.items() if setting(config, f"DOIGET_{name.upper()}") for host in hosts]
    return [*HOSTS[source], *_listed(config, "DOIGET_ADDITIONAL_HOSTS"), *trusted]


def matches(host: str, patterns: Sequence[str]) -> bool:
    """Whether a host is one of the patterns; `*.x` is x and everything below it, and never `notx`."""
    return host_matches(host.lower().rstrip("."), (*patterns, *(pattern.removeprefix("*.") for pattern in patterns)))


def check_hop(url: str, source: str, config: Mapping[str, Any], hop: int | None) -> str:
    """The URL, when it may be asked as the first request (`hop` None) or at a redirect; else what refuses it."""
    # Blanks of path and query as browsers send them; a host with blanks stays, and is none.
    start, slashes, rest = url.strip().partition("://")
    host, slash, path = rest.partition("/")
    url = f"{start}{slashes}{host}{slash}{path.replace(' ', '%20')}"
    where: dict[str, Any] = {} if hop is None else {"hop_index": hop}
    leads = f"{source} leads" if hop is None else f"{source} leads at hop {hop}"
    try:
        parts = urlsplit(url)
        host, scheme, user = (parts.hostname or "").lower(), parts.scheme.lower(), parts.username
        _check_name(host)
        _check_name(scheme)
    except ValueError:
        raise PaperFault("NETWORK_ERROR", f"{source} leads to something that is not a URL.") from None
    if scheme != "https":
        message = f"{leads} to {host or 'an address'} over {scheme or 'no scheme'}, and only https is asked."
        raise _denied(
            "CAPABILITY_DENIED", "insecure_scheme", source, message, attempted=scheme, expected=["https"], **where
        )
    if user is not None or not host:
        raise PaperFault("NETWORK_ERROR", f"{source} leads to an address with a user name or without a host.")
    if matches(host, _listed(config, "DOIGET_BLOCKED_HOSTS")):
        message = f"{leads} to {host}, which is on the list of blocked hosts."
        remedy = remedies(host, blocked=True)
        raise _denied("CAPABILITY_DENIED", "host_in_block_list", source, message, remedy, attempted=host, **where)
    patterns = allowed_hosts(source, config)
    if host not in ADDRESSING and not matches(host, patterns):
        message = f"{leads} to {host}, which is not among the hosts allowed for it ({', '.join(patterns)})."
        denied = ("CAPABILITY_DENIED", "redirect_not_in_allowlist", source, message)
        remedy = remedies(host) if source == ADDED_TO else []
        raise _denied(*denied, remedy, attempted=host, expected=patterns, **where)
    try:
        return str(check_url(url))
    except Fault as fault:
        raise PaperFault("NETWORK_ERROR", fault.message) from None


def remedies(host: str, *, blocked: bool = False) -> list[dict[str, str]]:
    """What the operator could set so that a host is asked, the narrowest first."""
    if blocked:
        note = "take it out of DOIGET_BLOCKED_HOSTS first; the block wins over every other list"
        return [{"kind": "additional_host", "value": host, "note": note}]
    labels = host.split(".")
    remedy = [{"kind": "additional_host", "value": host, "note": "this host alone"}]
    # Country registries sell names below a second label (ac.uk), so three labels stay where the last two are short.
    kept = 3 if len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3 else 2
    if len(labels) > kept and not labels[-1].isdecimal():
        apex = ".".join(labels[-kept:])
        remedy.append({"kind": "additional_host", "value": f"*.{apex}", "note": f"{apex} and every host below it"})
    return remedy + [
        {"kind": "trust_flag", "value": name, "note": f"set DOIGET_{name.upper()}=true"}
        for name, patterns in TRUST.items()
        if matches(host, patterns)
    ]


def _denied(code: str, reason: str, source: str, message: str, remediation: Any = (), **context: Any) -> PaperFault:
    return PaperFault(code, message, denial={"reason": reason, "source": source, **context}, remediation=remediation)


def _check_name(name: str) -> None:
    """ValueError for what can be no host or scheme: it is told to callers, and a server may put any text there."""
    if len(name) > LONGEST_NAME or " " in name or not name.isprintable():
        raise ValueError(name)


def _listed(config: Mapping[str, Any], name: str) -> list[str]:
    """The host patterns of a setting: in a variable they stand between commas, in the file they are a list."""
    value = setting(config, name) or ()
    return [host.strip().lower() for host in (value.split(",") if isinstance(value, str) else value) if host.strip()]


def _to_text(location: str) -> str:
    """A Location header, whose letters beyond ASCII servers send as UTF-8."""
    with contextlib.suppress(UnicodeError):
        location = location.encode("latin-1").decode("utf-8")
    return location.strip()


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""
