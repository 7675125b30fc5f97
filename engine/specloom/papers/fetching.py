"""Downloads one document: every hop is checked before it is asked, and what comes back has to be a PDF."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin

from specloom.faults import Fault
from specloom.wire import Policy, Request, Response

from . import pacing
from .codes import Refusal, find_private_address, from_fault
from .hosts import check_hop

if TYPE_CHECKING:
    from specloom.desk import Desk

MAX_BYTES = 100_000_000
REDIRECTS = 10
TIMEOUT = 300.0
MAGIC = b"%PDF-"

_MOVED = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410, 451})


async def download(desk: Desk, url: str, source: str) -> bytes:
    """The PDF at an address; Refusal with the reason for anything that is not allowed or not one."""
    url = check_hop(url, source, desk.config, None)
    for hop in range(REDIRECTS + 1):
        response = await _send(desk, url, source)
        location = response.headers.get("location") if response.status in _MOVED else None
        if location is None:
            return _checked(response, url, source)
        try:
            url = urljoin(url, location)
        except ValueError:
            raise Refusal("NETWORK_ERROR", f"{source} leads to something that is not a URL.") from None
        url = check_hop(url, source, desk.config, hop)
    raise Refusal("NETWORK_ERROR", f"{source} redirects more than {REDIRECTS} times.")


async def _send(desk: Desk, url: str, source: str) -> Response:
    policy = Policy(timeout=TIMEOUT, max_bytes=MAX_BYTES, redirects=0)
    request = Request("GET", url, headers=(("Accept", "application/pdf, */*;q=0.1"),), policy=policy)
    try:
        async with pacing.turn(source):
            return await desk.send(request)
    except Fault as fault:
        raise _refused(fault, source) from None
    except TimeoutError:
        raise Refusal("FETCH_TIMEOUT", f"{source} gave no complete answer within {TIMEOUT:g} seconds.") from None


def _refused(fault: Fault, source: str) -> Refusal:
    if fault.kind == "too_large":
        return Refusal(
            "NETWORK_ERROR",
            f"{source} sends more than the {MAX_BYTES} bytes that a document may have.",
            denial={"reason": "size_cap_exceeded", "source": source, "cap": MAX_BYTES},
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


def _checked(response: Response, url: str, source: str) -> bytes:
    host = url.split("/")[2]
    if response.status in _GONE:
        raise Refusal("NOT_FOUND", f"{host} says that the document does not exist (HTTP {response.status}).")
    if response.status == 429:
        said = response.headers.get("retry-after", "")
        delay = int(said) * 1000 if said.isdigit() else None
        raise Refusal("RATE_LIMITED", f"{host} asks to slow down.", retry_after_ms=delay)
    if not 200 <= response.status < 300:
        raise Refusal("NETWORK_ERROR", f"{host} answered with HTTP {response.status} instead of the document.")
    head = response.body[: len(MAGIC)]
    if head != MAGIC:
        raise Refusal(
            "NETWORK_ERROR",
            f"{host} sent no PDF: the first bytes are {head.hex() or 'missing'}, and {MAGIC.decode()} was expected.",
            denial={
                "reason": "content_type_mismatch",
                "source": source,
                "attempted": head.hex(),
                "expected": [MAGIC.decode()],
            },
        )
    return response.body
