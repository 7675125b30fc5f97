"""Shared text tools: words, sentences, outlines, windows, passages, languages, identifiers of works, hosts, people.

Imports `core`, `plugins` and `net`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .doi import find_doi, to_doi, to_spelled_doi
    from .fold import LOST, compact, find_script, is_near, mends, strip_markup, strip_unseen, to_latin, to_plain
    from .hosts import Reputation, find_reputation, is_address, to_domains, to_host, to_registrable, to_suffix
    from .identifiers import (
        Detected, Identifier, PaperName, detect, find_decided, find_flaw, find_identifiers, find_parties,
        from_arxiv_doi, to_address, to_arxiv_doi, to_isbn13, to_paper_name,
    )
    from .indented import find_indented
    from .language import UNKNOWN, LanguageProfile, find_language, is_function_word, load_languages, looks_foreign
    from .links import AS_KEPT, WORDS, LinkStyle, Rendition
    from .outline import Section, find_section, find_sections, follow_fence, show_outline
    from .paper_refs import (
        ARXIV, PaperId, arxiv_at, find_ref, is_cite_key, parse_ref, preprint_of, pubmed_number,
    )
    from .passages import Passage, choose_passages, quote_passages, split_passages
    from .people import Name, parse_name, parse_names, same_person, stands_in, to_display, to_initials
    from .reading import FirstWindow, Onward, is_markdown, open_text, to_digest
    from .soft_404 import find_missing, is_called_missing, is_missing
    from .tables import invert, to_alternatives, to_word_set
    from .tokens import is_irregular, is_number, is_stop_word, sentences, stem, terms, to_american
    from .visible_text import find_links, join, parse, to_text, to_title
    from .windows import find_end, to_cost

__getattr__ = exports(
    __name__,
    {
        "doi": "find_doi to_doi to_spelled_doi",
        "fold": "LOST compact find_script is_near mends strip_markup strip_unseen to_latin to_plain",
        "hosts": "Reputation find_reputation is_address to_domains to_host to_registrable to_suffix",
        "identifiers": (
            "Detected Identifier PaperName detect find_decided find_flaw find_identifiers find_parties from_arxiv_doi "
            "to_address to_arxiv_doi to_isbn13 to_paper_name"
        ),
        "indented": "find_indented",
        "language": "UNKNOWN LanguageProfile find_language is_function_word load_languages looks_foreign",
        "links": "AS_KEPT WORDS LinkStyle Rendition",
        "outline": "Section find_section find_sections follow_fence show_outline",
        "paper_refs": "ARXIV PaperId arxiv_at find_ref is_cite_key parse_ref preprint_of pubmed_number",
        "passages": "Passage choose_passages quote_passages split_passages",
        "people": "Name parse_name parse_names same_person stands_in to_display to_initials",
        "reading": "FirstWindow Onward is_markdown open_text to_digest",
        "soft_404": "find_missing is_called_missing is_missing",
        "tables": "invert to_alternatives to_word_set",
        "tokens": "is_irregular is_number is_stop_word sentences stem terms to_american",
        "visible_text": "find_links join parse to_text to_title",
        "windows": "find_end to_cost",
    },
)
