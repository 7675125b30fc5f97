"""The fallback chain of a page: one plain request where that is enough, and tier after tier where it is not.

The first request asks for Markdown and takes HTML: what the contract calls the markdown and html tiers is one fetch. It
is repeated with the identity of a browser only when the answer was refused, a wall or a shell.
"""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import replace
from typing import TYPE_CHECKING

from specloom.core import Fault, span

from ..result import Candidate, Fetched, Mode, Quality, Reading
from .block_pages import ENOUGH, Verdict, is_app, is_useless_frame, judge, judge_raw, score
from .content_type import is_document_url
from .failures import find_kind_of_status, from_fault, from_reader, to_fault, to_outcome
from .http import check_target
from .tiers import Attempt, Extractor, Tier, choose_tiers, note_fault, note_missing, note_status

if TYPE_CHECKING:
    from specloom.plugins import Context

    from ..options import Options
    from .session import FetchSession


LARGE = 200_000
"""Bytes of a body from which an extractor runs in a thread, so that other readings go on."""
MOST_FRAMES = 2
CONSENT = (
    "it asks for consent to cookies and tracking, and shows nothing before it is given. Try an alternative source."
)

_WORDS = {
    "wall": ("blocked", "a wall against robots"),
    "login": ("auth_required", "a log-in page"),
    "consent": ("blocked", "a wall that asks for consent"),
    "shell": ("content_empty", "a shell that a script fills"),
    "empty": ("content_empty", "empty"),
}


async def read(
    url: str,
    *,
    mode: Mode = "full",
    context: Context,
    options: Options,
    extract: Extractor,
    session: FetchSession,
    depth: int = 0,
) -> Reading:
    """The best reading of a page; one fault that tells how every tier fared where there is none.

    `extract` turns what was fetched into text; it is called in a thread for large bodies when it is an ordinary
    function. In raw mode it is not called, and `Reading.body` is the original, cut to `options.max_length` bytes.
    `depth` is 1 for the page of an iframe, which gets neither services nor iframes of its own.
    """
    attempt = Attempt(url, mode, context, options, extract, session, depth)
    try:
        check_target(url, options)
    except Fault as fault:
        raise to_fault(url, [to_outcome("guard", "validation", fault.message)]) from None
    try:
        async with asyncio.timeout(options.deadline) as clock:
            for tier in choose_tiers(attempt):
                before = len(attempt.outcomes)
                found = await _try(attempt, tier)
                if not tier.local:
                    made = attempt.outcomes[before:]
                    attempt.outcomes[before:] = [replace(outcome, by_service=True) for outcome in made]
                if found is None and attempt.frames and depth == 0:
                    found = await _follow_frames(attempt)
                if found is not None:
                    return found if tier.local else replace(found, by_service=True)
                if attempt.stopped:
                    break
    except TimeoutError:
        if not clock.expired():
            raise
        attempt.outcomes.append(to_outcome("all", "network", f"not finished within {options.deadline:g} seconds"))
    if attempt.best is not None:
        return replace(attempt.best, outcomes=tuple(attempt.outcomes))
    raise to_fault(url, attempt.outcomes, retry_after=attempt.retry_after, scripted=attempt.scripted)


async def _try(attempt: Attempt, tier: Tier) -> Reading | None:
    """What one tier gives if it is good enough to end the attempt; what it was is noted either way."""
    if tier.local and not attempt.local:
        return None
    if attempt.oversize and tier.name == "stealth":
        return None
    try:
        with span(f"tier {tier.name}") as made:
            fetched = await tier.run()
            if made is not None:
                made.set_attribute("http.response.status_code", fetched.status)
    except Fault as fault:
        note_fault(attempt, tier, fault)
        return None
    kind = find_kind_of_status(fetched.status)
    if kind is not None:
        is_final = fetched.status == 404 and await _says_not_found(attempt, fetched)
        note_status(attempt, tier, fetched, kind, is_final=is_final)
        return None
    if tier.local and fetched.body and fetched.body == attempt.last_body:
        attempt.outcomes.append(to_outcome(fetched.tier, "content_empty", "the same answer as before"))
        attempt.stopped = attempt.stopped or attempt.gone
        return None
    attempt.last_body = fetched.body
    if attempt.mode == "raw":
        return _take_raw(attempt, fetched)
    try:
        if fetched.kind == "other" and fetched.body:
            fetched = _open(fetched, attempt.options.max_html_bytes)
    except Fault as fault:
        attempt.outcomes.append(from_reader(fetched.tier, fault))
        attempt.stopped = True
        return None
    try:
        candidate = await _extract(attempt, fetched)
    except Fault as fault:
        attempt.outcomes.append((from_reader if fetched.kind == "document" else from_fault)(fetched.tier, fault))
        attempt.local = attempt.local and fetched.kind == "html"
        return None
    verdict = _judge(attempt, tier, fetched, candidate)
    if fetched.kind in ("document", "text") and fetched.body:
        # Neither another identity nor a browser makes more of it.
        attempt.local = False
    if verdict == "good":
        attempt.outcomes.append(to_outcome(fetched.tier, "ok", f"{len(candidate.text)} characters"))
        return _to_reading(attempt, fetched, candidate, "complete")
    if verdict == "missing":
        note_missing(attempt, fetched)
        return None
    kind, words = _WORDS[verdict]
    size = len(candidate.text.encode("utf-8", "replace"))
    outcome = to_outcome(fetched.tier, kind, f"{words} ({size} bytes of text)" if size else words)
    if verdict == "consent":
        outcome = replace(outcome, fault=Fault(kind, CONSENT, action="inform_user"))
    attempt.outcomes.append(outcome)
    if verdict == "shell":
        value = score(candidate.text)
        if value > attempt.best_score:
            attempt.best, attempt.best_score = _to_reading(attempt, fetched, candidate, "partial"), value
    if verdict in ("shell", "empty") and fetched.kind == "html":
        attempt.frames = candidate.frames
        attempt.scripted = attempt.scripted or b"<script" in fetched.body.lower()
    return None


async def _says_not_found(attempt: Attempt, fetched: Fetched) -> bool:
    """Whether the text of an answer with a 404 is a page for people that says so, and no script makes another of it."""
    if attempt.mode == "raw" or fetched.kind != "html" or not fetched.body or is_app(fetched.body):
        return False
    try:
        candidate = await _extract(attempt, fetched)
    except Fault:
        return False
    return judge(candidate.text, title=candidate.title, html=fetched.body, url=fetched.url) == "missing"


def _open(fetched: Fetched, most: int) -> Fetched:
    """What is in a packed file; a fault that tells what else cannot be read, and what to do instead."""
    from .content_type import tell_unread, unpack

    opened = unpack(fetched, most=most)
    if opened.kind == "other":
        raise Fault("content_empty", tell_unread(fetched.body, fetched.content_type), action="inform_user")
    return opened


def _judge(attempt: Attempt, tier: Tier, fetched: Fetched, candidate: Candidate) -> Verdict:
    if tier.local and fetched.kind in ("text", "document", "other"):
        return "good" if candidate.text.strip() else "empty"
    verdict = judge(
        candidate.text,
        title=candidate.title,
        html=fetched.body if fetched.kind == "html" else b"",
        asked=attempt.url,
        url=fetched.url,
        whole=candidate.whole,
    )
    # What a browser rendered is no shell any more, however little it is.
    rendered = fetched.tier == "browser" and len(candidate.text.encode("utf-8", "replace")) > ENOUGH
    return "good" if rendered and verdict == "shell" else verdict


async def _extract(attempt: Attempt, fetched: Fetched) -> Candidate:
    if len(fetched.body) > LARGE and not inspect.iscoroutinefunction(attempt.extract):
        made = await asyncio.to_thread(attempt.extract, fetched)
    else:
        made = attempt.extract(fetched)
    return await made if inspect.isawaitable(made) else made


def _take_raw(attempt: Attempt, fetched: Fetched) -> Reading | None:
    verdict = judge_raw(fetched.body) if fetched.kind == "html" else ("good" if fetched.body else "empty")
    if verdict != "good":
        kind, words = _WORDS[verdict]
        attempt.outcomes.append(to_outcome(fetched.tier, kind, words))
        return None
    attempt.outcomes.append(to_outcome(fetched.tier, "ok", f"{len(fetched.body)} bytes"))
    return _to_reading(attempt, fetched, Candidate(""), "complete")


def _to_reading(attempt: Attempt, fetched: Fetched, candidate: Candidate, quality: Quality) -> Reading:
    body = b""
    if attempt.mode == "raw":
        body = cut(fetched.body, attempt.options.max_length)
    truncated = attempt.mode == "raw" and (len(body) < len(fetched.body) or fetched.is_part)
    return Reading(fetched, candidate, fetched.tier, quality, tuple(attempt.outcomes), body, truncated)


def cut(body: bytes, most: int) -> bytes:
    """At most so many bytes, and no torn UTF-8 character at the end of what was whole before."""
    if len(body) <= most:
        return body
    end = most
    while end > most - 4 and end > 0 and body[end] & 0xC0 == 0x80:
        end -= 1
    return body[:end] if body[end] & 0xC0 != 0x80 else body[:most]


async def _follow_frames(attempt: Attempt) -> Reading | None:
    """The better page of two iframes, where it is good: many shells only frame what is worth reading."""
    frames = [frame for frame in dict.fromkeys(attempt.frames) if frame not in attempt.followed]
    attempt.frames = ()
    options = replace(attempt.options, reader=False, paid=False, is_site=None)
    chosen: Reading | None = None
    for frame in frames[: MOST_FRAMES - len(attempt.followed)]:
        attempt.followed.add(frame)
        if is_document_url(frame) or is_useless_frame(frame):
            continue
        try:
            inner = await read(
                frame,
                mode=attempt.mode,
                context=attempt.context,
                options=options,
                extract=attempt.extract,
                session=attempt.session,
                depth=1,
            )
        except Fault as fault:
            attempt.outcomes.append(to_outcome("iframe", "content_empty", fault.message))
            continue
        value = score(inner.candidate.text)
        attempt.outcomes.append(to_outcome("iframe", "ok", f"{len(inner.candidate.text)} characters of {inner.tier}"))
        if value > attempt.best_score:
            chosen = attempt.best = inner
            attempt.best_score = value
    return replace(chosen, outcomes=tuple(attempt.outcomes)) if chosen and chosen.quality == "complete" else None
