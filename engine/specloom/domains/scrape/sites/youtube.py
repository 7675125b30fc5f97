"""YouTube: what is said in a video, from its captions; where there are none, what the channel says of it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urljoin, urlsplit

from specloom.core import Fault, Policy, Request

from .site import Address, Route, Row, SitePage, cut, find_one, or_none, parse_address

if TYPE_CHECKING:
    from specloom.plugins import Context


# --- WebVTT becomes lines of a transcript, each with the moment it begins, and lines that roll up are told once -------


_TIMING: Final = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{3})\s+-->\s")
_TAG: Final = re.compile(r"<[^<>]*>")
_WORD_TIME: Final = re.compile(r"<\d{2}:\d{2}(?::\d{2})?\.\d{3}>")

_MOST_HIGHLIGHTS: Final = 5
_LEAST_LINES: Final = 5


@dataclass(frozen=True, slots=True)
class CaptionLine:
    """One line of a transcript and the second it begins at."""

    second: int
    text: str

    @property
    def clock(self) -> str:
        """`M:SS`, and `H:MM:SS` from an hour on."""
        minutes, seconds = divmod(self.second, 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"

    def __str__(self) -> str:
        return f"[{self.clock}] {self.text}"


def parse_captions(vtt: str) -> list[CaptionLine]:
    """The lines of a WebVTT file, one a cue; what is no cue (notes, styles, numbers) is passed over.

    Automatic captions show the line before again above the new one: what a cue has in common with the end of the one
    before is left out.
    """
    lines: list[CaptionLine] = []
    before: list[str] = []
    rolling = _WORD_TIME.search(vtt) is not None
    # A row of one blank is a row of a cue; only an empty one ends it.
    for block in re.split(r"\n{2,}", vtt.replace("\r\n", "\n").replace("\r", "\n")):
        rows = block.split("\n")
        at = next((index for index, row in enumerate(rows) if _TIMING.match(row.strip())), None)
        if at is None:
            continue
        found = _TIMING.match(rows[at].strip())
        assert found is not None
        shown = [text for row in rows[at + 1 :] if (text := " ".join(unescape(_TAG.sub("", row)).split()))]
        fresh = shown[_overlap(before, shown, whole=rolling) :]
        before = shown or before
        if fresh:
            hours, minutes, seconds = (int(found[group] or 0) for group in (1, 2, 3))
            lines.append(CaptionLine(hours * 3600 + minutes * 60 + seconds, " ".join(fresh)))
    return lines


def _overlap(before: Sequence[str], shown: Sequence[str], *, whole: bool) -> int:
    """How many lines at the start of a cue are those at the end of the one before.

    A cue that is all repetition counts as one only where captions roll (`whole`): people do say things twice.
    """
    most = min(len(before), len(shown) if whole else len(shown) - 1)
    return next((size for size in range(most, 0, -1) if list(before[-size:]) == list(shown[:size])), 0)


def find_highlights(lines: Sequence[CaptionLine]) -> list[Mapping[str, Any]]:
    """The five most telling lines, best first, with a score from 0 to 1; none of fewer than five lines.

    A word with a digit counts 2, one in capitals (of two letters or more) 1, a question 1: the contract's weights.
    """
    if len(lines) < _LEAST_LINES:
        return []
    scored = sorted(((_score(line.text), line) for line in lines), key=lambda pair: -pair[0])[:_MOST_HIGHLIGHTS]
    best = scored[0][0] or 1
    return [{"text": line.text, "score": round(score / best, 2), "startTime": line.clock} for score, line in scored]


def _score(text: str) -> int:
    words = text.split()
    digits = sum(any(character.isdigit() for character in word) for word in words)
    capitals = sum(word.isupper() and sum(map(str.isalpha, word)) > 1 for word in words)
    return 2 * digits + capitals + text.endswith("?")


HOSTS: Final = frozenset(
    {
        "youtube.com", "www.youtube.com", "m.youtube.com", "music.youtube.com", "gaming.youtube.com",
        "youtube-nocookie.com", "www.youtube-nocookie.com", "youtu.be", "www.youtu.be", "consent.youtube.com",
    }
)  # fmt: skip
PROVIDER: Final = "youtube"

_ID: Final = re.compile(r"[A-Za-z0-9_-]{11}")
_FOLDERS: Final = frozenset({"embed", "shorts", "live", "v", "e", "watch"})
_DETOURS: Final = {"consent.youtube.com": "continue", "attribution_link": "u"}
"""Where one is sent on from, by host or path, and which parameter says where to."""
_NO_IDS: Final = frozenset({"videoseries", "live_stream"})
"""What stands in the place of an id when a list or a channel is embedded, and happens to look like one."""

_LANGUAGES: Final = ("en", "en-US", "en-GB")
# The contract's bounds: bytes of a transcript, characters of a description.
_LEAST_TRANSCRIPT: Final = 100
_LEAST_DESCRIPTION: Final = 20
_PATIENCE: Final = 15.0
"""Seconds for the details of a video and again for its captions, which makes the contract's 30."""
_POLICY: Final = Policy(timeout=15, max_bytes=5 * 1024 * 1024, redirects=2)
_TELLING: Final = ("not_found", "auth_required", "rate_limited", "blocked")
"""Kinds of fault that say most about why there is nothing, the most definite first."""


def match(address: Address) -> Route | None:
    """Every way to name one video; channels, lists and searches are read like any page."""
    parts = address.parts
    detour = _DETOURS.get(address.host) or _DETOURS.get(parts[0] if len(parts) == 1 else "")
    if detour:
        further = parse_address(urljoin("https://www.youtube.com/", address.query.get(detour, "")[:2000]))
        is_end = further is not None and further.host in HOSTS and further.host not in _DETOURS
        return match(further) if further is not None and is_end and further.parts != parts else None
    if address.host.endswith("youtu.be"):
        said = parts[0] if parts else ""
    elif len(parts) > 1 and parts[0] in _FOLDERS:
        said = parts[1]
    else:
        said = address.query.get("v", "") if parts in ((), ("watch",)) else ""
    if not _ID.fullmatch(said) or said in _NO_IDS:
        return None
    return Route("youtube", "video", address.url, {"id": said})


async def read(route: Route, context: Context, *, max_length: int, patience: float = _PATIENCE) -> SitePage:
    """The transcript, with the time of every line; else the description. A fault says why there is neither."""
    number = route.names["id"]
    faults: list[Fault] = []

    async def find(source: str) -> Row:
        asked = find_one(context, "video", {"id": number, "source": source}, provider=PROVIDER)
        try:
            return await asyncio.wait_for(asked, patience) or {}
        except Fault as fault:
            faults.append(fault)
        except TimeoutError:
            faults.append(Fault("network", f"YouTube did not tell of the video {number} in {patience:g} s"))
        return {}

    player, page = await asyncio.gather(find("player"), find("page"))
    details = {**page, **player}
    try:
        lines = await asyncio.wait_for(_find_lines(number, (player, page), context), patience)
    except TimeoutError:
        lines = []
    title = str(details.get("title") or f"YouTube video {number}")
    content, extracted = "\n".join(map(str, lines)), bool(lines)
    if not extracted:
        description = str(details.get("description") or "").strip()
        if len(description) < _LEAST_DESCRIPTION:
            raise _why_nothing(number, faults, known=bool(details))
        content = f"[Video: {title}]\n\n{description}"
    content, shortened = cut(content, max_length)
    return SitePage(
        content,
        title,
        "youtube",
        "youtube",
        url=f"https://www.youtube.com/watch?v={number}",
        site="YouTube",
        authors=(details["author"],) if details.get("author") else (),
        published=str(details.get("published_at") or ""),
        truncated=shortened,
        highlights=tuple(find_highlights(lines)),
    )


async def _find_lines(number: str, told: Sequence[Row], context: Context) -> list[CaptionLine]:
    """The lines of the first captions that can be had: of the player, of the page, of the old address."""
    seen: set[str] = set()
    for details in told:
        track = choose_track(details.get("captions") or [])
        request = to_request(track["url"]) if track else None
        if request is None or str(request.query) in seen:
            continue
        seen.add(str(request.query))
        try:
            response = await context.send(request)
        except Fault:
            continue
        # An answer with nothing in it wants a proof of origin; another way may do without.
        if response.status == 200 and (lines := _accept(response.body.decode("utf-8", "replace"))):
            return lines
    for language in _LANGUAGES:
        arguments = {"id": number, "language": language}
        row = await or_none(find_one(context, "transcript", arguments, provider=PROVIDER))
        if row and (lines := _accept(row["text"])):
            return lines
    return []


def _accept(vtt: str) -> list[CaptionLine]:
    lines = parse_captions(vtt)
    return lines if len("\n".join(map(str, lines)).encode()) > _LEAST_TRANSCRIPT else []


def choose_track(tracks: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """English that people wrote, English that a machine heard, else what comes first."""

    def rank(track: dict[str, Any]) -> int:
        tag = str(track.get("language") or "").lower()
        return (tag == "en" or tag.startswith("en-")) * (1 if track.get("automatic") else 2)

    usable = [track for track in tracks if isinstance(track.get("url"), str)]
    return max(usable, key=rank, default=None)


def to_request(url: str) -> Request | None:
    """The request for a track as WebVTT; nothing for an address that is not YouTube's own."""
    try:
        split = urlsplit(url)
    except ValueError:
        return None
    host = split.hostname or ""
    if split.scheme != "https" or not (host == "youtube.com" or host.endswith(".youtube.com")) or split.port:
        return None
    # Of two formats in one address the first would win, so the one that is there is replaced.
    query = [pair for pair in parse_qsl(split.query, keep_blank_values=True) if pair[0] != "fmt"]
    return Request(
        "GET",
        f"https://{host}{split.path}",
        (*query, ("fmt", "vtt")),
        (("Accept-Language", "en"),),
        policy=_POLICY,
        provider=PROVIDER,
        operation="transcript",
    )


def _why_nothing(number: str, faults: Sequence[Fault], *, known: bool) -> Fault:
    if known:
        message = f"The YouTube video {number} has neither captions nor a description to read."
        return Fault("content_empty", message, action="inform_user")
    ranked = sorted(faults, key=lambda one: _TELLING.index(one.kind) if one.kind in _TELLING else len(_TELLING))
    return ranked[0] if ranked else Fault("not_found", f"YouTube tells nothing of the video {number}")
