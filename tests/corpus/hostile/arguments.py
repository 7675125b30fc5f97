"""Arguments that a model may be led to pass on: texts as long as is admitted, made of one thing over and over."""

from __future__ import annotations

from typing import Any

TEXTS = {
    "verify_citation": ("citation", 8_000),
    "audit_bibliography": ("bibliography", 32_000),
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


def arguments() -> list[tuple[str, str, dict[str, Any]]]:
    """Name, tool and arguments of every call."""
    return [
        (f"{tool} {unit!r}", tool, {name: HEADS.get(tool, "") + unit * (size // len(unit))})
        for tool, (name, size) in TEXTS.items()
        for unit in UNITS
    ]
