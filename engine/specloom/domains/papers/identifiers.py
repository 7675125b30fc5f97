"""References to papers as the tools take them, and the names of their files."""

from __future__ import annotations

import re

from specloom.domains.text import PaperId, paper_refs

from .errors import PaperFault

_SAFE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")


def parse_ref(text: str) -> PaperId:
    """The paper that a text names; INVALID_REF for what is neither a DOI nor an arXiv or PubMed identifier."""
    try:
        return paper_refs.parse_ref(text)
    except ValueError as error:
        raise PaperFault("INVALID_REF", str(error)) from None


def parse_entry_ref(text: str) -> PaperId:
    """Like `parse_ref`, for tools that look into the store: entries have DOIs and arXiv identifiers only."""
    ref = parse_ref(text)
    if ref.kind == "pubmed":
        raise PaperFault(
            "INVALID_REF",
            f"{text[:80]!r} is a PubMed identifier, and entries are kept by DOI or arXiv identifier; "
            "doiget_fetch_paper, doiget_metadata_only, doiget_resolve_paper and doiget_batch_fetch take references.",
        )
    return ref


def check_key(key: str) -> str:
    """The key; STORE_ERROR for one that could leave the folder of the store or hide in it."""
    if not _SAFE.fullmatch(key) or ".." in key:
        raise PaperFault(
            "STORE_ERROR", f"{key[:80]!r} cannot name an entry: it holds dots or signs that a path forbids."
        )
    return key
