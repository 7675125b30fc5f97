"""A description of Swagger 2.0 in the shape of OpenAPI 3, and which place of the original each new place is.

Only what has another form is rewritten; the rest stays where it is, and so do references to it. What is broken is left
as it is, so that only what is read of it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from specloom.core import dataclass, field

from ..common import ScaffoldError
from .description import METHODS, Description, DocumentNode
from .document import escape

_OF_SCHEMA = (
    "type", "format", "items", "default", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "multipleOf",
)  # fmt: skip
_STYLES = {"ssv": "spaceDelimited", "tsv": "tabDelimited", "pipes": "pipeDelimited"}
_FORM, _PARTS, _JSON = "application/x-www-form-urlencoded", "multipart/form-data", "application/json"
_FLOWS = {"application": "clientCredentials", "accessCode": "authorizationCode"}


@dataclass(slots=True)
class SwaggerTranslation:
    """The translated document, and the pointers of the original by those that it has instead."""

    document: dict[str, Any]
    places: dict[str, str] = field(default_factory=dict)

    def restore(self, message: str) -> str:
        """A sentence with the places of the original."""
        for new in sorted((one for one in self.places if one in message), key=len, reverse=True):
            before, found, after = message.partition(new)
            if found and (not after or after[0] in "/ ,;:"):
                return f"{before}{self.places[new]}{self.restore(after)}"
        return message


def translate_swagger(document: Mapping[str, Any]) -> SwaggerTranslation:
    """The description in the shape of OpenAPI 3; a ScaffoldError refuses another version than 2.0."""
    version = str(document["swagger"])
    if version != "2.0":
        raise ScaffoldError(f"the description is of Swagger {version}; Swagger 2.0 and OpenAPI 3 are read")
    return _Translator(Description(document)).translate()


@dataclass(slots=True)
class _Translator:
    original: Description
    places: dict[str, str] = field(default_factory=dict)

    def translate(self) -> SwaggerTranslation:
        root = self.original.document
        made = {key: one for key, one in root.items() if key not in {"swagger", "servers", "components"}}
        self.places["/servers"] = "/host"
        self.places["/components/securitySchemes"] = "/securityDefinitions"
        if servers := self._servers(root.get("schemes")):
            made["servers"] = servers
        schemes = root.get("securityDefinitions")
        if isinstance(schemes, dict):
            schemes = {name: _to_scheme(one) for name, one in schemes.items()}
        made["components"] = {"securitySchemes": schemes}
        if isinstance(root.get("parameters"), dict):
            made["parameters"] = {
                name: self._parameter(DocumentNode(one, f"/parameters/{escape(str(name))}"))
                for name, one in root["parameters"].items()
            }
        if isinstance(root.get("paths"), dict):
            made["paths"] = {
                path: self._path(one, f"/paths/{escape(str(path))}") if str(path).startswith("/") else one
                for path, one in root["paths"].items()
            }
        return SwaggerTranslation({"openapi": "3.0.3", **made}, self.places)

    def _follow(self, value: Any, pointer: str) -> DocumentNode:
        """What a reference leads to; the reference itself where it is broken."""
        try:
            return self.original.follow(value, pointer)
        except ScaffoldError:
            return DocumentNode(value, pointer)

    def _servers(self, schemes: Any) -> list[dict[str, str]]:
        root = self.original.document
        host, base = (root.get(key) if isinstance(root.get(key), str) else "" for key in ("host", "basePath"))
        if not host:
            return []
        own = schemes if isinstance(schemes, list) else ["https"]
        scheme = "http" if "https" not in own and "http" in own else "https"
        host = re.sub(r"^https?://", "", host).rstrip("/")
        return [{"url": f"{scheme}://{host}/{str(base).strip('/')}".rstrip("/")}]

    def _path(self, value: Any, pointer: str) -> Any:
        item = self._follow(value, pointer)
        if not isinstance(item.value, dict) or "$ref" in item.value:
            return value
        if item.pointer != pointer:
            self.places[pointer] = item.pointer
        shared = item.value.get("parameters")
        made = {**item.value, "parameters": self._parameters(shared, f"{item.pointer}/parameters", pointer)}
        if shared is None:
            del made["parameters"]
        sent = list(self._sent(shared, f"{item.pointer}/parameters"))
        for verb in METHODS:
            if isinstance(item.value.get(verb), dict):
                made[verb] = self._operation(item.value[verb], f"{item.pointer}/{verb}", f"{pointer}/{verb}", sent)
        return made

    def _operation(self, asked: dict[str, Any], pointer: str, new: str, shared: list[DocumentNode]) -> dict[str, Any]:
        made = {key: one for key, one in asked.items() if key not in {"requestBody", "servers"}}
        listed = asked.get("parameters")
        if listed is not None:
            made["parameters"] = self._parameters(listed, f"{pointer}/parameters", new)
        if asked.get("schemes") and (servers := self._servers(asked["schemes"])):
            made["servers"] = servers
            self.places[f"{new}/servers"] = f"{pointer}/schemes"
        own = list(self._sent(listed, f"{pointer}/parameters"))
        names = {one.value.get("name") for one in own}
        if not any(one.value["in"] == "body" for one in own):
            own += [one for one in shared if one.value.get("name") not in names]
        if own:
            made["requestBody"] = self._body(own, asked, pointer, new)
        if isinstance(asked.get("responses"), dict):
            made["responses"] = {
                status: self._response(one, asked, f"{pointer}/responses/{escape(str(status))}", new, str(status))
                for status, one in asked["responses"].items()
            }
        return made

    # --- Parameters ---------------------------------------------------------------------------------------------------

    def _parameters(self, listed: Any, pointer: str, new: str) -> Any:
        """The parameters of the address and of headers; what is sent in the body is none of OpenAPI 3."""
        if not isinstance(listed, list):
            return listed
        made: list[Any] = []
        for at, one in enumerate(listed):
            node = self._follow(one, f"{pointer}/{at}")
            if isinstance(node.value, dict) and node.value.get("in") in {"body", "formData"}:
                continue
            place = f"{new}/parameters/{len(made)}"
            if place != f"{pointer}/{at}":
                self.places[place] = f"{pointer}/{at}"
            is_reference = isinstance(one, dict) and "$ref" in one
            made.append(one if is_reference else self._parameter(DocumentNode(one, f"{pointer}/{at}"), place))
        return made

    def _parameter(self, node: DocumentNode, new: str = "") -> Any:
        """A parameter with its type under `schema`, and with the style of a list."""
        value = node.value
        if not isinstance(value, dict) or "$ref" in value or value.get("in") in {"body", "formData"}:
            return value
        self.places[f"{new or node.pointer}/schema"] = node.pointer
        rest = {key: one for key, one in value.items() if key not in _OF_SCHEMA}
        return {**rest, **_style(value), "schema": _schema(value)}

    def _sent(self, listed: Any, pointer: str) -> Iterator[DocumentNode]:
        """What is sent in the body of a request."""
        for at, one in enumerate(listed if isinstance(listed, list) else ()):
            node = self._follow(one, f"{pointer}/{at}")
            if isinstance(node.value, dict) and node.value.get("in") in {"body", "formData"}:
                yield node

    def _body(self, sent: list[DocumentNode], asked: Mapping[str, Any], pointer: str, new: str) -> dict[str, Any]:
        body = next((one for one in sent if one.value["in"] == "body"), None)
        root = self.original.document
        consumes = asked.get("consumes") or root.get("consumes")
        media = [str(one) for one in consumes] if isinstance(consumes, list) else []
        place = f"{new}/requestBody"
        where = f"{pointer}/consumes" if asked.get("consumes") else "/consumes"
        self.places[place] = pointer
        self.places[f"{place}/content"] = where if media else pointer
        if body is not None:
            kinds = [_JSON if one == "*/*" else one for one in media] or [_JSON]
            typed = {"schema": body.value["schema"]} if "schema" in body.value else {}
            for kind in kinds:
                self.places[f"{place}/content/{escape(kind)}"] = body.pointer
            return {"content": dict.fromkeys(kinds, typed)}
        has_file = any(one.value.get("type") == "file" for one in sent)
        only_parts = _PARTS in media and _FORM not in media
        kind = _PARTS if has_file or only_parts else _FORM
        if has_file:
            self.places[f"{place}/content"] = next(one.pointer for one in sent if one.value.get("type") == "file")
        at = f"{place}/content/{escape(kind)}"
        self.places[at] = f"{pointer}/parameters"
        properties = {}
        for one in sent:
            name = str(one.value.get("name"))
            self.places[f"{at}/schema/properties/{escape(name)}"] = one.pointer
            told = {"description": one.value["description"]} if "description" in one.value else {}
            properties[name] = {**_schema(one.value), **_style(one.value), **told}
        needed = [name for name, one in zip(properties, sent, strict=False) if one.value.get("required") is True]
        return {"content": {kind: {"schema": {"type": "object", "properties": properties, "required": needed}}}}

    # --- Responses ----------------------------------------------------------------------------------------------------

    def _response(self, value: Any, asked: Mapping[str, Any], pointer: str, operation: str, status: str) -> Any:
        node = self._follow(value, pointer)
        if not isinstance(node.value, dict) or "$ref" in node.value:
            return value
        new = f"{operation}/responses/{escape(status)}"
        if new != node.pointer:
            self.places[new] = node.pointer
        produces = asked.get("produces") or self.original.document.get("produces")
        media = [str(one) for one in produces] if isinstance(produces, list) else []
        kinds = [_JSON if one == "*/*" else one for one in media] or [_JSON]
        examples = node.value.get("examples")
        examples = examples if isinstance(examples, dict) else {}
        content: dict[str, Any] = {}
        for kind in dict.fromkeys([*kinds, *(str(one) for one in examples)]):
            typed = {"schema": node.value["schema"]} if "schema" in node.value else {}
            if kind in examples:
                typed["example"] = examples[kind]
            self.places[f"{new}/content/{escape(kind)}"] = node.pointer
            content[kind] = typed
        return {**node.value, "content": content}


def _schema(value: Mapping[str, Any]) -> dict[str, Any]:
    """The schema that a parameter of Swagger 2.0 is itself."""
    schema = {key: value[key] for key in _OF_SCHEMA if key in value}
    if "x-example" in value:
        schema["example"] = value["x-example"]
    return schema


def _style(value: Mapping[str, Any]) -> dict[str, Any]:
    """How the items of a list are written; commas part them where nothing is said."""
    if value.get("type") != "array":
        return {}
    form = value.get("collectionFormat", "csv")
    return {"style": _STYLES.get(form, "form"), "explode": form == "multi"}


def _to_scheme(scheme: Any) -> Any:
    """A way in, in the words of OpenAPI 3."""
    if not isinstance(scheme, dict):
        return scheme
    if scheme.get("type") == "basic":
        return {**scheme, "type": "http", "scheme": "basic"}
    if scheme.get("type") == "oauth2":
        flow = str(scheme.get("flow", ""))
        urls = {key: scheme[key] for key in ("authorizationUrl", "tokenUrl") if key in scheme}
        return {"type": "oauth2", "flows": {_FLOWS.get(flow, flow): urls}}
    return scheme
