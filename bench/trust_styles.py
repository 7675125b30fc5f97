"""A work written out as a reference in eleven styles, as reference managers do: right citations in any number.

The forms are those that the style guides print: APA 7, MLA 9, Chicago author-date, IEEE, Vancouver, Harvard (Cite Them
Right), AMA, Nature, ACS, ISO 690 and GB/T 7714. They are plain text, without italics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Work = Mapping[str, Any]
Author = Sequence[str]


def _initials(given: str, *, dot: str = ".", between: str = " ") -> str:
    letters = [part[0].upper() for part in given.replace("-", " ").replace(".", " ").split() if part[0].isalpha()]
    return between.join(f"{letter}{dot}" for letter in letters)


def _inverted(author: Author, *, dot: str = ".", between: str = " ", comma: str = ", ") -> str:
    initials = _initials(author[1], dot=dot, between=between)
    return f"{author[0]}{comma}{initials}" if initials else author[0]


def _spoken(author: Author) -> str:
    return f"{_initials(author[1])} {author[0]}".strip()


def _whole(author: Author) -> str:
    return f"{author[1]} {author[0]}".strip()


def _joined(names: Sequence[str], last: str, *, comma: bool = True) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])}{',' if comma and len(names) > 1 else ''} {last} {names[-1]}"


def _place(work: Work, form: str, issue: str = "({issue})") -> str:
    """Volume, issue and pages in a form; what is not known takes its marks along."""
    volume, number, pages = (str(work.get(name) or "") for name in ("volume", "issue", "pages"))
    if not volume:
        return f", {pages}" if pages else ""
    return form.format(
        volume=volume, issue=issue.format(issue=number) if number else "", pages=pages, comma=", " if pages else ""
    )


def _stop(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def to_apa(work: Work) -> str:
    """APA, 7th edition."""
    names = _joined([_inverted(author) for author in work["authors"]], "&")
    place = _place(work, ", {volume}{issue}{comma}{pages}")
    return f"{names} ({work['year']}). {_stop(work['title'])} {work['venue']}{place}."


def to_mla(work: Work) -> str:
    """MLA, 9th edition."""
    first, *others = work["authors"]
    names = f"{first[0]}, {first[1]}" if first[1] else first[0]
    if len(others) == 1:
        names = f"{names}, and {_whole(others[0])}"
    elif others:
        names = f"{names}, et al"
    mark = "" if work["title"].endswith(("?", "!")) else "."
    place = _place(work, ", vol. {volume}{issue}", ", no. {issue}")
    pages = f", pp. {work['pages']}" if work.get("pages") and work.get("volume") else ""
    return f"{_stop(names)} “{work['title']}{mark}” {work['venue']}{place}, {work['year']}{pages}."


def to_chicago(work: Work) -> str:
    """Chicago, author and date."""
    first, *others = work["authors"]
    names = [f"{first[0]}, {first[1]}" if first[1] else first[0], *map(_whole, others)]
    mark = "" if work["title"].endswith(("?", "!")) else "."
    place = _place(work, " {volume}{issue}{comma}{pages}", " ({issue})").replace(", ", ": ")
    return f"{_stop(_joined(names, 'and'))} {work['year']}. “{work['title']}{mark}” {work['venue']}{place}."


def to_ieee(work: Work) -> str:
    """IEEE."""
    names = _joined([_spoken(author) for author in work["authors"]], "and", comma=len(work["authors"]) > 2)
    place = _place(work, ", vol. {volume}{issue}", ", no. {issue}")
    pages = f", pp. {work['pages']}" if work.get("pages") and work.get("volume") else ""
    return f"{names}, “{work['title']},” {work['venue']}{place}{pages}, {work['year']}."


def to_vancouver(work: Work) -> str:
    """Vancouver, as indexes of medicine print it."""
    names = [_inverted(author, dot="", between="", comma=" ") for author in work["authors"]]
    shown = ", ".join([*names[:6], *(["et al"] if len(names) > 6 else [])])
    place = _place(work, ";{volume}{issue}{comma}{pages}").replace(", ", ":", 1)
    return f"{shown}. {_stop(work['title'])} {work['venue']}. {work['year']}{place}."


def to_harvard(work: Work) -> str:
    """Harvard, after Cite Them Right."""
    names = _joined([_inverted(author, between="") for author in work["authors"]], "and", comma=False)
    place = _place(work, ", {volume}{issue}")
    pages = f", pp. {work['pages']}" if work.get("pages") and work.get("volume") else ""
    return f"{names} ({work['year']}) ‘{work['title']}’, {work['venue']}{place}{pages}."


def to_ama(work: Work) -> str:
    """AMA, 11th edition."""
    names = [_inverted(author, dot="", between="", comma=" ") for author in work["authors"]]
    shown = ", ".join([*names[:3], "et al"] if len(names) > 6 else names)
    place = _place(work, ";{volume}{issue}{comma}{pages}").replace(", ", ":", 1)
    return f"{shown}. {_stop(work['title'])} {work['venue']}. {work['year']}{place}."


def to_nature(work: Work) -> str:
    """Nature."""
    names = [_inverted(author) for author in work["authors"]]
    shown = f"{names[0]} et al." if len(names) > 5 else _joined(names, "&", comma=False)
    place = _place(work, " {volume}{comma}{pages}")
    return f"{_stop(shown)} {_stop(work['title'])} {work['venue']}{place} ({work['year']})."


def to_acs(work: Work) -> str:
    """ACS."""
    names = "; ".join(_inverted(author) for author in work["authors"])
    place = _place(work, ", {volume}{issue}{comma}{pages}", " ({issue})")
    return f"{_stop(names)} {_stop(work['title'])} {work['venue']} {work['year']}{place}."


def to_iso690(work: Work) -> str:
    """ISO 690, name and date."""
    names = [f"{author[0].upper()}, {author[1]}" if author[1] else author[0].upper() for author in work["authors"]]
    place = _place(work, ", vol. {volume}{issue}", ", no. {issue}")
    pages = f", pp. {work['pages']}" if work.get("pages") and work.get("volume") else ""
    return (
        f"{_joined(names, 'and', comma=False)}, {work['year']}. {_stop(work['title'])} {work['venue']}{place}{pages}."
    )


def to_gbt7714(work: Work) -> str:
    """GB/T 7714."""
    names = [
        f"{author[0].upper()} {_initials(author[1], dot='', between=' ')}".strip() for author in work["authors"][:3]
    ]
    shown = ", ".join([*names, *(["et al"] if len(work["authors"]) > 3 else [])])
    place = _place(work, ", {volume}{issue}{comma}{pages}").replace(", ", ": ") if work.get("volume") else ""
    return f"{shown}. {work['title']}[J]. {work['venue']}, {work['year']}{place.replace(': ', ', ', 1)}."


STYLES: Mapping[str, Callable[[Work], str]] = {
    "apa": to_apa,
    "mla": to_mla,
    "chicago": to_chicago,
    "ieee": to_ieee,
    "vancouver": to_vancouver,
    "harvard": to_harvard,
    "ama": to_ama,
    "nature": to_nature,
    "acs": to_acs,
    "iso690": to_iso690,
    "gbt7714": to_gbt7714,
}
_DOI = {
    "apa": "https://doi.org/{doi}",
    "mla": "https://doi.org/{doi}.",
    "chicago": "https://doi.org/{doi}.",
    "ieee": "doi: {doi}.",
    "vancouver": "doi: {doi}",
    "harvard": "doi:{doi}.",
    "ama": "doi:{doi}",
    "nature": "https://doi.org/{doi}",
    "acs": "DOI: {doi}.",
    "iso690": "Available from: https://doi.org/{doi}.",
    "gbt7714": "DOI:{doi}.",
}


def write(work: Work, style: str, doi: str = "") -> str:
    """A work in one of STYLES, with its DOI behind it where one is given."""
    text = STYLES[style]({"venue": "", **work})
    return f"{text} {_DOI[style].format(doi=doi)}" if doi else text
