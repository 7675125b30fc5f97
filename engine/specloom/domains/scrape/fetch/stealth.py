"""Requests that look like a browser's down to their TLS handshake, to addresses that passed the guard.

libcurl (through curl_cffi, the extra `stealth`) speaks; it is given the checked addresses with the name
(CURLOPT_RESOLVE), so it resolves nothing itself, and it follows no redirect: hops are checked by whoever asks. What
comes is counted as it is decompressed, and the transfer ends at the cap.
"""

from __future__ import annotations

import asyncio
import importlib.util
from dataclasses import field
from typing import TYPE_CHECKING, Any

from specloom.core import Fault, Request, Response, Secret, dataclass
from specloom.net import ParsedUrl, Resolver, check_url, find_addresses, find_crumbs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .http import Headers


INSTALL = "pip install 'specloom[stealth]'"
MOST_ADDRESSES = 4
MOST_HEADERS = 256 * 1024
"""Bytes of a response's header lines."""

CODINGS = b"gzip, deflate, br, zstd"
"""What the browser accepts, in its order; all of it is undone while it is counted."""

_ABORT = 0xFFFFFFFF
# https://curl.se/libcurl/c/libcurl-errors.html
_OUTCOMES = {
    1: "sent something that is not HTTP",
    7: "could not be reached: the connection was refused",
    8: "sent something that is not HTTP",
    18: "closed the connection before its answer was complete",
    23: "sent a body that cannot be decompressed",
    28: "could not be reached: the connection timed out",
    35: "could not be reached: the TLS handshake failed",
    52: "closed the connection without an answer",
    56: "closed the connection before its answer was complete",
    60: "could not be reached: its certificate is not valid",
    61: "sent a body that cannot be decompressed",
    100: "sent a head that is too large",
}


def is_installed() -> bool:
    """Whether the extra `stealth` is installed; nothing is imported to find out."""
    return importlib.util.find_spec("curl_cffi") is not None


class Stealth:
    """Sends one request at a time over a connection of its own; several may be under way."""

    headers: Headers = ()
    """The library sends the headers that go with the handshake, so no others are given to it."""

    def __init__(self, resolve: Resolver) -> None:
        self._resolve = resolve

    async def send(self, request: Request) -> Response:
        """The answer to a GET or HEAD, whatever its status; a redirect is itself the answer."""
        url = check_url(request.url, allow_private=request.policy.allow_private)
        try:
            async with asyncio.timeout(request.policy.timeout):
                private = request.policy.allow_private
                addresses = await find_addresses(self._resolve, url.host, url.port, allow_private=private)
                return await _perform(url, addresses[:MOST_ADDRESSES], request)
        except TimeoutError:
            message = f"{url.host} gave no complete answer within {request.policy.timeout:g} seconds."
            raise Fault("network", message) from None


@dataclass(slots=True)
class _Answer:
    """What libcurl hands over piece by piece, and why it was stopped."""

    host: str
    most: int
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    pieces: int = 0
    header_bytes: int = 0
    fault: Fault | None = None

    def take_header(self, line: bytes) -> int:
        self.header_bytes += len(line)
        if self.header_bytes > MOST_HEADERS:
            self.fault = Fault("network", f"{self.host} sent more header lines than are allowed.")
            return _ABORT
        text = line.decode("latin-1").strip()
        if text.startswith("HTTP/"):
            # An interim answer may come first; only the last one counts.
            code = text.split(" ", 2)[1:2]
            # Of digits only those of ASCII: a header may hold "²", which is one and no number.
            self.status = int(code[0]) if code and code[0].isascii() and code[0].isdigit() else 0
            self.headers = {}
        elif ":" in text:
            name, _, value = text.partition(":")
            key = name.strip().lower()
            self.headers[key] = f"{self.headers[key]}, {value.strip()}" if key in self.headers else value.strip()
        return len(line)

    def take_body(self, data: bytes) -> int:
        self.size += len(data)
        self.pieces += 1
        if self.size > self.most:
            self.fault = Fault("too_large", f"{self.host} sent more than the {self.most} bytes that are allowed.")
            return _ABORT
        self.fault = find_crumbs(self.host, self.pieces, self.size)
        if self.fault is not None:
            return _ABORT
        self.parts.append(data)
        return len(data)


async def _perform(url: ParsedUrl, addresses: Sequence[str], request: Request) -> Response:
    from curl_cffi import AsyncCurl, Curl, CurlError, CurlHttpVersion, CurlOpt
    from curl_cffi.requests.impersonate import DEFAULT_CHROME

    answer = _Answer(url.host, request.policy.max_bytes)
    handle: Any = Curl()
    multi: Any = AsyncCurl()
    try:
        handle.impersonate(DEFAULT_CHROME)
        options = {
            # HTTP/2 is agreed on in the handshake; over plain HTTP no browser asks for it.
            CurlOpt.HTTP_VERSION: CurlHttpVersion.V2TLS,
            CurlOpt.URL: str(url).encode("ascii"),
            CurlOpt.ACCEPT_ENCODING: CODINGS,
            CurlOpt.FOLLOWLOCATION: 0,
            # Proxies named in the environment would connect to an address that nobody checked.
            CurlOpt.PROXY: b"",
            CurlOpt.NOPROXY: b"*",
            CurlOpt.PROTOCOLS_STR: b"http,https",
            CurlOpt.TIMEOUT_MS: int(request.policy.timeout * 1000) + 1000,
            CurlOpt.HEADERFUNCTION: answer.take_header,
            CurlOpt.WRITEFUNCTION: answer.take_body,
        }
        if addresses[0] != url.host:
            pinned = ",".join(f"[{address}]" if ":" in address else address for address in addresses)
            options[CurlOpt.RESOLVE] = [f"{url.host}:{url.port}:{pinned}".encode("ascii")]
        if request.method == "HEAD":
            options[CurlOpt.NOBODY] = 1
        if request.headers:
            options[CurlOpt.HTTPHEADER] = [
                f"{name}: {value.reveal() if isinstance(value, Secret) else value}".encode("latin-1")
                for name, value in request.headers
            ]
        for option, value in options.items():
            handle.setopt(option, value)
        try:
            await multi.add_handle(handle)
        except CurlError as error:
            if answer.fault is not None:
                raise answer.fault from None
            outcome = _OUTCOMES.get(int(error.code), f"broke off (curl error {int(error.code)})")
            raise Fault("network", f"{url.host} {outcome}.") from None
    finally:
        await multi.close()
        handle.close()
    return Response(answer.status, answer.headers, b"".join(answer.parts), str(url))
