"""Names of works in a text: DOI, PubMed, arXiv, ISBN, RFC, trial, patent and court citations, in one normal form each.

Recognised is what has the form *and* either a sign that names it ("ISBN", "arXiv:", an address of its registry), a
check digit, or a closed list behind it. A bare number is never one: it is better to search for a text than to look up
the wrong work.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from specloom.trust.dois import URL, find_dois, trim
from specloom.trust.identifiers_law import CASE, PATENT, to_case, to_patent
from specloom.trust.isbn import find_flaw, to_isbn13

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
    def input_type(self) -> str:
        """`doi`, `url` or `reference`: any DOI makes the first, an address alone the second."""
        kind = self.identifier.kind if self.identifier else ""
        if kind == "doi":
            return "doi"
        return "url" if any(each.kind == "url" and each.start == 0 for each in self.identifiers) else "reference"


# --- numbers with a name in front ---
_PMID = re.compile(
    r"(?:\bPMID\s*:?\s*|\bPubMed\s+(?:ID|identifier|no\.?)\s*:?\s*|\bpubmed\.ncbi\.nlm\.nih\.gov/|\bncbi\.nlm\.nih\.gov/pubmed/)"
    r"([1-9][0-9]{0,7})(?![\w.]*[0-9])",
    re.IGNORECASE,
)
_PMCID = re.compile(r"(?<![\w])PMC(?:ID\s*:?\s*(?:PMC)?\s*)?([1-9][0-9]{3,8})(?:\.[0-9]{1,2})?(?![\w])", re.IGNORECASE)
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
    rf"\barXiv(?:\.org)?\s*(?:preprint\s*)?(?:arXiv)?\s*[:/]?\s*(?:(?:abs|pdf|html|ps)/)?{_ARXIV_NEW}(?![0-9])",
    re.IGNORECASE,
)
_BARE_ARXIV = re.compile(rf"\s*{_ARXIV_NEW}\s*")
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
    r"""(?P<cue>\bISBN(?:[-\s]?1[03])?\s*(?:\([a-z. ]{1,20}\))?\s*[:\#]?\s*)?(?<![\w-])
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
    found = find_identifiers(text)
    # What nothing can bear only counts where nothing else but an address is given.
    first = min(found, key=lambda each: (each.kind == "url", bool(each.flaw), KINDS.index(each.kind)), default=None)
    return Detected(first, found, _without(text, found))


def find_identifiers(text: str) -> tuple[Identifier, ...]:
    """Every identifier of a text in its order, each once; one inside another (a DOI in an address) comes with it."""
    found: dict[tuple[str, str], Identifier] = {}
    for identifier in sorted(_scan(text), key=lambda each: (each.start, KINDS.index(each.kind))):
        found.setdefault((identifier.kind, identifier.value), identifier)
    dois = [each for each in found.values() if each.kind == "doi"]
    # Digits inside a DOI are no number of another kind, and neither are those of an address that is no registry's.
    return tuple(each for each in found.values() if not _is_inside(each, dois))


def _is_inside(each: Identifier, dois: list[Identifier]) -> bool:
    if each.kind in ("doi", "url"):
        return False
    return any(doi.start <= each.start < doi.start + len(doi.text) for doi in dois)


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
        if _is_url(address):
            yield Identifier("url", address, address, match.start())


def _without(text: str, found: tuple[Identifier, ...]) -> str:
    """The text without its identifiers, the signs in front of them and the brackets around them."""
    spans: list[tuple[int, int]] = []
    for identifier in found:
        at = text.find(identifier.text, identifier.start)
        cue = _CUES.search(text[:at])
        spans.append((cue.start() if cue else at, at + len(identifier.text)))
    kept, end = [], 0
    for start, stop in sorted(spans):
        kept.append(text[end : max(start, end)])
        end = max(end, stop)
    rest = " ".join([*kept, text[end:]])
    return " ".join(_EMPTY.sub(" ", rest).split()).strip(" ,.;:/-–—")


def _is_url(address: str) -> bool:
    try:
        return bool(urlsplit(address).hostname)
    except ValueError:
        return False


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


def to_address(identifier: Identifier) -> str:
    """Where an identifier resolves on the web, "" for kinds that have no single such place."""
    from urllib.parse import quote

    value = identifier.value
    match identifier.kind:
        case "url":
            return value
        case "doi":
            return "https://doi.org/" + quote(value, safe="/:;.,+_-()!*'@=~")
        case "pmid":
            return f"https://pubmed.ncbi.nlm.nih.gov/{value}/"
        case "pmcid":
            return f"https://pmc.ncbi.nlm.nih.gov/articles/{value}/"
        case "arxiv":
            return f"https://arxiv.org/abs/{value}"
        case "rfc":
            return f"https://www.rfc-editor.org/rfc/rfc{value}"
        case "nct":
            return f"https://clinicaltrials.gov/study/{value}"
        case "orcid":
            return f"https://orcid.org/{value}"
        case "patent":
            return f"https://patents.google.com/patent/{value}"
        case _:
            return ""


def to_arxiv_doi(value: str) -> str:
    """The DOI that arXiv registers for each of its papers (since 2022 for all of them)."""
    return f"10.48550/arxiv.{value.lower()}"


def from_arxiv_doi(doi: str) -> str:
    """The number of the paper that a DOI names which arXiv registered for it; "" for any other DOI."""
    found = _ARXIV_DOI.fullmatch(doi)
    return found[1] if found else ""
