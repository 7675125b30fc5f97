"""Validation of the environment as a whole: values that cannot be read, and names that are nearly those of variables.

A server that serves others begins with what its operator meant, or not at all; `specloom doctor` tells of the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specloom.core import KEY_VARIABLE, VARIABLES, dataclass, find_nearest, load_key, read_variable
from specloom.storage import configure, load_previous_key

if TYPE_CHECKING:
    from specloom.model import Heads, Setting
    from specloom.plugins import CollectionSpec

OWN = "SPECLOOM_"
TOOL_LIMIT = "RATE_LIMIT_TOOL_"
"""How the variables begin that have the name of a tool."""
FOREIGN = frozenset({"HOST", "PORT"})
"""Variables that hosts set for other programs too; they are looked at where they are used."""
LINKED = re.compile(
    r"(?<!\w)(?:\w{1,100}_(SERVICE_HOST|SERVICE_PORT(_\w{1,100})?|PORT_\d{1,5}_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)=.*"
    r"|\w{1,100}_PORT=(tcp|udp|sctp)://.*)"
)
"""Variables that Kubernetes sets for each service beside a pod, with their values."""
SHORT_WORD, OWN_WORD, LONG_WORD = 5, 3, 8
"""Letters that a word of a name has at least for one slip in it to be seen (fewer where the name is the engine's), and
for two."""
LIKE = 0.75
"""How like the rest of a name behind `SPECLOOM_` is to be."""


@dataclass(frozen=True, slots=True)
class EnvironmentVerdict:
    """What is wrong with an environment, a sentence each; with a notice alone a server can do what was meant."""

    problems: tuple[str, ...]
    notices: tuple[str, ...]


def list_settings(heads: Heads) -> Mapping[str, Setting]:
    """The variables of providers and tools."""
    declared = [one.settings for one in heads.providers.values()] + [one.settings for one in heads.tools.values()]
    settings = {name: setting for one in declared for name, setting in one.items()}
    # A variable that stands in for another need not be declared by itself.
    return {**{one.stand_in: one for one in settings.values() if one.stand_in}, **settings}


def find_switched_off(heads: Heads, environ: Mapping[str, str]) -> frozenset[str]:
    """The tools whose own switch is off in an environment. A switch that cannot be read is off."""
    from specloom.runtime import read_settings

    return frozenset(
        name
        for name, tool in heads.tools.items()
        if tool.opt_in and not read_settings({tool.opt_in: tool.settings[tool.opt_in]}, environ)[0][tool.opt_in]
    )


def examine_environment(
    environ: Mapping[str, str], heads: Heads, collections: Iterable[CollectionSpec]
) -> EnvironmentVerdict:
    """Everything that is wrong with the variables of an environment, of the engine and of specs; no value is secret."""
    settings, specs = list_settings(heads), tuple(collections)
    known = {*VARIABLES, *settings, *(name for spec in specs for _, name in spec.variables)}
    problems = list(dict.fromkeys([*_read_all(environ, settings, specs), *_find_slips(environ, known)]))
    strange = [name for name in environ if name.startswith(OWN) and name not in known and not _is_linked(environ, name)]
    unread = [name for name in sorted(strange) if not any(one.startswith(f"{name} ") for one in problems)]
    return EnvironmentVerdict(
        tuple(problems), tuple(f"{name} is no variable of this version; nothing reads it" for name in unread)
    )


def _read_all(
    environ: Mapping[str, str], settings: Mapping[str, Setting], specs: Iterable[CollectionSpec]
) -> Iterator[str]:
    """A sentence for each value that cannot be read."""
    from specloom.runtime import read_settings

    readers: list[Callable[[], Any]] = [
        *(lambda name=name: read_variable(name, environ) for name in VARIABLES if name not in FOREIGN),
        *(lambda spec=spec: configure(spec, environ) for spec in specs),
        lambda: load_key(Path(), environ) if environ.get(KEY_VARIABLE, "").strip() else None,
        lambda: load_previous_key(environ),
    ]
    for read in readers:
        try:
            read()
        except ValueError as error:
            yield str(error)
    yield from read_settings(settings, environ)[1]


def _find_slips(environ: Mapping[str, str], known: Collection[str]) -> Iterator[str]:
    """A sentence for each name that is nearly that of a variable, and most likely meant to be it."""
    for name in sorted(environ):
        if name in known or name.startswith(TOOL_LIMIT) or not environ[name].strip() or _is_linked(environ, name):
            continue
        # What is set under its own name has not been misspelt.
        meant = next((one for one in sorted(known) if not environ.get(one, "").strip() and is_near(name, one)), "")
        if not meant and name.startswith(OWN):
            meant = _find_own(name.removeprefix(OWN), known)
        if meant:
            yield f"{name} is no variable of this server; did you mean {meant}? Rename it, or unset it"


def _is_linked(environ: Mapping[str, str], name: str) -> bool:
    return LINKED.fullmatch(f"{name}={environ[name]}") is not None


def _find_own(rest: str, known: Iterable[str]) -> str:
    """The variable of the engine that begins as all of ours do and goes on much like this."""
    import difflib

    near = find_nearest(rest, [one.removeprefix(OWN) for one in known if one.startswith(OWN)])
    return OWN + near if near and difflib.SequenceMatcher(None, rest, near).ratio() >= LIKE else ""


def is_near(name: str, meant: str) -> bool:
    """Whether a name is that of a variable but for its case, its underscores, or a slip in one of its words.

    Of the engine's own a word may be missing too. Short words are often another program's, such as CORP_API_KEY.
    """
    if "_" not in meant:
        return False
    if name.replace("_", "").casefold() == meant.replace("_", "").casefold():
        return True
    words, wanted = name.split("_"), meant.split("_")
    is_own = meant in VARIABLES
    if len(words) == len(wanted):
        different = [(one, other) for one, other in zip(words, wanted, strict=True) if one != other]
        if len(different) != 1:
            return False
        slip, word = different[0]
        return len(word) >= (OWN_WORD if is_own else SHORT_WORD) and _is_slip(slip, word, 1 + (len(word) >= LONG_WORD))
    if is_own and len(words) == len(wanted) - 1 and len(words) > 1 and words[0] != "HTTP":
        return any(wanted[:at] + wanted[at + 1 :] == words for at in range(1, len(wanted)))
    return False


def _is_slip(word: str, meant: str, most: int) -> bool:
    """Whether so many letters at most are wrong, missing, too many or in the place of their neighbour."""
    if abs(len(word) - len(meant)) > most:
        return False
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for at, letter in enumerate(word, 1):
        last, before, row = before, row, [at]
        for place, wanted in enumerate(meant, 1):
            row.append(min(before[place] + 1, row[-1] + 1, before[place - 1] + (letter != wanted)))
            if at > 1 and place > 1 and (letter, word[at - 2]) == (meant[place - 2], wanted):
                row[-1] = min(row[-1], last[place - 2] + 1)
    return row[-1] <= most
