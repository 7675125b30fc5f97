"""What every new spec begins with: a name that is free, a folder that is read, and a template that is filled safely."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from specloom.core import Place, config_folder, did_you_mean, template_renderer
from specloom.language import Choice
from specloom.model import Argument, Capability, Model
from specloom.plugins import PROCEDURES, Procedure, load_hooks
from specloom.specs import FOLDERS, NAME, STEM

from ..try_live import to_yaml

_SHOWN, _SHOWN_MARK = 60, 200


class ScaffoldError(ValueError):
    """A spec that cannot be started: one sentence with what to do."""


class Placed(Protocol):
    """A spec that is there already."""

    @property
    def place(self) -> Place: ...


def folder_of(kind: str, toolset: str = "") -> str:
    """The folder of a layer in which the specs of a kind are; tools lie in that of their toolset."""
    folders = {
        "capability": "providers.d/capabilities",
        "provider": "providers.d",
        "tool": f"tools.d/{toolset}",
        "toolset": "tools.d",
        "lens": "lenses",
        "collection": "collections.d",
        "resource": "resources.d",
    }
    return folders[kind]


def default_folder(environ: Mapping[str, str], folder: str) -> Path:
    """Where a new spec goes: into the folder of specs that one stands in, else into the first own layer."""
    if any(Path(one).is_dir() for one in FOLDERS if one.endswith(".d")):
        return Path(folder)
    listed = [part for part in environ.get("SPECLOOM_PATH", "").split(os.pathsep) if part]
    layer = Path(listed[0]).expanduser() if listed else Path(config_folder(environ))
    return layer / folder


def folder_within(to: Path, kind: str, toolset: str = "") -> Path:
    """The folder below `to` in which a spec is read once `to` is a layer; `to` itself where it is such a folder."""
    folder = folder_of(kind, toolset)
    whole = to.expanduser().absolute().parts
    return to if any(name in whole for name in FOLDERS) else to / folder


def check_name(kind: str, name: str, taken: Mapping[str, Placed]) -> None:
    """Refuse a name that the kind may not have, or that is taken."""
    has_hyphens = kind in {"lens", "toolset", "resource"}
    if not re.fullmatch(STEM if has_hyphens else NAME, name):
        signs = "lower case, digits, hyphens and underscores" if has_hyphens else "lower case, digits and underscores"
        raise ScaffoldError(f"{name!r} is not a name; use {signs}, start with a letter, and stay below 41 characters")
    if name in taken:
        raise ScaffoldError(f"there is a {kind} {name!r} already, in {taken[name].place.file}; choose another name")


def find_capability(model: Model, name: str | None) -> Capability:
    """The capability of this name; `web`, or the only one that there is, where none is given."""
    capabilities = model.capabilities
    name = name or ("web" if "web" in capabilities else next(iter(capabilities)) if len(capabilities) == 1 else "")
    if not name:
        raise ScaffoldError(f"say which capability: --capability {' or '.join(capabilities) or 'NAME'}")
    if name not in capabilities:
        hint = did_you_mean(name, capabilities)
        raise ScaffoldError(f"there is no capability {name!r}; {hint}".rstrip("; "))
    return capabilities[name]


def find_procedure(name: str) -> Procedure:
    """The registered procedure of this name."""
    load_hooks()
    if name not in PROCEDURES:
        raise ScaffoldError(f"no procedure is called {name!r}; {did_you_mean(name, PROCEDURES)}".rstrip("; "))
    return PROCEDURES[name]


def schema_type(schema: Mapping[str, Any]) -> str:
    """The type that a JSON Schema asks for beside null; nothing where it takes any."""
    kinds = schema.get("type", "")
    return next((kind for kind in kinds if kind != "null"), "") if isinstance(kinds, list) else str(kinds)


def made_up(argument: Argument) -> Any:
    """A value of an argument's or a field's type."""
    if isinstance(argument.shape, Choice):
        return argument.shape.values[0]
    made: dict[str, Any] = {
        "url": "https://example.org/otters",
        "timestamp": "2026-01-02T03:04:05Z",
        "date": "2026-01-02",
        "integer": 3,
        "number": 1.5,
        "boolean": True,
        "list": ["otters"],
    }
    return made.get(argument.kind, f"the {argument.name.replace('_', ' ')}")


# --- Templates: whatever a sample holds, it comes out of a draft as it was --------------------------------------------


def draft(kind: str, facts: Mapping[str, Any]) -> str:
    """The text of a spec of this kind, by its template."""
    return _renderer()(f"{kind}.yaml.j2", {"title": to_title(str(facts["name"])), **facts})


def draft_file(template: str, facts: Mapping[str, Any]) -> str:
    """The text of a file that is no spec by itself, by its template."""
    return _renderer()(template, facts)


@cache
def _renderer() -> Callable[[str, Mapping[str, Any]], str]:
    filters = (flow, block, selector, selectors, comment, mark)
    return template_renderer("scaffold", {one.__name__: one for one in filters})


def to_title(name: str) -> str:
    """A name as people write it."""
    return re.sub("[-_]", " ", name).capitalize()


def flow(value: Any, style: str | None = None) -> str:
    """A value as YAML on one line."""
    import yaml

    options: dict[str, Any] = {"default_flow_style": True, "sort_keys": False, "allow_unicode": True}
    text: str = yaml.safe_dump(value, default_style=style, width=float("inf"), **options)
    return text.removesuffix("\n").removesuffix("\n...")


def block(value: Any) -> str:
    """A value as YAML over as many lines as it takes."""
    return to_yaml(value).removesuffix("\n")


def selector(text: str) -> str:
    """A selector as YAML inside a flow mapping: plain where it is a path of names, else in double quotes."""
    is_plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", text) and flow(text) == text
    return text if is_plain else flow(text, '"')


def selectors(named: Mapping[str, str]) -> str:
    """Selectors by their names as YAML on one line."""
    return f"{{{', '.join(f'{selector(name)}: {selector(text)}' for name, text in named.items())}}}"


def comment(value: Any, longest: int = _SHOWN) -> str:
    """The beginning of a value as a comment, on one line; what is to be decided has room for more."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    longest = _SHOWN_MARK if line.startswith("decide: ") else longest
    return f"# {line if len(line) <= longest else line[: longest - 1] + '…'}".rstrip()


def mark(text: str) -> str:
    """What is to be decided, as a comment behind a value; nothing where there is nothing."""
    return f"  {comment(f'decide: {text}')}" if text else ""
