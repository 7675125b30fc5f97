"""Arguments that a model may be led to pass on: texts as long as is admitted, made of one thing over and over."""

from __future__ import annotations

from typing import Any

TEXTS = {
    "verify_citation": ("citation", 8_000),
    "audit_bibliography": ("bibliography", 499_000),
    "doiget_resolve_citation": ("query", 2_000),
    "web_search": ("query", 400),
    "academic_search": ("query", 400),
    "patent_search": ("query", 400),
}
UNITS = [
    " ",
    '"',
    "-",
    "<!--a",
    "(",
    "[",
    "{",
    "@article{",
    "a,",
    "10.1000/",
    "et al. ",
    "doi:",
    "U.S. ",
    "& ",
    "\\",
    "\n",
    "A. ",
    "1",
]
HEADS = {"verify_citation": "U.S. design patent application"}


def words(size: int) -> str:
    """A text of so many characters in which hardly a word is there twice."""
    text = "".join(f"w{chr(97 + at % 26)}{at * 7919 % 99991}ing " for at in range(size // 8))
    return text[:size]


def arguments() -> list[tuple[str, str, dict[str, Any]]]:
    """Name, tool and arguments of every call."""
    made: list[tuple[str, str, dict[str, Any]]] = [
        (f"{tool} {unit!r}", tool, {name: HEADS.get(tool, "") + unit * (size // len(unit))})
        for tool, (name, size) in TEXTS.items()
        for unit in UNITS
    ]
    made += [(f"{tool} of words", tool, {name: words(size)}) for tool, (name, size) in TEXTS.items()]
    reference = f"Doe, J. (2020). {words(7_900)}"
    entry = {"title": words(1_900), "author": "Doe, J.; " * 500, "site": "x" * 1_900, "claim": words(9_900)}
    many = [{**entry, "doi": f"10.1000/{at}"} for at in range(150)]
    source = {"title": words(1_900), "author": "Doe, J.; " * 500, "url": f"https://a.example/{'x' * 8_000}"}
    book = "".join(f"@book{{a{at}, title = {{{words(150)}}}, author = {{Doe, J and Roe, A}}}}\n" for at in range(2_000))
    made += [
        ("verify_citation as a reference", "verify_citation", {"citation": reference}),
        ("verify_citation names", "verify_citation", {"citation": "Doe, J., Roe, A., " * 440 + "(2020). Otters."}),
        ("audit_bibliography of wide entries", "audit_bibliography", {"entries": many}),
        ("audit_bibliography of empty entries", "audit_bibliography", {"entries": [{"title": "a"}] * 5_000}),
        ("audit_bibliography of a file", "audit_bibliography", {"bibliography": book[:499_000]}),
        *(
            (f"format_bibliography of wide sources as {style}", "format_bibliography",
             {"sources": [source] * 700, "style": style})
            for style in ("apa", "bibtex", "csl-json")
        ),
        ("doiget_bibtex_export of many", "doiget_bibtex_export", {"refs": ["10.1000/x"] * 100_000}),
        ("web_search with unknown names", "web_search", {"query": "a", **{f"k{at}": at for at in range(100_000)}}),
        ("web_search of long sites", "web_search", {"query": "a", "sites": ["x" * 100_000] * 10}),
    ]  # fmt: skip
    return made
