"""Prompts: instructions that a person picks, from templates in the layers of specs.

A prompt is one file `templates/prompts/NAME.md.j2`: what it takes, in YAML between two lines of dashes, and its text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .faults import Fault
from .folders import PROMPT_SUFFIX
from .names import prompt_files

if TYPE_CHECKING:
    from jinja2 import Environment

LONGEST = 512
"""Characters of an argument that are used, where the prompt says nothing else."""
CATALOGUES = ("lenses",)
"""Vocabularies that are not written out: the names of what is loaded."""

_HEAD = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_NUMBERED = re.compile(r"(\d+)\. ")
_KEYS = frozenset({"title", "description", "arguments"})
_ARGUMENT_KEYS = frozenset({"description", "required", "choices", "default", "catalogue", "longest"})


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


def load_prompts(layers: Sequence[str]) -> dict[str, Prompt]:
    """The prompts of all layers by name, sorted; a later layer replaces what has the same name.

    A file that is not a prompt is a ValueError with one sentence.
    """
    found: dict[str, Prompt] = {}
    for layer in layers:
        for path in prompt_files(Path(layer)):
            name = path.name.removesuffix(PROMPT_SUFFIX)
            found[name] = parse_prompt(name, path.read_text(encoding="utf-8"))
    return dict(sorted(found.items()))


def parse_prompt(name: str, text: str) -> Prompt:
    """A prompt from the text of its file."""
    import yaml

    head = _HEAD.fullmatch(text)
    if head is None:
        raise ValueError(f"the prompt {name} has to begin with what it takes, between two lines of ---")
    try:
        said = yaml.safe_load(head[1])
    except yaml.YAMLError as error:
        raise ValueError(f"what the prompt {name} takes is not YAML: {' '.join(str(error).split())}") from None
    _check_keys(f"the prompt {name}", said, _KEYS, ("title", "description"))
    arguments = []
    for word, one in (said.get("arguments") or {}).items():
        _check_keys(f"{word} of the prompt {name}", one, _ARGUMENT_KEYS, ("description",))
        choices = tuple(str(choice) for choice in one.get("choices", ()))
        default, catalogue = str(one.get("default", "")), one.get("catalogue", "")
        if default and choices and default not in choices:
            raise ValueError(f"the default of {word} of the prompt {name} is none of its choices")
        if catalogue and catalogue not in CATALOGUES:
            raise ValueError(f"{word} of the prompt {name} names no catalogue of {', '.join(CATALOGUES)}")
        arguments.append(
            PromptArgument(
                word,
                " ".join(one["description"].split()),
                bool(one.get("required", False)),
                choices,
                catalogue,
                default,
                int(one.get("longest", LONGEST)),
            )
        )
    description = " ".join(said["description"].split())
    return Prompt(name, said["title"], description, tuple(arguments), head[2])


def _check_keys(what: str, said: Any, known: Collection[str], needed: Sequence[str]) -> None:
    if not isinstance(said, dict):
        raise ValueError(f"{what} has to be a mapping")  # noqa: TRY004 - a wrong file, told like the others
    if wrong := sorted(set(said) - set(known)):
        raise ValueError(f"{what} has the unknown key {wrong[0]!r}; it may have {', '.join(sorted(known))}")
    if missing := [key for key in needed if not isinstance(said.get(key), str)]:
        raise ValueError(f"{what} lacks {missing[0]!r}")


def listed_prompt(prompt: Prompt) -> dict[str, Any]:
    """One entry of `prompts/list`."""
    return {
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "arguments": [
            {"name": one.name, "description": one.description, "required": one.required} for one in prompt.arguments
        ],
    }


def render_prompt(
    prompt: Prompt,
    given: Mapping[str, Any],
    tools: Collection[str],
    catalogues: Mapping[str, Collection[str]],
) -> str:
    """The text of a prompt for these arguments; raises a `validation` fault for an argument that is not right.

    `tools` are those that the client sees: a text speaks of no others. What is left out of a numbered list leaves no
    gap in its numbers.
    """
    arguments = _read_arguments(prompt, given, catalogues)
    text = _environment().from_string(prompt.text).render(args=arguments, has=frozenset(tools).__contains__)
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
            known = ", ".join(one.name for one in prompt.arguments)
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
        if text and allowed and text not in allowed:
            raise Fault("validation", f"{one.name} is {text[:60]!r}; it may be {', '.join(allowed)}.")
        read[one.name] = text or one.default
    return read


def complete(known: Collection[str], typed: str) -> list[str]:
    """The words that begin with what is typed, then those that have it in them; each kind in its own order."""
    wanted = typed.strip().casefold()
    words = list(dict.fromkeys(known))
    first = [word for word in words if word.casefold().startswith(wanted)]
    return first + [word for word in words if wanted in word.casefold()[1:] and word not in first]


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(  # noqa: S701 - text for a model, not HTML: what a person wrote is quoted by `quoted`
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    # As JSON a text ends where its quotation mark stands, whatever is in it.
    environment.filters["quoted"] = lambda text: json.dumps(text, ensure_ascii=False)
    return environment
