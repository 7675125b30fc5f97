"""What is wrong with the texts of prompts: words that do not parse, names that do not exist, arguments left unused."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from specloom.core import Fault, Place, Report, did_you_mean, template_environment
from specloom.specs import Prompt, PromptFile, read_prompts, render_prompt

from .templates import find_problems, place_in

if TYPE_CHECKING:
    from jinja2 import nodes


GIVEN = ("args", "has")
"""What a text may use: its arguments, and the question whether a client sees a tool."""
_LIKE = 0.8
"""How alike the name of a tool that does not exist is to one that does, from 0 to 1, before it is taken for a slip."""


def check_prompts(
    roots: Sequence[Path], tools: Collection[str], lenses: Collection[str], report: Report, sources: dict[str, str]
) -> None:
    """Report what is wrong with the prompts of these layers, and put their texts into `sources`.

    A text may ask for a tool that does not exist, since another layer may bring it, unless it looks like a slip.
    """
    for file in read_prompts(roots, report, sources):
        check_prompt(file, tools, lenses, report)


def check_prompt(file: PromptFile, tools: Collection[str], lenses: Collection[str], report: Report) -> None:
    """Report what is wrong with the text of one prompt."""
    before = len(report.found)
    for code, line, word, message, hint in _find_problems(file, tools):
        report.add(code, place_in(file.file, file.prompt.text, line, word, file.first), message, hint)
    if len(report.found) == before:
        _try(file, tools, lenses, report)


def _find_problems(file: PromptFile, tools: Collection[str]) -> Iterator[tuple[str, int, str, str, str]]:
    """Code, line of the text, the word it is about, what is wrong and what to try, of each problem."""
    problems = list(find_problems(file.prompt.text, GIVEN))
    yield from problems
    if any(code != "E202" for code, *_ in problems):
        return
    tree = template_environment().parse(file.prompt.text)
    known = [one.name for one in file.prompt.arguments]
    used = set()
    for line, word in _read_arguments(tree):
        used.add(word)
        if word not in known:
            yield "E202", line, word, f"the prompt takes no {word!r}", did_you_mean(word, known)
    for line, word in _asked_tools(tree):
        if word not in tools and difflib.get_close_matches(word, tools, n=1, cutoff=_LIKE):
            yield "E202", line, word, f"there is no tool {word!r}", did_you_mean(word, tools)
    for word in known:
        if word not in used:
            yield "W307", 0, word, f"the text does not use {word!r}", "use it or take it out"


def _read_arguments(tree: nodes.Template) -> Iterator[tuple[int, str]]:
    """The line and the name of each argument that is read, as `args.who` or `args["who"]`."""
    from jinja2 import nodes

    for one in tree.find_all(nodes.Getattr):
        if isinstance(one.node, nodes.Name) and one.node.name == "args":
            yield one.lineno, one.attr
    for item in tree.find_all(nodes.Getitem):
        if isinstance(item.node, nodes.Name) and item.node.name == "args" and isinstance(item.arg, nodes.Const):
            yield item.lineno, str(item.arg.value)


def _asked_tools(tree: nodes.Template) -> Iterator[tuple[int, str]]:
    """The line and the name of each tool that is asked for, as `has("some_tool")`."""
    from jinja2 import nodes

    for call in tree.find_all(nodes.Call):
        if isinstance(call.node, nodes.Name) and call.node.name == "has":
            yield from ((call.lineno, str(one.value)) for one in call.args if isinstance(one, nodes.Const))


def _try(file: PromptFile, tools: Collection[str], lenses: Collection[str], report: Report) -> None:
    """Fill the prompt as a client may: without what may be left out, and with each of the words that may be chosen."""
    for given in _ways(file.prompt, lenses):
        for seen in (tools, ()):
            try:
                render_prompt(file.prompt, given, seen, {"lenses": lenses})
            except Exception as error:  # noqa: BLE001 - whatever the text does is a fault of the text
                how = ", ".join(f"{name} = {value!r}" for name, value in given.items()) or "no arguments"
                reason = error.detail if isinstance(error, Fault) else str(error)
                message = f"the text cannot be filled with {how}: {reason}"
                report.add("E204", Place(file.file, file.first), message, "ask for what is missing then: {% if … %}")
                return


def _ways(prompt: Prompt, lenses: Collection[str]) -> Iterator[Mapping[str, str]]:
    words = {one.name: one.choices or (tuple(lenses)[:1] if one.catalogue else ("x",)) for one in prompt.arguments}
    least = {one.name: words[one.name][0] for one in prompt.arguments if one.required and words[one.name]}
    yield least
    for name, choices in words.items():
        yield from ({**least, name: choice} for choice in choices)
