"""What one hop sends: a request turned into bytes, a redirect turned into the next hop, and secrets kept at home."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin

from specloom.core import MASK, Fault, Secret, redact, secret_forms

from .decompress import ACCEPTED
from .guard import ParsedUrl, check_url, host_matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specloom.core import Request


REDIRECTS = frozenset({301, 302, 303, 307, 308})

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BAD_VALUE = re.compile("[\x00-\x08\x0a-\x1f\x7f]")
# Framing and routing belong to the transport; a spec that set them could smuggle a second request.
_OWN = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_PERSONAL = frozenset({"authorization", "cookie"})


@dataclass(frozen=True, slots=True)
class Header:
    """One header as it is sent; `personal` ones stay with the host they were meant for."""

    name: bytes
    value: bytes
    personal: bool = False


@dataclass(frozen=True, slots=True)
class Hop:
    """One request on its way to one host. `target` is what is sent and may hold secrets; `shown` never does."""

    method: str
    url: ParsedUrl
    target: str
    shown: str
    headers: tuple[Header, ...]
    body: bytes | None
    private: bool


@dataclass(frozen=True, slots=True)
class Border:
    """What the operator allows every request: private addresses or not, and which domains (empty means all)."""

    allow_private: bool = False
    allowed_domains: tuple[str, ...] = ()


def first_hop(request: Request, border: Border, defaults: Sequence[Header]) -> Hop:
    """The hop that a request asks for; a `validation` fault for what may not be sent."""
    private = border.allow_private or request.policy.allow_private
    url = check_url(request.url, allow_private=private, allowed_domains=border.allowed_domains)
    if not _TOKEN.fullmatch(request.method) or request.method.upper() in ("CONNECT", "TRACE"):
        raise Fault("validation", f"The request to {url.host} is refused: its method is not one that may be sent.")
    target, shown = _write_targets(url, request.query)
    headers = _write_headers(request.headers, url.host, defaults)
    return Hop(request.method.upper(), url, target, shown, headers, request.body, private)


def next_hop(hop: Hop, status: int, location: str, request: Request, border: Border) -> Hop:
    """The hop that a redirect asks for: checked like the first one, and stripped of secrets where the host changes."""
    policy = request.policy
    home = check_url(request.url, allow_private=True).host
    text = _read_location(location)
    try:
        joined = urljoin(f"{hop.url.scheme}://{hop.url.authority}{hop.url.path}", text)
    except ValueError:
        raise Fault("validation", f"{hop.url.host} redirects to something that is not a URL.") from None
    url = check_url(joined, allow_private=True)
    # The permission for a private address was given to the host of the request, and to no other.
    private = border.allow_private or (policy.allow_private and url.host == home)
    url = check_url(joined, allow_private=private, allowed_domains=border.allowed_domains)
    named = url.host == home or host_matches(url.host, policy.hosts)
    if not named and not policy.any_host:
        raise Fault(
            "validation", f"{hop.url.host} redirects to {url.host}, which is not among the hosts it may lead to."
        )
    if hop.url.scheme == "https" and url.scheme == "http":
        raise Fault("validation", f"{hop.url.host} redirects from https to http on {url.host}, which is refused.")
    method, headers, body = hop.method, hop.headers, hop.body
    if (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST"):
        method, body = "GET", None
        headers = tuple(header for header in headers if not header.name.lower().startswith(b"content-"))
    if not _is_same_site(hop.url, url):
        headers = tuple(header for header in headers if not header.personal)
        if any(form in joined for secret in find_secrets(request) for form in secret_forms(secret)):
            raise Fault(
                "validation", f"{hop.url.host} redirects to {url.host} with a secret in the URL, which is refused."
            )
        if body is not None and not named:
            raise Fault("validation", f"{hop.url.host} redirects what was posted to {url.host}, which is refused.")
    shown = redact(url.target, find_secrets(request))
    return replace(
        hop, method=method, url=url, target=url.target, shown=shown, headers=headers, body=body, private=private
    )


def find_secrets(request: Request) -> list[Secret]:
    """Every secret that a request carries."""
    return [value for _, value in (*request.query, *request.headers) if isinstance(value, Secret) and value]


def _write_targets(url: ParsedUrl, query: Iterable[tuple[str, str | Secret]]) -> tuple[str, str]:
    sent = [url.query] if url.query else []
    shown = list(sent)
    secret = False
    for name, value in query:
        key = _quote(name, name, url.host)
        plain = value.reveal() if isinstance(value, Secret) else value
        pair = f"{key}={_quote(plain, name, url.host)}"
        sent.append(pair)
        if isinstance(value, Secret):
            secret = True
            pair = f"{key}={MASK}"
        shown.append(pair)
    if not sent:
        return url.path, url.path
    target = f"{url.path}?{'&'.join(sent)}"
    return target, f"{url.path}?{'&'.join(shown)}" if secret else target


def _quote(text: str, name: str, host: str) -> str:
    # Line ends are harmless once encoded, and query languages are written over several lines; NUL is never meant.
    if "\x00" in text:
        raise Fault("validation", f"The request to {host} is refused: the query value {_show(name)} holds a NUL.")
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        message = f"The request to {host} is refused: the query value {_show(name)} cannot be encoded as UTF-8."
        raise Fault("validation", message) from None


def _write_headers(
    headers: Iterable[tuple[str, str | Secret]], host: str, defaults: Sequence[Header]
) -> tuple[Header, ...]:
    written: list[Header] = []
    names: set[bytes] = set()
    for name, value in headers:
        lower = name.lower()
        if not _TOKEN.fullmatch(name):
            raise Fault(
                "validation", f"The request to {host} is refused: a header has a name that HTTP does not allow."
            )
        if lower in _OWN:
            raise Fault(
                "validation", f"The request to {host} is refused: the header {name} is set by the transport only."
            )
        secret = isinstance(value, Secret)
        plain = (value.reveal() if isinstance(value, Secret) else value).strip(" \t")
        if _BAD_VALUE.search(plain):
            raise Fault("validation", f"The request to {host} is refused: the header {name} holds a control character.")
        try:
            encoded = plain.encode()
        except UnicodeEncodeError:
            message = f"The request to {host} is refused: the header {name} holds characters that cannot be sent."
            raise Fault("validation", message) from None
        if lower == "accept-encoding":
            encoded = _accept(plain)
        written.append(Header(name.encode("ascii"), encoded, secret or lower in _PERSONAL))
        names.add(lower.encode("ascii"))
    return (*(header for header in defaults if header.name.lower() not in names), *written)


def _accept(value: str) -> bytes:
    wanted = [part.strip() for part in value.split(",")]
    kept = [part for part in wanted if part.partition(";")[0].strip().lower() in ACCEPTED]
    return ", ".join(kept or ["identity"]).encode("latin-1")


def _read_location(location: str) -> str:
    # Servers put raw UTF-8 and blanks into this header; browsers encode both, and so does everything here.
    try:
        location = location.encode("latin-1").decode("utf-8")
    except UnicodeError:
        location = quote(location, safe="%/:?#[]@!$&'()*+,;=\\", encoding="latin-1", errors="replace")
    return location.strip(" \t").replace(" ", "%20")


def _is_same_site(before: ParsedUrl, after: ParsedUrl) -> bool:
    if before.host != after.host:
        return False
    upgraded = (before.scheme, before.port, after.scheme, after.port) == ("http", 80, "https", 443)
    return upgraded or (before.scheme, before.port) == (after.scheme, after.port)


def _show(name: str) -> str:
    return repr(name[:40])
