"""An OpenAPI description as a document with references: its operations, and where they are served.

References within the document are resolved; a place is a JSON pointer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from specloom.core import dataclass, did_you_mean

from ..common import ScaffoldError
from ..provider import check_base
from ..request import DraftRequest
from .document import escape, parse_document

METHODS = ("get", "post")
_MOST_NAMED = 12


@dataclass(frozen=True, slots=True)
class DocumentNode:
    """A value of the document that references lead to, and the pointer to it."""

    value: Any
    pointer: str


@dataclass(frozen=True, slots=True)
class Description:
    """A document with references."""

    document: Mapping[str, Any]

    def follow(self, value: Any, pointer: str) -> DocumentNode:
        """What a reference means, with what stands beside it; the value itself where it is none."""
        seen: list[str] = []
        beside: list[Mapping[str, Any]] = []
        # A property may be called `$ref`; what it leads to is an object then.
        while isinstance(value, dict) and isinstance(value.get("$ref"), str):
            target = value["$ref"]
            if not target.startswith("#"):
                where = f"refers to another document, {target!r}; bundle the description into one file first"
                raise ScaffoldError(f"{pointer or '/'} {where}")
            if target in seen:
                raise ScaffoldError(f"{pointer or '/'} refers to itself, by {target}")
            seen.append(target)
            beside.append({key: one for key, one in value.items() if key != "$ref"})
            found = self._find(unquote(target[1:]))
            if found is None:
                raise ScaffoldError(f"{pointer or '/'} refers to {target}, which is not there")
            value, pointer = found.value, found.pointer
        for more in reversed(beside) if isinstance(value, dict) else ():
            value = _merge(value, more)
        return DocumentNode(value, pointer)

    def _find(self, pointer: str) -> DocumentNode | None:
        value: Any = self.document
        if not pointer.startswith("/"):
            return next(_find_anchor(value, pointer, ""), None) if pointer else DocumentNode(value, "")
        for part in pointer.split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and name in value:
                value = value[name]
            elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
                value = value[int(name)]
            else:
                return None
        return DocumentNode(value, pointer)

    def get(self, node: DocumentNode, name: str, kind: type) -> DocumentNode | None:
        """What an object has under a name, which has to be of a kind; None where there is nothing."""
        if not isinstance(node.value, dict):
            raise ScaffoldError(f"{node.pointer or '/'} is no object, as it has to be")
        if node.value.get(name) is None:
            return None
        found = self.follow(node.value[name], f"{node.pointer}/{escape(name)}")
        if not isinstance(found.value, kind):
            wanted = {"dict": "an object", "list": "a list"}.get(kind.__name__, "a text")
            raise ScaffoldError(f"{found.pointer} is {_shown(found.value)}; {wanted} belongs there")
        return found

    def items(self, node: DocumentNode | None) -> Iterator[DocumentNode]:
        """The items of a list, each followed; they have to be objects."""
        for at, one in enumerate(node.value if node else ()):
            assert node is not None
            found = self.follow(one, f"{node.pointer}/{at}")
            if not isinstance(found.value, dict):
                raise ScaffoldError(f"{found.pointer} is {_shown(found.value)}; an object belongs there")
            yield found


def _merge(value: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """An object with more keys: those of it hold, and what both have of lists and of properties is added."""
    merged = dict(value)
    for key, one in more.items():
        before = merged.get(key)
        if key == "properties" and isinstance(before, dict) and isinstance(one, dict):
            merged[key] = {**before, **one}
        elif key in {"required", "allOf", "parameters"} and isinstance(before, list) and isinstance(one, list):
            merged[key] = [*before, *one]
        else:
            merged[key] = one
    return merged


def _find_anchor(value: Any, name: str, pointer: str) -> Iterator[DocumentNode]:
    """The schema that calls itself by a name (`$anchor`, JSON Schema 2020-12)."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if isinstance(value, dict) and value.get("$anchor") == name:
        yield DocumentNode(value, pointer)
    for key, one in inner:
        yield from _find_anchor(one, name, f"{pointer}/{escape(str(key))}")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:39]}…"


def load_description(data: bytes) -> Mapping[str, Any]:
    """The document of a description in JSON or YAML; a ScaffoldError says why it cannot be read."""
    document = parse_document(data)
    if not isinstance(document, dict):
        raise ScaffoldError("the description is no object; one of OpenAPI begins with `openapi: 3.1.0`")
    if "swagger" in document:
        return document
    version = str(document.get("openapi", ""))
    if not version.startswith(("3.0", "3.1", "3.2")):
        said = f"says version {version!r}" if version else "has no `openapi`"
        raise ScaffoldError(f"the description {said}; OpenAPI 3.0, 3.1 and 3.2 are read, and Swagger 2.0")
    return document


def find_operation(description: Description, wanted: str) -> tuple[str, str, DocumentNode, DocumentNode]:
    """The method and the path of an operation, by its id or as `GET /path`, with the item of its path."""
    paths = description.get(DocumentNode(description.document, ""), "paths", dict)
    if paths is None:
        raise ScaffoldError("/paths is not there; a description without paths has no operations")
    if not any(str(path).startswith("/") for path in paths.value):
        raise ScaffoldError("/paths is empty; a description without paths has no operations")
    named: dict[str, tuple[str, str, DocumentNode, DocumentNode]] = {}
    for path in paths.value:
        if not str(path).startswith("/"):
            continue  # an extension
        item = description.get(paths, path, dict)
        for verb in (*METHODS, "put", "delete", "patch") if item else ():
            asked = description.get(item, verb, dict) if item else None
            if item is None or asked is None:
                continue
            found = (verb, path, item, asked)
            named[f"{verb.upper()} {path}"] = found
            if isinstance(asked.value.get("operationId"), str):
                named[asked.value["operationId"]] = found
    if wanted not in named:
        offered = [one for one in named if named[one][0] in METHODS and " /" not in one] or list(named)
        rest = len(offered) - _MOST_NAMED
        shown = ", ".join(offered[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
        hint = did_you_mean(wanted, list(named)) if wanted else ""
        start = f"the description has no operation {wanted!r}" if wanted else "say which operation: --operation ID"
        raise ScaffoldError(f"{start}; {hint or f'there are {shown}'}")
    found = named[wanted]
    if found[0] not in METHODS:
        raise ScaffoldError(f"{found[3].pointer} is {found[0].upper()}; a provider asks with GET or POST")
    return found


def find_base(description: Description, nodes: Sequence[DocumentNode], request: DraftRequest) -> str:
    """The first address of the servers next to the operation, with the defaults of its variables."""
    for node in nodes:
        servers = list(description.items(description.get(node, "servers", list)))
        bases = [_fill(description, one) for one in servers]
        whole = [one for one in bases if one.startswith(("https://", "http://"))]
        if not bases:
            continue
        if not whole:
            raise ScaffoldError(f"{servers[0].pointer}/url is {bases[0]!r}, without a host; say it with --base URL")
        best = next((one for one in whole if one.startswith("https://")), whole[0])
        others = [one for one in whole if one != best]
        if best.startswith("http://"):
            request.doubts["base"] = "whether it answers by https; the description says http"
            best = f"https://{best.removeprefix('http://')}"
        elif others:
            request.doubts["base"] = f"which server; there is also {' and '.join(others[:3])}"
        elif open_holes := list(_open_holes(description, servers[bases.index(best)])):
            request.doubts["base"] = f"which server; {' and '.join(open_holes[:3])}"
        base = best.rstrip("/")
        check_base(base)
        return base
    raise ScaffoldError("/servers is not there, so the host is not known; say it with --base URL")


def _open_holes(description: Description, server: DocumentNode) -> Iterator[str]:
    """What else could stand for each variable of a server's address, in words."""
    variables = description.get(server, "variables", dict)
    for name in re.findall(r"\{([^{}]*)\}", server.value["url"]):
        variable = description.get(variables, name, dict) if variables else None
        default, words = (variable.value.get(key) for key in ("default", "enum")) if variable else (None, None)
        others = [str(one) for one in words if one != default] if isinstance(words, list) else None
        if others is None:
            yield f"{default} stands for {{{name}}}"
        elif others:
            yield f"{default} stands for {{{name}}}, and so may {', '.join(others[:8])}"


def _fill(description: Description, server: DocumentNode) -> str:
    url = description.get(server, "url", str)
    if url is None:
        raise ScaffoldError(f"{server.pointer} has no url")
    variables = description.get(server, "variables", dict)

    def value_of(hole: re.Match[str]) -> str:
        variable = description.get(variables, hole[1], dict) if variables else None
        if variable is None or "default" not in variable.value:
            where = f"{server.pointer}/variables/{escape(hole[1])}"
            raise ScaffoldError(f"{where} has no default, which fills {hole[0]}; say the address with --base URL")
        return str(variable.value["default"])

    text: str = url.value
    filled = re.sub(r"\{([^{}]*)\}", value_of, text)
    scheme, mark, rest = filled.partition("//")
    return f"{scheme.lower() or 'https:'}//{rest}" if mark and scheme.lower() in {"", "http:", "https:"} else filled
