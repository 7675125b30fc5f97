"""Names of works in a text: DOI, PubMed, arXiv, ISBN, RFC, trial, patent and court citations, in one normal form each.

Recognised is what has the form *and* either a sign that names it ("ISBN", "arXiv:", an address of its registry), a
check digit, or a closed list behind it. A bare number is never one: it is better to search for a text than to look up
the wrong work.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Literal
from urllib.parse import quote, urlsplit

from specloom.core import dataclass, load_table

from .doi import URL, find_doi, find_dois, to_doi, trim
from .tables import to_alternatives

# --- Patent numbers and court citations: forms that are only recognised with an office or a reporter of a closed
# list -----------------------------------------------------------------------------------------------------------------


_TABLE = load_table(__file__, "reporters.yaml")
_OFFICES = to_alternatives(_TABLE["offices"])
PATENT = re.compile(
    rf"""\bU\.?S\.?\s++(?i:(?:design\s++|plant\s++|reissue\s++)?(?:patent|pat\.)\s*+(?:application\s++)?(?:publication\s++)?
        (?:(?:nos?\.?|numbers?)\s*+)?)
        (?P<us>(?:D|PP|RE)?[0-9]{{1,4}}(?:,[0-9]{{3}}){{1,3}}|[0-9]{{4}}/[0-9]{{7}}|[0-9]{{6,8}})(?![\w,]{{0,40}}[0-9])
    |(?i:\b(?:patent|pat\.)\s++(?:nos?\.?\s++)?)US[\s-]?(?P<us_named>[0-9]{{1,2}}(?:,[0-9]{{3}}){{2}}|[0-9]{{7,8}})(?![\w,]{{0,40}}[0-9])
        (?!\s?[A-CEHPSTUY][0-9]?(?!\w))
    |(?<![\w.-])(?P<office>{_OFFICES})[\s-]?(?P<number>(?:D|PP|RE)?[0-9]{{1,4}}(?:[,/\ ]?[0-9]{{3,7}}){{1,3}})
        [\s-]?(?P<kind>[A-CEHPSTUY][0-9]?)(?![\w])
    |\bpatents\.google\.com/patent/(?P<google>(?:{_OFFICES})[0-9A-Z]{{4,16}})(?![\w])""",
    re.VERBOSE,
)

# Whether a reporter is distinctive enough to be recognised without a party name or a year beside it.
_REPORTERS = {each: name == "distinct" for name, group in _TABLE["reporters"].items() for each in group}
_ORDERED = sorted(_REPORTERS, key=len, reverse=True)
_BARE_REPORTERS = {re.sub(r"[\s.]", "", each): each for each in reversed(_REPORTERS)}


def _loose(reporter: str) -> str:
    """A pattern for a reporter however it is spaced; with or without its full stops where it has several."""
    stop = r"\.?" if len(reporter) > 2 else r"\."
    parts = re.findall(r"[A-Za-z']+\.?|[2-5](?:d|th)", reporter)
    return r"\s?".join(re.escape(part).replace(r"\.", stop) for part in parts)


CASE = re.compile(
    rf"""(?<![\w.,-])(?:
    (?P<volume>[1-9][0-9]{{0,3}})\s(?P<reporter>{"|".join(f"(?:{_loose(each)})" for each in _ORDERED)})
        (?:\s\([1-9][0-9]?\s(?:{to_alternatives(_TABLE["reported_by"])})\))?
        \s(?P<page>[1-9][0-9]{{0,4}})(?![\w])
        (?P<after>(?:,\s?[0-9]+(?:[–-][0-9]+)?)*\s?\((?:[^()]{{0,40}}\s)?(?:1[6-9]|20)[0-9]{{2}}\))?
    |(?P<westlaw>(?:19|20)[0-9]{{2}}\s(?:WL\s[0-9]{{4,9}}|U\.S\.\s(?:Dist\.|App\.)\sLEXIS\s[0-9]{{2,7}}))(?![\w])
    |(?P<neutral>\[(?:19|20)[0-9]{{2}}\]\s(?:{to_alternatives(_TABLE["courts"])})\s[1-9][0-9]{{0,4}})(?![\w])
    |(?P<ecli>ECLI:[A-Z]{{2}}:[A-Z0-9]{{1,7}}:[0-9]{{4}}:[A-Z0-9.]{{1,25}}[A-Z0-9])
    )""",
    re.VERBOSE,
)
_PARTIES = re.compile(r"\b(?:v\.?|vs\.?|In re|Ex parte)\s")
_LOOK_BACK = 200


def to_patent(match: re.Match[str]) -> str:
    """The number as its office publishes it, without blanks, commas and strokes: `US7654321B2`, `WO2020123456A1`."""
    if google := match["google"]:
        return google
    if us := match["us"] or match["us_named"]:
        return "US" + re.sub(r"[,/]", "", us)
    number = re.sub(r"[,/ ]", "", match["number"])
    # The shortest numbers in use have six digits behind the office, with a letter in front of designs.
    return f"{match['office']}{number}{match['kind']}" if len(number) >= 6 else ""


def to_case(match: re.Match[str]) -> str:
    """Volume, reporter and page (`410 U.S. 113`), or the court's own number (`[2019] UKSC 41`); "" when in doubt."""
    if court := match["neutral"] or match["ecli"] or match["westlaw"]:
        return " ".join(court.split())
    reporter = _BARE_REPORTERS[re.sub(r"[\s.]", "", match["reporter"])]
    before = match.string[max(0, match.start() - _LOOK_BACK) : match.start()]
    if not _REPORTERS[reporter] and not match["after"] and not _PARTIES.search(before):
        return ""
    if "." not in match["reporter"] and "." in reporter and not match["after"] and not _PARTIES.search(before):
        return ""  # "5 US 3" is more often a list than a reporter
    return f"{match['volume']} {reporter} {match['page']}"


_SIDE = r"(?:[A-Z][\w.'’&-]{0,40}|of|the|and|&|ex|rel\.)"
_CAPTION = re.compile(
    rf"[A-Z][\w.'’&-]{{0,40}}(?:,?\s{_SIDE}){{0,7}}\sv\.?(?:\s{_SIDE},?(?=\s)){{1,8}}|In\sre(?:\s{_SIDE}){{1,6}}"
)


def find_parties(text: str) -> str:
    """The name of a case in a citation ("Roe v. Wade"), "" when there is none."""
    match = _CAPTION.search(f"{text} ")
    return re.sub(r"^(?:But\s)?(?:See|Cf\.?|Accord)\s", "", match[0]).strip(" ,") if match else ""


_DECIDED = re.compile(r"[^();\[\]]{1,160}\((?:[^()]{0,40}\s)?((?:1[6-9]|20)[0-9]{2})\)")
_DECIDED_BEFORE = re.compile(r"\(((?:1[6-9]|20)[0-9]{2})\)\s$")


def find_decided(text: str, case: Identifier) -> int | None:
    """The year of a decision, in the brackets behind its citation or right before it; None where it is not certain.

    Other brackets with other years may follow ("overruled by …"), which are not looked at.
    """
    start = case.start if text.startswith(case.text, case.start) else text.find(case.text)
    if start < 0:
        return None
    before = _DECIDED_BEFORE.search(text[max(0, start - 10) : start])
    # "5 U.S. (1 Cranch) 137": what stands in the citation itself is no year.
    behind = re.sub(r"\([1-9][0-9]?\s[A-Z][a-z.]{2,8}\)", "", text[start : start + 300])
    match = before or _DECIDED.match(behind)
    return int(match[1]) if match else None


# --- International Standard Book Numbers: the form in which they compare, and why some can be nobody's ----------------
# The rules are those of the users' manual of the International ISBN Agency: https://www.isbn-
# international.org/content/isbn-users-manual


def to_isbn13(text: str) -> str:
    """The ISBN-13 of an ISBN-10 or ISBN-13, "" when the length, the prefix or the check digit is wrong."""
    bare = re.sub(r"[\s-]", "", text).upper()
    if re.fullmatch(r"[0-9]{9}[0-9X]", bare):
        total = sum((10 - at) * (10 if digit == "X" else int(digit)) for at, digit in enumerate(bare))
        if total % 11 or bare == "0" * 10:
            return ""
        bare = f"978{bare[:9]}"
        return bare + _check13(bare)
    # 979-0 is music, which has numbers of its own.
    if not re.fullmatch(r"97[89][0-9]{10}", bare) or bare.startswith("9790"):
        return ""
    return bare if _check13(bare[:12]) == bare[12] else ""


def find_flaw(isbn: str) -> str:
    """Why no book can have an ISBN of ten or thirteen digits, "" when one can: its prefix, or its check digit."""
    if to_isbn13(isbn):
        return ""
    if len(isbn) == 13 and isbn[:3] not in ("978", "979"):
        return f"ISBN {isbn} has {isbn[:3]} in front, where every ISBN of 13 digits has 978 or 979"
    if isbn.startswith("9790"):
        return f"ISBN {isbn} has a prefix that is kept for printed music"
    if len(isbn) == 13:
        right = _check13(isbn[:12])
    else:
        right = "0123456789X"[-sum((10 - at) * int(digit) for at, digit in enumerate(isbn[:9])) % 11]
    if isbn[-1] == right:
        return f"ISBN {isbn} is all zeros"
    return f"ISBN {isbn} has a wrong check digit (the others ask for {right}), so no book has this number"


def _check13(digits: str) -> str:
    total = sum(int(digit) * (3 if at % 2 else 1) for at, digit in enumerate(digits))
    return str(-total % 10)


KINDS = ("doi", "pmid", "pmcid", "arxiv", "isbn", "rfc", "nct", "orcid", "patent", "case", "url")
"""Every kind, the one that says most about a work first; an address says least."""
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)", re.IGNORECASE)
_LONGEST_TEXT = 10_000


@dataclass(frozen=True, slots=True)
class Identifier:
    """One identifier: its kind (KINDS), its normal form, the piece of the text that it was read from, and where.

    `flaw` says why nothing can bear it; "" for one that obeys the rules of its kind.
    """

    kind: str
    value: str
    text: str
    start: int
    flaw: str = ""


@dataclass(frozen=True, slots=True)
class Detected:
    """What a citation is: every identifier in it, the one to go by (None for plain text), and the words around them."""

    identifier: Identifier | None
    identifiers: tuple[Identifier, ...]
    rest: str

    @property
    def input_type(self) -> Literal["doi", "url", "reference"]:
        """`doi`, `url` or `reference`: any DOI makes the first, an address alone the second."""
        kind = self.identifier.kind if self.identifier else ""
        if kind == "doi":
            return "doi"
        return "url" if any(each.kind == "url" and each.start == 0 for each in self.identifiers) else "reference"


# --- numbers with a name in front ---
_PMID = re.compile(
    r"(?:\bPMID\s*+:?\s*+|\bPubMed\s++(?:ID|identifier|no\.?)\s*+:?\s*+|\bpubmed\.ncbi\.nlm\.nih\.gov/|\bncbi\.nlm\.nih\.gov/pubmed/)"
    r"([1-9][0-9]{0,7})(?![\w.]{0,40}[0-9])",
    re.IGNORECASE,
)
_PMCID = re.compile(
    r"(?<![\w])PMC(?:ID\s*+:?\s*+(?:PMC\s*+)?)?([1-9][0-9]{3,8})(?:\.[0-9]{1,2})?(?![\w])", re.IGNORECASE
)
_RFC = re.compile(
    r"""(?<![\w-])RFC[\s-]?0{0,3}([1-9][0-9]{0,4})(?![\w]|[.,]?[0-9])
    |(?:rfc-editor\.org|ietf\.org)/[a-z/]{0,30}rfc([1-9][0-9]{0,4})\b""",
    re.IGNORECASE | re.VERBOSE,
)
_NCT = re.compile(r"(?<![\w])NCT[\s-]?([0-9]{8})(?![0-9])", re.IGNORECASE)
_ORCID = re.compile(r"(?<![\w-])([0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X])(?![\w-])")

# --- arXiv ---
_ARXIV_NEW = r"(?P<new>(?P<yy>[0-9]{2})(?P<mm>0[1-9]|1[0-2])\.(?P<number>[0-9]{4,5}))(?:v[1-9][0-9]?)?"
_ARXIV = re.compile(
    rf"\barXiv(?:\.org)?\s*+(?:preprint\s*+)?(?:arXiv\s*+)?(?:[:/]\s*+)?(?:(?:abs|pdf|html|ps)/)?{_ARXIV_NEW}(?![0-9])",
    re.IGNORECASE,
)
_BARE_ARXIV = re.compile(rf"\s*+{_ARXIV_NEW}\s*+")
# The archives that gave identifiers of the old form, until March 2007.
_OLD_ARXIV = re.compile(
    r"""(?:(?<![\w/.-])|(?<=arxiv\.org/abs/)|(?<=arxiv\.org/pdf/))(?P<archive>acc-phys|adap-org|alg-geom|ao-sci|astro-ph
    |atom-ph|bayes-an|chao-dyn|chem-ph|cmp-lg|comp-gas|cond-mat|cs|dg-ga|funct-an|gr-qc|hep-(?:ex|lat|ph|th)|math
    |math-ph|mtrl-th|nlin|nucl-(?:ex|th)|patt-sol|physics|plasm-ph|q-alg|q-bio|quant-ph|solv-int|supr-con)
    (?:\.[A-Z]{2})?/(?P<number>(?:9[1-9]|0[0-7])(?:0[1-9]|1[0-2])[0-9]{3})(?:v[1-9][0-9]?)?(?![0-9])""",
    re.IGNORECASE | re.VERBOSE,
)

# --- ISBN ---
_ISBN = re.compile(
    r"""(?P<cue>\bISBN(?:[-\s]?1[03])?\s*+(?:\([a-z. ]{1,20}\)\s*+)?(?:[:\#]\s*+)?)?(?<![\w-])
    (?P<number>(?:97[0-9][\s-]?)?[0-9](?:[\s-]?[0-9]){8}[\s-]?[0-9X])(?![\w]|-[0-9])""",
    re.IGNORECASE | re.VERBOSE,
)

# What announces an identifier, and goes with it when only the other words are wanted.
_CUES = re.compile(
    r"""(?:\b(?:doi|arxiv|pmid|pmcid|isbn(?:-1[03])?|available\s+at|retrieved\s+from|accessed\s+at)\b[\s:]*
    |(?:https?://)?(?:dx\.|www\.)?doi\.org/)$""",
    re.IGNORECASE | re.VERBOSE,
)

_EMPTY = re.compile(r"[(\[]\s*[)\]]|<(\w{1,10})>\s*</\1>")


def detect(text: str) -> Detected:
    """What a citation is. Text beyond the first 10 000 characters is not looked at."""
    text = text[:_LONGEST_TEXT]
    identifiers = find_identifiers(text)
    # What nothing can bear only counts where nothing else but an address is given.
    first = min(
        identifiers, key=lambda each: (each.kind == "url", bool(each.flaw), KINDS.index(each.kind)), default=None
    )
    return Detected(first, identifiers, _without(text, identifiers))


def find_identifiers(text: str) -> tuple[Identifier, ...]:
    """Every identifier of a text in its order, each once; one inside another (a DOI in an address) comes with it."""
    unique: dict[tuple[str, str], Identifier] = {}
    for identifier in sorted(_scan(text), key=lambda each: (each.start, KINDS.index(each.kind))):
        unique.setdefault((identifier.kind, identifier.value), identifier)
    dois = [each for each in unique.values() if each.kind == "doi"]
    # Digits inside a DOI are no number of another kind, and neither are those of an address that is no registry's.
    return tuple(
        each
        for each in unique.values()
        if each.kind in ("doi", "url") or not any(doi.start <= each.start < doi.start + len(doi.text) for doi in dois)
    )


def _scan(text: str) -> Iterator[Identifier]:
    for doi in find_dois(text):
        yield Identifier("doi", doi.value, doi.text, doi.start)
    for pattern, kind, to_value in _PLAIN:
        for match in pattern.finditer(text):
            if value := to_value(match):
                yield Identifier(kind, value, match[0], match.start(), find_flaw(value) if kind == "isbn" else "")
    if (bare := _BARE_ARXIV.fullmatch(text)) and (value := _to_arxiv(bare)):
        yield Identifier("arxiv", value, text.strip(), 0)
    for match in URL.finditer(text):
        address = trim(match[0])
        with suppress(ValueError):
            if urlsplit(address).hostname:
                yield Identifier("url", address, address, match.start())


def _without(text: str, identifiers: tuple[Identifier, ...]) -> str:
    """The text without its identifiers, the signs in front of them and the brackets around them."""
    spans: list[tuple[int, int]] = []
    for identifier in identifiers:
        at = text.find(identifier.text, identifier.start)
        cue = _CUES.search(text[:at])
        spans.append((cue.start() if cue else at, at + len(identifier.text)))
    parts, end = [], 0
    for start, stop in sorted(spans):
        parts.append(text[end : max(start, end)])
        end = max(end, stop)
    rest = " ".join([*parts, text[end:]])
    return " ".join(_EMPTY.sub(" ", rest).split()).strip(" ,.;:/-–—")


def _to_arxiv(match: re.Match[str]) -> str:
    # The form began in April 2007 with four digits, and has had five since January 2015.
    year, number = int(match["yy"]), match["number"]
    if (year, int(match["mm"])) < (7, 4) or len(number) != (4 if year < 15 else 5) or int(number) == 0:
        return ""
    return match["new"]


def _to_isbn(match: re.Match[str]) -> str:
    number, cued = match["number"], bool(match["cue"])
    groups = len(re.findall(r"[\s-]+", number)) + 1
    bare = re.sub(r"[\s-]", "", number).upper()
    if not cued:
        # Three bars part the four elements of an ISBN-10, four those of an ISBN-13; blanks alone part phone numbers.
        hyphens = number.count("-")
        alone = len(bare) == 13 and match.string.strip() == number and groups in (1, 2)
        if not alone and hyphens != (4 if len(bare) == 13 else 3):
            return ""
    # What is called an ISBN and is none is told as such, and not taken for words.
    return to_isbn13(bare) or (bare if cued else "")


def _to_orcid(match: re.Match[str]) -> str:
    # ISO 7064 mod 11-2, as ORCID documents it.
    total = 0
    for digit in match[1].replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return match[1] if match[1][-1] == ("X" if check == 10 else str(check)) else ""


def _first(match: re.Match[str]) -> str:
    return next((group for group in match.groups() if group), "")


_PLAIN: tuple[tuple[re.Pattern[str], str, Callable[[re.Match[str]], str]], ...] = (
    (_PMID, "pmid", _first),
    (_PMCID, "pmcid", lambda match: f"PMC{match[1]}"),
    (_ARXIV, "arxiv", _to_arxiv),
    # Papers went by the archive alone; the class after the dot is not part of the name.
    (_OLD_ARXIV, "arxiv", lambda match: f"{match['archive'].lower()}/{match['number']}"),
    (_ISBN, "isbn", _to_isbn),
    (_RFC, "rfc", _first),
    (_NCT, "nct", lambda match: f"NCT{match[1]}"),
    (_ORCID, "orcid", _to_orcid),
    (PATENT, "patent", to_patent),
    (CASE, "case", to_case),
)


# Where identifiers resolve on the web; other kinds have no single such place.
_ADDRESSES = {
    "url": "{}",
    "doi": "https://doi.org/{}",
    "pmid": "https://pubmed.ncbi.nlm.nih.gov/{}/",
    "pmcid": "https://pmc.ncbi.nlm.nih.gov/articles/{}/",
    "arxiv": "https://arxiv.org/abs/{}",
    "rfc": "https://www.rfc-editor.org/rfc/rfc{}",
    "nct": "https://clinicaltrials.gov/study/{}",
    "orcid": "https://orcid.org/{}",
    "patent": "https://patents.google.com/patent/{}",
}


def to_address(kind: str, value: str) -> str:
    """Where an identifier resolves on the web, "" for kinds that have no single such place."""
    return _ADDRESSES.get(kind, "").format(quote(value, safe="/:;.,+_-()!*'@=~") if kind == "doi" else value)


def to_arxiv_doi(value: str) -> str:
    """The DOI that arXiv registers for each of its papers (since 2022 for all of them)."""
    return f"10.48550/arxiv.{value.lower()}"


def from_arxiv_doi(doi: str) -> str:
    """The number of the paper that a DOI names which arXiv registered for it; "" for any other DOI."""
    match = _ARXIV_DOI.fullmatch(doi)
    return match[1] if match else ""


# --- What a paper is called: the identifiers in a text that names exactly one -----------------------------------------


_PAPER_PMCID = re.compile(
    r"^(?:pmcid:?\s*|https?://\S+/)?(PMC[0-9]{1,9})(?:\.[0-9]{1,2})?(?:[/?#]\S*)?$", re.IGNORECASE
)
_PAPER_PMID = re.compile(
    r"^(?:pmid:?\s*|https?://(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/)([0-9]{1,9})/?(?:[?#]|$)",
    re.IGNORECASE,
)
# https://api.semanticscholar.org/api-docs/graph: 40 hexadecimal digits, or the number of a corpus behind its name.
_INDEX_ID = re.compile(
    r"^(?:https?://(?:www\.|api\.)?semanticscholar\.org/(?:paper/|reader/)?(?:[^/?#]+/)?)?"
    r"(?:([0-9a-f]{40})|CorpusID:\s*([0-9]{1,12}))/?(?:[?#]|$)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"^https?://[^/\s]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PaperName:
    """The identifiers of one paper, each "" where it is not known, and the `address` that was given for it."""

    doi: str = ""
    pmcid: str = ""
    pmid: str = ""
    arxiv_id: str = ""
    index_id: str = ""
    """The id of an index of citations: 40 hexadecimal digits, or `CorpusId:` and a number."""
    address: str = ""

    def __bool__(self) -> bool:
        return any((self.doi, self.pmcid, self.pmid, self.arxiv_id, self.index_id, self.address))

    @property
    def is_known(self) -> bool:
        """Whether it is named by anything but an address."""
        return any((self.doi, self.pmcid, self.pmid, self.arxiv_id, self.index_id))

    def to_page(self) -> str:
        """The address of its page: as it was given, or where its identifier leads; "" where nothing is known."""
        if self.address:
            return self.address
        identifiers = (("doi", self.doi), ("pmcid", self.pmcid), ("pmid", self.pmid), ("arxiv", self.arxiv_id))
        return next((to_address(kind, value) for kind, value in identifiers if value), "")


def to_paper_name(text: str) -> PaperName:
    """What a text names, alone or as an address; nothing for a title, a bare number, or words around an identifier."""
    text = text.strip()
    address = text if _ADDRESS.match(text) else ""
    pmcid, pmid, index = _PAPER_PMCID.match(text), _PAPER_PMID.match(text), _INDEX_ID.match(text)
    doi = "" if pmcid or pmid or index else find_doi(text) if address else to_doi(text)
    preprint = from_arxiv_doi(doi)
    return PaperName(
        doi=doi,
        pmcid=pmcid[1].upper() if pmcid else "",
        pmid=pmid[1] if pmid else "",
        arxiv_id=preprint if doi else _to_arxiv_id(text),
        index_id=(index[1].lower() if index[1] else f"CorpusId:{index[2]}") if index else "",
        address=address,
    )


def _to_arxiv_id(text: str) -> str:
    detected = detect(text)
    is_alone = not detected.rest and all(one.kind in ("arxiv", "url") for one in detected.identifiers)
    return next((one.value for one in detected.identifiers if one.kind == "arxiv"), "") if is_alone else ""
