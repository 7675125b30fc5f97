"""One page over HTTP: hop by hop through the guard, a turn for each hop, with caps on time, size and redirects."""

from __future__ import annotations

import asyncio
import contextlib
import html
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from specloom import __version__
from specloom.core import Fault, Policy, Request, Response, dataclass
from specloom.net import ParsedUrl, check_url

from ..options import Identity
from ..result import Fetched
from .content_type import find_kind, is_document_type, is_document_url

if TYPE_CHECKING:
    from ..options import Options
    from .politeness import Politeness


# --- Cookies for the length of one reading: enough to get through a site that redirects until it sees its own
# cookie ---------------------------------------------------------------------------------------------------------------


# Responses join repeated headers with commas; a comma inside a date is not followed by `name=`.
_NEXT = re.compile(r",\s*(?=[!#$%&'*+.^_`|~0-9A-Za-z-]+=)")
_PAIR = re.compile(r"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,128})=([^;,\x00-\x20\x7f-\uffff]{0,2048})\s*(?:;|$)")

MOST = 30
"""Cookies that are kept for one host."""


class Jar:
    """What each host set. A cookie goes back to exactly the host that set it, and is gone when the reading ends."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, str]] = {}

    def take(self, host: str, header: str) -> None:
        """Keep the cookies of a Set-Cookie header; their attributes are not looked at."""
        if not header:
            return
        cookies = self._kept.setdefault(host, {})
        for part in _NEXT.split(header):
            pair = _PAIR.match(part)
            if pair and (pair[1] in cookies or len(cookies) < MOST):
                cookies[pair[1]] = pair[2]

    def give(self, host: str) -> str:
        """The Cookie header for a host; empty where it set none."""
        return "; ".join(f"{name}={value}" for name, value in self._kept.get(host, {}).items())


Send = Callable[[Request], Awaitable[Response]]

REDIRECTS = frozenset({301, 302, 303, 307, 308})
SMALL_PAGE = 8192
"""Only a page of at most so many bytes is taken for one that merely leads elsewhere."""
SOON = 5
"""Seconds after which such a page leads there at the latest."""

# What browsers refuse to ask over HTTP: https://fetch.spec.whatwg.org/#port-blocking
# fmt: off
BAD_PORTS = frozenset(
    {
        1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
        110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530,
        531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190,
        5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080
    }
)
# fmt: on

_REFRESH = re.compile(
    rb"""<meta\b(?>[^<>]*?http-equiv\s*+=\s*+["']?refresh\b)[^<>]*?\bcontent\s*+=\s*+["']?\s*+(\d{1,2})(?:\.\d*+)?\s*+[;,]\s*+"""
    rb"""(?:url\s*+=\s*+)?["']?([^"'>\s]{1,2000})""",
    re.IGNORECASE,
)


_REFRESH_HEADER = re.compile(
    r"""\s*(\d{1,2})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?["']?([^"'\s]{1,2000})""", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Way:
    """How one tier goes out: its name, who it says it is, who carries its requests, and its time limit in seconds."""

    tier: str
    headers: Headers
    send: Send
    timeout: float


class Elsewhere(Exception):  # noqa: N818 - nothing went wrong
    """An address leads to `url`, whose site tells it through its API, or to a document that a browser cannot read."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


def check_target(url: str, options: Options) -> ParsedUrl:
    """The parts of an address that may be read; a `validation` fault for any other, and for ports of other services."""
    parsed = check_url(url, allow_private=options.allow_private, allowed_domains=options.allowed_domains)
    check_port(parsed)
    return parsed


def check_port(url: ParsedUrl) -> None:
    """Nothing for a port that pages may be on; a `validation` fault for those of mail, shells and the like."""
    if url.port in BAD_PORTS:
        raise Fault("validation", f"{url.host} is refused: port {url.port} belongs to a service that is not HTTP.")


async def fetch(
    url: str,
    way: Way,
    *,
    options: Options,
    politeness: Politeness,
    owner: str,
    now: Callable[[], float],
    follow_pages: bool = True,
    beginning: int | None = None,
    allow: Callable[[ParsedUrl], Awaitable[float | None]] | None = None,
) -> Fetched:
    """The answer to which an address leads, whatever its status; faults are those of the guard and the transport.

    Time spent waiting for a turn does not count against the limit of the tier. `follow_pages` also follows a small page
    that only refreshes to another one. `beginning` says how many bytes are wanted: of a body beyond the cap its host is
    asked for so many and one more. `allow` may refuse a hop, or give the seconds to keep between two of its host.
    `Elsewhere` is raised where that is wanted, for an address that is no longer asked itself.
    """
    jar = Jar()
    seen: set[tuple[str, str]] = set()
    left = way.timeout
    before = ""
    target = check_target(url, options)
    loop = asyncio.get_running_loop()
    for _ in range(options.redirects + 1):
        cookie = jar.give(target.host)
        if (str(target), cookie) in seen:
            raise Fault("network", f"{target.host} redirects in a circle.")
        seen.add((str(target), cookie))
        spacing = await allow(target) if allow is not None else None
        async with politeness.turn(target.host, owner=owner, spacing=spacing, follows=target.host == before):
            began = loop.time()
            response = await _ask(target, cookie, way, left, options, beginning)
            left -= loop.time() - began
        politeness.note(target.host, response.status, response.headers.get("retry-after", ""), now=now())
        jar.take(target.host, response.headers.get("set-cookie", ""))
        where = find_next(response, target, follow_pages=follow_pages)
        if where is None:
            kind = find_kind(response.body, response.headers.get("content-type", ""), str(target))
            return Fetched(response.body, str(target), way.tier, kind, response.headers, response.status)
        if left <= 0:
            raise Fault("network", f"{target.host} gave no complete answer within {way.timeout:g} seconds.")
        before = target.host
        target = check_target(where, options)
        if options.is_site is not None and options.is_site(str(target)):
            raise Elsewhere(str(target))
    raise Fault("network", f"{target.host} redirects more than {options.redirects} times.")


async def _ask(
    target: ParsedUrl, cookie: str, way: Way, left: float, options: Options, beginning: int | None
) -> Response:
    headers = (*way.headers, ("Cookie", cookie)) if cookie else way.headers
    document = is_document_url(str(target))
    policy = Policy(
        timeout=left,
        max_bytes=options.max_document_bytes if document else options.max_html_bytes,
        redirects=0,
        any_host=True,
        allow_private=options.allow_private,
    )
    request = Request("GET", str(target), headers=headers, policy=policy)
    try:
        return await way.send(request)
    except Fault as fault:
        if fault.kind != "too_large":
            raise
        if beginning is not None and (part := await _ask_for_part(request, way, beginning)) is not None:
            return part
        if document or options.max_document_bytes <= options.max_html_bytes:
            raise
        # Documents may be larger than pages. What this is was not in its address, so its host is asked.
        head = await way.send(replace(request, method="HEAD"))
        if not is_document_type(head.headers.get("content-type", "")):
            raise
        larger = replace(policy, max_bytes=options.max_document_bytes)
        return await way.send(replace(request, policy=larger))


async def _ask_for_part(request: Request, way: Way, last: int) -> Response | None:
    """The bytes up to `last`, from a host that gives parts; nothing from one that sends the whole all the same."""
    last = min(last, request.policy.max_bytes - 1)
    part = (("Accept-Encoding", "identity"), ("Range", f"bytes=0-{last}"))
    try:
        return await way.send(replace(request, headers=(*request.headers, *part)))
    except Fault as fault:
        if fault.kind != "too_large":
            raise
        return None


def find_next(response: Response, at: ParsedUrl, *, follow_pages: bool) -> str | None:
    """Where an answer leads on to, by its status or, with `follow_pages`, a page that only refreshes; else nothing."""
    location = response.headers.get("location", "") if response.status in REDIRECTS else ""
    if not location and follow_pages and response.status == 200 and len(response.body) <= SMALL_PAGE:
        refresh = _REFRESH.search(response.body)
        if refresh and int(refresh[1]) <= SOON:
            location = html.unescape(refresh[2].decode("latin-1"))
        elif header := _REFRESH_HEADER.match(response.headers.get("refresh", "")):
            location = header[2] if int(header[1]) <= SOON else ""
    if not location:
        return None
    # Servers put raw UTF-8 and blanks into this header; browsers encode both.
    with contextlib.suppress(UnicodeError):
        location = location.encode("latin-1").decode("utf-8")
    try:
        joined = urljoin(str(at), location.strip(" \t\r\n").replace(" ", "%20"))
    except ValueError:
        raise Fault("validation", f"{at.host} redirects to something that is not a URL.") from None
    return None if joined.partition("#")[0] == str(at) and response.status == 200 else joined


# --- Who a request says it is: the headers of one coherent desktop browser, or of a robot that says so. Both are
# data -----------------------------------------------------------------------------------------------------------------


Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Persona:
    """One identity: its user agent, and its headers in the order in which they are sent, user agent included."""

    user_agent: str
    headers: Headers


@cache
def load_persona(name: Identity) -> Persona:
    """The persona of `identities.json`, whose headers go together (a test sees to it)."""
    data = json.loads(files(__package__).joinpath("identities.json").read_text(encoding="utf-8"))[name]
    agent = data["user_agent"].format(version=__version__)
    headers = tuple((str(key), str(value)) for key, value in data["headers"])
    return Persona(agent, (("User-Agent", agent), *headers))
