"""Which DOI a page declares as its own: from its head, its address or its front matter, never from its references."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from .jsonld import to_graph, types
from .sources import Sources, to_words

FRONT_MATTER: Final = 4000
"""Bytes of text in which a page introduces itself: title, authors, abstract (the tool contract's figure)."""

# The syntax of https://www.doi.org/doi-handbook/HTML/doi-name-syntax.html as far as registered names go.
_NAME: Final = re.compile(r"(?<![\w.])10\.[0-9]{4,9}(?:\.[0-9]{1,9})*/[A-Za-z0-9\-._;()/:<>]{1,200}", re.ASCII)
_META: Final = (
    "citation_doi", "bepress_citation_doi", "prism.doi", "dc.identifier.doi", "dc.identifier", "dcterms.identifier",
    "doi", "publication_doi", "rft_id", "eprints.id_number", "evt-doipage",
)  # fmt: skip
_WORKS: Final = frozenset(
    {"ScholarlyArticle", "MedicalScholarlyArticle", "Article", "Dataset", "Thesis", "Book", "Report", "Chapter"}
)
# What publishers hang behind the name in their addresses.
_VIEWS: Final = to_words(
    "full abstract pdf epdf pdfdirect html meta references full-text fulltext full_html supplementary figures xml epub"
    " summary tables suppl_file v1.full v2.full"
)
_FILE: Final = re.compile(r"\.(?:pdf|html?|xml|epub|full(?:\.pdf)?|abstract|short)$", re.IGNORECASE)
_REFERENCES: Final = re.compile(
    r"^[#*\t \d.]{0,12}(?:references?|bibliography|works cited|literature cited|literatur(?:verzeichnis)?|bibliographie"
    r"|referencias|referências|bibliografia|список литературы|литература|参考文献|參考文獻"
    r"|notes and references)[*:.# \t]{0,8}$",
    re.IGNORECASE | re.MULTILINE,
)
_PAIRS: Final = {")": "(", ">": "<"}


def find_doi(sources: Sources | None, *, url: str = "", text: str = "") -> str:
    """The DOI that a page declares, in lower case; "" without one.

    Looked for in its head, then in its address, then in the first 4000 bytes of its text above any reference list.
    """
    return (find_declared(sources) if sources is not None else "") or find_in_url(url) or find_in_text(text)


def find_declared(sources: Sources) -> str:
    """The DOI in the page's own metadata: Highwire, Dublin Core, PRISM, or JSON-LD of a work."""
    for name in _META:
        for value in sources.meta.get(name, ()):
            if found := to_doi(value):
                return found
    for node in to_graph(sources.blocks).nodes[:20]:
        if not _WORKS.isdisjoint(types(node)):
            for key in ("doi", "identifier", "@id", "sameAs", "url"):
                if found := _find_in_value(node.get(key)):
                    return found
    return ""


def find_in_url(url: str) -> str:
    """The DOI in the path or query of an address, without what publishers add behind it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    for part in (parts.path, parts.query):
        if match := _NAME.search(unquote(part)):
            name = match[0]
            while "/" in (head := name.rpartition("/")[0]) and name.rpartition("/")[2].lower() in _VIEWS:
                name = head
            return _trim(_FILE.sub("", name))
    return ""


def find_in_text(text: str) -> str:
    """The first DOI in the front matter of a text: the first 4000 bytes, and nothing below a heading of references."""
    front = text[:FRONT_MATTER].encode("utf-8", "replace")[:FRONT_MATTER].decode("utf-8", "ignore")
    if references := _REFERENCES.search(front):
        front = front[: references.start()]
    match = _NAME.search(front)
    # A name that the limit cut would be another name.
    return _trim(match[0]) if match and (match.end() < len(front) or len(front) == len(text)) else ""


def to_doi(text: str) -> str:
    """The DOI in a value that is one, with or without `doi:` or a resolver's address before it; "" otherwise."""
    bare = unquote(text.strip()[:400])
    bare = re.sub(r"^(?:info:)?(?:doi\s*[:/]?\s*|https?://(?:dx\.|www\.)?doi\.org/)", "", bare, flags=re.IGNORECASE)
    match = _NAME.match(bare)
    return _trim(match[0]) if match else ""


def _trim(name: str) -> str:
    """A name without the punctuation of the sentence around it; closing brackets stay as far as they were opened."""
    while name:
        last = name[-1]
        if last in ".,;:/<(-_" or (last in _PAIRS and name.count(last) > name.count(_PAIRS[last])):
            name = name[:-1]
        else:
            break
    return name.lower() if "/" in name else ""


def _find_in_value(value: Any) -> str:
    for each in value if isinstance(value, list) else (value,):
        candidate = (each.get("value") or each.get("@value") or each.get("@id")) if isinstance(each, dict) else each
        if isinstance(candidate, str) and (found := to_doi(candidate)):
            return found
    return ""
