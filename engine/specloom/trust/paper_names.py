"""What a paper is called: the identifiers in a text that names exactly one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from specloom.trust.dois import find_doi, to_doi
from specloom.trust.identifiers import Identifier, detect, from_arxiv_doi, to_address

_PMCID = re.compile(r"^(?:pmcid:?\s*|https?://\S+/)?(PMC[0-9]{1,9})(?:\.[0-9]{1,2})?(?:[/?#]\S*)?$", re.IGNORECASE)
_PMID = re.compile(
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
        known = (("doi", self.doi), ("pmcid", self.pmcid), ("pmid", self.pmid), ("arxiv", self.arxiv_id))
        return next((to_address(Identifier(kind, value, value, 0)) for kind, value in known if value), "")


def to_paper_name(text: str) -> PaperName:
    """What a text names, alone or as an address; nothing for a title, a bare number, or words around an identifier."""
    text = text.strip()
    address = text if _ADDRESS.match(text) else ""
    pmcid, pmid, index = _PMCID.match(text), _PMID.match(text), _INDEX_ID.match(text)
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
    found = detect(text)
    is_alone = not found.rest and all(one.kind in ("arxiv", "url") for one in found.identifiers)
    return next((one.value for one in found.identifiers if one.kind == "arxiv"), "") if is_alone else ""
