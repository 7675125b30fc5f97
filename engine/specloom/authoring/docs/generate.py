"""Generated pages, tables and schemas: equal specs give equal bytes, and a check says where the tree differs."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from specloom import __version__
from specloom.compiler import keepers, weave_from
from specloom.core import CODES, KINDS, VARIABLES, Variable, template_renderer
from specloom.language import CONVERTERS, DECODERS, FUNCTIONS
from specloom.model import CollectionModel, Model, Provider, Setting, Tables, Tool
from specloom.plugins import schema_of
from specloom.specs import Library, editor_schemas, shipped_root

from .format import FILTERS, list_kinds

COMMAND = "specloom docs"
PAGES = (
    "README",
    "tools",
    "providers",
    "capabilities",
    "lenses",
    "collections",
    "resources",
    "configuration",
    "converters",
    "functions",
    "decoders",
    "diagnostics",
    "faults",
    "language-keys",
)
FOLDERS = (("docs/reference", "*.md"), ("schema", "*.json"))
"""Folders in which everything is generated, so that a file that is no longer made is found too."""
_MOST_LINES = 30


@dataclass(frozen=True, slots=True)
class Use:
    """One variable that specs read: what their files say of it, and which of them read it."""

    name: str
    setting: Setting
    descriptions: tuple[str, ...]
    providers: tuple[str, ...]
    tools: tuple[str, ...]
    collections: tuple[str, ...]
    needed_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drift:
    """A generated file that is not what would be generated, with the start of the difference."""

    path: str
    excerpt: str


def generate(model: Model, library: Library) -> dict[str, str]:
    """Every generated file by its path under the root of the checkout."""
    render = template_renderer("docs", FILTERS)
    facts = _facts(model, library)
    files = {f"docs/reference/{page}.md": render(f"{page}.md.j2", facts) for page in PAGES}
    files[".env.example"] = render("env.j2", facts)
    files["server.json"] = render("server.json.j2", facts)
    for kind, schema in editor_schemas().items():
        files[f"schema/{kind}.json"] = render("schema.json.j2", {"schema": schema})
    return files


def list_uses(model: Model) -> list[Use]:
    """Every variable that a provider, a tool or a collection reads, by name."""
    by_name: dict[str, list[tuple[str, str, Setting]]] = {}
    kinds: dict[str, Mapping[str, Provider | Tool | CollectionModel]] = {
        "provider": {**model.providers},
        "tool": {**model.tools},
        "collection": {**model.collections},
    }
    for kind, specs in kinds.items():
        for spec in specs.values():
            for setting in spec.settings.values():
                by_name.setdefault(setting.name, []).append((kind, spec.name, setting))
    return [_use(name, found) for name, found in sorted(by_name.items())]


def _use(name: str, found: Sequence[tuple[str, str, Setting]]) -> Use:
    return Use(
        name,
        found[0][2],
        tuple(dict.fromkeys(_described(setting) for _, _, setting in found)),
        tuple(spec for kind, spec, _ in found if kind == "provider"),
        tuple(spec for kind, spec, _ in found if kind == "tool"),
        tuple(spec for kind, spec, _ in found if kind == "collection"),
        tuple(spec for kind, spec, setting in found if kind == "provider" and setting.required),
    )


def _described(setting: Setting) -> str:
    return setting.description + (f" {setting.stand_in} stands in for it." if setting.stand_in else "")


def write(root: Path) -> list[str]:
    """Bring the generated files under a root up to date; the paths of those that changed or went."""
    changed = []
    for path, wanted in _wanted(root).items():
        file = root / path
        if _read(file) == wanted:
            continue
        changed.append(path)
        if wanted is None:
            file.unlink()
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f".{file.name}.part")
        part.write_text(wanted, encoding="utf-8", newline="\n")
        part.replace(file)
    return changed


def check(root: Path) -> list[Drift]:
    """The generated files under a root that are not what would be generated."""
    return _find_drifts(root)


def _find_drifts(root: Path) -> list[Drift]:
    found = []
    for path, wanted in _wanted(root).items():
        present = _read(root / path)
        if present != wanted:
            found.append(Drift(path, _excerpt(path, present or "", wanted or "")))
    return found


def run(check: bool = False, root: Path | None = None) -> int:
    """Write the generated files, or only say which of them drifted; 1 when some did or the specs have errors."""
    base = root or shipped_root()
    say = sys.stdout.write
    if not (base / "pyproject.toml").is_file():
        say(f"specloom docs: {base} is not a checkout of specloom; run it in one\n")
        return 1
    errors = weave_from([base])[2].errors
    if errors:
        first = f"{len(errors)} errors, the first in {errors[0].place}"
        say(f"specloom docs: the specs have {first}; `specloom check` shows them\n")
        return 1
    if not check:
        changed = write(base)
        say("".join(f"wrote {path}\n" for path in changed) or "everything is up to date\n")
        return 0
    drifts = _find_drifts(base)
    for drift in drifts:
        say(f"{drift.excerpt}\n")
    if drifts:
        names = ", ".join(drift.path for drift in drifts)
        say(f"not what would be generated: {names}; run `{COMMAND}` and commit the result\n")
    return 1 if drifts else 0


def _wanted(root: Path) -> dict[str, str | None]:
    """What each file should hold; None for one that should not be there."""
    model, library, _ = weave_from([root])
    files: dict[str, str | None] = {**generate(model, library)}
    for folder, pattern in FOLDERS:
        for file in sorted((root / folder).glob(pattern)):
            files.setdefault(file.relative_to(root).as_posix(), None)
    return files


def _read(file: Path) -> str | None:
    # Bytes, because a changed line end is a drift too.
    return file.read_bytes().decode("utf-8", "replace") if file.is_file() else None


def _excerpt(path: str, present: str, wanted: str) -> str:
    difference: Iterator[str] = difflib.unified_diff(
        present.splitlines(), wanted.splitlines(), path, f"{path} (generated)", lineterm="", n=1
    )
    lines = list(islice(difference, _MOST_LINES + 1))
    return "\n".join([*lines[:_MOST_LINES], "…"] if len(lines) > _MOST_LINES else lines)


def _facts(model: Model, library: Library) -> dict[str, Any]:
    toolsets: dict[str, list[str]] = {}
    for tool in model.tools.values():
        for toolset in tool.toolsets:
            toolsets.setdefault(toolset, []).append(tool.name)
    uses = list_uses(model)
    return {
        "command": COMMAND,
        "version": __version__,
        "model": model,
        "sources": {key: spec.source.file for key, spec in library.specs.items()},
        "toolsets": dict(sorted(toolsets.items())),
        "uses": uses,
        "keepers": {name: keepers(name, model.tools.values()) for name in model.collections},
        "engine_tables": _engine_tables(),
        "variables": list(VARIABLES.values()),
        "registry": [*map(_registry_variable, VARIABLES.values()), *map(_registry_setting, uses)],
        "converters": list(CONVERTERS.values()),
        "functions": [FUNCTIONS[name] for name in sorted(FUNCTIONS)],
        "decoders": list(DECODERS.values()),
        "codes": CODES,
        "faults": KINDS,
        "kinds": list_kinds(),
    }


def _engine_tables() -> dict[str, dict[str, Any]]:
    """Every table of the engine: whether it is one thing, many in a list, or many by name, and what each has."""
    found = {}
    for name, schema in schema_of(Tables)["properties"].items():
        inner = schema.get("items") or schema.get("additionalProperties") or schema
        holds = (
            {"array": "a list", "object": "an object"}[schema["type"]] if "properties" not in schema else "one record"
        )
        holds = "by name" if schema.get("additionalProperties") else holds
        found[name] = {"holds": holds, "fields": list(inner.get("properties", ()))}
    return found


def _registry_variable(variable: Variable) -> dict[str, Any]:
    kind = {"text": "string", "choice": "string", "integer": "number"}.get(variable.kind, variable.kind)
    entry = _registry_entry(variable.name, variable.description, kind, variable.secret, variable.default)
    return {**entry, "choices": list(variable.choices)} if variable.choices else entry


def _registry_setting(use: Use) -> dict[str, Any]:
    setting = use.setting
    kind = {"boolean": "boolean", "integer": "number", "number": "number"}.get(setting.kind, "string")
    secret = setting.secret or setting.kind in ("credentials", "headers")
    return _registry_entry(use.name, " ".join(use.descriptions), kind, secret, setting.default)


def _registry_entry(name: str, description: str, kind: str, secret: bool, default: object) -> dict[str, Any]:
    text = " ".join(description.split())
    entry = {"name": name, "description": text, "isRequired": False, "isSecret": secret, "format": kind}
    if default is None:
        return entry
    return {**entry, "default": str(default).lower() if isinstance(default, bool) else str(default)}
