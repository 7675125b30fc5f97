"""The styles by their names, entries in them as people read them, and the citation of one page.

Each is plain text that no title can break; italics are left out because plain text has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from specloom.core import dataclass
from specloom.domains.text import parse_names, to_latin

from . import author_date_styles, numbered_styles
from .author_date_styles import apa_names
from .bibtex import to_bibtex
from .entry import NAMED, BibliographyEntry, Issued, assign_keys, clean, from_source, parse_issued
from .style_parts import OTHERS, without_repeats, year_of

Writer = Callable[[BibliographyEntry, Issued, str], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ReferenceStyle:
    """A style of reference lists: how it writes an entry, and what it does to a list.

    `number` is the mark of an entry of a list that is in the order of the text; other lists are sorted. `has_letters`
    tells works of one author and year apart by letters, `has_bars` puts a bar for authors that are those before.
    """

    write: Writer
    number: str = ""
    has_letters: bool = False
    has_bars: bool = False


STYLES: Mapping[str, ReferenceStyle] = {
    "apa": ReferenceStyle(author_date_styles.apa, has_letters=True),
    "mla": ReferenceStyle(numbered_styles.mla, has_bars=True),
    "chicago-author-date": ReferenceStyle(author_date_styles.chicago_author_date, has_letters=True),
    "chicago-notes": ReferenceStyle(author_date_styles.chicago_notes),
    "harvard": ReferenceStyle(author_date_styles.harvard, has_letters=True),
    "ieee": ReferenceStyle(numbered_styles.ieee, number="[{}] "),
    "vancouver": ReferenceStyle(numbered_styles.vancouver, number="{}. "),
    "ama": ReferenceStyle(numbered_styles.ama, number="{}. "),
}
# What would open a link, an image, a tag, code or a block when the text is shown as Markdown.
_MARKUP = re.compile(r"\](?=[(\[:])|<(?=[A-Za-z/!?])|`")
_BLOCK = re.compile(r"^(?:[#>+*=|~-]|[0-9]{1,9}(?=[.)]\s))")
_BAR = "———"
_QUOTES = re.compile(r"[\"'\\“”‘’]")


def _with_makers(entry: BibliographyEntry) -> BibliographyEntry:
    """An entry under those who directed it, where nobody else made it: a film or a broadcast."""
    directors = dict(entry.roles).get("director", ())
    return replace(entry, authors=directors) if directors and not (entry.authors or entry.editors) else entry


def _with_others(entry: BibliographyEntry) -> BibliographyEntry:
    """An entry whose lists of people that go on end with OTHERS."""
    people: dict[str, Any] = {NAMED[role]: (*getattr(entry, NAMED[role]), OTHERS) for role in entry.unnamed}
    return replace(entry, **people) if people else entry


def write_list(entries: Sequence[BibliographyEntry], name: str, accessed: Issued = ()) -> list[str]:
    """The entries in a style of STYLES, in its order: as they came where it numbers them, else as they read."""
    style = STYLES[name]
    entries = [_with_others(_with_makers(entry)) for entry in entries]
    letters = _to_letters(entries) if style.has_letters else [""] * len(entries)
    lines = [_write(style, entry, accessed, letter) for entry, letter in zip(entries, letters, strict=True)]
    if style.number:
        return [style.number.format(at) + line for at, line in enumerate(lines, 1)]
    pairs = sorted(zip(lines, entries, strict=True), key=lambda pair: (_to_sort_key(pair[0]), pair[0]))
    if not style.has_bars:
        return [line for line, _ in pairs]
    leads = [_lead_of(line, entry) for line, entry in pairs]
    return [
        f"{_BAR}{line[len(lead) :]}" if is_same else line
        for (line, _), lead, is_same in zip(pairs, leads, without_repeats(leads), strict=True)
    ]


def _to_sort_key(line: str) -> str:
    """A line as it is sorted: a part that ends comes before one that goes on with another word."""
    return _QUOTES.sub("", to_latin(line)).replace(". ", "\x01")


def _write(style: ReferenceStyle, entry: BibliographyEntry, accessed: Issued = (), letter: str = "") -> str:
    text, link = style.write(entry, accessed, letter)
    return f"{defuse(' '.join(text.split()))} {link}".strip()


def _lead_of(line: str, entry: BibliographyEntry) -> str:
    """What a line begins with up to the end of its authors, whose bar keeps the stop."""
    if not entry.authors:
        return ""
    end = line.find(". ")
    # Initials and abbreviations end no list of authors.
    while end > 0 and re.search(r"(?:\b[^\W\d_]|\b[JS]r|\bet al)$", line[:end]) and not line[:end].endswith("et al"):
        end = line.find(". ", end + 1)
    return line[:end] if end > 0 else ""


def _to_letters(entries: Sequence[BibliographyEntry]) -> list[str]:
    """a, b … for works of the same authors and year, in the order of their titles; "" for who stands alone."""
    groups: dict[tuple[str, str], list[int]] = {}
    for at, entry in enumerate(entries):
        signed = entry.authors or entry.editors
        if signed:
            groups.setdefault((apa_names(signed), year_of(entry)), []).append(at)
    letters = [""] * len(entries)
    for places in groups.values():
        if len(places) > 1:
            ordered = sorted(places, key=lambda at: (_sort_title(entries[at].title), entries[at].url, at))
            for count, at in enumerate(ordered):
                letters[at] = _to_letter(count)
    return letters


def _to_letter(count: int) -> str:
    letter = chr(ord("a") + count % 26)
    return letter if count < 26 else f"{_to_letter(count // 26 - 1)}{letter}"


def _sort_title(title: str) -> str:
    return re.sub(r"^(?:a|an|the)\s", "", to_latin(title))


def defuse(text: str) -> str:
    """A line that opens no link, image, tag, code or block where it is shown as Markdown."""
    text = _MARKUP.sub(lambda match: "]\\" if match[0] == "]" else "\\" + match[0], text)
    return _BLOCK.sub(lambda match: match[0] + "\\" if match[0].isdigit() else "\\" + match[0], text)


# --- How to cite one page: what it says about itself, and the same in the styles that people paste --------------------


def cite_for_bibliography(
    url: str, title: str, author: str, site: str, published: str, accessed: str, *, doi: str = ""
) -> dict[str, Any]:
    """The citation of a page: `url`, `accessedDate`, `metadata` {title, author, site, date} and `formatted`.

    That is the page in apa and mla, and in bibtex with its DOI, where one is given. Every argument but the address may
    be "". `published` is a date in whatever form the page gives it: `metadata` keeps it as it is, the styles use the
    part of it that is certain. `accessed` is a day as YYYY-MM-DD.
    """
    title, author, site, published = clean(title), clean(author), clean(site), clean(published)
    metadata = {"title": title, "author": author, "site": site, "date": published}
    day = parse_issued(accessed)
    seen = day if len(day) == 3 else ()
    # What is formatted of the same source later is the same, its DOI included.
    source = from_source({"url": url, "doi": doi, **metadata})
    entry = replace(source, authors=parse_names(author), url=source.url or url.strip())
    formatted = {name: _write(STYLES[name], entry, seen) for name in ("apa", "mla")}
    formatted["bibtex"] = to_bibtex(assign_keys([source]))
    return {"url": url, "accessedDate": accessed, "metadata": metadata, "formatted": formatted}
