"""Identifiers of papers, the file name that each gets, and the digest under which the log knows a fetch."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from specloom.domains.text import from_arxiv_doi

from .errors import Refusal

_DOI = re.compile(r"10\.[0-9]{4,9}/[A-Za-z0-9._/():-]{1,256}")
_ARXIV = re.compile(r"[0-9]{4}\.[0-9]{4,5}(?:v[0-9]+)?|[a-z]+(?:-[a-z]+)*(?:\.[A-Z]{2})?/[0-9]{7}(?:v[0-9]+)?")
_PUBMED = re.compile(
    r"pmid:(?P<pmid>[0-9]+)|(?:pmcid:)?(?P<pmcid>pmc[0-9]+)"
    r"|https?://(?:(?:www\.)?pubmed\.ncbi\.nlm\.nih\.gov|(?:www\.)?ncbi\.nlm\.nih\.gov/pubmed)/(?P<at>[0-9]+)(?:[/?#]\S*)?"
    r"|https?://(?:pmc\.ncbi\.nlm\.nih\.gov|(?:www\.)?ncbi\.nlm\.nih\.gov/pmc)/articles/(?P<central>pmc[0-9]+)(?:[/?#]\S*)?",
    re.IGNORECASE,
)
_OUTSIDE = re.compile(r"[^A-Za-z0-9._-]")
_SAFE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")

LONGEST_KEY = 192
"""Characters of a key before it is cut and gets eight digits of a hash, so that no key has more than 201."""


@dataclass(frozen=True, slots=True)
class PaperId:
    """One paper as it was named: `kind` is doi, arxiv or pubmed, `value` the identifier without its scheme."""

    kind: str
    value: str

    @property
    def shape(self) -> dict[str, str]:
        """The reference as plans tell it."""
        return {self.kind: self.value}

    @property
    def base(self) -> str:
        """An arXiv identifier without its version; any other identifier as it is."""
        return re.sub(r"v[0-9]+$", "", self.value) if self.kind == "arxiv" else self.value


def parse_ref(text: str) -> PaperId:
    """The paper that a text names; INVALID_REF for what is neither a DOI nor an arXiv or PubMed identifier."""
    said = text.strip()
    scheme, _, rest = said.partition(":")
    if scheme.lower() == "doi":
        return _doi(rest, text)
    if scheme.lower() == "arxiv":
        return _arxiv(rest, text)
    if said.startswith("10."):
        return _doi(said, text)
    if _ARXIV.fullmatch(said):
        return PaperId("arxiv", said)
    if _PUBMED.fullmatch(said):
        return PaperId("pubmed", said)
    raise Refusal(
        "INVALID_REF",
        f"{_shown(text)} is neither a DOI such as 10.1234/abc nor an arXiv identifier such as 2401.12345.",
    )


def parse_entry_ref(text: str) -> PaperId:
    """Like `parse_ref`, for tools that look into the store: entries have DOIs and arXiv identifiers only."""
    ref = parse_ref(text)
    if ref.kind == "pubmed":
        raise Refusal(
            "INVALID_REF",
            f"{_shown(text)} is a PubMed identifier, and entries are kept by DOI or arXiv identifier; "
            "doiget_fetch_paper, doiget_metadata_only, doiget_resolve_paper and doiget_batch_fetch take references.",
        )
    return ref


def preprint_of(doi: str) -> PaperId | None:
    """The paper that a DOI names which arXiv registered for it; None for any other DOI."""
    number = from_arxiv_doi(doi)
    return PaperId("arxiv", number) if _ARXIV.fullmatch(number) else None


def pubmed_number(ref: PaperId) -> tuple[str, str]:
    """What a PubMed reference names: `pmid` or `pmcid`, and the number, the second with PMC before it."""
    found = _PUBMED.fullmatch(ref.value)
    assert found is not None, ref
    number, central = found["pmid"] or found["at"], found["pmcid"] or found["central"]
    return ("pmcid", central.upper()) if central else ("pmid", number)


def safekey(kind: str, value: str) -> str:
    """The name of an entry's files: a pure function of the reference, never of what a server says."""
    raw = f"{kind}_{value}"
    key = re.sub("_+", "_", _OUTSIDE.sub("_", raw)).strip("_")
    if len(key) > LONGEST_KEY:
        key = f"{key[:LONGEST_KEY]}_{hashlib.sha256(raw.encode()).hexdigest()[:8]}"
    return key


def check_key(key: str) -> None:
    """STORE_ERROR for a key that could leave the folder of the store or hide in it."""
    if not _SAFE.fullmatch(key) or ".." in key:
        raise Refusal("STORE_ERROR", f"{_shown(key)} cannot name an entry: it holds dots or signs that a path forbids.")


def key_of(ref: PaperId) -> str:
    """The checked key of a reference."""
    key = safekey(ref.kind, ref.value)
    check_key(key)
    return key


def canonical_digest(kind: str, value: str, profile: str, version: str = "") -> str:
    """SHA-256 over kind, identifier, resolver and version: fetches of one paper differ by who resolved it."""
    return hashlib.sha256("\0".join((kind, value, profile, version)).encode()).hexdigest()


def _doi(value: str, text: str) -> PaperId:
    if not _DOI.fullmatch(value):
        raise Refusal("INVALID_REF", f"{_shown(text)} is not a DOI: write it as 10.1234/abc.")
    return PaperId("doi", value)


def _arxiv(value: str, text: str) -> PaperId:
    if not _ARXIV.fullmatch(value):
        raise Refusal(
            "INVALID_REF", f"{_shown(text)} is not an arXiv identifier: write it as 2401.12345 or cond-mat/9501001."
        )
    return PaperId("arxiv", value)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:79] + "…")
