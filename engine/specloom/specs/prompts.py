"""Prompts: instructions that a person picks, from templates in the layers of specs.

A prompt is one file `templates/prompts/NAME.md.j2`: what it takes, in YAML between two lines of dashes, and its text.
`prompts_reading` reads the files.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from specloom.core import PROMPT_SUFFIX, Fault, Place, Report, dataclass, template_environment

from .front_matter import FrontMatter, read_front_matter
from .grammar import PROMPT, check
from .library import prompt_files, shown_as
from .yaml import to_plain

LONGEST = 512
"""Characters of an argument that are used, where the prompt says nothing else."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_NUMBERED = re.compile(r"(\d+)\. ")


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """One argument: what it is, whether it must be given, and the words it may be, written out or of a catalogue."""

    name: str
    description: str
    required: bool = False
    choices: tuple[str, ...] = ()
    catalogue: str = ""
    default: str = ""
    longest: int = LONGEST


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt with the source of its template."""

    name: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...]
    text: str

    def argument(self, name: str) -> PromptArgument | None:
        """The argument of that name, or None."""
        return next((one for one in self.arguments if one.name == name), None)


def listed_prompt(prompt: Prompt) -> dict[str, Any]:
    """One entry of `prompts/list`."""
    return {
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "arguments": [
            {"name": one.name, "description": _describe(one), "required": one.required} for one in prompt.arguments
        ],
    }


def _describe(one: PromptArgument) -> str:
    """What an argument is, with the words that it may be: a list of prompts has no other place for them."""
    words = f" One of {', '.join(one.choices)}." if one.choices else ""
    return one.description + words + (f" Left out, it is {one.default}." if one.default else "")


def render_prompt(
    prompt: Prompt,
    given: Mapping[str, Any],
    tools: Collection[str],
    catalogues: Mapping[str, Collection[str]],
) -> str:
    """The text of a prompt for these arguments; raises a `validation` fault for an argument that is not right.

    A text that cannot be filled is a `config` fault.

    `tools` are those that the client sees: a text speaks of no others. What is left out of a numbered list leaves no
    gap in its numbers.
    """
    arguments = _read_arguments(prompt, given, catalogues)
    from jinja2 import TemplateError

    try:
        text = template_environment().from_string(prompt.text).render(args=arguments, has=frozenset(tools).__contains__)
    except TemplateError as error:
        reason = str(error).rstrip(".")
        sentence = f"The prompt {prompt.name} cannot be filled: {reason}. `specloom check` shows where."
        raise Fault("config", sentence, action="inform_user", detail=reason) from None
    return _renumber(re.sub(r"\n{3,}", "\n\n", text).strip()) + "\n"


def _renumber(text: str) -> str:
    """Number each list anew; a heading, or a number that does not go on from the one before, begins another list."""
    written = counted = 0
    lines = []
    for line in text.split("\n"):
        found = _NUMBERED.match(line)
        if line.startswith("#"):
            written = counted = 0
        elif found:
            counted = counted + 1 if int(found[1]) > written else 1
            written = int(found[1])
            line = f"{counted}. {line[found.end() :]}"  # noqa: PLW2901 - the same line, with another number
        lines.append(line)
    return "\n".join(lines)


def _read_arguments(
    prompt: Prompt, given: Mapping[str, Any], catalogues: Mapping[str, Collection[str]]
) -> dict[str, str]:
    """Every argument as text on one line, the empty text where it is not given."""
    for name in given:
        if prompt.argument(name) is None:
            known = ", ".join(one.name for one in prompt.arguments) or "nothing"
            raise Fault("validation", f"The prompt {prompt.name} takes no {name[:60]!r}; it takes {known}.")
    read: dict[str, str] = {}
    for one in prompt.arguments:
        value = given.get(one.name)
        if value is not None and not isinstance(value, str):
            raise Fault("validation", f"{one.name} of the prompt {prompt.name} has to be text.")
        text = " ".join(_CONTROL.sub(" ", value or "").split())[: one.longest].strip()
        if one.required and not text:
            raise Fault("validation", f"The prompt {prompt.name} needs {one.name}: {one.description}")
        allowed = one.choices or tuple(catalogues.get(one.catalogue, ()))
        if text and allowed:
            meant = next((word for word in allowed if word.casefold() == text.casefold()), "")
            if not meant:
                raise Fault("validation", f"{one.name} is {text[:60]!r}; it may be {', '.join(allowed)}.")
            text = meant
        read[one.name] = text or one.default
    return read


# --- Reads prompt files: what a prompt takes, as YAML between two lines of dashes, and its text below -----------------


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
    matter = read_front_matter("prompt", name, shown, data, report)
    if matter is None:
        hint = "a title, a description and arguments, and its text below"
        report.add("E007", Place(shown), "a prompt begins with what it takes, between two lines of ---", hint)
        return None
    head = _read_head(shown, matter, report)
    text = matter.decode(shown, report)
    if text is None:
        return None
    if not text.strip():
        report.add("E007", Place(shown), "this prompt has no text", "write it below the second line of ---")
    if len(report.found) > before:
        return None
    description = " ".join(head["description"].split())
    arguments = tuple(_to_argument(word, one) for word, one in head.get("arguments", {}).items())
    prompt = Prompt(name, head["title"], description, arguments, text)
    return PromptFile(prompt, shown, matter.first)


def _read_head(shown: str, matter: FrontMatter, report: Report) -> Mapping[str, Any]:
    """What the prompt takes, as data; nothing where there are problems."""
    own = Report()
    source = matter.parse(shown, own)
    for one in own:
        is_no_mapping = one.code == "E007"
        message = "what a prompt takes is a mapping with a title and a description" if is_no_mapping else one.message
        report.add(one.code, one.place, message, "" if is_no_mapping else one.hint)
    if source.root is None or not check(source.root, PROMPT, report):
        return {}
    plain: Mapping[str, Any] = to_plain(source.root)
    for word, one in plain.get("arguments", {}).items():
        if "default" in one and "choices" in one and one["default"] not in one["choices"]:
            node: Any = source.root.get("arguments")
            place = node.get(word).get("default").place
            report.add("E104", place, f"the default of {word!r} is none of its choices", ", ".join(one["choices"]))
    return plain


def _to_argument(word: str, said: Mapping[str, Any]) -> PromptArgument:
    """One argument of what is said of it, whose keys are those of an argument."""
    texts = {"description": " ".join(said["description"].split()), "choices": tuple(said.get("choices", ()))}
    return PromptArgument(word, **{**said, **texts})
