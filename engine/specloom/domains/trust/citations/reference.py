"""A reference as people write it, parted into what is certain of it: authors, year, title, venue."""

from __future__ import annotations

import re

from specloom.core import dataclass
from specloom.domains.text import Name, parse_name, parse_names, strip_markup

from .numbering import VolumeNumbers, find_numbering
from .titles import answers

_YEAR = r"(?:1[5-9]|20)[0-9]{2}[a-z]?"
# An author of a list is atomic together with what parts it from the next: where one could be read in two ways, thirty
# could be in a billion. So are the letters of a word.
_FAMILY = r"[^\W\d_]++(?:[\s'’-][^\W\d_]++){0,3}"
# The last one may lack its stop, and is no first letter of a word: "Liu, O. SRV constraint" has one initial.
_INITIALS = (
    r"(?:(?:(?:d[aeo]s?\s)?[^\W\d_a-z]\.[\s-]?|[a-z]\.\s?){0,3}"
    r"(?:(?:d[aeo]s?\s)?[^\W\d_a-z](?:\.[\s-]?|(?![^\W\d_]))|[a-z]\.\s?)"
    r"|[^\W\d_a-z]{1,3}(?:[\s-][^\W\d_a-z]){0,2}(?![^\W\d_]))"
)
# "Doe, J. R., & Roe, A." and "Doe, Jane, and Ann Roe"; "Doe JR, Roe A"; "J. R. Doe and A. Roe".
_FIRST = rf"{_FAMILY},\s(?:[^\W\d_a-z]|[a-z]\.)"
_JOINT = rf",?\s(?:&\s|and\s|…\s|\.\s\.\s\.\s)?(?={_FIRST})"
_INVERTED = rf"(?>{_FAMILY},\s{_INITIALS}{_JOINT}){{0,30}}{_FAMILY},\s{_INITIALS}(?:,?\set\sal\.?)?"
_VANCOUVER = rf"(?>{_FAMILY}\s[^\W\d_a-z]{{1,3}},\s){{0,30}}{_FAMILY}\s[^\W\d_a-z]{{1,3}}(?:,?\set\sal\.?)?"
_SPOKEN = rf"(?:[^\W\d_a-z]\.[\s-]?){{1,4}}{_FAMILY}"
_PLAIN = rf"(?>{_SPOKEN}(?:,?\sand\s|,\s|\s&\s)(?=[^\W\d_a-z]\.)){{0,30}}{_SPOKEN}(?:,?\set\sal\.?)?"
_ET_AL = rf"{_FAMILY}(?:\set\sal\.?|\s(?:and|&)\s{_FAMILY})"

# Authors (2019). Title. Rest
_APA = re.compile(
    rf"(?P<authors>[^()\"“]{{2,600}}?)[\s,.]*+\((?P<year>{_YEAR})(?:,\s[^()]{{1,30}})?\)[.,:]?\s+(?P<rest>.+)"
)
# Quotation marks are looked for in so many characters: the longest references, with all their authors, have half.
_LONGEST = 4000
_QUOTED = re.compile(
    r"[\"“«„](?P<title>[^\"“”«»„]{8,400}?)[,.]?[\"”»“]"
    # Single quotes are apostrophes too: the one that opens follows no letter, the one that closes ends a phrase.
    r"|(?<!\w)['‘](?=\S)(?P<single>[^\"“”«»„]{8,400}?)(?:[,.?!]['’]|['’](?=[,.;:)]|\s?[(\[]|\s?$))"
)
# "SMITH, John, DOE, Jane and ROE, Ann, 2012. Title": ISO 690 puts commas everywhere.
_PAIRED = re.compile(rf"(?P<authors>[^()\"“\[\];]{{2,1500}}?),\s(?P<year>{_YEAR})\.\s+(?P<rest>\S.+)")
_BETWEEN_PAIRS = re.compile(r",?\s(?:and|et|und|y|e|a|&)\s|,\s")
_GIVEN_PART = r"(?:(?:[^\W\d_]++[’'-]?){1,3}\.?\s?|[a-z]{1,3}\s){1,5}"
# "Open Science Collaboration. Title."
_SIGNED = re.compile(r"(?P<authors>[^\W\d_a-z][^.\d]{3,120}?)\.\s+(?P<rest>\S.+)")
_LAST_YEAR = re.compile(rf"(?<![\s.,(])[\s.,(]++{_YEAR}[\s.,:)]*+$")
# "Doe, Jane, and Ann Roe. Title": whole given names, as MLA writes them.
_GIVEN = r"[^\W\d_a-z][^\W\d_]++(?:\s[^\W\d_a-z]\.?|\s[^\W\d_a-z][^\W\d_]++){0,2}"
_SPELLED = rf"{_FAMILY},\s{_GIVEN}(?:,?\s(?:and|&)\s{_GIVEN}\s{_FAMILY}|,?\set\sal)?"
# "Doe, Jane, Ann Roe, and Bob Poe": after the first, Chicago has given names first.
_WHOLE = r"[^\W\d_a-z][^\W\d_]++(?:\s[^\W\d_a-z]\.){0,2}(?:\s[^\W\d_a-z][\w'’-]++){1,2}"
_CHICAGO = (
    rf"{_FAMILY},\s{_GIVEN}(?>,\s(?:{_WHOLE}|{_SPOKEN})){{0,30}}(?:,?\s(?:and|&)\s(?:{_WHOLE}|{_SPOKEN})|,?\set\sal)"
)
_LED = re.compile(
    rf"(?P<authors>{_INVERTED}|{_VANCOUVER}|{_CHICAGO}|{_PLAIN}|{_ET_AL}|{_SPELLED})[.:]\s+(?P<rest>\S.+)"
)
# "SMITH, John; DOE, A." as ISO 690 and chemists part them; "Doe J., Roe A.", as some Harvard styles dot them.
_PARTED = rf"(?>{_FAMILY},\s(?:{_INITIALS}|{_GIVEN});\s(?:and\s)?){{1,30}}{_FAMILY},\s(?:{_INITIALS}|{_GIVEN})"
_DOTS = r"(?:[^\W\d_a-z]\.-?){1,3}"
_DOTTED = rf"(?>{_FAMILY}\s{_DOTS}(?:,?\s(?:and|&)\s|,\s)){{0,30}}{_FAMILY}\s{_DOTS}(?:,?\set\sal\.?)?"
# "Doe, Roe & Poe, 2016, Title": family names alone.
_FAMILIES = rf"{_FAMILY}(?:,\s{_FAMILY}){{1,5}},?\s(?:and|&)\s{_FAMILY}"
_LED_PARTED = re.compile(rf"(?P<authors>{_PARTED})[.:]?\s+(?P<rest>\S.+)")
_DATED = re.compile(
    rf"(?P<authors>{_PARTED}|{_DOTTED}|{_VANCOUVER}|{_INVERTED}|{_ET_AL}|{_FAMILIES})[.,]?\s+(?P<year>{_YEAR})\s*[,.:–—-]\s*(?P<rest>\S.+)"
)
# "Jane Doe & Ann Roe, Title, 29 Venue 770 (2016)": law reviews, after the Bluebook.
_BLUEBOOK = re.compile(
    rf"(?P<authors>{_WHOLE}(?:(?:,\s|,?\s(?:and|&)\s){_WHOLE}){{0,4}}(?:\set\sal\.)?),\s(?P<title>\S.{{8,300}}?),"
    rf"\s(?P<volume>[0-9]{{1,4}})\s(?P<venue>[^\d_(),][^(),]{{1,80}}?)\s(?P<page>[0-9]{{1,6}})(?![0-9])[^()]{{0,40}}\((?P<year>{_YEAR})\)"
)
# "DOE J, ROE A, et al. Title[J]. Venue, 2016": the Chinese standard (GB/T 7714) marks what kind of work it is.
_MARKED = re.compile(
    r"(?P<authors>[^\[\]［］]{2,300}?)[.．。]\s?(?P<title>[^\[\]［］]{2,300}?)\s?[\[［](?:[MCNJDRSPGAZ]|DB|CP|EB|DS|CM)(?:/OL)?[\]］]"
    r"(?:\s?[./．]{1,2}\s?(?P<rest>.*))?"
)
_HAN = r"[\u3400-\u9fff·]{2,12}"
_HAN_NAMES = re.compile(rf"{_HAN}(?:\s?[,，、;；]\s?{_HAN}){{0,30}}")
_VOLUME = re.compile(r",\s(?P<venue>[^\W\d_a-z][^\d,]{1,80}?)[,\s]\s?[0-9]{1,4}\b[^A-Za-z]{0,40}$")
# What numbers or opens an item of a list.
_ITEM = re.compile(r"\s*(?:\[[0-9]{1,4}\]|［[0-9]{1,4}］|\([0-9]{1,3}\)|[0-9]{1,3}[.)](?=\s)|[•·‣▪*–—-](?=\s))\s*")
_ANY_YEAR = re.compile(r"(?<![\w/.:–-])(?:1[5-9]|20)[0-9]{2}(?![\w/–-]|\.[0-9])")
_VENUE_LIKE = re.compile(
    r"(?:The\s)?(?:Journal|Proceedings|Annals|Transactions|Bulletin|Archives|Reviews?|Int\.|J\.)\b"
)
# A word of two letters or more ends a sentence, an initial ("E. coli") or an abbreviation inside a title does not.
_STOP = re.compile(
    r"(?<=\w[\w)\]’'”\"])(?<!\svs)(?<!\sal)(?<!\sspp)(?<!\ssp)(?<!\sno)[.?!]\s+(?=\S)|(?<=\w)[?!]\s+"
    r"|(?<=\w[.?!][”’\"])\s+(?=[^\W\d_a-z])"
    # A letter alone is an initial, but behind "part", "type" and the like, and as the numeral of a part.
    r"|(?<=[a-z]{3}\s[IVX])\.\s+(?=[^\W\d_a-z])|(?<=(?:itis|amin|tein|type|lass|part|Part|roup)\s[A-Z])\.\s+(?=[^\W\d_a-z])"
)


PARTIES = "parties"
NO_NUMBERING = VolumeNumbers()
LONGEST_REFERENCE = 4000
"""Characters of a reference, or of a part of one, that are read; the longest that lists print have a quarter of it."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What a reference says; "" and () for what is not there or not certain. `text` is the reference as it was read.

    `title_sign` says by what the title was told from the rest: `field` (it was given as one), `parties` (it is the name
    of a court's case), `quoted`, `year` (it follows the year in brackets), `authors` (it follows the authors), or ""
    when there is none. `is_venue` says that `venue` is surely the name of a journal or of its like: it was given as
    one, a volume or an issue stands behind it, or it stands alone behind the title and is no house.
    """

    text: str
    title: str = ""
    authors: tuple[Name, ...] = ()
    years: tuple[int, ...] = ()
    venue: str = ""
    title_sign: str = ""
    is_venue: bool = False
    numbering: VolumeNumbers = NO_NUMBERING


def from_fields(
    *,
    title: str = "",
    authors: tuple[Name, ...] = (),
    year: int | None = None,
    venue: str = "",
    numbering: VolumeNumbers = NO_NUMBERING,
) -> Reference:
    """A reference whose parts are known."""
    title = strip_markup(title[:LONGEST_REFERENCE])
    return Reference(
        text=title,
        title=title,
        authors=authors,
        years=(year,) if year else (),
        venue=strip_markup(venue[:LONGEST_REFERENCE]),
        title_sign="field" if title else "",
        is_venue=bool(venue.strip()),
        numbering=numbering,
    )


def parse_reference(text: str) -> Reference:
    """The parts of a reference in one of the usual styles or in none.

    Those are APA, MLA, Chicago, IEEE, Vancouver, Harvard, ISO 690, GB/T 7714 and law reviews' after the Bluebook.
    """
    # What stood in brackets before a full stop and was markup leaves its blank.
    text = re.sub(r"(?<=[\w”\"’)])\s(?=[.]\s)", "", strip_markup(text[:LONGEST_REFERENCE]))
    text = text[item.end() :] if (item := _ITEM.match(text)) and any(map(str.isalpha, text[item.end() :])) else text
    years = tuple(dict.fromkeys(int(year) for year in _ANY_YEAR.findall(text)))
    if (match := _APA.match(text)) and (authors := _parse_authors(match["authors"])):
        quoted = _QUOTED.match(match["rest"])
        title, rest = (
            (quoted["title"] or quoted["single"], match["rest"][quoted.end() :])
            if quoted
            else _split_title(match["rest"])
        )
        return _to_reference(text, title.strip(), authors, (int(match["year"][:4]),), rest, "year")
    if (
        (quoted := _QUOTED.search(text, 0, _LONGEST))
        and not answers(text[: quoted.start()])
        and _may_precede_title(text[: quoted.start()].rstrip())
    ):
        # Some styles put the year between the authors and the title.
        authors = _parse_authors(_LAST_YEAR.sub("", text[: quoted.start()]).strip(" ,.:"))
        title = quoted["title"] or quoted["single"]
        return _to_reference(text, title.strip(), authors, years, text[quoted.end() :], "quoted")
    if (marked := _MARKED.match(text)) and (authors := _parse_authors(marked["authors"])):
        return _to_reference(text, marked["title"].strip(), authors, years, marked["rest"] or "", "authors")
    if (pairs := _PAIRED.match(text)) and (authors := _parse_pairs(pairs["authors"])):
        title, rest = _split_title(pairs["rest"])
        return _to_reference(text, title, authors, (int(pairs["year"][:4]),), rest, "authors")
    if law := _BLUEBOOK.match(text):
        authors = parse_names(re.sub(r"\s?&\s?", " and ", law["authors"]))
        numbering = VolumeNumbers(law["volume"], "", law["page"])
        years = (int(law["year"][:4]),)
        return Reference(text, law["title"], authors, years, law["venue"], "authors", True, numbering)
    if (dated := _DATED.match(text)) and (authors := _parse_authors(dated["authors"])):
        rest_text = dated["rest"]
        # Where commas part everything, a name with the number of a volume behind one is the venue.
        volume = _VOLUME.search(rest_text)
        cut = (rest_text[: volume.start()], rest_text[volume.start("venue") :]) if volume else _split_title(rest_text)
        return _to_reference(text, cut[0], authors, (int(dated["year"][:4]),), cut[1], "authors")
    if (parted := _LED_PARTED.match(text)) and (authors := _parse_authors(parted["authors"])):
        title, rest = _split_title(parted["rest"])
        return _to_reference(text, title, authors, years, rest, "authors")
    if led := _LED.match(text):
        title, rest = _split_title(led["rest"])
        # A year between authors and title belongs to neither.
        if re.fullmatch(_YEAR, title):
            title, rest = _split_title(rest)
        if _VENUE_LIKE.match(title):
            return Reference(text, "", _parse_authors(led["authors"]), years, _to_venue(title))
        return _to_reference(text, title, _parse_authors(led["authors"]), years, rest, "authors")
    if (signed := _SIGNED.match(text)) and _is_organisation(signed["authors"]):
        title, rest = _split_title(signed["rest"])
        return _to_reference(text, title, (Name(signed["authors"]),), years, rest, "authors")
    return Reference(text, years=years)


_ALONE = re.compile(rf"[\s.,;(]*+(?:{_YEAR})?[\s.,;)]*+")
_HOUSE = re.compile(
    r"\b(?:press|presses|verlag|publish\w{0,4}|publications|books|éditions|editions|university|universität|université"
    r"|universidad|università|diss|thesis|dissertation|preprint|blog|website|report|working paper)\b",
    re.IGNORECASE,
)


def _to_reference(
    text: str, title: str, authors: tuple[Name, ...], years: tuple[int, ...], rest: str, sign: str
) -> Reference:
    """A reference with what the `rest` behind its title says: where it appeared, in which volume and on which pages."""
    venue, numbering = _to_venue(rest), find_numbering(rest, years)
    is_numbered = bool(numbering.volume or numbering.issue)
    # Behind a title, a name with nothing but a year is where it appeared, unless that is a house.
    is_alone = bool(_ALONE.fullmatch(rest.removeprefix(venue))) and not re.search(r"[.?!]\s", venue)
    is_venue = bool(venue) and (is_numbered or ((is_alone or sign == "quoted") and not _HOUSE.search(venue)))
    return Reference(text, title, authors, years, venue, sign, is_venue, numbering)


def _may_precede_title(before: str) -> bool:
    """Whether a title in quotation marks may follow: inside a title that is open they are of its own words."""
    return not before or before[-1] in ".,:;)]–—-" or before[-1].isdigit() or bool(_parse_authors(before))


def _is_organisation(text: str) -> bool:
    name = parse_name(text)
    return name is not None and not name.given and " " in text


def _parse_pairs(text: str) -> tuple[Name, ...]:
    """Names with a comma inside each and between two, as ISO 690 has them; () where they come out uneven.

    Where family names are in capitals each begins a name, so that one without given names is told from a pair.
    """
    parts = [part.strip() for part in _BETWEEN_PAIRS.split(text) if part.strip()]
    is_marked = parts and _is_capital(parts[0])
    names: list[Name] = []
    at = 0
    while at < len(parts):
        given = parts[at + 1] if at + 1 < len(parts) else ""
        if is_marked and (not given or _is_capital(given)) and not _is_capital(parts[at]):
            return ()
        if is_marked and _is_capital(given) and len(given) > 3:
            names.append(Name(parts[at]))
            at += 1
            continue
        if not given or not re.fullmatch(_GIVEN_PART, given) or not re.fullmatch(_FAMILY, parts[at]):
            return (*names, Name(parts[at])) if is_marked and not given else ()
        names.append(Name(parts[at].title() if is_marked else parts[at], given))
        at += 2
    return tuple(names)


def _is_capital(text: str) -> bool:
    """Whether the words of a text but its particles are in capitals."""
    return any(len(word) > 1 and word.isupper() for word in text.split()) and not re.search(r"[A-Z][a-z]", text)


def _parse_authors(text: str) -> tuple[Name, ...]:
    text = re.sub(r"\s\.\s\.\s\.\s|…", ", ", text).strip(" ,.&")
    if _HAN_NAMES.fullmatch(han := re.sub(r"(?<![\s,，、])[\s,，、]*+(?:等|et\sal)$", "", text.strip("．。 "))):
        return tuple(filter(None, map(parse_name, re.split(r"\s?[,，、;；]\s?", han))))
    if re.fullmatch(_FAMILIES, text) and " " not in re.sub(r",?\s(?:and|&)\s|,\s", "", text):
        return tuple(Name(family) for family in re.split(r",?\s(?:and|&)\s|,\s", text))
    if re.fullmatch(_PARTED, text) or re.fullmatch(_PARTED, f"{text}."):
        return tuple(filter(None, map(parse_name, re.split(r";\s(?:and\s)?", text))))
    if re.fullmatch(_DOTTED, f"{text}."):
        text = re.sub(
            r",?\s(?:and|&)\s", ", ", re.sub(r"(?<=[^\W\d_a-z])\.(?=[,\s-]|[^\W\d_a-z]\.|[^\W\d_a-z]$|$)", "", text)
        )
    if re.fullmatch(rf"{_VANCOUVER}", text):
        pieces = re.sub(r",?\set\sal\.?$", "", text).split(", ")
        return tuple(filter(None, map(_parse_indexed, pieces)))
    if re.fullmatch(_CHICAGO, text):
        family, given, *others = re.split(r",\s(?:and\s|&\s)?|\s(?:and|&)\s", text)
        return (Name(family, given), *filter(None, map(parse_name, others)))
    if re.fullmatch(_INVERTED, text.rstrip(".") + "."):
        pairs = re.findall(rf"(?<![^\W\d_])({_FAMILY}),\s({_INITIALS})(?:{_JOINT}|(?:,?\set\sal)?\.?$)", f"{text}.")
        return tuple(Name(family, given.strip()) for family, given in pairs)
    if re.fullmatch(_PLAIN, text):
        pieces = re.split(r",\sand\s|,\s|\sand\s|\s&\s", re.sub(r",?\set\sal\.?$", "", text))
        return tuple(name for name in map(parse_name, pieces) if name)
    # A full stop behind more than a letter ends a sentence, which names have none of.
    prose = re.search(r"[^\W\d_]{2}[.?!:]", re.sub(r",?\set\sal\.?$|\b[JS]r\.", "", text))
    return parse_names(text) if len(text.split()) <= 40 and not prose else ()


def _parse_indexed(piece: str) -> Name | None:
    """A name with its initials behind it, together ("Doe JQ") or apart ("DOE J Q")."""
    spaced = re.fullmatch(r"\S.*\s[^\W\d_a-z]\s[^\W\d_a-z]", piece)
    return parse_name(piece) if spaced else Name(*piece.rpartition(" ")[::2])


def _split_title(text: str) -> tuple[str, str]:
    """A title and what follows it; a full stop ends a title, the one after an abbreviation or initial does not."""
    stop = _STOP.search(text)
    if stop is None:
        return text.strip(" ."), ""
    keep = stop.start() + (1 if text[stop.start()] in "?!" else 0)
    return text[:keep].strip(), text[stop.end() :]


def _to_venue(text: str) -> str:
    """The name at the start of what follows a title: up to a number, a bracket or an address."""
    text = re.split(
        r"[0-9(\[;]|https?:|,\s(?:vol|no|pp?)\.|,\s(?=[A-Z][a-z]{2}\.?\s)",
        re.sub(r"^\s*(?:In:?\s)", "", text),
        maxsplit=1,
    )[0]
    return text.strip(" ,.:;-–—")
