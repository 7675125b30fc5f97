"""The start of a capability: what may be asked, and what a row holds, guessed from a sample if there is one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from specloom.compiler import keepers, site_queries
from specloom.core import Place, did_you_mean
from specloom.model import Argument, Model
from specloom.plugins import Procedure
from specloom.specs import shipped_root

from .common import ScaffoldError, check_name, draft, find_procedure, schema_type
from .leaves import ITEMS, Leaf
from .likeness import fits, match
from .sample import Sample, parse_sample

_KINDS = ("url", "boolean", "integer", "number", "timestamp", "list")
"""Kinds that a value's shape tells, the most particular first; anything else is text."""
_MOST_FIELDS = 24
_TITLE = {"title": Argument("title", "text", "", Place("")), "id": Argument("id", "text", "", Place(""))}


def draft_capability(model: Model, name: str, data: bytes | None) -> str:
    """The text of a capability for searches; with a sample of an API's answer its row has the sample's fields."""
    check_name("capability", name, model.capabilities)
    try:
        sample = parse_sample(data, _TITLE) if data is not None else None
    except ValueError as error:
        raise ScaffoldError(str(error)) from None
    return draft("capability", {"name": name, "fields": list(_fields(sample)) if sample else ()})


def _fields(sample: Sample) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Each field of the row: its name, its declaration, and the value that it was guessed from."""
    named = _named(sample)
    if not named:
        raise ScaffoldError("the sample has no results with fields; give one with at least one result")
    likely = match(_TITLE, list(named.values()))
    main = likely["title"] or likely["id"] or next(iter(named.values()))
    for name, leaf in named.items():
        required = {"required": True} if leaf is main else {}
        description = f"Its {name.replace('_', ' ')}."
        yield name, {"type": _kind(name, leaf), **required, "description": description}, leaf.value


def _named(sample: Sample) -> Mapping[str, Leaf]:
    """The leaves of the sample's results by the name that a field of a row would have."""
    named: dict[str, Leaf] = {}
    for leaf in sample.leaves:
        if ITEMS in leaf.path or (isinstance(leaf.value, list) and not fits("list", leaf.value)):
            continue  # what is in it has fields of its own
        words = [re.sub(r"^[A-Za-z0-9]+:", "", part).lstrip("@") for part in leaf.path]
        for length in range(1, len(words) + 1):
            name = _snake("_".join(words[-length:]))
            if name and name not in named:
                named[name] = leaf
                break
        if len(named) == _MOST_FIELDS:
            break
    return named


def _snake(text: str) -> str:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    return re.sub(r"[^a-z0-9]+", "_", parted.lower()).strip("_").lstrip("0123456789_")[:40]


def _kind(name: str, leaf: Leaf) -> str:
    if name.rpartition("_")[2] == "id":
        return "text"  # nobody counts with it, and the next provider's has letters
    values = [_meant(value) for value in leaf.values] if leaf.is_cell else leaf.values
    return next((kind for kind in _KINDS if all(_is_sure(kind, value) for value in values)), "text")


def _meant(text: str) -> Any:
    """What the text of a cell spells: a boolean or a number where it is nothing but that."""
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if re.fullmatch(r"-?(?:0|[1-9]\d{0,14})", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", text) else text


def _is_sure(kind: str, value: Any) -> bool:
    """Whether a value is of a kind, and not only text or a number that could be read as one."""
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "timestamp":
        return isinstance(value, str) and bool(re.match(r"\d{4}-\d{2}-\d{2}", value)) and fits(kind, value)
    return fits(kind, value)


# --- The start of a collection: other bounds for one that is there, or one for a procedure that is still to be
# written --------------------------------------------------------------------------------------------------------------


def draft_collection(model: Model, name: str) -> str:
    """The text of a collection; of one that is there already, its own text with a note on what may be changed."""
    if name not in model.collections:
        check_name("collection", name, {})
        return draft("collection", {"name": name, "replaced": False})
    file = model.collections[name].place.file
    path = Path(file) if Path(file).is_absolute() else shipped_root() / file
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScaffoldError(f"{path} cannot be read: {error.strerror}") from None
    head = re.search(r"^spec:", text, re.MULTILINE)
    at = head.start() if head else 0
    code = keepers(name, model.tools.values())
    return draft(
        "collection", {"name": name, "replaced": True, "before": text[:at], "after": text[at:], "keepers": code}
    )


# --- The start of a lens: its sites, and the query that they make -----------------------------------------------------


_SITE = re.compile(r"[a-z0-9.-]+\.[a-z]{2,}(?:/[A-Za-z0-9._~/-]*)?")


def draft_lens(model: Model, name: str, domains: Sequence[str]) -> str:
    """The text of a lens over these sites, which may be given as addresses; the first is the most important."""
    check_name("lens", name, model.lenses)
    if not domains:
        raise ScaffoldError("say which sites: --domain HOST or HOST/PATH, once for each, the most important first")
    sites = tuple(dict.fromkeys(_site(one) for one in domains))
    query = "sea otters"
    example = {"query": query, "makes": site_queries(query, sites)}
    return draft("lens", {"name": name, "domains": list(sites), "example": example})


def _site(said: str) -> str:
    """A site as a lens names it, from a host, a host with a path, or an address."""
    host, slash, path = re.sub(r"^https?://", "", said.strip()).partition("/")
    site = f"{host.lower()}{slash}{path}".rstrip("/")
    if not _SITE.fullmatch(site):
        raise ScaffoldError(f"{said!r} is not a site; write a host, such as otters.example, or a host with a path")
    return site


# --- The start of a toolset: what a client is told about the tools of a folder ----------------------------------------


def draft_toolset(model: Model, name: str) -> str:
    """The text of a toolset with a paragraph for each of its tools, which have to be there."""
    check_name("toolset", name, model.toolsets)
    tools = [tool for tool in model.tools.values() if name in tool.toolsets]
    if not tools:
        start = f"specloom new tool NAME --toolset {name}"
        raise ScaffoldError(f"no tool is in the toolset {name!r} yet; start one first: {start}")
    paragraphs = [f"Call {{{tool.name}}} for: {tool.title.rstrip('.')}." for tool in tools]
    return draft("toolset", {"name": name, "paragraphs": paragraphs})


# --- The start of a resource: what a host reads by its address, of the caller, of a procedure, or of the engine -------


def draft_resource(model: Model, name: str, collection: str, procedure: str) -> str:
    """The text of a resource over a collection of the caller's, over a procedure, or over the engine's providers."""
    check_name("resource", name, model.resources)
    if collection and procedure:
        message = "a new resource reads a collection or runs a procedure; leave out --collection or --procedure"
        raise ScaffoldError(message)
    facts: dict[str, Any]
    row: dict[str, Any]
    if collection:
        if collection not in model.collections:
            hint = did_you_mean(collection, model.collections)
            raise ScaffoldError(f"there is no collection {collection!r}; {hint}".rstrip("; "))
        row = {"key": "a", "value": {"text": "otters"}}
        facts = {
            "source": {"collection": collection},
            "answer": {"items": {"each": "rows", "map": {"key": "key", "value": "value"}}},
            "example": {"rows": [row], "expect": {"answer": {"items": [row]}}},
        }
    elif procedure:
        facts = _procedure_facts(find_procedure(procedure))
    else:
        row = {"name": "alpha", "configured": True}
        facts = {
            "source": None,
            "answer": {"providers": {"each": "engine.providers", "map": {key: key for key in row}}},
            "example": {"engine": {"providers": [row]}, "expect": {"answer": {"providers": [row]}}},
        }
    path = "/".join(f"{{{hole}}}" for hole in facts["example"].get("args", ())) or "all"
    return draft("resource", {"name": name, "address": f"{name.replace('_', '-')}://{path}", **facts})


def _procedure_facts(procedure: Procedure) -> dict[str, Any]:
    """The source, the answer and the example of a resource that runs a procedure; what it needs is in the address."""
    for name in procedure.needs:
        if schema_type(procedure.parameters[name]) != "string":
            raise ScaffoldError(f"{procedure.name} needs {name!r}, which is no text and so no part of an address")
    holes = {name: _snake(name) for name in procedure.needs}
    passed = {"with": {name: f"=args.{hole}" for name, hole in holes.items()}} if holes else {}
    made: dict[str, Any] = {"integer": 3, "number": 1.5, "boolean": True, "array": [], "object": {}}
    schemas = procedure.gives.get("properties") or {}
    result = {
        key: schema["enum"][0] if schema.get("enum") else made.get(schema_type(schema), "otters")
        for key, schema in schemas.items()
    }
    args = {"args": dict.fromkeys(holes.values(), "otters")} if holes else {}
    return {
        "source": {"procedure": {"name": procedure.name, **passed}},
        "answer": {key: f"=result.{key}" for key in result} or "=result",
        "example": {**args, "result": result, "expect": {"answer": result}},
    }
