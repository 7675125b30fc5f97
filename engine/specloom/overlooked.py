"""Finds what lies in a layer of specs like a spec and is not read, so that nobody waits for it to work."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from .diagnostics import Place, Report
from .names import FOLDERS, Library, shown_as, spec_files

_ENDINGS = (".yml", ".yaml")
HOMES: Mapping[str, str] = MappingProxyType(
    {
        "provider": "providers.d",
        "capability": "providers.d",
        "tool": "tools.d",
        "toolset": "tools.d",
        "lens": "lenses",
        "collection": "collections.d",
    }
)
"""The folder of a layer in which the specs of each kind are looked for."""
_LIKE = 0.7
"""How alike the name of a folder is to one that is read, from 0 to 1, before it is taken for a slip."""


def check_overlooked(roots: Sequence[Path], report: Report) -> None:
    """Warn of files and folders of these layers whose names say that they are specs, and that are not read (W001)."""
    for path, shown, why, hint in find_overlooked(roots):
        report.add("W001", Place(shown), f"this {'folder' if path.is_dir() else 'file'} is not read: {why}", hint)


def check_misplaced(roots: Sequence[Path], library: Library, report: Report) -> None:
    """Warn of specs in a folder of another kind, and of tools that are in no toolset (W001)."""
    specs = {spec.source.file: spec for spec in library.specs.values()}
    for at, root in enumerate(roots):
        for path in spec_files(root) if root.is_dir() else ():
            spec = specs.get(shown_as(path, root, at))
            if spec is None:
                continue
            home = HOMES[spec.kind]
            if path.relative_to(root).parts[0] != home:
                message = f"a {spec.kind} lies in {home}/, and may be missed elsewhere"
                report.add("W001", spec.place, message, f"move it to {home}/")
            elif spec.kind == "tool" and not spec.group and "toolsets" not in spec.root:
                hint = f"move it to {home}/TOOLSET/, the folder of its toolset"
                report.add("W001", spec.place, "this tool is in no toolset, so no client is served it", hint)


def find_overlooked(roots: Sequence[Path]) -> list[tuple[Path, str, str, str]]:
    """Each of them with the name under which it is shown, the reason, and what to do; sorted within its layer."""
    found = []
    for at, root in enumerate(roots):
        if root.is_dir():
            named = [*_files(root), *(_folders(root) if at else ())]
            found += [(path, shown_as(path, root, at), why, hint) for path, why, hint in sorted(named)]
    return found


def _files(root: Path) -> Iterator[tuple[Path, str, str]]:
    for folder in FOLDERS:
        for path in (root / folder).rglob("*"):
            if path.suffix.lower() not in _ENDINGS or path.is_dir():
                continue
            if path.suffix != ".yaml":
                yield path, "a spec ends in .yaml", f"call it {path.stem}.yaml"
            elif not path.is_file():
                yield path, "it is a link that leads nowhere", "mend or remove it"


def _folders(root: Path) -> Iterator[tuple[Path, str, str]]:
    """A layer without the folders of one, and folders with a slip in the name; the shipped layer has others beside."""
    known = ", ".join(FOLDERS)
    has_specs = root.name in FOLDERS or any(root.glob("*.yaml"))
    if has_specs and not any((root / folder).is_dir() for folder in FOLDERS):
        hint = "name the folder above it" if root.name in FOLDERS else f"put its files into one of {known}"
        yield root, f"the specs of a layer are in its folders {known}", hint
    for path in root.iterdir():
        like = difflib.get_close_matches(path.name, FOLDERS, n=1, cutoff=_LIKE)
        if like and path.name not in FOLDERS and path.is_dir() and any(path.rglob("*.yaml")):
            yield path, "no folder of specs is called that", f"call it {like[0]}"
