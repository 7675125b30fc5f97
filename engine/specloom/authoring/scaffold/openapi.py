"""The start of a provider from an operation of an OpenAPI description (3.0 or 3.1): its request, key, paging and reply.

A description says what may be sent and what comes back, not what a caller asks and which fields matter: what it leaves
open is marked `decide`, as with a sample. References within the document are resolved; a place is a JSON pointer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specloom.core import dataclass, did_you_mean
from specloom.model import Capability, Model

from .common import ScaffoldError, check_name, find_capability
from .provider import check_base, write_provider
from .request import DraftRequest, check_use, guess, plain_name, to_literal
from .sample import WORDS, words_of

METHODS = ("get", "post")
_DEEPEST = 8
"""Levels of a schema of which a reply is made up."""
_MOST_NAMED = 12
_PAGING = {kind: frozenset(WORDS[kind].split()) for kind in ("page", "offset", "cursor")}


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of the document that references lead to, and the pointer to it."""

    value: Any
    pointer: str


@dataclass(frozen=True, slots=True)
class _Description:
    """A document with references."""

    document: Mapping[str, Any]

    def follow(self, value: Any, pointer: str) -> _Node:
        """What a reference means, or the value itself; one that leads nowhere or round is refused."""
        seen: list[str] = []
        while isinstance(value, dict) and "$ref" in value:
            target = value["$ref"]
            if not isinstance(target, str) or not target.startswith("#"):
                where = f"refers to another document, {target!r}; bundle the description into one file first"
                raise ScaffoldError(f"{pointer or '/'} {where}")
            if target in seen:
                raise ScaffoldError(f"{pointer or '/'} refers to itself, by {target}")
            seen.append(target)
            found = self._find(target[1:])
            if found is None:
                raise ScaffoldError(f"{pointer or '/'} refers to {target}, which is not there")
            value, pointer = found.value, found.pointer
        return _Node(value, pointer)

    def _find(self, pointer: str) -> _Node | None:
        value: Any = self.document
        for part in pointer.split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~").replace("%7B", "{").replace("%7D", "}")
            if isinstance(value, dict) and name in value:
                value = value[name]
            elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
                value = value[int(name)]
            else:
                return None
        return _Node(value, pointer)

    def get(self, node: _Node, name: str, kind: type) -> _Node | None:
        """What an object has under a name, which has to be of a kind; None where there is nothing."""
        if not isinstance(node.value, dict):
            raise ScaffoldError(f"{node.pointer or '/'} is no object, as it has to be")
        if node.value.get(name) is None:
            return None
        found = self.follow(node.value[name], f"{node.pointer}/{_escape(name)}")
        if not isinstance(found.value, kind):
            wanted = {"dict": "an object", "list": "a list"}.get(kind.__name__, "a text")
            raise ScaffoldError(f"{found.pointer} is {_shown(found.value)}; {wanted} belongs there")
        return found

    def items(self, node: _Node | None) -> Iterator[_Node]:
        """The items of a list, each followed; they have to be objects."""
        for at, one in enumerate(node.value if node else ()):
            assert node is not None
            found = self.follow(one, f"{node.pointer}/{at}")
            if not isinstance(found.value, dict):
                raise ScaffoldError(f"{found.pointer} is {_shown(found.value)}; an object belongs there")
            yield found


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:39]}…"


def draft_from_openapi(
    model: Model, name: str, capability: str | None, data: bytes, operation: str, base: str = ""
) -> str:
    """The text of a provider that asks one operation; a ScaffoldError says what is wrong in the description, where."""
    check_name("provider", name, model.providers)
    contract = find_capability(model, capability)
    check_base(base)
    description = _Description(_load(data))
    verb, path, item, asked = _find_operation(description, operation)
    request = DraftRequest(base.rstrip("/"), path)
    if not base:
        request.base = _find_base(description, [asked, item, _Node(description.document, "")], request)
    host = re.match(r"https://[^/]+", request.base)
    assert host is not None
    request.base, request.path = host[0], f"{request.base[host.end() :]}{path}"
    _read_parameters(description, name, contract, [item, asked], request)
    if verb == "post":
        _read_body(description, name, contract, asked, request)
    _read_security(description, name, asked, request)
    check_use(request, contract, is_given=True)
    order = list(contract.arguments)
    request.args = dict(sorted(request.args.items(), key=lambda pair: order.index(pair[0])))
    reply = _find_reply(description, asked, request)
    page = description.get(_Node(description.document, ""), "externalDocs", dict)
    homepage = str(page.value.get("url", "")) if page else ""
    return write_provider(
        model, name, contract, reply, request, homepage if homepage.startswith(("http://", "https://")) else ""
    )


def _load(data: bytes) -> Mapping[str, Any]:
    import yaml

    text = data.decode("utf-8-sig", "replace")
    try:
        if text.lstrip().startswith("{"):
            document = json.loads(text)
        else:
            document = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    except yaml.MarkedYAMLError as error:
        line = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
        raise ScaffoldError(f"the description is neither JSON nor YAML{line}: {error.problem}") from None
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise ScaffoldError(f"the description is neither JSON nor YAML: {' '.join(str(error).split())}") from None
    if not isinstance(document, dict):
        raise ScaffoldError("the description is no object; one of OpenAPI begins with `openapi: 3.1.0`")
    if "swagger" in document:
        raise ScaffoldError("this is a description of Swagger 2, which is not read; convert it to OpenAPI 3 first")
    version = str(document.get("openapi", ""))
    if not version.startswith(("3.0", "3.1")):
        said = f"says version {version!r}" if version else "has no `openapi`"
        raise ScaffoldError(f"the description {said}; OpenAPI 3.0 and 3.1 are read")
    return document


def _find_operation(description: _Description, wanted: str) -> tuple[str, str, _Node, _Node]:
    """The method and the path of an operation, by its id or as `GET /path`, with the item of its path."""
    paths = description.get(_Node(description.document, ""), "paths", dict)
    if paths is None:
        raise ScaffoldError("/paths is not there; a description without paths has no operations")
    named: dict[str, tuple[str, str, _Node, _Node]] = {}
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


def _find_base(description: _Description, nodes: Sequence[_Node], request: DraftRequest) -> str:
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
        base = best.rstrip("/")
        check_base(base)
        return base
    raise ScaffoldError("/servers is not there, so the host is not known; say it with --base URL")


def _fill(description: _Description, server: _Node) -> str:
    url = description.get(server, "url", str)
    if url is None:
        raise ScaffoldError(f"{server.pointer} has no url")
    variables = description.get(server, "variables", dict)

    def value_of(hole: re.Match[str]) -> str:
        variable = description.get(variables, hole[1], dict) if variables else None
        if variable is None or "default" not in variable.value:
            raise ScaffoldError(f"{server.pointer}/variables/{_escape(hole[1])} has no default, which fills {hole[0]}")
        return str(variable.value["default"])

    text: str = url.value
    return re.sub(r"\{([^{}]*)\}", value_of, text)


# --- What is sent -----------------------------------------------------------------------------------------------------


def _read_parameters(
    description: _Description, name: str, contract: Capability, nodes: Sequence[_Node], request: DraftRequest
) -> None:
    """Parameters of the path's item and of the operation; the latter's replace those of one name and place."""
    found: dict[tuple[str, str], _Node] = {}
    for node in nodes:
        for parameter in description.items(description.get(node, "parameters", list)):
            names = [description.get(parameter, key, str) for key in ("in", "name")]
            if names[0] is None or names[1] is None:
                raise ScaffoldError(f"{parameter.pointer} lacks `{'in' if names[0] is None else 'name'}`")
            found[names[0].value, names[1].value] = parameter
    for (place, key), parameter in found.items():
        if parameter.value.get("deprecated") is True and parameter.value.get("required") is not True:
            continue
        schema = _schema_of(description, parameter)
        if place == "path":
            _fill_hole(description, contract, key, parameter, schema, request)
        elif place in {"query", "header"}:
            _read_parameter(description, name, contract, place, key, parameter, schema, request)
        elif parameter.value.get("required") is True:
            request.doubts[""] = f"the API wants a cookie, {key}, which a provider cannot send"
    holes = re.findall(r"\{([^{}]+)\}", re.sub(r"\{args\.[a-z0-9_]+\}", "", request.path))
    if holes:
        raise ScaffoldError(f"{nodes[0].pointer} has {{{holes[0]}}} in its path, and no parameter of that name")


def _schema_of(description: _Description, parameter: _Node) -> _Node:
    schema = description.get(parameter, "schema", dict)
    if schema is not None:
        return schema
    content = description.get(parameter, "content", dict)
    for media in content.value if content else ():
        assert content is not None
        inner = description.get(content, media, dict)
        found = description.get(inner, "schema", dict) if inner else None
        if found is not None:
            return found
    return _Node({}, parameter.pointer)


def _fill_hole(
    description: _Description,
    contract: Capability,
    key: str,
    parameter: _Node,
    schema: _Node,
    request: DraftRequest,
) -> None:
    """Put an argument into a hole of the path, or what the description has as an example of it."""
    argument = next((one for one in contract.arguments if words_of(one) == words_of(key)), None)
    if argument is None:
        value = _example_of(description, parameter, schema)
        argument = next(iter(contract.arguments)) if value is None else None
        request.doubts["/"] = f"what stands for {{{key}}} in the path"
        if argument is None:
            from urllib.parse import quote

            request.path = request.path.replace(f"{{{key}}}", quote(str(value), safe=""))
            return
    request.use(argument, contract.arguments)
    request.path = request.path.replace(f"{{{key}}}", f"{{args.{argument}}}")


def _read_parameter(
    description: _Description,
    name: str,
    contract: Capability,
    place: str,
    key: str,
    parameter: _Node,
    schema: _Node,
    request: DraftRequest,
) -> None:
    required = parameter.value.get("required") is True
    kind = _type_of(schema.value)
    sample = _example_of(description, parameter, schema)
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
        if sample is None or len(_enum(schema.value)) > 1:
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
    parameter: _Node,
    schema: _Node,
    request: DraftRequest,
) -> tuple[Any, Any]:
    """An argument as the parameter wants it: within its bounds, in its words, its items joined."""
    argument = contract.arguments[value.removeprefix("=args.")]
    enum, kind = [str(one) for one in _enum(schema.value)], _type_of(schema.value)
    if argument.kind in {"integer", "number"} and not enum:
        low, high = schema.value.get("minimum", 1), schema.value.get("maximum")
        if isinstance(high, (int, float)) and isinstance(low, (int, float)):
            within = min(max(sent, low), high)
            return f"=clamp(args.{argument.name}, `{low}`, `{high}`)", within
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
    marks = {"form": ",", "spaceDelimited": " ", "pipeDelimited": "|"}
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


def _enum(schema: Mapping[str, Any]) -> Sequence[Any]:
    for one in (schema, schema.get("items")):
        if isinstance(one, dict) and isinstance(one.get("enum"), list):
            return [value for value in one["enum"] if value is not None]
    return ()


def _type_of(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type", "")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "")
    return str(kind) or ("object" if "properties" in schema else "array" if "items" in schema else "")


def _told(schema: Mapping[str, Any], kind: str) -> str:
    enum = _enum(schema)
    return f"one of {', '.join(str(one) for one in enum[:8])}" if enum else kind or "of any type"


def _about(parameter: _Node) -> str:
    text = parameter.value.get("description")
    first = re.split(r"(?<=[.!?])\s", " ".join(text.split()), maxsplit=1)[0] if isinstance(text, str) else ""
    return f": {first}" if first else ""


def _example_of(description: _Description, node: _Node, schema: _Node) -> Any:
    """What the description has as an example of a value; None where there is none."""
    for one in (node.value, schema.value):
        for key in ("example", "default", "const"):
            if one.get(key) is not None:
                return one[key]
        examples = one.get("examples")
        if isinstance(examples, list) and examples:
            return examples[0]
        if isinstance(examples, dict):
            for name in examples:
                inner = description.get(_Node(examples, f"{node.pointer}/examples"), name, dict)
                if inner is not None and inner.value.get("value") is not None:
                    return inner.value["value"]
    enum = _enum(schema.value)
    return enum[0] if enum else None


def _read_body(description: _Description, name: str, contract: Capability, asked: _Node, request: DraftRequest) -> None:
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
    schema = description.get(typed, "schema", dict) if typed else None
    request.body_kind = kinds[media.partition(";")[0]]
    request.body, request.sent_body = {}, {}
    if schema is None or typed is None:
        request.doubts[""] = "what the body is, which the description does not say"
        return
    properties, needed = _properties(description, schema)
    for key, property_ in properties.items():
        sample = _example_of(description, property_, property_)
        value = sample if sample is not None else make_value(description, property_, key)
        counted, before = dict(request.config), dict(request.args)
        spec, sent = guess(request, name, contract, key, value)
        is_ours = isinstance(spec, str) and spec.startswith(("=args.", "=config."))
        if not is_ours and key not in needed:
            request.config, request.args = counted, before
            kind = _type_of(property_.value)
            request.others.append(f"not sent in the body: {key}, {_told(property_.value, kind)}{_about(property_)}")
            continue
        if not is_ours and (sample is None or len(_enum(property_.value)) > 1):
            request.doubts[""] = f"the body's {key}, which the API needs; the value is a guess"
        request.body[key], request.sent_body[key] = spec, sent


def _properties(description: _Description, schema: _Node, depth: int = 0) -> tuple[dict[str, _Node], set[str]]:
    """The properties of a schema and of those that it is made of, and the names of those that have to be there."""
    found: dict[str, _Node] = {}
    needed = {str(one) for one in schema.value.get("required") or () if isinstance(schema.value.get("required"), list)}
    for key in ("allOf", "oneOf", "anyOf"):
        several = list(description.items(description.get(schema, key, list))) if depth < _DEEPEST else []
        for inner in several if key == "allOf" else [one for one in several if _type_of(one.value) != "null"][:1]:
            more, also = _properties(description, inner, depth + 1)
            found |= more
            needed |= also
    own = description.get(schema, "properties", dict)
    for name in own.value if own else ():
        assert own is not None
        inner_node = description.follow(own.value[name], f"{own.pointer}/{_escape(str(name))}")
        if isinstance(inner_node.value, dict):
            found[str(name)] = inner_node
    return found, needed


def _read_security(description: _Description, name: str, asked: _Node, request: DraftRequest) -> None:
    """The key of the first way in that a server can go by itself."""
    root = _Node(description.document, "")
    security = description.get(asked, "security", list) or description.get(root, "security", list)
    if security is None or not security.value:
        return
    ways = [one.value for one in description.items(security)]
    optional = {} in ways
    components = description.get(root, "components", dict)
    schemes = description.get(components, "securitySchemes", dict) if components else None
    refused: list[str] = []
    for way in ways:
        found: list[tuple[str, _Node]] = []
        for scheme_name in way:
            scheme = description.get(schemes, scheme_name, dict) if schemes else None
            if scheme is None:
                where = f"/components/securitySchemes/{_escape(scheme_name)}"
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


# --- What comes back --------------------------------------------------------------------------------------------------


def _find_reply(description: _Description, asked: _Node, request: DraftRequest) -> bytes | None:
    """A reply as the description has it, or one that its schema allows; None where it says nothing."""
    responses = description.get(asked, "responses", dict)
    for status in responses.value if responses else ():
        if not re.fullmatch(r"2(?:\d\d|XX)|default", str(status)):
            continue
        assert responses is not None
        response = description.follow(responses.value[status], f"{responses.pointer}/{status}")
        content = description.get(response, "content", dict)
        for media in content.value if content else ():
            if not re.search(r"[/+]json\b", media):
                continue
            assert content is not None
            typed = description.get(content, media, dict)
            schema = description.get(typed, "schema", dict) if typed else None
            if typed is None:
                continue
            example = _example_of(description, typed, _Node({}, typed.pointer))
            if isinstance(example, str):
                try:
                    example = json.loads(example)
                except ValueError:
                    example = None
            if not isinstance(example, (dict, list)) and schema is not None:
                example = make_value(description, schema, "")
            if isinstance(example, (dict, list)):
                request.place_cursor(example)
                return json.dumps(example, default=str).encode()
    request.place_cursor(None)
    return None


_FORMATS = {
    "date-time": "2026-01-02T03:04:05Z",
    "date": "2026-01-02",
    "uri": "https://example.org/otters",
    "url": "https://example.org/otters",
    "email": "otter@example.org",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def make_value(description: _Description, schema: _Node, name: str, depth: int = 0) -> Any:
    """A value that a schema allows, with all of its properties; None where it leads back to itself."""
    value = schema.value
    for key in ("example", "const", "default"):
        if value.get(key) is not None:
            return value[key]
    if isinstance(value.get("examples"), list) and value["examples"]:
        return value["examples"][0]
    if isinstance(value.get("enum"), list) and value["enum"]:
        return value["enum"][0]
    kind = _type_of(value)
    if kind == "array" or (kind == "" and "items" in value):
        items = description.get(schema, "items", dict)
        made = make_value(description, items, name, depth + 1) if items and depth < _DEEPEST else None
        return [made] if made is not None else []
    properties, _ = _properties(description, schema)
    if properties or kind == "object":
        if depth >= _DEEPEST:
            return None
        made = {key: make_value(description, one, key, depth + 1) for key, one in properties.items()}
        more = value.get("additionalProperties")
        if not made and isinstance(more, dict):
            inner = description.follow(more, f"{schema.pointer}/additionalProperties")
            named = {f"a{number}": make_value(description, inner, name, depth + 1) for number in (1, 2)}
            return {key: one for key, one in named.items() if one is not None}
        return {key: one for key, one in made.items() if one is not None}
    for key in ("oneOf", "anyOf", "allOf"):
        for one in description.items(description.get(schema, key, list)):
            if _type_of(one.value) != "null" and depth < _DEEPEST:
                return make_value(description, one, name, depth + 1)
    return {"integer": 3, "number": 1.5, "boolean": True}.get(kind) or _made_text(name, str(value.get("format", "")))


def _made_text(name: str, format_: str) -> str:
    words = words_of(name)
    if format_ in _FORMATS:
        return _FORMATS[format_]
    if words & {"url", "uri", "href", "link"}:
        return _FORMATS["uri"]
    if words & {"date", "at", "published", "created", "updated", "modified"} and "by" not in words:
        return _FORMATS["date-time" if "at" in words else "date"]
    return f"the {re.sub('[-_]', ' ', name)}".strip()
