"""Names of papers as callers give them: a DOI, an arXiv or a PubMed identifier, strictly read and with their case."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import unquote

from specloom.core import dataclass

from .identifiers import from_arxiv_doi

ARXIV = r"(?:[a-z]{1,20}(?:-[a-z]{1,20}){0,3}(?:\.[A-Z]{2})?/[0-9]{7}|[0-9]{4}\.[0-9]{4,5})(?:v[0-9]+)?"
"""What an arXiv identifier is, of the old form or the new one."""
_DOI = re.compile(r"10\.[0-9]{4,9}/[!#-\[\]_a-z~]{1,256}")
"""Older ones have brackets, angles, semicolons, number signs and more, which file names have a line for."""
_DOI_URL = re.compile(r"https?://(?:dx\.|www\.)?doi\.org/", re.IGNORECASE)
_CLIMBS = re.compile(r"(?:^|/)\.\.(?:/|$)")
_ARXIV = re.compile(ARXIV)
_ARXIV_URL = re.compile(rf"https?://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/({ARXIV})(?:\.pdf)?/?")
_PUBMED = re.compile(
    r"pmid:(?P<pmid>[0-9]+)|(?:pmcid:)?(?P<pmcid>pmc[0-9]+)"
    r"|https?://(?:(?:www\.)?pubmed\.ncbi\.nlm\.nih\.gov|(?:www\.)?ncbi\.nlm\.nih\.gov/pubmed)/(?P<at>[0-9]+)(?:[/?#]\S*)?"
    r"|https?://(?:pmc\.ncbi\.nlm\.nih\.gov|(?:www\.)?ncbi\.nlm\.nih\.gov/pmc)/articles/(?P<central>pmc[0-9]+)(?:[/?#]\S*)?",
    re.IGNORECASE,
)
_CITE_KEY = re.compile(r"@[^\s@,{}]{1,256}")
_OUTSIDE = re.compile(r"[^A-Za-z0-9._-]")

LONGEST_KEY = 192
"""Characters of a key before it is cut and gets eight digits of a hash, so that no key has more than 201."""


@dataclass(frozen=True, slots=True)
class PaperId:
    """One paper as it was named: `kind` is doi, arxiv or pubmed, `value` the identifier without its scheme."""

    kind: str
    value: str

    @property
    def base(self) -> str:
        """An arXiv identifier without its version; any other identifier as it is."""
        return re.sub(r"v[0-9]+$", "", self.value) if self.kind == "arxiv" else self.value

    @property
    def key(self) -> str:
        """The name of its files: a pure function of the reference, never of what a server says."""
        key = self._plain_key
        return key if len(key) <= LONGEST_KEY else self.longer_key

    @property
    def longer_key(self) -> str:
        """The name of its files where another paper has that of `key`, which this one has no other paper of."""
        raw = f"{self.kind}_{self.value}"
        return f"{self._plain_key[:LONGEST_KEY]}_{hashlib.sha256(raw.encode()).hexdigest()[:8]}"

    @property
    def _plain_key(self) -> str:
        return re.sub("_+", "_", _OUTSIDE.sub("_", f"{self.kind}_{self.value}")).strip("_")

    def digest(self, profile: str, version: str = "") -> str:
        """SHA-256 over kind, identifier, resolver and version: fetches of one paper differ by who resolved it."""
        return hashlib.sha256("\0".join((self.kind, self.value, profile, version)).encode()).hexdigest()


def parse_ref(text: str) -> PaperId:
    """The paper that a text names; ValueError for what is neither a DOI nor an arXiv or PubMed identifier."""
    value = text.strip()
    if at := _DOI_URL.match(value):
        value = unquote(value[at.end() :])
    scheme, _, rest = value.partition(":")
    if scheme.lower() == "doi" or value.startswith("10."):
        doi = rest if scheme.lower() == "doi" else value
        if not _DOI.fullmatch(doi) or _CLIMBS.search(doi):
            raise ValueError(f"{_quote(text)} is not a DOI: write it as 10.1234/abc.")
        return PaperId("doi", doi)
    if scheme.lower() == "arxiv":
        if not _ARXIV.fullmatch(rest):
            usual = "write it as 2401.12345 or cond-mat/9501001"
            raise ValueError(f"{_quote(text)} is not an arXiv identifier: {usual}.")
        return PaperId("arxiv", rest)
    for kind, pattern in (("arxiv", _ARXIV), ("pubmed", _PUBMED)):
        if pattern.fullmatch(value):
            return PaperId(kind, value)
    usual = "a DOI such as 10.1234/abc nor an arXiv identifier such as 2401.12345"
    raise ValueError(f"{_quote(text)} is neither {usual}.")


def find_ref(scheme: str, text: str) -> PaperId | None:
    """The paper that a source names, or None where what it says is no such identifier."""
    try:
        return parse_ref(f"{scheme}:{text}")
    except ValueError:
        return None


def is_cite_key(text: str) -> bool:
    """Whether a text is `@` and a cite key, by which only whoever gave it knows a work."""
    return _CITE_KEY.fullmatch(text.strip()) is not None


def arxiv_at(url: str) -> str:
    """The arXiv identifier in the address of a preprint's page or PDF; "" for any other address."""
    match = _ARXIV_URL.fullmatch(url)
    return match[1] if match else ""


def preprint_of(doi: str) -> PaperId | None:
    """The paper that a DOI names which arXiv registered for it; None for any other DOI."""
    number = from_arxiv_doi(doi)
    return PaperId("arxiv", number) if _ARXIV.fullmatch(number) else None


def pubmed_number(ref: PaperId) -> tuple[str, str]:
    """What a PubMed reference names: `pmid` or `pmcid`, and the number, the second with PMC before it."""
    match = _PUBMED.fullmatch(ref.value)
    assert match is not None, ref
    number, central = match["pmid"] or match["at"], match["pmcid"] or match["central"]
    return ("pmcid", central.upper()) if central else ("pmid", number)


def _quote(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:79] + "…")
