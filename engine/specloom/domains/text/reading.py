"""Reads a long text by pieces: its beginning with an outline, and any part of it by offset, by section or by query.

Offsets are characters of the text as it is kept, whatever is made of a piece of it before it is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from specloom.core import Fault, clean, dataclass, find_nearest
from specloom.plugins import WINDOWS, Context, OpenedText, WholeText, find_reader, from_json, procedure, to_json
from specloom.plugins.records import record

from .links import AS_KEPT, LinkStyle, Rendition, to_origin
from .outline import LEAST_SECTIONS, Section, find_page, find_pages, find_section, find_sections, show_outline
from .passages import GAP, Passage, choose_passages, quote_passages
from .tokens import terms, tokens
from .windows import to_cost

RESERVE = 140
"""Tokens of a budget that are left for what is told beside the text: the address, the place, how to read on."""
LEAST_ROOM = 60
_OUTLINE_SHARE = 5
"""The outline has one part of so many of the budget."""
MOST_OUTLINE = 1000
"""Tokens of an outline where there is no budget."""
_NO_MARKDOWN = frozenset({"text", "tex"})
"""Kinds of texts, beside media types, that are told as they are."""
_MOST_NAMED = 12
"""Headings that a fault names where a section is not there."""
UNKNOWN = (
    "{source!r} is no address that can be read on; give the `source` that an answer said: research://artifact/…, "
    "a paper as doi:10.1234/abc, arxiv:2401.12345 or pmid:12345678, or the address of a page, which scrape_page opens"
)
PAGES = "{count} without headings, up to {last}, each a section of that name"
FETCHED = "This was fetched now, because nothing was kept of it."
SAME = "This was fetched anew, and has not changed since."
CHANGED = "This has changed since it was read before, so offsets and sections of then may be elsewhere now."
BEHIND = "Offset {offset:,} is behind the end: the text has {length:,} characters."
NOTHING_SAID = "No word of the query is in this text; this is how it begins."


@record
class Onward:
    """The arguments that read on where an answer ends."""

    source: str
    offset: int
    digest: str


@dataclass(frozen=True, slots=True)
class FirstWindow:
    """How a text begins: what of it fits, and where it was cut its outline and what reads on."""

    content: str
    outline: tuple[str, ...] = ()
    onward: Onward | None = None


@record
class ReadPiece:
    """A piece of a text, and where in it that stands."""

    source: str
    title: str | None = None
    content: str
    offset: int
    """Where the content begins, in characters of the whole."""
    end: int
    """Where it ends."""
    length: int
    """Characters of the whole."""
    is_end: bool
    """Whether nothing follows."""
    section: str | None = None
    """The heading of the section that was asked for."""
    passages: int | None = None
    """How many passages were quoted, where it was looked for them; each begins with `@` and its offset."""
    outline: Sequence[str] | None = None
    read_on: Onward | None = None
    note: str | None = None


def to_digest(text: str) -> str:
    """Eight characters by which it is seen that a text has changed."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def open_text(
    text: str, source: str, room: int, *, most: int = 0, style: LinkStyle = AS_KEPT, page: str = ""
) -> FirstWindow:
    """The beginning of a text in at most `room` tokens and `most` bytes; 0 is no bound.

    Links and pictures are told in a `style`; `page` is the address of the text itself.
    """
    rendition = Rendition(text, style, page=page)
    end = rendition.find_end(0, room, most=most)
    if end >= len(text):
        return FirstWindow(rendition.tell())
    outline = _fit_outline(text, _to_sections(text), room // _OUTLINE_SHARE if room else MOST_OUTLINE)
    if outline and room:
        end = rendition.find_end(0, max(LEAST_ROOM, room - _cost_of(outline)), most=most)
    return FirstWindow(rendition.tell(0, end), outline, Onward(source=source, offset=end, digest=to_digest(text)))


def is_markdown(kind: str) -> bool:
    """Whether links and pictures of a text of this kind are Markdown: not those of source code, data and originals."""
    return kind not in _NO_MARKDOWN and ("/" not in kind or kind == "text/markdown")


@WINDOWS.register("window")
def tell_window(text: str, source: str, room: int) -> OpenedText:
    """How a text begins, with its outline and what reads on where it was cut."""
    window = open_text(text, source, room)
    return OpenedText(
        content=window.content,
        end=len(window.content),
        length=len(text),
        outline=window.outline,
        read_on=to_json(window.onward) if window.onward else None,
    )


def _to_sections(text: str) -> list[Section]:
    """The sections of a text by its headings; of a document with hardly any, its pages."""
    sections = find_sections(text)
    return sections if len(sections) >= LEAST_SECTIONS else find_pages(text) or sections


def _fit_outline(text: str, sections: Sequence[Section], room: int) -> tuple[str, ...]:
    if sections and sections == find_pages(text):
        return (PAGES.format(count=len(sections), last=sections[-1].heading),)
    most = 40
    while most >= 5:
        lines = tuple(show_outline(text, sections, most=most))
        if _cost_of(lines) <= room:
            return lines
        most //= 2
    return ()


def _cost_of(lines: Sequence[str]) -> int:
    return to_cost("\n".join(lines)) + len(lines)


@procedure("read_on", reads_sources=True)
async def read_on(
    context: Context,
    source: str,
    *,
    offset: int = 0,
    section: str = "",
    query: str = "",
    digest: str = "",
    links: str = AS_KEPT.links,
    images: str = AS_KEPT.images,
    max_tokens: int,
) -> ReadPiece:
    """A piece of what stands under an address, in at most `max_tokens` tokens.

    It begins at `offset`, or at the heading or number `section` of the outline; with `query` the passages behind that
    which speak to it are quoted. `digest` is that of the text that was read before: a note says where it has changed.
    Offsets are those of the text as it is kept, in whatever style its links and pictures are told.
    """
    whole = await _open(context, source)
    text = whole.text
    style = LinkStyle(links, images) if is_markdown(whole.kind) else AS_KEPT
    is_at_source = to_origin(source) == to_origin(whole.page)
    rendition = Rendition(text, style, page=whole.page, base=whole.page if is_at_source else "")
    notes = [_tell_age(whole, digest)]
    sections = _to_sections(text)
    chosen = _choose_section(text, sections, section, source) if section.strip() else None
    start, end = (chosen.start, chosen.end) if chosen else (0, len(text))
    start = max(start, offset)
    if start >= len(text) and text:
        notes.append(BEHIND.format(offset=start, length=len(text)))
    room = max(LEAST_ROOM, max_tokens - RESERVE - 2 * to_cost(source) - to_cost(whole.title))
    told: dict[str, Any] = {"source": source, "title": whole.title or None, "length": len(text)}
    told["section"] = chosen.heading if chosen else None
    if query.strip() and start < end:
        return _look_for(rendition, (start, end), query, room, {**told, "notes": notes})
    outline: tuple[str, ...] = ()
    stop = rendition.find_end(start, room, end=end) if start < end else min(start, len(text))
    if not start and not chosen and stop < len(text):
        outline = _fit_outline(text, sections, room // _OUTLINE_SHARE)
        stop = rendition.find_end(0, max(LEAST_ROOM, room - _cost_of(outline)), end=end) if outline else stop
    is_end = stop >= len(text)
    onward = None if is_end else Onward(source=source, offset=stop, digest=to_digest(text))
    return ReadPiece(
        content=rendition.tell(start, max(start, stop)),
        offset=min(start, len(text)),
        end=stop,
        is_end=is_end,
        outline=list(outline) or None,
        read_on=onward,
        note=_join(notes),
        **told,
    )


def _look_for(
    rendition: Rendition, place: tuple[int, int], query: str, room: int, told: Mapping[str, Any]
) -> ReadPiece:
    """The passages of a part of a text, told with their places in the whole."""
    notes = [*told["notes"]]
    told = {name: value for name, value in told.items() if name != "notes"}
    start = place[0]
    text = rendition.text[slice(*place)]
    (passages,) = choose_passages(
        [text], query, room, told=[lambda first, last: rendition.tell(start + first, start + last)]
    )
    pages = find_pages(rendition.text)
    if pages:
        passages = [_with_page(one, find_page(pages, start + one.start)) for one in passages]
    content = quote_passages(text, passages, start=start, rendition=rendition)
    if not set(terms(query)) & set(tokens(content)):
        notes.append(NOTHING_SAID)
    return ReadPiece(
        content=content,
        offset=start + (passages[0].start if passages else 0),
        end=start + (passages[-1].end if passages else 0),
        is_end=False,
        passages=len(passages),
        note=_join(notes),
        **told,
    )


def _with_page(passage: Passage, page: str) -> Passage:
    """A passage with the page on which it stands before its headings."""
    return replace(passage, path=GAP.join(filter(None, (page, passage.path))))


def _join(notes: Sequence[str]) -> str | None:
    return " ".join(filter(None, notes)) or None


async def _open(context: Context, source: str) -> WholeText:
    """The whole text under an address, cleaned, so that its offsets are those of what is told of it."""
    whole = await context.read_artifact(source)
    if whole is None:
        reader = find_reader(source)
        if not reader:
            raise Fault("not_found", UNKNOWN.format(source=source[:200]), action="fix_arguments")
        whole = from_json(WholeText, await context.run(reader, {"address": source}))
    text = _from_json(whole.text) if whole.kind == JSON else whole.text
    return replace(whole, text=clean(text)[0])


def _tell_age(whole: WholeText, digest: str) -> str:
    if digest and digest != to_digest(whole.text):
        return CHANGED
    if not whole.is_anew:
        return ""
    return SAME if digest else FETCHED


def _choose_section(text: str, sections: Sequence[Section], wanted: str, source: str) -> Section:
    found = find_section(sections, wanted) or find_section(find_pages(text), wanted)
    if found is not None:
        return found
    if not sections:
        message = f"{source} has no sections, so read it by offset or look in it for a query"
        raise Fault("validation", message, action="fix_arguments")
    names = [section.heading for section in sections]
    near = find_nearest(wanted, names)
    hint = f'did you mean "{near}"?' if near else ""
    listed = ", ".join(f"{one.number}. {one.heading}" for one in sections[:_MOST_NAMED])
    more = f" … {len(sections)}. {names[-1]}" if len(sections) > _MOST_NAMED else ""
    message = f"no section {wanted[:100]!r}" + (f"; {hint}" if hint else "") + f"; there are {listed}{more}"
    raise Fault("validation", message, action="fix_arguments")


# --- Answers that were kept as JSON are read as text --------------------------------------------------------------


JSON = "application/json"


def _from_json(body: str) -> str:
    """An answer as text: a heading for each of its keys with what is long, and a line for each that is short."""
    try:
        data = json.loads(body)
    except ValueError:
        return body
    return "\n".join(_to_lines(data)).strip() if isinstance(data, (dict, list)) else body


def _to_lines(value: Any, name: str = "", depth: int = 1) -> Iterator[str]:
    """Lines of one value: texts as they are under their names, lists and objects with headings down to the third."""
    if isinstance(value, dict):
        yield from _heading(name, depth)
        long = {key: one for key, one in value.items() if isinstance(one, (dict, list)) or _is_long(one)}
        yield from (f"- {key}: {_word(one)}" for key, one in value.items() if key not in long and one is not None)
        for key, one in long.items():
            if one:
                yield from _to_lines(one, key, depth + bool(name))
    elif isinstance(value, list) and all(not isinstance(one, (dict, list)) and not _is_long(one) for one in value):
        yield f"- {name or 'items'}: {', '.join(map(_word, value))}"
    elif isinstance(value, list):
        for number, one in enumerate(value, 1):
            yield from _to_lines(one, f"{name or 'item'} {number}", depth)
    else:
        yield from _heading(name, depth)
        yield str(value)


def _heading(name: str, depth: int) -> Iterator[str]:
    if name:
        yield f"\n{'#' * min(depth, 6)} {name}\n"


def _is_long(value: Any) -> bool:
    return isinstance(value, str) and (len(value) > 200 or "\n" in value)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
