"""Pages that are not what was asked for: walls against robots or for consent, log-ins, shells that a script would fill,
and pages that say that they are not there.

A wall is never told by a phrase alone: a page *about* such walls holds the same words. It takes the phrase together
with the machinery of a wall in the markup, or a page that says next to nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Final, Literal
from urllib.parse import urlsplit

from specloom.core import load_table
from specloom.domains.text import is_missing

from ..browser.consent import ABOUT

# --- Pages that ask for consent to cookies instead of saying what they were asked for: told by where they are, or
# by how ---------------------------------------------------------------------------------------------------------------
# little else they say. A page about cookies explains them, and stays where it was asked for.


LITTLE: Final = 60
"""Words up to which a page that asks says nothing else."""
MOST: Final = 400
"""Words up to which a page that a reader was led to is one that asks."""

_SPEAKS: Final = re.compile(ABOUT, re.IGNORECASE)
_PLACE: Final = re.compile(
    r"(?:^|\.)(?:consent|guce|cmp|privacygate|cookiewall)\.|/(?:consent|collectconsent|zustimmung|cookie-?(?:wall|consent)"
    r"|privacy-?(?:gate|wall)|gdpr-?consent|cmp)(?:[/.]|$)",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"\b(?:we|our partners|partners|wir|nous|usamos|utilizamos|utilizziamo|usiamo|wij|gebruiken|vi|używamy)\b"
    r"[^.]{0,80}\bcookies?\b|\bcookies?\b[^.]{0,60}(?:consent|accept|zustimm|akzept|aceptar|accettar)",
    re.IGNORECASE,
)


def leads_to_consent(text: str, *, asked: str, url: str) -> bool:
    """Whether a reading was led from `asked` to a place for consent, whose text speaks of it and of little else."""
    if not _is_place(url) or _is_place(asked) or len(text.split()) > MOST:
        return False
    return bool(_SPEAKS.search(text))


def is_notice(text: str) -> bool:
    """Whether a text is no more than the notice of a site that uses cookies."""
    return len(text.split()) <= LITTLE and bool(_ASKS.search(text))


def _is_place(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(_PLACE.search((parts.hostname or "") + parts.path))


Verdict = Literal["good", "wall", "login", "consent", "missing", "shell", "empty"]

SHORT = 2048
"""Bytes of text up to which a page can be a wall or a shell."""
ENOUGH = 100
"""Bytes of text above which a page can be content."""
BARE = 60
"""Words up to which a page that holds a phrase of a wall says next to nothing else."""
SHELL_RATIO = 20
"""Bytes of HTML for one byte of text from which a page may be a shell."""
SHELL_WORDS = 30

_TABLE: Final[dict[str, list[str]]] = load_table(__file__, "block_pages.yaml")
_PHRASES = re.compile("|".join(_TABLE["wall"]), re.IGNORECASE)
_LOGIN_PHRASES = re.compile("|".join(_TABLE["login"]), re.IGNORECASE)
_MACHINERY = re.compile("|".join(_TABLE["machinery"]).encode("ascii"), re.IGNORECASE)
_SCRIPT_HOSTS = re.compile("|".join(_TABLE["script_hosts"]))
_USELESS_FRAMES = re.compile("|".join(_TABLE["useless_frames"]))
_PASSWORD = re.compile(rb"""<input\b[^<>]{0,500}\btype\s*=\s*["']?password""", re.IGNORECASE)
_HIDDEN_FORM = re.compile(rb"<form\b[^<>]{0,500}?(?:\bhidden\b(?!-)|display\s*:\s*none)", re.IGNORECASE)
_LOGIN_PATH = re.compile(
    r"/(?:log-?in|sign-?in|signon|sso|auth|authenticate|accounts?/login|session/new)\b", re.IGNORECASE
)
_ROOT = re.compile(
    rb"""\bid\s*=\s*["']?(?:root|app|__next|__nuxt|___gatsby|svelte|main-app|react-root|q-app)["'\s>]"""
    rb"""|<app-root\b|\bng-version=|\bdata-reactroot\b""",
    re.IGNORECASE,
)
_PLAIN_TAG = re.compile(rb"(?:(?<!\s)\s++)?<(/?)(?:div|main|section|span|app-root)\b[^<>]{0,500}>", re.IGNORECASE)
_DEMAND = re.compile(
    rb"(?:enable|requires?|need)[^<]{0,60}javascript|javascript[^<]{0,60}(?:enabled?|required)", re.IGNORECASE
)
_TAG = re.compile(rb"<[^<>]*>")
_TITLE = re.compile(rb"<title\b[^<>]{0,200}>([^<]{0,300})", re.IGNORECASE)


def judge(
    text: str, *, title: str = "", html: bytes = b"", asked: str = "", url: str = "", whole: bool | None = None
) -> Verdict:
    """What an extracted text is, given the HTML it came from (empty for a text that came as such).

    `asked` and `url` are where the reading began and where redirects ended: a log-in is told by where one ended up.
    `whole` is what the extractor thinks of its text: of 774 real pages about forty that it was sure of would pass for
    shells by their sizes alone, and none of them is one.
    """
    size = len(text.encode("utf-8", "replace"))
    if size == 0:
        return _judge_nothing(title, html, asked, url)
    if size <= SHORT and _is_wall(text, title, html):
        return "wall"
    if size <= SHORT and _is_login(text, html, asked, url):
        return "login"
    if leads_to_consent(text, asked=asked, url=url):
        return "consent"
    if is_missing(text, titles=(title, _find_title(html)), html=html):
        return "missing"
    if size > SHORT:
        return "good"
    if html:
        return "shell" if _is_shell(size, html, whole) or is_notice(text) else "good"
    return "shell" if len(text.split()) < SHELL_WORDS and not _is_dense(text) else "good"


def judge_raw(body: bytes) -> Verdict:
    """What an HTML body is, for callers who want it as it is: a wall, empty, or good; a shell is what it is."""
    if len(body) > 200_000:
        return "good"
    if not body.strip():
        return "empty"
    text = " ".join(_TAG.sub(b" ", _without_code(body)).decode("utf-8", "replace").split())
    return "wall" if len(text) <= SHORT and _is_wall(text, _find_title(body), body) else "good"


def is_challenge(body: bytes, headers: Mapping[str, str]) -> bool:
    """Whether an answer that refuses a page is the wall of a vendor, whatever its status says."""
    if any(name in headers for name in _TABLE["challenge_headers"]):
        return True
    # Errors of the host behind it come in the vendor's frame, too, and are none of its own.
    return any(match[0].lower() != b"cf-error-details" for match in _MACHINERY.finditer(body[:200_000]))


def is_app(html: bytes) -> bool:
    """Whether a page has an element that a script is to fill, and so may come to say something else."""
    return bool(_ROOT.search(html))


def score(text: str) -> float:
    """How much of a text there is: its bytes times the share of letters, of any script, and blanks in it."""
    if not text:
        return 0.0
    spoken = sum(1 for character in text if character.isalpha() or character.isspace())
    return len(text.encode("utf-8", "replace")) * spoken / len(text)


def _find_title(html: bytes) -> str:
    title = _TITLE.search(html, 0, 200_000)
    return title[1].decode("utf-8", "replace") if title else ""


def _judge_nothing(title: str, html: bytes, asked: str, url: str) -> Verdict:
    """What a page without text is: where a password is asked for, a log-in that was led to, or that no script fills.

    The shells of forums hold such a form for programs that keep passwords, unseen.
    """
    if html and _is_wall("", title, html):
        return "wall"
    form = _PASSWORD.search(html)
    if form is None or _HIDDEN_FORM.match(html, max(html.rfind(b"<form", 0, form.start()), 0)):
        return "empty"
    is_filled = is_app(html) or b"<script" in html.lower()
    return "empty" if is_filled and not _leads_to_login(asked, url) else "login"


def _leads_to_login(asked: str, url: str) -> bool:
    return bool(_LOGIN_PATH.search(url)) and not _LOGIN_PATH.search(asked)


def _is_wall(text: str, title: str, html: bytes) -> bool:
    words = text.split()
    phrase = bool(_PHRASES.search(text) or _PHRASES.search(title))
    if html and _MACHINERY.search(html[:200_000]):
        return phrase or len(words) <= BARE
    return phrase and len(words) <= BARE


def _is_login(text: str, html: bytes, asked: str, url: str) -> bool:
    moved = _leads_to_login(asked, url)
    password = bool(html) and bool(_PASSWORD.search(html))
    few = len(text.split()) <= 2 * BARE
    # Two of the three signs of a log-in.
    return few and moved + password + bool(_LOGIN_PHRASES.search(text)) >= 2


def _is_shell(size: int, html: bytes, whole: bool | None) -> bool:
    heavy = len(html) >= SHELL_RATIO * size
    if size <= ENOUGH:
        # A tiny page without scripts is all there is of it.
        return heavy or b"<script" in html.lower() or is_app(html)
    if not heavy:
        return False
    if whole:
        return _has_empty_root(html)
    # Heavy markup round a short text is common; that a script is to fill the page has to show.
    return size <= 512 or is_app(html) or _demands_script(html)


def _has_empty_root(html: bytes) -> bool:
    """Whether the element that a script is to fill holds nothing, or nothing but empty elements."""
    root = _ROOT.search(html)
    start = html.rfind(b"<", 0, root.end()) if root else -1
    depth = 0
    at = start
    for _ in range(40):
        tag = _PLAIN_TAG.match(html, at) if at >= 0 else None
        if tag is None:
            return False
        depth += -1 if tag[1] else 1
        if depth == 0:
            return True
        at = tag.end()
    return False


def _demands_script(html: bytes) -> bool:
    low = html[:500_000].lower()
    places = islice(re.finditer(b"<noscript", low), 20)
    return any(_DEMAND.search(low, place.start(), place.start() + 800) for place in places)


def _without_code(body: bytes) -> bytes:
    """The markup without what stands in scripts and styles; in one pass, however it is broken."""
    low = body.lower()
    for name in (b"script", b"style"):
        kept: list[bytes] = []
        at = 0
        while (start := low.find(b"<" + name, at)) >= 0:
            kept.append(body[at:start])
            end = low.find(b"</" + name, start)
            at = len(body) if end < 0 else end
        kept.append(body[at:])
        body = b"".join(kept)
        low = body.lower()
    return body


def _is_dense(text: str) -> bool:
    """Scripts without blanks say much in what counts as few words."""
    return sum(1 for character in text if "⺀" <= character <= "힯" or "฀" <= character <= "໿") >= 60


# --- Hosts and addresses whose pages are nothing without their scripts, so that a browser reads them first ------------


def is_spa_host(host: str) -> bool:
    """Whether pages of a host are worth nothing without their scripts."""
    return bool(_SCRIPT_HOSTS.fullmatch(host))


def to_route(url: str) -> str:
    """The part of an address behind `#`, with it, where scripts make a page of it (`#/docs`, `#!docs`); else ""."""
    mark = url.find("#")
    return url[mark:] if mark >= 0 and url.startswith(("/", "!"), mark + 1) else ""


def is_useless_frame(url: str) -> bool:
    """Whether a frame never holds the text of a page: it counts, advertises, challenges or plays."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return True
    return parts.scheme not in ("http", "https") or bool(_USELESS_FRAMES.search(f"{parts.hostname or ''}{parts.path}"))
