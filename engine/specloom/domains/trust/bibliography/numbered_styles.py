"""MLA (9th edition), IEEE, Vancouver (NLM's Citing Medicine) and AMA (11th edition).

Written after the published rules of each and held against a CSL processor, as the styles by author are.
"""

from __future__ import annotations

from .author_date_styles import DATED, IN_BOOK, accessed_day, link_of, publisher_of, seen_on, site_of, title_of
from .entry import KIND_TABLE, MONTHS, BibliographyEntry, Issued
from .style_parts import (
    IEEE_MONTHS,
    SHORT_MONTHS,
    NameRule,
    american,
    capital,
    curl,
    day_first,
    edition_of,
    finish,
    headline,
    is_plural,
    joined,
    least_end,
    numbered,
    pages_of,
    quote,
    sentences,
    two_end,
    write_names,
    year_of,
)

# --- MLA --------------------------------------------------------------------------------------------------------------

_MLA = NameRule("whole", "first", ", and ", most=2, kept=1)
_SPOKEN = NameRule("whole", "none", " and ", most=2, kept=1, rest=" et al.")


def mla(entry: BibliographyEntry, accessed: Issued = (), letter: str = "") -> tuple[str, str]:  # noqa: ARG001
    """The text and the address that ends it. `accessed` is shown for web pages, where the manual recommends it."""
    kind, link = entry.kind, link_of(entry)
    people = entry.authors or (() if kind in IN_BOOK else entry.editors)
    authors = write_names(people, _MLA)
    if people and not entry.authors:
        authors += ", editors" if len(people) > 1 else ", editor"
    container = entry.container
    if container.casefold() in (entry.title.casefold(), "") or container == entry.publisher:
        container = ""
    container = headline(entry, curl(container))
    is_whole = "whole" in KIND_TABLE[kind] and kind not in ("dataset", "article")
    is_whole = is_whole or (kind in ("webpage", "post-weblog", "document") and not container)
    title = headline(entry, curl(entry.title))
    # A page is known by its title in quotation marks, a work by itself without.
    is_quoted = bool(title) and not (is_whole and (kind not in ("webpage", "document") or not accessed))
    title = quote(finish(title)) if is_quoted else title
    parts = _mla_parts(entry, container)
    source = capital(joined(*parts)) if not container else joined(*parts)
    after = _mla_after(entry)
    seen = seen_on(entry, accessed) if accessed and not entry.doi else ()
    if not seen and not entry.date and kind in ("webpage", "document", "post-weblog"):
        seen = accessed_day(entry)
    visit = f"Accessed {day_first(seen, SHORT_MONTHS)}." if seen else ""
    text = sentences(authors, title)
    if not link:
        return joined(text, sentences(source, after), visit, by=" "), ""
    lead = joined(text, f"{source}," if source else "", by=" ")
    return lead, joined(f"{link}.", sentences(after), visit, by=" ")


def _mla_parts(entry: BibliographyEntry, container: str) -> tuple[str, ...]:
    kind, issued = entry.kind, entry.issued
    pages = pages_of(entry, two_end)
    shown = f"{'pp.' if is_plural(pages) else 'p.'} {pages}" if pages else ""
    volume = f"vol. {entry.volume}" if entry.volume else ""
    issue = f"no. {entry.issue}" if entry.issue else ""
    date = day_first(issued, SHORT_MONTHS)
    if kind in ("article-journal", "review", "article-magazine"):
        date = day_first(issued[:2], SHORT_MONTHS)
    elif kind not in (*DATED, "dataset", "article", "patent"):
        date = year_of(entry)
    if kind == "thesis":
        return (date,)
    hands = f"edited by {write_names(entry.editors, _SPOKEN)}" if entry.editors and entry.authors else ""
    translated = f"translated by {write_names(entry.translators, _SPOKEN)}" if entry.translators else ""
    version = f"version {entry.version}" if entry.version else ""
    publisher = "" if kind == "paper-conference" and not entry.editors else publisher_of(entry)
    if kind == "report":
        publisher = entry.publisher
    number = numbered(entry) if kind in ("report", "article", "standard", "patent") else ""
    parts = (container, hands, translated, edition_of(entry), version, number, volume, issue, publisher, date, shown)
    return tuple(filter(None, parts))


def _mla_after(entry: BibliographyEntry) -> str:
    if entry.kind == "thesis":
        return joined(entry.publisher, curl(entry.genre))
    return joined(headline(entry, curl(entry.series)), entry.series_number, by=" ")


# --- IEEE -------------------------------------------------------------------------------------------------------------

_IEEE = NameRule("spaced", "none", ", and ", most=6, kept=1, rest=" et al.")
_IEEE_TWO = NameRule("spaced", "none", " and ", rest=" et al.")


def ieee(entry: BibliographyEntry, accessed: Issued = (), letter: str = "") -> tuple[str, str]:  # noqa: ARG001
    """The text and the address that ends it."""
    kind, link = entry.kind, link_of(entry)
    people = entry.authors or (() if kind in IN_BOOK else entry.editors)
    authors = write_names(people, _IEEE_TWO if len(people) == 2 else _IEEE)
    if people and not entry.authors:
        authors += ", Eds." if len(people) > 1 else ", Ed."
    title = title_of(entry)
    pages = pages_of(entry)
    shown = f"{'pp.' if is_plural(pages) else 'p.'} {pages}" if pages else ""
    volume, issue = (
        f"{word} {value}" if value else "" for word, value in (("vol.", entry.volume), ("no.", entry.issue))
    )
    container = entry.short_container or curl(entry.container)
    publisher = joined(entry.place, entry.publisher, by=": ")
    date = _ieee_date(entry)
    doi = f"doi: {entry.doi}" if entry.doi else ""
    lead = f"{authors}, " if authors else ""
    if kind in ("article-journal", "article-magazine", "article-newspaper", "review"):
        head = _comma(quote(title)) if entry.title else f"{title},"
        text = finish(joined(f"{lead}{head} {container}".rstrip(), volume, issue, shown, date, doi))
        return text, _online(link, entry)
    if kind in IN_BOOK:
        hands = write_names(entry.editors, _IEEE_TWO) + (", Eds." if len(entry.editors) > 1 else ", Ed.")
        book = joined(f"in {container}" if container else "", edition_of(entry), volume, hands if entry.editors else "")
        when = joined(publisher, year_of(entry) if kind == "chapter" else date)
        text = finish(joined(f"{lead}{_comma(quote(title))} {book}".rstrip(), when, shown))
        return joined(text, f"{doi}." if doi else "", by=" "), _online(link, entry)
    if kind in ("thesis", "report"):
        name = joined(curl(entry.genre), entry.number, by=" ")
        order = (name, entry.publisher, entry.place) if kind == "thesis" else (entry.publisher, entry.place, name)
        text = finish(joined(f"{lead}{_comma(quote(title))} {joined(*order)}".rstrip(), year_of(entry)))
        return joined(text, f"{doi}." if doi else "", by=" "), _online(link, entry)
    if kind in ("webpage", "post-weblog", "document"):
        seen = seen_on(entry, accessed)
        site = site_of(entry, authors)
        head = f"{_comma(quote(title))} {site}." if site else quote(finish(title))
        visit = f"Accessed: {_ieee_day(seen)}." if seen else ""
        text = joined(f"{lead}{head}", f"{date}." if date and kind != "webpage" else "", visit, by=" ")
        return text, _online(link, entry)
    if kind == "article":
        number = (
            f"arXiv: {entry.number or f'arXiv:{entry.arxiv}'}" if entry.arxiv else joined(entry.publisher, entry.number)
        )
        text = joined(f"{lead}{_comma(quote(title))} {date}".rstrip(), number)
        return joined(finish(text), f"{doi}." if doi else "", by=" "), _online(link, entry)
    if kind == "dataset":
        text = joined(f"{lead}{quote(finish(title))}", finish(joined(entry.publisher, date)), by=" ")
        return joined(text, f"{doi}." if doi else "", by=" "), _online(link, entry)
    if kind == "software":
        text = joined(finish(f"{lead}{title}"), f"({year_of(entry)})." if entry.date else "", by=" ")
        return joined(text, f"{doi}." if doi else "", by=" "), _online(link, entry)
    if kind == "patent":
        return finish(joined(f"{lead}{_comma(quote(title))} {entry.number}".rstrip(), date)), _online(link, entry)
    if kind == "standard":
        return finish(joined(f"{lead}{title}", entry.number, year_of(entry))), _online(link, entry)
    series = joined(curl(entry.series), f"no. {entry.series_number}" if entry.series_number else "")
    head = joined(f"{lead}{title}", edition_of(entry), volume)
    text = sentences(head, f"in {series}" if series else "", joined(publisher, year_of(entry)))
    return joined(text, f"{doi}." if doi else "", by=" "), _online(link, entry)


def _comma(quoted: str) -> str:
    return f"{quoted[:-1]},{quoted[-1]}"


def _ieee_day(issued: Issued) -> str:
    if not issued:
        return ""
    month = IEEE_MONTHS[issued[1] - 1] if len(issued) > 1 else ""
    day = f" {issued[2]:02}" if len(issued) == 3 else ""
    return joined(f"{month}{day}", str(issued[0]), by=", " if day else " ")


def _ieee_date(entry: BibliographyEntry) -> str:
    issued = entry.issued
    # Journals are dated to the month, what appears day by day to the day.
    if entry.kind in ("article-journal", "review", "paper-conference"):
        issued = issued[:2]
    return _ieee_day(issued) or year_of(entry)


def _online(link: str, entry: BibliographyEntry) -> str:
    return f"[Online]. Available: {link}" if link and not entry.doi else ""


# --- Vancouver and AMA ------------------------------------------------------------------------------------------------

_VANCOUVER = NameRule("bare", "all", ", ", most=6, kept=6, comma=" ", suffix=" ")
_AMA = NameRule("bare", "all", ", ", most=6, kept=3, comma=" ", suffix=" ")
_PERIODICAL = ("article-journal", "article-magazine", "article-newspaper", "review", "post-weblog")


def vancouver(entry: BibliographyEntry, accessed: Issued = (), letter: str = "") -> tuple[str, str]:  # noqa: ARG001
    """The text and the address that ends it."""
    kind = entry.kind
    link = "" if entry.doi else link_of(entry)
    people = entry.authors or (() if kind in IN_BOOK else entry.editors)
    authors = _vancouver_names(people, "editors" if not entry.authors else "")
    title = title_of(entry)
    pages = pages_of(entry, least_end)
    seen = seen_on(entry, accessed)
    date = _reversed_date(entry.issued) or year_of(entry)
    online = " [Internet]" if link else ""
    cited = f" [cited {_reversed_date(seen)}]" if seen and link else ""
    doi = f"doi:{entry.doi}" if entry.doi else ""
    if kind in _PERIODICAL:
        container = (entry.short_container.replace(".", "") or site_of(entry, authors)) + online
        volume = f"{entry.volume}({entry.issue})" if entry.issue else entry.volume
        where = joined(f";{volume}" if volume else "", f":{pages}" if pages else "", by="")
        when = f"{date}{cited}{where}" if date else f"{cited}{where}".lstrip(";: ")
        return joined(sentences(authors, title, container, when), doi, by=" "), _available(link)
    if kind in ("webpage", "document") and entry.container and site_of(entry, authors):
        whole = f"{curl(entry.container)}{online}"
        when = joined(year_of(entry), cited.strip(), by=" ")
        return joined(sentences(authors, whole, when, title), doi, by=" "), _available(link)
    publisher = joined(entry.place, publisher_of(entry) or entry.publisher, by=": ")
    year = year_of(entry)
    imprint = (joined(publisher, year, by="; ") + cited).strip()
    if kind in IN_BOOK:
        hands = f"{_vancouver_names(entry.editors, 'editors')}. " if entry.editors else ""
        book = f"In: {hands}{curl(entry.container)}" if entry.container else ""
        shown = f"p. {pages}" if pages else ""
        text = sentences(authors, title, book, edition_of(entry), imprint, shown)
        return joined(text, doi, by=" "), _available(link)
    genre = f" [{curl(entry.genre)}]" if entry.genre and kind in ("thesis", "report", "article") else ""
    number = joined(curl(entry.genre), entry.number, by=" ") if kind == "report" and entry.number else ""
    if kind == "patent":
        return joined(sentences(authors, title, joined(entry.number, year)), doi, by=" "), _available(link)
    number = entry.number if kind in ("standard", "legal_case", "legislation", "bill") else number
    volume = f"Vol. {entry.volume}" if entry.volume else ""
    version = f"Version {entry.version}" if entry.version and kind == "software" else ""
    series = joined(curl(entry.series), f"no. {entry.series_number}" if entry.series_number else "", by="; ")
    parts = (
        f"{title}{genre}{online}",
        edition_of(entry),
        version,
        volume,
        imprint,
        number,
        f"({series})" if series else "",
    )
    return joined(sentences(authors, *parts), doi, by=" "), _available(link)


def _vancouver_names(people: tuple[object, ...], role: str) -> str:
    names = write_names(people, _VANCOUVER)  # type: ignore[arg-type]
    if not names or not role:
        return names
    return f"{names}, {role if len(people) > 1 else role.removesuffix('s')}"


def _reversed_date(issued: Issued) -> str:
    if not issued:
        return ""
    month = MONTHS[issued[1] - 1][:3] if len(issued) > 1 else ""
    return " ".join(filter(None, (str(issued[0]), month, str(issued[2]) if len(issued) == 3 else "")))


def _available(link: str) -> str:
    return f"Available from: {link}" if link else ""


def ama(entry: BibliographyEntry, accessed: Issued = (), letter: str = "") -> tuple[str, str]:  # noqa: ARG001
    """The text and the address that ends it."""
    kind = entry.kind
    link = "" if entry.doi else link_of(entry)
    people = entry.authors or (() if kind in IN_BOOK else entry.editors)
    authors = write_names(people, _AMA)
    if people and not entry.authors:
        authors += ", eds" if len(people) > 1 else ", ed"
    is_whole = kind in ("book", "thesis", "report")
    title = headline(entry, title_of(entry)) if is_whole and entry.title else title_of(entry)
    pages = pages_of(entry, dash="-")
    doi = f"doi:{entry.doi}" if entry.doi else ""
    seen = seen_on(entry, accessed)
    if kind in ("article-newspaper", "webpage", "post-weblog", "document"):
        where = joined(american(entry.issued) or year_of(entry), pages, by=":")
        visit = f"Accessed {american(seen)}" if seen and link else ""
        text = sentences(authors, title, site_of(entry, authors), where, visit)
        return joined(text, doi, by=" "), link
    if kind in ("article-journal", "article-magazine", "review"):
        container = entry.short_container.replace(".", "") or site_of(entry, authors)
        volume = f"{entry.volume}({entry.issue})" if entry.issue else entry.volume
        where = joined(year_of(entry), f";{volume}" if volume else "", f":{pages}" if pages else "", by="")
        return joined(sentences(authors, title, container, where), doi, by=" "), link
    if kind in IN_BOOK:
        hands = write_names(entry.editors, _AMA) + (", eds. " if len(entry.editors) > 1 else ", ed. ")
        book = (
            f"In: {hands if entry.editors else ''}{headline(entry, curl(entry.container))}" if entry.container else ""
        )
        volume = f"Vol {entry.volume}" if entry.volume else ""
        imprint = joined(joined(entry.publisher, year_of(entry), by="; "), pages, by=":")
        return joined(sentences(authors, title, book, edition_of(entry), volume, imprint), doi, by=" "), link
    if kind == "article":
        number = entry.number or (f"arXiv:{entry.arxiv}" if entry.arxiv else "")
        online = f"Preprint posted online {american(entry.issued) or year_of(entry)}" if entry.date else "Preprint"
        site = entry.publisher or curl(entry.container)
        return joined(sentences(authors, title, site, joined(online, number, by=":")), doi, by=" "), link
    if kind in ("dataset", "software", "standard", "patent"):
        online = f"Published online {american(entry.issued) or year_of(entry)}" if entry.date else ""
        version = f"Version {entry.version}" if entry.version else ""
        text = sentences(authors, title, version, entry.publisher, joined(online, entry.number, by=":"))
        return joined(text, doi, by=" "), link
    volume = f"Vol {entry.volume}" if entry.volume else ""
    number = joined(curl(entry.genre), entry.number, by=" ") if kind == "report" and entry.number else ""
    genre = curl(entry.genre) if kind == "thesis" else number
    imprint = joined(entry.publisher, year_of(entry), by="; ")
    return joined(sentences(authors, title, genre, edition_of(entry), volume, imprint), doi, by=" "), link
