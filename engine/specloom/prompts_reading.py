"""Reads prompt files: what a prompt takes, as YAML between two lines of dashes, and its text below."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .diagnostics import Place, Report
from .folders import PROMPT_SUFFIX
from .grammar_words import IDENTIFIER, STEM, prose, record
from .load import parse_source
from .load_tree import to_plain
from .names import prompt_files, shown_as
from .prompts import CATALOGUES, LONGEST, Prompt, PromptArgument
from .rules import Flag, Grammar, Items, Key, Named, Number, Text, check

_MOST_CHARACTERS = 100_000

_argument = record(
    "an argument",
    {
        "description": Key(prose, "What it is, for whoever fills it in.", required=True),
        "required": Key(Flag(), "The prompt is refused without it."),
        "choices": Key(Items(prose, 1), "The words that it may be."),
        "catalogue": Key(Text(choices=CATALOGUES), "It may be a name of what is loaded."),
        "default": Key(prose, "What it is where it is not given."),
        "longest": Key(Number(1, _MOST_CHARACTERS), f"Characters of it that are used; {LONGEST} when left out."),
    },
    one_of=((("choices", "catalogue"), False),),
)

_prompt = record(
    "a prompt",
    {
        "title": Key(prose, "For people.", required=True),
        "description": Key(prose, "What it is good for, for whoever picks it.", required=True),
        "arguments": Key(Named(_argument, IDENTIFIER, "an argument's name"), "What it takes."),
    },
)

GRAMMAR = Grammar(_prompt)
"""What stands between the lines of dashes."""

_FRAME = re.compile(rb"---\n(.*?)\n?---\n(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PromptFile:
    """A prompt with the file that it was read from; `first` is the line of the file where its text begins."""

    prompt: Prompt
    file: str
    first: int


def load_prompts(layers: Sequence[str]) -> dict[str, Prompt]:
    """The prompts of all layers by name, sorted; a later layer replaces what has the same name.

    A file that is not a prompt is a ValueError with one sentence.
    """
    report = Report()
    found = {one.prompt.name: one.prompt for one in read_prompts([Path(layer) for layer in layers], report, {})}
    for problem in report.errors:
        raise ValueError(f"{problem.place}: {problem.message}; `specloom check` shows all that is wrong")
    return dict(sorted(found.items()))


def read_prompts(roots: Sequence[Path], report: Report, sources: dict[str, str]) -> Iterator[PromptFile]:
    """Every prompt of these layers in their order; a file with problems is reported and left out.

    The texts of the files are put into `sources`, under the names by which problems show them.
    """
    for at, root in enumerate(roots):
        for path in prompt_files(root):
            shown = shown_as(path, root, at)
            try:
                data = path.read_bytes()
            except OSError as error:
                report.add("E001", Place(shown), f"the file cannot be read: {error.strerror}")
                continue
            sources[shown] = data.decode("utf-8", "replace")
            found = read_prompt(path.name.removesuffix(PROMPT_SUFFIX), shown, data, report)
            if found is not None:
                yield found


def read_prompt(name: str, shown: str, data: bytes, report: Report) -> PromptFile | None:
    """One file as a prompt, or None when it has problems, which are then reported."""
    before = len(report.found)
    plain = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    frame = _FRAME.fullmatch(plain)
    if not re.fullmatch(STEM, name):
        hint = "lower case, digits, hyphens and underscores, starting with a letter"
        report.add("E104", Place(shown), f"a prompt cannot be called {name!r}", hint)
    if frame is None:
        hint = "a title, a description and arguments, and its text below"
        report.add("E007", Place(shown), "a prompt begins with what it takes, between two lines of ---", hint)
        return None
    head = _read_head(shown, frame[1], report)
    try:
        text = frame[2].decode()
    except UnicodeDecodeError:
        # The same sentence, with the same place, as for any file of specs.
        parse_source(shown, plain, report)
        return None
    if not text.strip():
        report.add("E007", Place(shown), "this prompt has no text", "write it below the second line of ---")
    if len(report.found) > before:
        return None
    description = " ".join(head["description"].split())
    arguments = tuple(_to_argument(word, one) for word, one in head.get("arguments", {}).items())
    prompt = Prompt(name, head["title"], description, arguments, text)
    return PromptFile(prompt, shown, plain[: frame.start(2)].count(b"\n") + 1)


def _read_head(shown: str, head: bytes, report: Report) -> Mapping[str, Any]:
    """What the prompt takes, as data; nothing where there are problems."""
    own = Report()
    # With an empty line for that of the dashes, lines count as in the file.
    source = parse_source(shown, b"\n" + head, own)
    for one in own:
        is_no_mapping = one.code == "E007"
        message = "what a prompt takes is a mapping with a title and a description" if is_no_mapping else one.message
        report.add(one.code, one.place, message, "" if is_no_mapping else one.hint)
    if source.root is None or not check(source.root, GRAMMAR, report):
        return {}
    plain: Mapping[str, Any] = to_plain(source.root)
    for word, one in plain.get("arguments", {}).items():
        if "default" in one and "choices" in one and one["default"] not in one["choices"]:
            node: Any = source.root.get("arguments")
            place = node.get(word).get("default").place
            report.add("E104", place, f"the default of {word!r} is none of its choices", ", ".join(one["choices"]))
    return plain


def _to_argument(word: str, said: Mapping[str, Any]) -> PromptArgument:
    return PromptArgument(
        word,
        " ".join(said["description"].split()),
        said.get("required", False),
        tuple(said.get("choices", ())),
        said.get("catalogue", ""),
        said.get("default", ""),
        said.get("longest", LONGEST),
    )
