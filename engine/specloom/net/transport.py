"""The one way out: every request is checked, bounded in time and size, and followed hop by hop through its redirects.

Proxies named in the environment are not used: behind a proxy the address
that was checked would not be the one that is connected to.
"""

from __future__ import annotations

import asyncio
import re
import time
import zlib
from typing import TYPE_CHECKING, Self
from urllib.parse import quote, urljoin

from specloom import __version__
from specloom.core import MASK, Fault, Policy, Request, Response, Secret, dataclass, holds_secret, redact, replace

from .connections import Dialer, Resolver, count_room, resolve_name
from .guard import ParsedUrl, check_url, host_matches
from .http1 import BrokenAnswer, HttpConnection, Pool, PoolKey, ResponseReader, write_request

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType

    from specloom.core import Request


USER_AGENT = f"specloom/{__version__}"
SMALL = 16 * 1024
"""A redirect's body of at most this size is read to keep the connection; a larger one costs the connection."""

INFLATED_AT_ONCE = 16 * 1024
"""Bytes of a compressed body that are unpacked at once."""
TIME_SLICE = 0.005
"""Seconds of unpacking after which others get a turn of the loop."""
TICK = 0.01
"""Seconds by which a timer of a loop may come early; those of uvloop count whole milliseconds."""

SAFE = ("GET", "HEAD", "OPTIONS")
_BODY_METHODS = ("POST", "PUT", "PATCH")


class Transport:
    """Sends requests to public hosts only, over connections that are kept open and reused.

    `allow_private` (for everything) and a request's own `policy.allow_private` (for its own host) admit private and
    loopback addresses and relax nothing else. `max_connections` bounds the requests in flight, which are
    fewer where the process has few file descriptors.
    """

    def __init__(
        self,
        *,
        allow_private: bool = False,
        allowed_domains: Sequence[str] = (),
        resolve: Resolver | None = None,
        user_agent: str = USER_AGENT,
        connect_timeout: float = 10.0,
        max_connections: int = 64,
    ) -> None:
        max_connections = count_room(max_connections)
        self._border = Border(allow_private, tuple(allowed_domains))
        self._defaults = (
            Header(b"User-Agent", user_agent.encode("latin-1")),
            Header(b"Accept", b"*/*"),
            Header(b"Accept-Encoding", ", ".join(ACCEPTED).encode("ascii")),
        )
        self._turns = asyncio.Semaphore(max_connections)
        self._pool = Pool(Dialer(resolve or resolve_name, connect_timeout), max_connections)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def send(self, request: Request) -> Response:
        """The answer to a request, whatever its status; a fault where there is none or it may not be had.

        `policy.timeout` covers everything from the wait for a turn to the last byte, `policy.idle` each wait for more.
        `policy.redirects` of 0 means that a redirect is itself the answer.
        """
        policy = request.policy
        host = "The host"
        try:
            hop = first_hop(request, self._border, self._defaults)
            host = hop.url.host
            deadline = asyncio.get_running_loop().time() + policy.timeout
            if not self._turns.locked():
                async with self._turns:
                    return await self._follow(hop, request, deadline)
            async with asyncio.timeout_at(deadline), self._turns:
                return await self._follow(hop, request, deadline)
        except TimeoutError:
            message = f"{host} gave no complete answer within {policy.timeout:g} seconds."
            if policy.idle is not None and asyncio.get_running_loop().time() < deadline - TICK:
                message = f"{host} gave no complete answer within its time: nothing came for {policy.idle:g} seconds."
            raise Fault("network", message, provider=request.provider) from None
        except Fault as fault:
            fault.provider = fault.provider or request.provider
            raise

    async def aclose(self) -> None:
        """Closes every connection."""
        self._pool.close()
        # One turn of the loop, in which the sockets are really closed.
        await asyncio.sleep(0)

    async def _follow(self, hop: Hop, request: Request, deadline: float) -> Response:
        seen: set[tuple[str, str]] = set()
        for _ in range(request.policy.redirects + 1):
            response, location = await self._exchange(hop, request, deadline)
            if location is None:
                return response
            host = hop.url.host
            seen.add((hop.method, str(hop.url)))
            try:
                hop = next_hop(hop, response.status, location, request, self._border)
            except Fault as fault:
                # Where a reader asks for any page, it is the page's address that is wrong; else the upstream is.
                raise fault if request.policy.any_host else fault.told_as(kind="upstream_unavailable") from None
            if (hop.method, str(hop.url)) in seen:
                raise Fault("upstream_unavailable", f"{host} redirects in a circle.")
        raise Fault("upstream_unavailable", f"{host} redirects more than {request.policy.redirects} times.")

    async def _exchange(self, hop: Hop, request: Request, deadline: float) -> tuple[Response, str | None]:
        host, policy = hop.url.host, request.policy
        place = PoolKey(hop.url.scheme, host, hop.url.port, hop.private)
        wire = _to_wire(hop)
        try:
            connection, answer = await self._ask(place, hop.method, wire, _find_end(deadline, policy))
            try:
                location = answer.headers.get("location") if answer.status in REDIRECTS else None
                if location is None or policy.redirects == 0:
                    location = None
                    body = await _read(connection, answer, hop, policy, deadline)
                    url = f"{hop.url.scheme}://{hop.url.authority}{hop.shown}"
                    response = Response(answer.status, answer.headers, body, url)
                else:
                    response = Response(answer.status)
                    length = "" if answer.two_lengths else answer.headers.get("content-length", "")
                    if answer.complete or (length and int(length) <= SMALL):
                        while await connection.read(deadline):
                            pass
            except BaseException:
                connection.close()
                raise
            self._pool.give_back(place, connection)
        except BrokenAnswer as broken:
            raise Fault("network", f"{host} {broken}.") from None
        return response, location

    async def _ask(
        self, place: PoolKey, method: str, wire: bytes, until: float
    ) -> tuple[HttpConnection, ResponseReader]:
        used = self._pool.find_idle(place)
        if used is not None:
            try:
                return used, await used.ask(method, wire, until)
            except BrokenAnswer:
                # A server may close a kept connection just as it is used again; what changes nothing is asked anew.
                if method not in SAFE:
                    raise
        async with asyncio.timeout_at(until):
            connection = await self._pool.open(place)
        return connection, await connection.ask(method, wire, until)


def _find_end(deadline: float, policy: Policy) -> float:
    """When to give up what is waited for from now on, by the clock of the loop."""
    return deadline if policy.idle is None else min(deadline, asyncio.get_running_loop().time() + policy.idle)


def _to_wire(hop: Hop) -> bytes:
    headers = [(b"Host", hop.url.authority.encode("ascii"))]
    headers += [(header.name, header.value) for header in hop.headers]
    if hop.body is not None or hop.method in _BODY_METHODS:
        headers.append((b"Content-Length", b"%d" % len(hop.body or b"")))
    try:
        return write_request(hop.method, hop.target, headers) + (hop.body or b"")
    except ValueError:
        raise _refused(hop.url.host, "it is not valid HTTP.") from None


async def _read(connection: HttpConnection, answer: ResponseReader, hop: Hop, policy: Policy, deadline: float) -> bytes:
    host, max_bytes = hop.url.host, policy.max_bytes
    if hop.method == "HEAD" or answer.status in (204, 304):
        return b""
    inflater = find_inflater(answer.headers.get("content-encoding", ""), host)
    # Compression may add a little to what cannot be compressed, and nothing more.
    most = max_bytes if inflater is None else max_bytes + max_bytes // 64 + 1024
    length = answer.headers.get("content-length", "")
    if length and int(length) > most and not policy.truncate:
        raise _too_large(host, max_bytes, int(length))
    parts: list[bytes] = []
    received = size = 0
    while pieces := await connection.read(_find_end(deadline, policy)):
        received += sum(map(len, pieces))
        if inflater is None:
            parts += pieces
            size = received
        else:
            inflated = await _inflate(inflater, pieces, max_bytes - size, deadline)
            parts += inflated
            size += sum(map(len, inflated))
        if size > max_bytes or received > most:
            if policy.truncate:
                return b"".join(parts)[:max_bytes]
            raise _too_large(host, max_bytes, max(size, received))
    if inflater is not None and received:
        inflater.finish()
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _inflate(inflater: Inflater, pieces: list[bytes], room: int, deadline: float) -> list[bytes]:
    """What the pieces unpack to, but never more than one byte over `room`; others get their turns meanwhile."""
    parts: list[bytes] = []
    resumed = time.monotonic()
    for piece in pieces:
        for at in range(0, len(piece), INFLATED_AT_ONCE):
            part = inflater.feed(piece[at : at + INFLATED_AT_ONCE], room)
            parts.append(part)
            room -= len(part)
            if room < 0:
                return parts
            if time.monotonic() - resumed > TIME_SLICE:
                await asyncio.sleep(0)
                resumed = time.monotonic()
                if asyncio.get_running_loop().time() >= deadline:
                    raise TimeoutError
    return parts


def _too_large(host: str, max_bytes: int, size: int) -> Fault:
    return Fault("too_large", f"{host} sent more than the {max_bytes} bytes that are allowed.", size=size)


# --- Hops: a request turned into bytes, a redirect checked again and turned into the next hop, secrets kept at home ---


REDIRECTS = frozenset({301, 302, 303, 307, 308})

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BAD_VALUE = re.compile("[\x00-\x08\x0a-\x1f\x7f]")
# Framing and routing belong to the transport; a spec that set them could smuggle a second request.
_OWN = frozenset(
    {
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
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


def _refused(host: str, why: str) -> Fault:
    return Fault("validation", f"The request to {host} is refused: {why}")


def first_hop(request: Request, border: Border, defaults: Sequence[Header]) -> Hop:
    """The hop that a request asks for; a `validation` fault for what may not be sent."""
    private = border.allow_private or request.policy.allow_private
    url = check_url(request.url, allow_private=private, allowed_domains=border.allowed_domains)
    if not _TOKEN.fullmatch(request.method) or request.method.upper() in ("CONNECT", "TRACE"):
        raise _refused(url.host, "its method is not one that may be sent.")
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
        if holds_secret(joined, find_secrets(request)):
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
        raise _refused(host, f"the query value {_show(name)} holds a NUL.")
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise _refused(host, f"the query value {_show(name)} cannot be encoded as UTF-8.") from None


def _write_headers(
    headers: Iterable[tuple[str, str | Secret]], host: str, defaults: Sequence[Header]
) -> tuple[Header, ...]:
    written: list[Header] = []
    names: set[bytes] = set()
    for name, value in headers:
        lower = name.lower()
        if not _TOKEN.fullmatch(name):
            raise _refused(host, "a header has a name that HTTP does not allow.")
        if lower in _OWN:
            raise _refused(host, f"the header {name} is set by the transport only.")
        secret = isinstance(value, Secret)
        plain = (value.reveal() if isinstance(value, Secret) else value).strip(" \t")
        if _BAD_VALUE.search(plain):
            raise _refused(host, f"the header {name} holds a control character.")
        try:
            encoded = plain.encode()
        except UnicodeEncodeError:
            raise _refused(host, f"the header {name} holds characters that cannot be sent.") from None
        if lower == "accept-encoding":
            encoded = _accept(plain)
        written.append(Header(name.encode("ascii"), encoded, secret or lower in _PERSONAL))
        names.add(lower.encode("ascii"))
    return (*(header for header in defaults if header.name.lower() not in names), *written)


def _accept(value: str) -> bytes:
    codings = [part.strip() for part in value.split(",")]
    accepted = [part for part in codings if part.partition(";")[0].strip().lower() in ACCEPTED]
    return ", ".join(accepted or ["identity"]).encode("latin-1")


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


# --- Streaming decompression with a bomb guard ------------------------------------------------------------------------


ACCEPTED = ("gzip", "deflate")
"""Codings that can be undone here with a bound on every piece, and so the only ones that are asked for."""
MEMBERS = 1000
"""Members of a gzip body that may be of any size."""
MEMBER_BYTES = 256
"""Compressed bytes that each member must have beyond that."""

_FOREIGN = frozenset({"br", "zstd", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip"})
_GZIP = 16 + zlib.MAX_WBITS
_MAGIC = b"\x1f\x8b"


class Inflater:
    """Undoes gzip (any number of members) or deflate (with the zlib wrapper or, as some servers send it, without)."""

    def __init__(self, coding: str, host: str) -> None:
        self._gzip = coding == "gzip"
        self._host = host
        self._zlib = zlib.decompressobj(_GZIP) if self._gzip else None
        self._held = b""
        self._members = self._received = 0

    def feed(self, data: bytes, room: int) -> bytes:
        """What `data` unpacks to, but never more than one byte over `room`."""
        self._received += len(data)
        data = self._held + data
        self._held = b""
        pieces: list[bytes] = []
        while data and room >= 0:
            if self._zlib is None or (self._zlib.eof and self._gzip):
                if len(data) < 2:
                    self._held = data
                    break
                if self._gzip and not data.startswith(_MAGIC):
                    break  # Padding after the last member means nothing.
                self._members += 1
                if self._members > MEMBERS + self._received // MEMBER_BYTES:
                    message = f"{self._host} sent a compressed body in pieces that are too small."
                    raise Fault("upstream_unavailable", message)
                self._zlib = zlib.decompressobj(_GZIP if self._gzip else _find_window(data))
            elif self._zlib.eof:
                break
            try:
                piece = self._zlib.decompress(data, room + 1)
            except zlib.error:
                message = f"{self._host} sent a body that cannot be decompressed."
                raise Fault("upstream_unavailable", message) from None
            pieces.append(piece)
            room -= len(piece)
            data = self._zlib.unused_data if self._zlib.eof else self._zlib.unconsumed_tail
        return b"".join(pieces)

    def finish(self) -> None:
        """Nothing, once the end of the compressed data was seen; a fault where it is missing."""
        if self._zlib is None or not self._zlib.eof:
            raise Fault("upstream_unavailable", f"{self._host} sent a compressed body that ends too early.")


def find_inflater(header: str, host: str) -> Inflater | None:
    """What undoes the codings of a Content-Encoding header; nothing for a body that is as it should be."""
    codings = [name for part in header.lower().split(",") if (name := part.strip().removeprefix("x-"))]
    named = [name for name in codings if name in ACCEPTED or name in _FOREIGN]
    if not named:
        return None
    if len(named) > 1 or named[0] in _FOREIGN:
        # The names are ours, so a hostile header cannot put words into the sentence.
        message = f"{host} answered in an encoding that was not asked for ({', '.join(named[:3])})."
        raise Fault("upstream_unavailable", message)
    return Inflater(named[0], host)


def _find_window(head: bytes) -> int:
    wrapped = head[0] & 0x0F == 8 and (head[0] << 8 | head[1]) % 31 == 0
    return zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS
