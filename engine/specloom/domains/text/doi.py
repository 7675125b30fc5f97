"""DOIs in texts and addresses: found whole, cut where the name ends, and brought to the form in which they compare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from .fold import strip_unseen

# ISO 26324 allows any printable character; these are the ones that registered names use, outside of which prose begins.
# A name ends where the next one of a list or a tag begins.
_DOI = re.compile(
    r"""(?:(?<![\w.])|(?<=doi))10\.[0-9]{4,9}/
    (?:(?![;,]\s?(?:doi:)?10\.[0-9]{4,9}/)(?!</?[a-z]+[ />])(?!\.?PMC?ID:)
    (?:[-‐-–−\w.;()/:<>\[\]+\#~&*@=,%]|\\(?=[_&%\#]))){1,300}""",
    re.IGNORECASE | re.VERBOSE,
)
CUE = re.compile(r"(?:\bdoi\b[\s:]*+(?:no\.?)?|(?:https?://)?(?:dx\.|www\.)?doi\.org/|doi:)\s*+$", re.IGNORECASE)
URL = re.compile(r"https?://[^\s<>\"'“”‘’{}|\\^`]{1,2000}", re.IGNORECASE)
_VIEWER = re.compile(
    r"""/(?:full|abstract|abs|pdf|epdf|pdfdirect|html|meta|references|full-text|fulltext|supplementary|suppl|suppinfo
    |figures|tables|xml|epub|citations?|cited-by|metrics|download|summary|v[0-9]{1,2})/?$""",
    re.IGNORECASE | re.VERBOSE,
)
_FILE = re.compile(r"\.(?:pdf|html?|xml|epub)$", re.IGNORECASE)
# bioRxiv and medRxiv put the version and the view right behind the name; openRxiv took the second prefix over.
_PREPRINT_PREFIXES = ("10.1101/", "10.64898/")
_PREPRINT_VIEW = re.compile(r"(?<=[0-9])v[0-9]{1,2}(?:\.[a-z.-]{1,40})?$")
_TRAILING = ".,;:!?'\"*_–"
# Word processors and PDFs make other bars of hyphens, and TeX escapes signs; no agency registers such.
_WRITTEN = str.maketrans(dict.fromkeys("‐‑‒–−", "-") | {"\\": ""})
_CLOSERS = {")": "(", "]": "[", ">": "<"}
# What is more often a month or a number of prose than a name; behind "doi:" it is a name.
_NUMBER = re.compile(r"10\.(?:(?:19|20)[0-9]{2}/[0-9]{1,2}|[0-9]{4,9}/.)")


class Doi(NamedTuple):
    """A DOI in its normal form (bare, lower case), the piece of the text that it was read from, where that is, and the
    DOI as it is spelled there.
    """

    value: str
    text: str
    start: int
    spelled: str


def find_doi(text: str) -> str:
    """The first DOI of a text or an address in its normal form, "" when there is none."""
    return next((each.value for each in find_dois(text)), "")


def to_doi(text: str) -> str:
    """The normal form of a text that is a DOI, with or without its address or "doi:"; "" for anything else."""
    text = strip_unseen(text).strip()
    doi = _find_whole(text)
    return doi.value if doi else ""


def to_spelled_doi(text: str) -> str:
    """What `to_doi` gives, in the capitals in which the text has it, as registries print it."""
    doi = _find_whole(strip_unseen(text).strip())
    return doi.spelled if doi else ""


def _find_whole(text: str) -> Doi | None:
    """The DOI that a text is, with nothing before it but what announces one."""
    doi = next(find_dois(text), None)
    return doi if doi and (not text[: doi.start] or CUE.fullmatch(text[: doi.start])) else None


def find_dois(text: str) -> Iterator[Doi]:
    """Every DOI of a text in its order; one in an address is read from the whole address, without viewer suffixes."""
    for start, piece in _to_pieces(text):
        address = "://" in piece
        decoded = _to_address(piece) if address else piece
        for match in _DOI.finditer(decoded):
            raw = match[0]
            if address:
                raw = _cut_address(raw, decoded)
            raw = trim(raw).rstrip("/")
            value = raw.translate(_WRITTEN)
            suffix = value.partition("/")[2]
            cued = address or bool(CUE.search(decoded[: match.start()])) or len(value) == len(piece.strip())
            if not any(character.isalnum() for character in suffix) or (_NUMBER.fullmatch(value) and not cued):
                continue
            if decoded == piece:
                yield Doi(value.lower(), raw, start + match.start(), value)
            else:
                yield Doi(value.lower(), piece, start, value)


def _to_pieces(text: str) -> Iterator[tuple[int, str]]:
    """The text, parted into addresses and what lies between them."""
    at = 0
    for match in URL.finditer(text):
        # A DOI of the old form has "<" in it, which is no character of an address but is pasted as one.
        end = match.end()
        if "doi.org/" in match[0].lower():
            while end < len(text) and not text[end].isspace():
                end += 1
        if end <= at:
            continue
        if match.start() > at:
            yield at, text[at : match.start()]
        yield match.start(), text[match.start() : end]
        at = end
    if at < len(text):
        yield at, text[at:]


def _to_address(piece: str) -> str:
    """An address decoded and without its fragment, which is no part of a name: one in a name would be written %23."""
    before, _, fragment = piece.partition("#")
    address = before if fragment and "10." in before else piece
    decoded = unquote(address, errors="replace")
    return address if "\ufffd" in decoded else decoded


def _cut_address(raw: str, address: str) -> str:
    """The DOI in an address without what a viewer puts behind it."""
    host = address.partition("://")[2].partition("/")[0].lower()
    if host.endswith("doi.org"):
        return raw
    raw = re.split(r"[&#]", raw, maxsplit=1)[0]
    while (shorter := _VIEWER.sub("", raw)) != raw and shorter.partition("/")[2]:
        raw = shorter
    raw = _FILE.sub("", raw)
    return _PREPRINT_VIEW.sub("", raw) if raw.startswith(_PREPRINT_PREFIXES) else raw


def trim(text: str) -> str:
    """A name without the punctuation of the sentence around it; brackets stay where they are balanced."""
    while text:
        last = text[-1]
        opener = _CLOSERS.get(last)
        if last in _TRAILING or (opener is not None and text.count(last) > text.count(opener)) or last in "([<":
            text = text[:-1]
        else:
            break
    return text
