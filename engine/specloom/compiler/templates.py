"""Checks the templates of specs: words that do not parse, filters that are not there, names that nothing has."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from specloom.core import Place, did_you_mean, template_environment

Problem = tuple[str, int, str, str, str]
"""Code, line of the text, the word it is about, what is wrong, and what to try."""


def find_problems(text: str, names: Collection[str]) -> Iterator[Problem]:
    """Why a text cannot be filled: words that do not parse, filters that are not there, names that nothing has."""
    from jinja2 import TemplateAssertionError, TemplateSyntaxError, meta, nodes

    engine = template_environment()
    try:
        engine.compile(engine.parse(text))
    except TemplateAssertionError as error:
        yield "E203", error.lineno, "", f"the text does not compile: {error.message}", ""
        return
    except TemplateSyntaxError as error:
        yield "E201", error.lineno, "", f"the text does not parse: {error.message}", ""
        return
    # What was parsed is changed by compiling it.
    tree = engine.parse(text)
    unknown = meta.find_undeclared_variables(tree) - {*names, *engine.globals}
    for name in tree.find_all(nodes.Name):
        if name.name in unknown:
            yield "E202", name.lineno, name.name, f"unknown name {name.name!r}", did_you_mean(name.name, names)


def place_in(file: str, text: str, line: int, word: str, first: int = 1) -> Place:
    """Where a word stands in a line of a text, which counts from 1 and begins in a line of its file; 0 is the file."""
    if not line:
        return Place(file)
    lines = text.split("\n")
    column = lines[line - 1].find(word) if word and line <= len(lines) else 0
    return Place(file, first + line - 1, max(column, 0) + 1, max(len(word), 1))
