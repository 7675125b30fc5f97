"""Generated pages, tables and schemas: equal specs give equal bytes, and a check says where the tree differs."""

from __future__ import annotations

import difflib
import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from specloom import __version__
from specloom.compiler import keepers, weave_from
from specloom.core import (
    CODES,
    KINDS,
    NAME,
    PROJECT_VARIABLE,
    VARIABLES,
    Diagnostic,
    Rate,
    Variable,
    dataclass,
    load_table,
    own_words,
    project_folder,
    replace,
    template_renderer,
)
from specloom.language import (
    CONVERTERS,
    DECODERS,
    FUNCTIONS,
    Any_,
    Choice,
    ListOf,
    Maybe,
    RecordType,
    Scalar,
    Shape,
)
from specloom.model import CollectionModel, Model, Provider, Service, Setting, Step, Tables, Tool
from specloom.plugins import schema_of
from specloom.specs import (
    GRAMMARS,
    Anything,
    Either,
    Flag,
    Grammar,
    Items,
    Library,
    Named,
    Number,
    Project,
    RecordRule,
    Rule,
    RuleReference,
    Text,
    editor_schemas,
    read_project,
    shipped_root,
)

from .search_routes import list_routes

COMMAND = "specloom docs"
PAGES = (
    "README",
    "tools",
    "providers",
    "capabilities",
    "search-routes",
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
PROJECT_PAGES = ("tools", "providers", "capabilities", "lenses", "collections", "resources", "configuration")
"""The pages that a project has of its own specs."""
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
    files["deploy/bundle/manifest.json"] = render("manifest.json.j2", facts)
    for kind, schema in editor_schemas().items():
        files[f"schema/{kind}.json"] = render("schema.json.j2", {"schema": schema})
    return files


def generate_project(model: Model, library: Library, command: str, root: Path, inside: str) -> dict[str, str]:
    """The generated files of a project by their path under its root; its specs are in the folder `inside` of that."""
    render = template_renderer("docs", FILTERS)
    project = read_project(str(root / inside))
    facts = {**_facts(model, library), "command": command, "program": project.name}
    home = project.id or Path(inside).name
    facts["variables"] = [one for one in map(partial(_own_variable, project, home), VARIABLES.values()) if one]
    facts["sources"] = {key: f"{inside}/{file}" for key, file in facts["sources"].items()}
    files = {f"docs/reference/{page}.md": render(f"{page}.md.j2", facts) for page in PROJECT_PAGES}
    files[".env.example"] = render("env.j2", facts)
    return files


def _own_variable(project: Project, home: str, variable: Variable) -> Variable | None:
    """A variable as users of a project read of it: with its command and its folders, which are called `home`."""
    if variable.name == PROJECT_VARIABLE:
        return None  # the command sets it
    if variable.name == "SPECLOOM_TOOLSETS":
        return replace(variable, default=None, otherwise="all that there are")
    if variable.name == "REDIS_PREFIX" and project.id:
        return replace(variable, default=f"{project.id}:")
    said = variable.description.replace(f"`{NAME} ", f"`{project.name} ")
    return replace(variable, description=said, otherwise=variable.otherwise.replace(NAME, home))


def list_uses(model: Model) -> list[Use]:
    """Every variable that a provider, a tool or a collection reads, by name."""
    kinds: dict[str, Mapping[str, Provider | Tool | CollectionModel]] = {
        "provider": {**model.providers},
        "tool": {**model.tools},
        "collection": {**model.collections},
    }
    readers: dict[str, list[tuple[str, str, Setting]]] = {}
    for kind, specs in kinds.items():
        for spec in specs.values():
            for setting in spec.settings.values():
                readers.setdefault(setting.name, []).append((kind, spec.name, setting))
    return [_use(name, several) for name, several in sorted(readers.items())]


def _use(name: str, readers: Sequence[tuple[str, str, Setting]]) -> Use:
    def names(wanted: str, *, needing: bool = False) -> tuple[str, ...]:
        return tuple(spec for kind, spec, setting in readers if kind == wanted and (setting.required or not needing))

    descriptions = tuple(dict.fromkeys(_described(setting) for _, _, setting in readers))
    needed_by = names("provider", needing=True)
    return Use(name, readers[0][2], descriptions, names("provider"), names("tool"), names("collection"), needed_by)


def _described(setting: Setting) -> str:
    return setting.description + (f" {setting.stand_in} stands in for it." if setting.stand_in else "")


def write(root: Path) -> list[str]:
    """Bring the generated files under a root up to date; the paths of those that changed or went."""
    return _write(root, _generated_files(root))


def _write(root: Path, files: Mapping[str, str | None]) -> list[str]:
    changed = []
    for path, content in files.items():
        file = root / path
        if _read(file) == content:
            continue
        changed.append(path)
        if content is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            part = file.with_name(f".{file.name}.part")
            part.write_text(content, encoding="utf-8", newline="\n")
            part.replace(file)
    return changed


def find_drifts(root: Path) -> list[Drift]:
    """The generated files under a root that are not what would be generated."""
    return _find_drifts(root, _generated_files(root))


def _find_drifts(root: Path, files: Mapping[str, str | None]) -> list[Drift]:
    present = {path: _read(root / path) for path in files}
    return [
        Drift(path, _excerpt(path, present[path] or "", content or ""))
        for path, content in files.items()
        if present[path] != content
    ]


def run(check: bool = False, root: Path | None = None) -> int:
    """Write the generated files, or only say which of them drifted; 1 when some did or the specs have errors.

    Without a `root` it is the project of the environment, if there is one.
    """
    project = project_folder(os.environ) if root is None else ""
    if project:
        return run_project(Path(project), check=check)
    base = root or shipped_root()
    say = sys.stdout.write
    if not (base / "pyproject.toml").is_file():
        say(f"specloom docs: {base} is not a checkout of specloom; run it in one\n")
        return 1
    errors = weave_from([base])[2].errors
    if errors:
        return _tell_errors(errors)
    return _bring(base, _generated_files(base), check=check, command=COMMAND)


def run_project(folder: Path, *, check: bool = False) -> int:
    """The same for a project with its specs in a folder of its root, or of `src` there."""
    # No further up: what is installed in the environment of a checkout is not that checkout.
    root = next((one for one in folder.parents[:2] if (one / "pyproject.toml").is_file()), None)
    if root is None:
        sys.stdout.write(f"docs: {folder} is not in the checkout of a project; run it in one\n")
        return 1
    model, library, report = weave_from([folder])
    if report.errors:
        return _tell_errors(report.errors)
    command = f"{read_project(str(folder)).name} docs"
    pages = generate_project(model, library, command, root, folder.relative_to(root).as_posix())
    files: dict[str, str | None] = {**pages}
    for file in sorted((root / "docs/reference").glob("*.md")):
        files.setdefault(file.relative_to(root).as_posix(), None)
    return _bring(root, files, check=check, command=command)


def _tell_errors(errors: Sequence[Diagnostic]) -> int:
    first = f"{len(errors)} errors, the first in {errors[0].place}"
    sys.stdout.write(own_words(f"docs: the specs have {first}; `specloom check` shows them\n"))
    return 1


def _bring(root: Path, files: Mapping[str, str | None], *, check: bool, command: str) -> int:
    """Write the files under a root, or say which of them drifted."""
    say = sys.stdout.write
    if not check:
        changed = _write(root, files)
        say("".join(f"wrote {path}\n" for path in changed) or "everything is up to date\n")
        return 0
    drifts = _find_drifts(root, files)
    for drift in drifts:
        say(f"{drift.excerpt}\n")
    if drifts:
        names = ", ".join(drift.path for drift in drifts)
        say(f"not what would be generated: {names}; run `{command}` and commit the result\n")
    return 1 if drifts else 0


def _generated_files(root: Path) -> dict[str, str | None]:
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
    groups = _group_settings(model, uses)
    registry = [one for _, listed in groups for one in listed]
    return {
        "command": COMMAND,
        "program": NAME,
        "version": __version__,
        "model": model,
        "routes": list_routes(model, library),
        "sources": {key: spec.source.file for key, spec in library.specs.items()},
        "toolsets": dict(sorted(toolsets.items())),
        "uses": uses,
        "keepers": {name: keepers(name, model.tools.values()) for name in model.collections},
        "engine_tables": _engine_tables(),
        "variables": list(VARIABLES.values()),
        "registry": registry,
        "groups": [{"title": title, "first": listed[0]["name"], "count": len(listed)} for title, listed in groups],
        "bundle": dict(_bundle_settings({one["name"]: one for one in registry})),
        "converters": list(CONVERTERS.values()),
        "functions": [FUNCTIONS[name] for name in sorted(FUNCTIONS)],
        "decoders": list(DECODERS.values()),
        "codes": CODES,
        "faults": KINDS,
        "kinds": list_kinds(),
    }


def _engine_tables() -> dict[str, dict[str, Any]]:
    """Every table of the engine: whether it is one thing, many in a list, or many by name, and what each has."""
    tables = {}
    for name, schema in schema_of(Tables)["properties"].items():
        by_name = schema.get("additionalProperties")
        inner = schema.get("items") or by_name or schema
        kind = "one record" if "properties" in schema else {"array": "a list", "object": "an object"}[schema["type"]]
        tables[name] = {"holds": "by name" if by_name else kind, "fields": list(inner.get("properties", ()))}
    return tables


def _group_settings(model: Model, uses: Sequence[Use]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The groups in which the registry lists what can be set: the title of each, and its entries."""
    table = load_table(__file__, "registry.yaml")
    groups: dict[str, list[dict[str, Any]]] = {key: [] for key in table["titles"]}
    first = list(load_table(__file__, "bundle.yaml"))
    for variable in VARIABLES.values():
        entry = _registry_variable(variable)
        key = "first" if variable.name in first else "http" if variable.name in table["http"] else "engine"
        groups[key].append(entry)
    for use in uses:
        entry = _registry_setting(use)
        if needed := list_needed(model, use):
            entry["description"] += f" Only with {' and '.join(needed)}."
        is_pace = use.name.endswith(("_RATE", "_USD"))
        key = "pace" if is_pace else "keys" if use.providers and not use.tools and not use.collections else "tools"
        groups["first" if use.name in first else key].append(entry)
    groups["first"].sort(key=lambda one: first.index(one["name"]))
    return [(table["titles"][key], listed) for key, listed in groups.items() if listed]


def list_needed(model: Model, use: Use) -> tuple[str, ...]:
    """The variables without which a variable that only one provider reads does nothing."""
    if len(use.providers) != 1 or use.tools or use.collections:
        return ()
    settings = model.providers[use.providers[0]].settings.values()
    return tuple(one.name for one in settings if one.required and not one.stand_in and one.name != use.name)


def _registry_variable(variable: Variable) -> dict[str, Any]:
    kind = {"boolean": "boolean", "integer": "number", "number": "number"}.get(variable.kind, "string")
    entry = _registry_entry(variable.name, variable.description, kind, variable.secret, variable.default)
    return {**entry, "choices": list(variable.choices)} if variable.choices else entry


def _registry_setting(use: Use) -> dict[str, Any]:
    setting = use.setting
    secret = setting.secret or setting.kind in ("credentials", "headers")
    kind = {"boolean": "boolean", "integer": "number", "number": "number"}.get(setting.kind, "string")
    return _registry_entry(use.name, " ".join(use.descriptions), kind, secret, setting.default)


def _registry_entry(name: str, description: str, kind: str, secret: bool, default: object) -> dict[str, Any]:
    text = " ".join(description.split())
    entry = {"name": name, "description": text, "isRequired": False, "isSecret": secret, "format": kind}
    if default is None:
        return entry
    return {**entry, "default": str(default).lower() if isinstance(default, bool) else str(default)}


def _bundle_settings(registry: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a bundle asks for, each with a default: a host passes on the name of what has none and is left empty."""
    for name, asked in load_table(__file__, "bundle.yaml").items():
        said = registry.get(name)
        if said is None:  # as in a checkout with other specs
            continue
        setting = {"type": asked.get("type", "string"), "title": asked["title"], "description": said["description"]}
        yield name, {**setting, "required": False, "default": said.get("default", ""), "sensitive": said["isSecret"]}


# --- The keys of the spec language as tables, read from the one grammar -----------------------------------------------


@dataclass(frozen=True, slots=True)
class KeyTable:
    """The keys of one record, and where in a file it stands."""

    path: str
    name: str
    rows: tuple[tuple[str, str, bool, str], ...]
    """Each key: its name, what it holds, whether it must stand, what it means."""
    rules: tuple[str, ...]


def list_kinds() -> dict[str, list[KeyTable]]:
    """Every kind of spec with the tables of its records, the outermost first."""
    return {name: list(_key_tables(grammar)) for name, grammar in GRAMMARS.items()}


def _key_tables(grammar: Grammar) -> Iterator[KeyTable]:
    seen: set[tuple[tuple[str, str, bool, str], ...]] = set()
    roots: list[tuple[str, Rule]] = [("", grammar.root), *((f"({name})", rule) for name, rule in grammar.named.items())]
    for path, record in (found for start, root in roots for found in _records(root, start)):
        rows = tuple((name, describe(key.rule), key.required, key.doc) for name, key in record.keys.items())
        # Records that stand in several places, such as request bodies, are shown once.
        if rows not in seen:
            seen.add(rows)
            yield KeyTable(path, record.name, rows, tuple(_group(names, must) for names, must in record.one_of))


def _records(rule: Rule, path: str) -> Iterator[tuple[str, RecordRule]]:
    if isinstance(rule, RecordRule):
        yield path, rule
        for name, key in rule.keys.items():
            yield from _records(key.rule, f"{path}.{name}" if path else name)
    elif isinstance(rule, Items):
        yield from _records(rule.item, f"{path}[]")
    elif isinstance(rule, Named):
        yield from _records(rule.value, f"{path}.NAME")
    elif isinstance(rule, Either):
        for one in (rule.scalar, rule.listing, rule.mapping):
            if one is not None:
                yield from _records(one, path)


def _group(names: tuple[str, ...], must: bool) -> str:
    listed = ", ".join(f"`{name}`" for name in names)
    return f"{'Exactly' if must else 'At most'} one of {listed}."


def describe(rule: Rule) -> str:
    """What a rule wants, in words."""
    match rule:
        case RuleReference(name=name):
            return {"value": "a request value", "field": "a field", "converter": "a converter"}.get(name, name)
        case Either():
            return " or ".join(describe(one) for one in (rule.scalar, rule.listing, rule.mapping) if one is not None)
        case RecordRule():
            return "a mapping"
        case Named(value=value):
            inner = describe(value)
            return "names, each with " + (inner if inner != "a mapping" else "a mapping of its own")
        case Items(item=item):
            return f"a list, each {describe(item)}"
        case Flag():
            return "true or false"
        case Number():
            bounds = [
                f"{word} {bound:g}" for word, bound in (("from", rule.least), ("to", rule.most)) if bound is not None
            ]
            return " ".join(["a whole number" if rule.whole else "a number", *bounds])
        case Anything(scalar=scalar):
            return "a single value" if scalar else "any value"
        case Text(means="kind", choices=choices):
            return "a kind of [fault](faults.md)" + (" or `empty`" if "empty" in choices else "")
        case Text(choices=choices) if choices:
            return "one of " + ", ".join(f"`{choice}`" for choice in choices)
        case Text(means="expression" | "duration" | "selector" | "path" as means):
            return f"an {means}" if means == "expression" else f"a {means}"
        case Text(says=says, means=means):
            return f"text: {says}" if says and means != "prose" else "text"


# --- How values are written in generated pages: Markdown that survives any text, and amounts as people write them -----


_TIMES = (("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0))
_SIZES = (("MiB", 1024 * 1024), ("KiB", 1024), ("B", 1))


def to_line(text: object) -> str:
    """The text on one line."""
    return " ".join(str(text).split())


def to_comment(text: str) -> str:
    """The text as the lines of a comment, without the sign before the first."""
    return "\n# ".join(textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False))


def to_prose(text: object) -> str:
    """Text of a spec as Markdown prose: nothing in it is markup."""
    return re.sub(r"([\\<*_\[\]])", r"\\\1", str(text).strip())


def to_cell(text: object) -> str:
    """Prose for one cell of a table."""
    return re.sub(r"([\\<|])", r"\\\1", to_line(text))


def to_code(text: object) -> str:
    """The text as inline code, also where it holds backticks or, in a table, bars."""
    shown = to_line(text).replace("|", r"\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def to_codes(texts: Any) -> str:
    """Several texts as inline code, with commas."""
    return ", ".join(to_code(text) for text in texts)


def to_json(value: Any) -> str:
    """The value as compact JSON."""
    return json.dumps(value, ensure_ascii=False)


def to_pretty(value: Any) -> str:
    """The value as JSON over several lines, its first key on the first line."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return re.sub(r"\A\{\n  ", "{", text)


def to_duration(seconds: float) -> str:
    """Seconds in the largest unit that leaves a whole number."""
    if seconds < 1:
        return f"{seconds * 1000:g} ms"
    unit, size = next((unit, size) for unit, size in (*_TIMES, ("s", seconds)) if seconds % size == 0 or unit == "s")
    return f"{seconds / (size if unit != 's' else 1):g} {unit}"


def to_size(count: int) -> str:
    """Bytes in the largest unit that leaves a whole number."""
    unit, size = next((unit, size) for unit, size in _SIZES if count % size == 0)
    return f"{count // size} {unit}"


def to_rate(rate: Rate) -> str:
    """A rate as specs write it."""
    unit, size = next(((unit, size) for unit, size in _TIMES if rate.per == size), ("s", 1.0))
    return f"{rate.count:g}/{'' if rate.per == size else f'{rate.per:g}'}{unit}"


def to_kind(shape: Shape) -> str:
    """A shape in words."""
    if isinstance(shape, Maybe):
        return f"{to_kind(shape.shape)} or null"
    if isinstance(shape, ListOf):
        return "list" if isinstance(shape.item, Any_) else f"list of {to_kind(shape.item)}"
    if isinstance(shape, Choice):
        return "text"
    if isinstance(shape, RecordType):
        return "object"
    return shape.kind if isinstance(shape, Scalar) else "anything"


def to_type(schema: Mapping[str, Any]) -> str:
    """The type that a JSON Schema asks for, in words."""
    found = schema.get("type", "anything")
    inner = schema.get("items")
    if found == "array" and inner:
        return f"list of {to_type(inner)}" if to_type(inner) != "anything" else "list"
    return {"string": "text", "array": "list"}.get(found, str(found))


def to_address(step: Step, service: Service) -> str:
    """The URL of a step, with a placeholder for what depends on the call."""
    base = service.base
    own, parts = (
        [one if isinstance(one, str) else f"{{{one.text}}}" for one in part] for part in (step.base, step.path)
    )
    host = str(base.evaluate({})) if base.constant else f"{{{base.text.removeprefix('=')}}}"
    return ("".join(own) or host).rstrip("/") + "".join(parts)


FILTERS: dict[str, Callable[..., object]] = {
    "line": to_line,
    "prose": to_prose,
    "comment": to_comment,
    "cell": to_cell,
    "code": to_code,
    "codes": to_codes,
    "json": to_json,
    "pretty": to_pretty,
    "duration": to_duration,
    "size": to_size,
    "rate": to_rate,
    "kind": to_kind,
    "type": to_type,
    "address": to_address,
}
"""What templates may call, by name."""
