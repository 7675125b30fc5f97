"""What is sent for an operation of a description: parameters, a body, and a key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from specloom.model import Capability

from ..common import ScaffoldError
from ..request import DraftRequest, guess, plain_name, to_literal
from ..words import WORDS, words_of
from .description import Description, DocumentNode
from .document import escape
from .schema import bounds_of, enum_of, example_of, make_value, properties_of, read_schema, schema_of, type_of

_PAGING = {kind: frozenset(WORDS[kind].split()) for kind in ("page", "offset", "cursor")}


def read_parameters(
    description: Description, name: str, contract: Capability, nodes: Sequence[DocumentNode], request: DraftRequest
) -> None:
    """Parameters of the path's item and of the operation; the latter's replace those of one name and place."""
    found: dict[tuple[str, str], DocumentNode] = {}
    for node in nodes:
        for parameter in description.items(description.get(node, "parameters", list)):
            names = [description.get(parameter, key, str) for key in ("in", "name")]
            if names[0] is None or names[1] is None:
                raise ScaffoldError(f"{parameter.pointer} lacks `{'in' if names[0] is None else 'name'}`")
            found[names[0].value, names[1].value] = parameter
    for (place, key), parameter in found.items():
        if parameter.value.get("deprecated") is True and parameter.value.get("required") is not True:
            continue
        schema = schema_of(description, parameter)
        if place == "path":
            _fill_hole(description, contract, key, parameter, schema, request)
        elif place in {"query", "header"}:
            _read_parameter(description, name, contract, place, key, parameter, schema, request)
        elif parameter.value.get("required") is True:
            request.doubts[""] = f"the API wants a cookie, {key}, which a provider cannot send"
    holes = re.findall(r"\{([^{}]+)\}", re.sub(r"\{args\.[a-z0-9_]+\}", "", request.path))
    if holes:
        raise ScaffoldError(f"{nodes[0].pointer} has {{{holes[0]}}} in its path, and no parameter of that name")


def _fill_hole(
    description: Description,
    contract: Capability,
    key: str,
    parameter: DocumentNode,
    schema: DocumentNode,
    request: DraftRequest,
) -> None:
    """Put an argument into a hole of the path, or what the description has as an example of it."""
    argument = next((one for one in contract.arguments if words_of(one) == words_of(key)), None)
    if argument is None:
        value = example_of(description, parameter, schema)
        argument = next(iter(contract.arguments)) if value is None else None
        request.doubts["/"] = f"what stands for {{{key}}} in the path"
        if argument is None:
            from urllib.parse import quote

            request.path = request.path.replace(f"{{{key}}}", quote(str(value), safe=""))
            return
    request.use(argument, contract.arguments)
    request.path = request.path.replace(f"{{{key}}}", f"{{args.{argument}}}")


def _read_parameter(
    description: Description,
    name: str,
    contract: Capability,
    place: str,
    key: str,
    parameter: DocumentNode,
    schema: DocumentNode,
    request: DraftRequest,
) -> None:
    required = parameter.value.get("required") is True
    kind = type_of(schema.value)
    sample = example_of(description, parameter, schema)
    shaped = sample if sample is not None else {"integer": 10, "number": 10}.get(kind, "otters")
    is_scalar = kind in {"string", "integer", "number", "boolean", ""}
    before = dict(request.args)
    value, sent = guess(request, name, contract, key, str(shaped) if is_scalar and kind != "boolean" else shaped)
    is_argument = isinstance(value, str) and value.startswith("=args.")
    is_key = isinstance(value, str) and value.startswith("=config.")
    word = plain_name(key)
    paging = next((kind for kind, names in _PAGING.items() if word in names), "")
    if paging and not is_argument:
        request.args = before
        request.paging(paging, key)
        return
    if is_argument:
        value, sent = _shape_argument(contract, value, sent, key, parameter, schema, request)
    elif not is_key:
        if not required:
            request.others.append(f"not sent: {key}, {_told(schema.value, kind)}{_about(parameter)}")
            return
        value, sent = to_literal(shaped), shaped
        if sample is None or len(enum_of(schema.value)) > 1:
            request.doubts[key] = f"a value of it, {_told(schema.value, kind)}; the API needs one"
    if is_key and not required:
        for setting in request.config.values():
            setting["required"] = False
    target, seen = (request.query, request.sent_query) if place == "query" else (request.headers, request.sent_headers)
    target[key], seen[key] = value, sent


def _shape_argument(
    contract: Capability,
    value: str,
    sent: Any,
    key: str,
    parameter: DocumentNode,
    schema: DocumentNode,
    request: DraftRequest,
) -> tuple[Any, Any]:
    """An argument as the parameter wants it: within its bounds, in its words, its items joined."""
    argument = contract.arguments[value.removeprefix("=args.")]
    enum, kind = [str(one) for one in enum_of(schema.value)], type_of(schema.value)
    if argument.kind in {"integer", "number"} and not enum:
        low, high = bounds_of(schema.value, kind)
        if high is not None:
            # The example asks for the most there is, so that it shows the bound.
            request.args[argument.name] = high
            return f"=clamp(args.{argument.name}, `{low}`, `{high}`)", high
        return value, sent
    words = [str(one) for one in getattr(argument.shape, "values", None) or ()]
    if enum and words:
        request.doubts.pop(key, None)
        if set(words) <= set(enum):
            return value, sent
        table = {word: word if word in enum else enum[0] for word in words}
        request.tables[argument.name] = table
        request.doubts[key] = f"the words of the table {argument.name}; the API takes {', '.join(enum[:8])}"
        return f"=lookup('{argument.name}', args.{argument.name})", table[str(sent)]
    if enum:
        request.doubts[key] = f"how args.{argument.name} is said; the API takes {', '.join(enum[:8])}"
        return value, sent
    style, explode = parameter.value.get("style", "form"), parameter.value.get("explode")
    marks = {"form": ",", "spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
    if argument.kind == "list" and (kind != "array" or explode is False or style != "form"):
        mark = marks.get(style, ",")
        request.doubts.pop(key, None)
        if kind != "array":
            request.doubts[key] = f"how several are written; the description has {kind or 'no type'}"
        joined = mark.join(str(one) for one in sent) if isinstance(sent, list) else sent
        return f"=args.{argument.name} && join('{mark}', args.{argument.name})", joined
    if argument.kind == "list":
        request.doubts.pop(key, None)
    return value, sent


def _told(schema: Mapping[str, Any], kind: str) -> str:
    enum = enum_of(schema)
    return f"one of {', '.join(str(one) for one in enum[:8])}" if enum else kind or "of any type"


def _about(parameter: DocumentNode) -> str:
    text = parameter.value.get("description")
    first = re.split(r"(?<=[.!?])\s", " ".join(text.split()), maxsplit=1)[0] if isinstance(text, str) else ""
    return f": {first}" if first else ""


def read_body(
    description: Description, name: str, contract: Capability, asked: DocumentNode, request: DraftRequest
) -> None:
    """Put into the request what an argument is for and what the API needs of the properties of the body."""
    body = description.get(asked, "requestBody", dict)
    content = description.get(body, "content", dict) if body else None
    if content is None:
        request.body_kind, request.body, request.sent_body = "json", {}, {}
        request.doubts[""] = "what the body is, which the description does not say"
        return
    kinds = {"application/json": "json", "application/x-www-form-urlencoded": "form"}
    media = next((one for one in content.value if one.partition(";")[0] in kinds), None)
    if media is None:
        raise ScaffoldError(f"{content.pointer} has no JSON and no form; a provider sends one of these")
    typed = description.get(content, media, dict)
    schema = read_schema(description, typed, "schema") if typed else None
    request.body_kind = kinds[media.partition(";")[0]]
    request.body, request.sent_body = {}, {}
    if schema is None or typed is None:
        request.doubts[""] = "what the body is, which the description does not say"
        return
    properties, needed = properties_of(description, schema)
    for key, property_ in properties.items():
        sample = example_of(description, property_, property_)
        value = sample if sample is not None else make_value(description, property_, key)
        counted, before = dict(request.config), dict(request.args)
        spec, sent = guess(request, name, contract, key, value)
        is_ours = isinstance(spec, str) and spec.startswith(("=args.", "=config."))
        paging = next((kind for kind, names in _PAGING.items() if plain_name(key) in names), "")
        if paging and not is_ours and key not in needed:
            request.config, request.args = counted, before
            request.paging(paging, key, in_body=True)
            continue
        if is_ours and spec.startswith("=args."):
            spec, sent = _shape_argument(contract, spec, sent, key, property_, property_, request)
        if not is_ours and key not in needed:
            request.config, request.args = counted, before
            kind = type_of(property_.value)
            request.others.append(f"not sent in the body: {key}, {_told(property_.value, kind)}{_about(property_)}")
            continue
        if not is_ours and (sample is None or len(enum_of(property_.value)) > 1):
            request.doubts[""] = f"the body's {key}, which the API needs; the value is a guess"
        request.body[key], request.sent_body[key] = spec, sent


def read_security(description: Description, name: str, asked: DocumentNode, request: DraftRequest) -> None:
    """The key of the first way in that a server can go by itself."""
    root = DocumentNode(description.document, "")
    security = description.get(asked, "security", list) or description.get(root, "security", list)
    if security is None or not security.value:
        return
    ways = [one.value for one in description.items(security)]
    optional = {} in ways
    components = description.get(root, "components", dict)
    schemes = description.get(components, "securitySchemes", dict) if components else None
    refused: list[str] = []
    for way in ways:
        found: list[tuple[str, DocumentNode]] = []
        for scheme_name in way:
            scheme = description.get(schemes, scheme_name, dict) if schemes else None
            if scheme is None:
                where = f"/components/securitySchemes/{escape(scheme_name)}"
                raise ScaffoldError(f"{security.pointer} names {scheme_name!r}, and {where} is not there")
            found.append((scheme_name, scheme))
        why = next((why for _, scheme in found if (why := _refusal(scheme.value))), "")
        if why:
            refused.append(why)
            continue
        for at, (_, scheme) in enumerate(found):
            _add_scheme(name if at == 0 else f"{name}_{at + 1}", scheme.value, request)
        break
    else:
        if refused:
            request.doubts["base"] = f"how it knows its callers: {refused[0]}"
    if optional:
        for setting in request.config.values():
            setting["required"] = False


def _refusal(scheme: Mapping[str, Any]) -> str:
    """Why a server cannot go in by this scheme; nothing where it can."""
    kind = scheme.get("type")
    if kind == "apiKey":
        return "" if scheme.get("in") in {"header", "query"} else "a cookie is not sent by a provider"
    if kind == "http":
        word = str(scheme.get("scheme", "")).lower()
        return "" if word in {"bearer", "basic"} else f"HTTP {word or 'authentication'} is not in the language"
    if kind == "oauth2":
        return "" if "clientCredentials" in (scheme.get("flows") or {}) else "OAuth 2.0 there wants a person"
    return f"{kind} wants a person or a certificate"


def _add_scheme(name: str, scheme: Mapping[str, Any], request: DraftRequest) -> None:
    kind, word = scheme.get("type"), str(scheme.get("scheme", "")).lower()
    if kind == "oauth2":
        url = str((scheme["flows"]["clientCredentials"] or {}).get("tokenUrl", ""))
        prefix = name.upper()
        request.config[f"{prefix}_ID"] = {"required": True, "description": "The id of the client."}
        request.config[f"{prefix}_SECRET"] = {"secret": True, "required": True, "description": "Its secret."}
        credentials = {"url": url, "id": f"config.{prefix}_ID", "secret": f"config.{prefix}_SECRET"}
        request.auth = {"client_credentials": credentials}
        return
    value = request.add_key(name)
    if kind == "http":
        request.auth = {word: value.removeprefix("=")}
        if word == "basic":
            setting = value.removeprefix("=config.")
            request.config[setting]["description"] = "The name and the password, as name:password."
            request.sent_headers["Authorization"] = "Basic azprZXk="
            request.values[setting] = "k:key"
        else:
            request.sent_headers["Authorization"] = "Bearer k"
        return
    key = str(scheme.get("name", ""))
    target, seen = (
        (request.query, request.sent_query) if scheme.get("in") == "query" else (request.headers, request.sent_headers)
    )
    target[key], seen[key] = value, "k"
    request.doubts.pop(key, None)
