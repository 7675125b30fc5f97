"""The part of a verdict that is about some files: what is wrong in them, and in what was checked with them in view."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from specloom.core import Diagnostic

from .incremental.facts import SEPARATOR
from .incremental.memory import Memory
from .incremental.verdicts import MODELS

_MARK = "E405"
"""What an author has still to decide in a file is about nothing but that file."""


def focus(
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, str],
    paths: Sequence[Path],
    roots: Sequence[Path],
    remember: Callable[[], Memory],
) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """What is about the specs of these paths, files or folders, or about specs whose check read one of them; the rest.

    `sources` are the texts of all files by the names under which they are shown. `remember` gives what was read in the
    last check of these roots; it is asked only where something is wrong in other files.
    """
    chosen = _find_shown(sources, paths, roots)
    others = [one for one in diagnostics if not _is_about(one, chosen, paths)]
    readers = _find_readers(remember(), chosen) if others else frozenset()
    left = [one for one in others if one.code == _MARK or one.place.file not in readers]
    out = {id(one) for one in left}
    return [one for one in diagnostics if id(one) not in out], left


def _is_about(diagnostic: Diagnostic, chosen: Collection[str], paths: Iterable[Path]) -> bool:
    file = diagnostic.place.file
    return file in chosen or any(_is_within(Path(file), path) for path in paths)


def _is_within(file: Path, path: Path) -> bool:
    whole, above = file.absolute(), path.absolute()
    return whole == above or above in whole.parents


def _find_shown(sources: Mapping[str, str], paths: Sequence[Path], roots: Sequence[Path]) -> frozenset[str]:
    """The names under which the files of these paths are shown; those of the first layer by their place in it."""
    first = roots[0] if roots else Path()
    wanted = [path.resolve() for path in paths]
    found = set()
    for name in sources:
        whole = (first / name).resolve() if not Path(name).is_absolute() else Path(name).resolve()
        if any(whole == path or path in whole.parents for path in wanted):
            found.add(name)
    return frozenset(found)


def _find_readers(memory: Memory, chosen: Collection[str]) -> frozenset[str]:
    """The files whose check read what a spec of the chosen files became."""
    starts = set()
    for name in chosen:
        verdict = memory.verdicts.get(f"file {name}")
        head = verdict.head if verdict is not None else None
        if head is not None:
            plural = MODELS[head["kind"]][0]
            starts.add(f"{plural}{SEPARATOR}{head['name']}")
    return frozenset(
        name.partition(" ")[2]
        for name, one in memory.verdicts.items()
        if any(SEPARATOR.join(path.split(SEPARATOR, 2)[:2]) in starts for path in one.reads)
    )
