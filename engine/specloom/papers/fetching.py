"""Fetches one document: every hop is checked before it is asked, and a PDF has to be one."""

from __future__ import annotations

import contextlib
import math
import re
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from specloom.faults import Fault
from specloom.wire import Policy, Request, Response

from . import pacing
from .codes import Refusal, find_private_address, from_fault
from .hosts import HOSTS, check_hop, matches

if TYPE_CHECKING:
    from specloom.desk import Desk
    from specloom.vault import Secret
    from specloom.wire import Header

MAX_BYTES = 100_000_000
REDIRECTS = 10
TIMEOUT, SILENCE = 300.0, 60.0
"""Seconds for a whole document, and for the next bytes of one: five silent hosts would keep everybody waiting."""
MAGIC = b"%PDF-"

_SECONDS = re.compile(r"[0-9]{1,9}")
_MOVED = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410, 451})


async def download(desk: Desk, url: str, source: str, *, token: Secret | None = None) -> bytes:
    """The PDF at an address; Refusal with the reason for anything that is not allowed or not one.

    A `token` goes to the hosts of the source alone, wherever a redirect leads.
    """
    response = await _follow(desk, url, source, "application/pdf, */*;q=0.1", token)
    _check_magic(response, source)
    return response.body


async def obtain(desk: Desk, url: str, source: str, *, accept: str) -> bytes:
    """What is at an address and is no PDF, a page or an archive; Refusal where it may not or cannot be had."""
    return (await _follow(desk, url, source, accept, None)).body


async def _follow(desk: Desk, url: str, source: str, accept: str, token: Secret | None) -> Response:
    url = check_hop(_encoded(url), source, desk.config, None)
    for hop in range(REDIRECTS + 1):
        response = await _send(desk, url, source, accept, token)
        location = response.headers.get("location") if response.status in _MOVED else None
        if location is None:
            _check_status(response, url, source, has_token=token is not None, now=desk.now())
            return response
        try:
            url = urljoin(url, _to_text(location))
        except ValueError:
            raise Refusal("NETWORK_ERROR", f"{source} leads to something that is not a URL.") from None
        url = check_hop(_encoded(url), source, desk.config, hop)
    raise Refusal("NETWORK_ERROR", f"{source} redirects more than {REDIRECTS} times.")


async def _send(desk: Desk, url: str, source: str, accept: str, token: Secret | None) -> Response:
    policy = Policy(timeout=TIMEOUT, idle=SILENCE, max_bytes=MAX_BYTES, redirects=0)
    headers: tuple[tuple[str, Header], ...] = (("Accept", accept),)
    if token is not None and matches(_host(url), HOSTS[source]):
        headers += (("Authorization", token),)
    try:
        async with pacing.turn(_paced_as(url, source), live=desk.is_live):
            return await desk.send(Request("GET", url, headers=headers, policy=policy))
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
