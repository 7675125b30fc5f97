"""Entries as people read them: APA (7th edition) and MLA (9th edition), as plain text that no title can break.

Written after the published rules of both manuals: https://apastyle.apa.org/style-grammar-guidelines/references and
https://style.mla.org/works-cited. No CSL processor is behind it: the style files are share-alike (CC BY-SA) data that
would have to be shipped, and a page that is scraped should not wait for one to start. Titles keep the case in which
they are recorded, since no program can tell a proper noun from a word, and italics are left out because plain text has
none.
"""

from __future__ import annotations

import re
from typing import Any

from specloom.domains.text import Name, parse_names, to_display, to_initials

from .bibtex import to_bibtex
from .entry import KIND_TABLE, MONTHS, BibliographyEntry, Issued, assign_keys, clean, from_source, parse_issued

_MLA_MONTHS = ("Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.", "Dec.")
# APA names up to 20 authors, and of more the first 19 and the last.
_MOST_APA_AUTHORS = 20
# What would open a link, an image, a tag, code or a block when the text is shown as Markdown.
_MARKUP = re.compile(r"\](?=[(\[:])|<(?=[A-Za-z/!?])|`")
_BLOCK = re.compile(r"^(?:[#>+*=|~-]|[0-9]{1,9}(?=[.)]\s))")


def to_apa(entry: BibliographyEntry, accessed: Issued = ()) -> str:
    """An entry in APA style, a work without a title described in brackets.

    `accessed` is shown where the entry has no date, as the manual asks for.
    """
    title, container = _finish(entry.title or f"[{KIND_TABLE[entry.kind]['shown']}]"), entry.container
    authors = _apa_authors(entry.authors)
    date = f"({_apa_date(entry)})."
    lead = [_finish(authors), date, title] if authors else [title, date]
    if "whole" in KIND_TABLE[entry.kind]:
        source = _finish(", ".join(dict.fromkeys(part for part in (container, entry.publisher) if part)))
    else:
        volume = f"{entry.volume}({entry.issue})" if entry.volume and entry.issue else entry.volume or entry.issue
        pages = entry.pages.replace("-", "–")
        if entry.kind in ("chapter", "paper-conference"):
            source = f"In {container}" if container else ""
            source += f" (pp. {pages})" if pages else ""
            source = " ".join(part for part in (_finish(source), _finish(entry.publisher)) if part)
        else:
            site = "" if container.casefold() in (authors.casefold(), entry.title.casefold()) else container
            source = _finish(", ".join(part for part in (site, volume, pages) if part))
    link = _link(entry)
    if link and accessed and not entry.issued and not entry.doi:
        link = f"Retrieved {MONTHS[accessed[1] - 1]} {accessed[2]}, {accessed[0]}, from {link}"
    text = _defuse(" ".join(part for part in (*lead, source) if part))
    return f"{text} {link}".rstrip()


def to_mla(entry: BibliographyEntry, accessed: Issued = ()) -> str:
    """An entry in MLA style. `accessed` is shown for web pages, where the manual recommends it."""
    title = entry.title.rstrip()
    if title and "whole" in KIND_TABLE[entry.kind]:
        shown_title = _finish(title)
    elif title:
        # Quotation marks inside a quoted title become single ones.
        inner = re.sub(r'["“”]', "'", title)
        shown_title = f'"{_finish(inner)}"'
    else:
        shown_title = ""
    authors = _mla_authors(entry.authors)
    volume = f"vol. {entry.volume}" if entry.volume else ""
    issue = f"no. {entry.issue}" if entry.issue else ""
    pages = entry.pages.replace("-", "–")
    pages = f"{'pp.' if re.search('[–,]', pages) else 'p.'} {pages}" if pages else ""
    container = entry.container
    if container.casefold() in (title.casefold(), "") or container == entry.publisher:
        container = ""
    link = _link(entry)
    parts = (container, volume, issue, entry.publisher, _mla_date(entry.issued), pages)
    source = ", ".join(part for part in parts if part)
    text = _defuse(" ".join(part for part in (_finish(authors), shown_title, source) if part))
    if not link:
        return f"{text}." if source else text
    seen = f" Accessed {_mla_date(accessed)}." if accessed and not entry.doi else ""
    return f"{text}{',' if source else ''} {link}.{seen}".lstrip()


def _defuse(text: str) -> str:
    text = _MARKUP.sub(lambda match: "]\\" if match[0] == "]" else "\\" + match[0], text)
    return _BLOCK.sub(lambda match: match[0] + "\\" if match[0].isdigit() else "\\" + match[0], text)


def _finish(text: str) -> str:
    """A text with the mark that ends it."""
    text = text.rstrip()
    return text if not text or text.endswith((".", "?", "!", "…", "。", "？", "！")) else f"{text}."


def _link(entry: BibliographyEntry) -> str:
    from urllib.parse import quote

    if entry.doi:
        return "https://doi.org/" + quote(entry.doi, safe="/:;.,+_-()!*'@&=$~")
    # What ends an address in running text is written in its encoded form, which is the same address.
    return re.sub(r"[\s\x00-\x1f\x7f<>\"\\`]|\](?=\()", lambda match: quote(match[0]), entry.url)


def _apa_authors(authors: tuple[Name, ...]) -> str:
    names = [", ".join(filter(None, (name.family, to_initials(name.given), name.suffix))) for name in authors]
    if len(names) > _MOST_APA_AUTHORS:
        return f"{', '.join(names[: _MOST_APA_AUTHORS - 1])}, . . . {names[-1]}"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])}, & {names[-1]}"


def _apa_date(entry: BibliographyEntry) -> str:
    issued = entry.issued
    if not issued:
        return "n.d."
    # Only what appears day by day is dated to the day.
    if len(issued) == 1 or entry.kind not in ("webpage", "document"):
        return str(issued[0])
    month = MONTHS[issued[1] - 1]
    return f"{issued[0]}, {month} {issued[2]}" if len(issued) == 3 else f"{issued[0]}, {month}"


def _mla_authors(authors: tuple[Name, ...]) -> str:
    if not authors:
        return ""
    first = authors[0]
    inverted = ", ".join(part for part in (first.family, first.given, first.suffix) if part)
    if len(authors) == 1:
        return inverted
    return f"{inverted}, and {to_display(authors[1])}" if len(authors) == 2 else f"{inverted}, et al."


def _mla_date(issued: Issued) -> str:
    if not issued:
        return ""
    if len(issued) == 1:
        return str(issued[0])
    month = _MLA_MONTHS[issued[1] - 1]
    return f"{issued[2]} {month} {issued[0]}" if len(issued) == 3 else f"{month} {issued[0]}"


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
    entry = BibliographyEntry(
        title=title,
        authors=parse_names(author),
        container=site,
        issued=parse_issued(published),
        url=url.strip(),
        kind="webpage",
    )
    day = parse_issued(accessed)
    seen = day if len(day) == 3 else ()
    metadata = {"title": title, "author": author, "site": site, "date": published}
    bibtex = to_bibtex(assign_keys([from_source({"url": url, "doi": doi, **metadata})]))
    formatted = {"apa": to_apa(entry, seen), "mla": to_mla(entry, seen), "bibtex": bibtex}
    return {"url": url, "accessedDate": accessed, "metadata": metadata, "formatted": formatted}
