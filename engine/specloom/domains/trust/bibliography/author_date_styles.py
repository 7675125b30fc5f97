"""APA (7th edition), Chicago (18th edition, author-date and notes) and Harvard (Cite Them Right): lists by author.

Written after the published rules of each and held against a CSL processor; a name of each function is that of its
style. No style file is behind them: those are share-alike data, and a page that is scraped should not wait for a
processor.
"""

from __future__ import annotations

import re

from specloom.domains.text import Name

from .dates import read_date
from .entry import KIND_TABLE, BibliographyEntry, Issued
from .style_parts import (
    OTHERS,
    NameRule,
    american,
    capital,
    chicago_end,
    curl,
    day_first,
    edition_of,
    finish,
    headline,
    is_plural,
    joined,
    month_day,
    numbered,
    pages_of,
    quote,
    sentences,
    write_names,
    year_of,
)

DATED = ("article-magazine", "article-newspaper", "webpage", "post-weblog", "document")
"""Kinds that appear day by day."""
IN_BOOK = ("chapter", "paper-conference")


def link_of(entry: BibliographyEntry) -> str:
    """The address of a work, by its DOI where it has one, so that nothing behind it can be taken for a part of it."""
    from urllib.parse import quote as encode

    if entry.doi:
        return "https://doi.org/" + encode(entry.doi, safe="/:;.,+_-()!*'@&=$~")
    # What ends an address in running text is written in its encoded form, which is the same address.
    return re.sub(r"[\s\x00-\x1f\x7f<>\"\\`]|\](?=\()", lambda match: encode(match[0]), entry.url)


def title_of(entry: BibliographyEntry) -> str:
    """Its title, or what it is in square brackets."""
    return curl(entry.title) or f"[{KIND_TABLE[entry.kind]['shown']}]"


def site_of(entry: BibliographyEntry, authors: str = "") -> str:
    """What it appeared in, "" where that is the author or the title."""
    same = entry.container.casefold() in (authors.casefold(), entry.title.casefold())
    return "" if same else curl(entry.container)


def publisher_of(entry: BibliographyEntry) -> str:
    """Its publisher, "" where that is its author as well."""
    signed = {name.family.casefold() for name in entry.authors if not name.given}
    return "" if entry.publisher.casefold() in signed else entry.publisher


# --- APA --------------------------------------------------------------------------------------------------------------

_APA = NameRule("spaced", "all", ", & ", most=20, kept=19)
_APA_IN = NameRule("spaced", "none", ", & ", comma=" ", suffix=" ")


def apa_names(people: tuple[Name, ...]) -> str:
    """Names as APA lists them: of more than 20 the first 19 and the last."""
    if len(people) > _APA.most and people[-1] != OTHERS:
        last = write_names(people[-1:], _APA)
        return f"{write_names(people[: _APA.kept], NameRule('spaced', 'all', ', '))}, … {last}"
    return write_names(people, _APA)


def _apa_in(people: tuple[Name, ...]) -> str:
    rule = _APA_IN if len(people) > 2 else NameRule("spaced", "none", " & ")
    return write_names(people, rule)


def apa_date(entry: BibliographyEntry, letter: str = "") -> str:
    """The date in its brackets; only what appears day by day is dated to the day."""
    year = year_of(entry)
    if not year:
        return f"n.d.-{letter}" if letter else "n.d."
    day = month_day(entry.issued) if entry.kind in DATED else ""
    return joined(f"{year}{letter}", day)


def apa(entry: BibliographyEntry, accessed: Issued = (), letter: str = "") -> tuple[str, str]:
    """The text and the address that ends it."""
    kind, link = entry.kind, link_of(entry)
    people = entry.authors or (() if kind in IN_BOOK else entry.editors)
    authors = apa_names(people)
    if people and not entry.authors:
        authors = f"{authors} ({'Eds.' if len(people) > 1 else 'Ed.'})"
    title = title_of(entry)
    if kind == "thesis":
        at = entry.publisher if link else ""
        title = f"{title} [{joined(curl(entry.genre) or 'Thesis', at)}]"
    elif entry.title:
        title = joined(title, _apa_details(entry), _apa_form(kind), by=" ")
    date = f"({apa_date(entry, letter)})"
    lead = [authors, date, title] if authors else [title, date]
    source = _apa_source(entry, authors, has_link=bool(link))
    if link and not entry.date and not entry.doi and (seen := seen_on(entry, accessed)):
        link = f"Retrieved {american(seen)}, from {link}"
    return sentences(*lead, source), link


def _apa_details(entry: BibliographyEntry) -> str:
    """What stands in round brackets behind the title."""
    kind = entry.kind
    is_part = kind in IN_BOOK or "whole" not in KIND_TABLE[kind]
    if is_part:
        return ""
    volume = f"Vol. {entry.volume}" if entry.volume and kind in ("book", "report") else ""
    version = f"Version {entry.version}" if entry.version else ""
    number = numbered(entry)
    if kind == "report":
        number = joined(headline(entry, entry.genre), entry.number, by=" ") if entry.number else ""
    elif kind == "patent":
        number = f"Patent No. {entry.number}" if entry.number else ""
    elif kind in ("dataset", "software"):
        number = ""
    hands = f"{_apa_in(entry.translators)}, Trans." if entry.translators else ""
    details = joined(edition_of(entry), volume, version, number)
    return " ".join(f"({part})" for part in (details, hands) if part)


def _apa_form(kind: str) -> str:
    return {"dataset": "[Dataset]", "software": "[Computer software]"}.get(kind, "")


def _apa_source(entry: BibliographyEntry, authors: str, *, has_link: bool) -> str:
    kind, pages = entry.kind, pages_of(entry)
    if kind == "thesis":
        return "" if has_link else entry.publisher
    if kind == "chapter" or (kind == "paper-conference" and entry.editors):
        editors = f"{_apa_in(entry.editors)} ({'Eds.' if len(entry.editors) > 1 else 'Ed.'}), " if entry.editors else ""
        volume = f"Vol. {entry.volume}" if entry.volume else ""
        details = joined(edition_of(entry), volume, f"{'pp.' if is_plural(pages) else 'p.'} {pages}" if pages else "")
        book = joined(curl(entry.container), f"({details})" if details else "", by=" ")
        return sentences(f"In {editors}{book}" if entry.container or editors else "", entry.publisher)
    if "whole" in KIND_TABLE[kind]:
        return joined(*dict.fromkeys(filter(None, (site_of(entry, authors), publisher_of(entry)))))
    volume = f"{entry.volume}({entry.issue})" if entry.volume and entry.issue else entry.volume or entry.issue
    return joined(site_of(entry, authors), volume, pages)


# --- Chicago ----------------------------------------------------------------------------------------------------------

_CHICAGO = NameRule("whole", "first", ", and ", most=6, kept=3, demoted=True)
_CHICAGO_BY = NameRule("whole", "none", " and ")
_CHICAGO_MANY = NameRule("whole", "none", ", and ")


def _spoken(people: tuple[Name, ...]) -> str:
    return write_names(people, _CHICAGO_BY if len(people) == 2 else _CHICAGO_MANY)


def chicago_author_date(entry: BibliographyEntry, accessed: Issued = (), letter: str = "") -> tuple[str, str]:
    """The text and the address that ends it, with the year behind the authors."""
    return _chicago(entry, accessed, f"{year_of(entry) or 'n.d.'}{letter}", notes=False)


def chicago_notes(entry: BibliographyEntry, accessed: Issued = (), letter: str = "") -> tuple[str, str]:  # noqa: ARG001
    """The text and the address that ends it, with the year behind the publisher."""
    return _chicago(entry, accessed, year_of(entry) or ("n.d." if entry.kind not in DATED else ""), notes=True)


def _chicago(entry: BibliographyEntry, accessed: Issued, year: str, *, notes: bool) -> tuple[str, str]:
    kind, link = entry.kind, link_of(entry)
    people = entry.authors or (() if kind in IN_BOOK else entry.editors)
    authors = write_names(people, _CHICAGO)
    if people and not entry.authors:
        authors += ", eds." if len(people) > 1 else ", ed."
    container = headline(entry, curl(entry.container))
    is_page = kind in ("webpage", "post-weblog")
    if not authors and is_page and container:
        authors, container = container, ""
    title = title_of(entry)
    whole = "whole" in KIND_TABLE[kind] and kind not in ("thesis", "dataset", "article")
    title = title if kind == "patent" or not entry.title else headline(entry, title)
    title = title if whole or not entry.title else quote(finish(title))
    source = _chicago_source(entry, container, year if notes else "", authors)
    visit = ""
    if is_page and not entry.date and (seen := seen_on(entry, accessed)):
        visit = f"Accessed {american(seen)}"
    dated = [authors, year, title] if authors else [title, year]
    lead = [authors, title] if notes or not year else dated
    return sentences(*lead, source, visit), finish(link) if link else ""


def accessed_day(entry: BibliographyEntry) -> Issued:
    """When it was last looked at, as exactly as it says; () where it does not."""
    return read_date(entry.accessed)[0]


def seen_on(entry: BibliographyEntry, accessed: Issued) -> Issued:
    """When it was looked at: what it says itself, and the given day where it says nothing."""
    return accessed_day(entry) if entry.accessed else accessed


def _chicago_source(entry: BibliographyEntry, container: str, year: str, authors: str) -> str:
    """What follows the title; with a year, which notes have here, at its place."""
    kind, notes = entry.kind, bool(year)
    pages = pages_of(entry, chicago_end)
    day = month_day(entry.issued)
    dated = joined(day, year, by=", " if len(entry.issued) == 3 else " ") if notes else day
    if kind in ("article-magazine", "article-newspaper", "webpage", "post-weblog"):
        return joined(container, dated)
    if kind in ("article-journal", "review"):
        when = year if entry.issue or not day else joined(day.partition(" ")[0], year, by=" ")
        if notes:
            issue = joined(entry.volume, f"no. {entry.issue}" if entry.issue else "")
            head = joined(container, issue, by=" ")
            head = joined(head, f"({when})" if when and entry.volume else "", by=" ")
            head = head if entry.volume else joined(head, when)
        else:
            month = day.partition(" ")[0]
            bracket = entry.issue or (month if entry.volume else "")
            head = joined(container, entry.volume, f"({bracket})" if bracket else "", by=" ")
        return joined(head, pages, by=": " if entry.volume or entry.issue else ", ")
    if kind == "paper-conference" and not entry.editors:
        place = joined(container, joined(day.partition(" ")[0], year, by=" ") if notes else day.partition(" ")[0])
        return joined(place, pages)
    publisher = joined(publisher_of(entry) or (entry.publisher if notes else ""), dated if kind in _DAILY else year)
    if kind in IN_BOOK:
        hands = f"edited by {_spoken(entry.editors)}" if entry.editors else ""
        volume = f"vol. {entry.volume}" if entry.volume else ""
        order = (volume, edition_of(entry), hands) if notes else (edition_of(entry), hands, volume)
        return sentences(joined(f"In {container}" if container else "", *order), publisher)
    if kind == "thesis":
        return joined(curl(entry.genre) or "Thesis", publisher)
    if kind == "patent":
        issued = f"issued {american(entry.issued)}" if entry.issued else ""
        return joined(f"Patent {entry.number}" if entry.number else "", issued)
    hands = f"Translated by {_spoken(entry.translators)}" if entry.translators else ""
    version = f"Version {entry.version}" if entry.version else ""
    number = joined(headline(entry, entry.genre), entry.number, by=" ") if entry.number else numbered(entry)
    volume = f"Vol. {entry.volume}" if entry.volume else ""
    series = joined(headline(entry, curl(entry.series)), entry.series_number, by=" ")
    site = container if container.casefold() not in (authors.casefold(), entry.title.casefold()) else ""
    parts = (capital(edition_of(entry)), hands, volume, version, number, series, site)
    return sentences(*parts, publisher)


_DAILY = ("dataset", "article")
"""Kinds of whole works that are dated to the day."""


# --- Harvard ----------------------------------------------------------------------------------------------------------

_HARVARD = NameRule("tight", "all", " and ", most=3, kept=1, rest=" et al.")
_HARVARD_IN = NameRule("tight", "none", " and ")


def harvard(entry: BibliographyEntry, accessed: Issued = (), letter: str = "") -> tuple[str, str]:
    """The text and the address that ends it."""
    kind, link = entry.kind, link_of(entry)
    people = entry.authors or (() if kind in IN_BOOK else entry.editors)
    authors = write_names(people, _HARVARD)
    if people and not entry.authors:
        authors += " (eds)" if len(people) > 1 else " (ed.)"
    year = year_of(entry)
    date = f"({year}{letter})" if year else f"(no date{f' {letter}' if letter else ''})"
    is_plain = ("whole" in KIND_TABLE[kind] and kind in _PLAIN) or kind == "webpage"
    title = title_of(entry) if is_plain or not entry.title else quote(title_of(entry), outer="‘’", inner="“”")
    lead = joined(authors, date, title, by=" ") if authors else joined(title, date, by=" ")
    text = _harvard_source(entry, lead, authors)
    if link:
        seen = seen_on(entry, accessed)
        visit = f" (Accessed: {day_first(seen)})" if seen and not entry.doi and kind in ("webpage", "document") else ""
        return sentences(text, "Available at:").removesuffix("."), f"{link}{visit}."
    return finish(text), ""


_PLAIN = ("book", "thesis", "report", "legal_case", "legislation", "bill")


def _harvard_source(entry: BibliographyEntry, lead: str, authors: str) -> str:
    kind, pages = entry.kind, pages_of(entry)
    shown = f"{'pp.' if is_plural(pages) else 'p.'} {pages}" if pages else ""
    container = site_of(entry, authors)
    publisher = joined(entry.place, publisher_of(entry), by=": ") if entry.publisher else ""
    if kind in DATED and kind != "document":
        day = month_day(entry.issued)
        when = " ".join(reversed(day.split(" "))) if kind != "webpage" else ""
        return joined(lead, container, when, shown, by=", " if authors or kind != "webpage" else " ")
    if kind in ("article-journal", "review"):
        volume = f"{entry.volume}({entry.issue})" if entry.volume and entry.issue else entry.volume or entry.issue
        return joined(lead, container, volume, shown)
    if kind == "chapter" or (kind == "paper-conference" and entry.editors):
        mark = "(eds)" if len(entry.editors) > 1 else "(ed.)"
        hands = f"in {write_names(entry.editors, _HARVARD_IN)} {mark}" if entry.editors else "in"
        book = joined(lead, f"{hands} {container}" if container else "")
        return joined(sentences(book, edition_of(entry, "edn"), publisher).removesuffix("."), shown)
    if kind == "paper-conference":
        return joined(sentences(joined(lead, container), entry.publisher).removesuffix("."), shown)
    hands = f"Translated by {write_names(entry.translators, _HARVARD_IN)}" if entry.translators else ""
    series = f"({joined(curl(entry.series), entry.series_number)})" if entry.series else ""
    number = joined(curl(entry.genre), entry.number, by=" ") if kind in ("report", "thesis") else ""
    number = entry.number if kind in ("patent", "standard") else number
    if kind == "thesis":
        publisher = entry.publisher
    parts = (number, hands, edition_of(entry, "edn"), joined(publisher, series, by=" ") or series, container)
    return sentences(lead, *parts)
