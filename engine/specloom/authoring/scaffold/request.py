"""What a new provider sends, guessed from an address with its parameters, and from a body if it is a POST."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from specloom.core import MASK, dataclass, looks_issued, mask_values
from specloom.model import Argument, Capability

from .common import ScaffoldError, flow
from .leaves import to_jmespath
from .words import WORDS, words_of

_QUERY_NAMES, _COUNT_NAMES, _KEY_NAMES = (frozenset(WORDS[kind].split()) for kind in ("query", "count", "key"))
_WHOLE_NAMES = _QUERY_NAMES.union(_COUNT_NAMES, *(WORDS[kind].split() for kind in ("page", "offset", "cursor")))
_CURSOR_NAMES, _SECRET_NAMES = frozenset(WORDS["cursor"].split()), tuple(WORDS["secret"].split())
_WANTED = {"integer": 10, "number": 10, "boolean": True, "list": ["otters"], "date": "2026-01-02"}


@dataclass(slots=True)
class DraftRequest:
    """A request in the words of a spec, and in those of an example in which its arguments are set."""

    base: str
    path: str = ""
    query: dict[str, Any] = field(default_factory=dict)
    sent_query: dict[str, Any] = field(default_factory=dict)
    body_kind: str = ""
    """`json` or `form` of a POST."""
    body: Any = None
    sent_body: Any = None
    headers: dict[str, Any] = field(default_factory=dict)
    sent_headers: dict[str, Any] = field(default_factory=dict)
    auth: dict[str, Any] = field(default_factory=dict)
    args: dict[str, Any] = field(default_factory=dict)
    """The arguments that it uses, with the values that the examples give them."""
    config: dict[str, dict[str, Any]] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)
    """What the author has to say of a parameter by its name, and of the whole by ""."""
    others: list[str] = field(default_factory=list)
    """What could be sent and is not, one line each."""
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    """What examples set a setting to, where that is not `k`."""
    _keys: dict[str, str] = field(default_factory=dict)
    """The parameter that each setting with a key was made for."""
    pages: tuple[str, str, bool] = ("", "", False)
    """How something asks for a further page, `page`, `offset` or `cursor`, its name, and whether it is in the body."""

    @property
    def verb(self) -> str:
        """`get`, or `post` with a body."""
        return "post" if self.body_kind else "get"

    def use(self, name: str, contract: Mapping[str, Argument]) -> Any:
        """The value that examples give to an argument, which is used from now on."""
        argument = contract[name]
        values = getattr(argument.shape, "values", None)
        if name not in self.args:
            self.args[name] = values[0] if values else _WANTED.get(argument.kind, "otters")
        return self.args[name]

    def paging(self, kind: str, key: str, *, in_body: bool = False) -> None:
        """Remember by which parameter pages are asked for; a cursor before a number."""
        if not self.pages[0] or kind == "cursor":
            self.pages = (kind, key, in_body)

    def place_cursor(self, reply: Any) -> None:
        """Propose how pages are read, with the place of the next cursor in a reply where there is one."""
        kind, key, in_body = self.pages
        if not kind:
            return
        at = next(_find_next(reply, ()), None) or "page.WHERE_THE_NEXT_IS"
        if in_body:
            words = {"cursor": f"{{at: {at}}}", "page": "{from: 1}", "offset": "{from: 0}"}[kind]
            paging = f"`paging: {{{kind}: {words}, most: 3, resume: true}}`"
            self.doubts["paging"] = (
                f"whether further pages are read; if so: {paging}, and `{flow(key)}: =position` in the body"
            )
            return
        parameter = flow(key)
        words = f"{{parameter: {parameter}}}"
        if kind == "cursor":
            words = f"{{parameter: {parameter}, at: {at}}}"
        rest = "most: 3, enough: length(rows) >= args.num_results"
        self.doubts["paging"] = f"whether further pages are read; if so: `paging: {{{kind}: {words}, {rest}}}`"

    def add_key(self, name: str, parameter: str = "", *, says: str = "An API key.") -> str:
        """The setting with the key of a provider, as an expression; a further parameter gets one of its own."""
        setting = f"{name.upper()}_KEY"
        if self._keys.setdefault(setting, parameter) != parameter:
            setting = f"{name.upper()}_{re.sub('[^A-Z0-9]+', '_', parameter.upper()).strip('_')}"
        self.config[setting] = {"secret": True, "required": True, "description": says}
        return f"=config.{setting}"


def read_request(name: str, contract: Capability, base: str, body: bytes | None) -> DraftRequest:
    """The request that an address and a body show; a ScaffoldError says why a body cannot be read."""
    parts = urlsplit(base)
    request = DraftRequest(
        f"https://{parts.netloc}" if base else f"https://api.{name.replace('_', '-')}.example",
        parts.path if base and parts.path not in {"", "/"} else "",
    )
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    for key in dict.fromkeys(key for key, _ in pairs):
        values = [value for other, value in pairs if other == key]
        value = values if len(values) > 1 else values[0]
        if _is_cursor(contract, key, value):
            request.paging("cursor", key)
            continue
        request.query[key], request.sent_query[key] = guess(request, name, contract, key, value)
    if body is not None:
        _read_body(request, name, contract, body)
    if not base and not request.query and not request.body_kind and "query" in contract.arguments:
        request.query["q"], request.sent_query["q"] = "=args.query", request.use("query", contract.arguments)
        request.doubts["q"] = "the name of the parameter"
    check_use(request, contract, is_given=bool(base) or body is not None)
    order = list(contract.arguments)
    request.args = dict(sorted(request.args.items(), key=lambda pair: order.index(pair[0])))
    return request


def check_use(request: DraftRequest, contract: Capability, *, is_given: bool) -> None:
    """Ask where what is looked for goes, if nothing that is sent is it."""
    if not is_given or request.args.keys() & {"query", *_needed(contract)}:
        return
    main = "query" if "query" in contract.arguments else next(iter(contract.arguments))
    place = "a parameter" if not request.body_kind else "a part of the body"
    hole = "" if request.body_kind else f", or a hole of the path, {{args.{main}}}"
    request.doubts[""] = f"what takes args.{main}: {place} with `=args.{main}`{hole}"
    if not request.args:
        request.use(main, contract.arguments)


def _needed(contract: Capability) -> Sequence[str]:
    """The argument that says what is looked for, where that is not called `query`."""
    return () if "query" in contract.arguments else tuple(contract.arguments)


def _read_body(request: DraftRequest, name: str, contract: Capability, body: bytes) -> None:
    text = body.decode("utf-8-sig", "replace").strip()
    try:
        document = json.loads(text)
    except ValueError as error:
        if not re.fullmatch(r"[^\s={}\[\]<>]+=[^\s{}<>]*", text):
            raise ScaffoldError(f"the body is neither JSON nor a form (a=b&c=d): {error}") from None
        request.body_kind = "form"
        request.body, request.sent_body = {}, {}
        for key, value in parse_qsl(text, keep_blank_values=True):
            if _is_cursor(contract, key, value):
                request.paging("cursor", key, in_body=True)
                continue
            request.body[key], request.sent_body[key] = guess(request, name, contract, key, value)
        return
    if not isinstance(document, dict):
        raise ScaffoldError("the body is no JSON object; a spec writes one under `body: {json: …}`")
    request.body_kind = "json"
    request.body, request.sent_body = _guess_inside(request, name, contract, document)


def _guess_inside(request: DraftRequest, name: str, contract: Capability, value: Any) -> tuple[Any, Any]:
    """A body with the arguments in it, and as it is then sent."""
    if isinstance(value, dict):
        pairs = {}
        for key, inner in value.items():
            if _is_cursor(contract, key, inner):
                request.paging("cursor", key, in_body=True)
            elif isinstance(inner, (dict, list)):
                pairs[key] = _guess_inside(request, name, contract, inner)
            elif inner is not None:
                pairs[key] = guess(request, name, contract, key, inner)
        return {key: pair[0] for key, pair in pairs.items()}, {key: pair[1] for key, pair in pairs.items()}
    if isinstance(value, list):
        items = [_guess_inside(request, name, contract, one) for one in value]
        return [one for one, _ in items], [one for _, one in items]
    return to_literal(value), value


def _is_cursor(contract: Capability, key: str, value: Any) -> bool:
    """Whether it asks for what follows one answer, so that it is never the same; `*` asks for what comes first."""
    is_argument = any(words_of(name) == words_of(key) for name in contract.arguments)
    is_one = value is None or (isinstance(value, str) and value != "*" and not _is_day(value))
    return plain_name(key) in _CURSOR_NAMES and is_one and not is_argument


def guess(request: DraftRequest, name: str, contract: Capability, key: str, value: Any) -> tuple[Any, Any]:
    """What a spec sends under this name, and what an example then sees."""
    arguments = contract.arguments
    word = plain_name(key)
    is_text = isinstance(value, str)
    if is_text and (word in _KEY_NAMES or _is_secret(key, value)):
        return request.add_key(name, word), "k"
    if is_text and re.fullmatch(r"[^@\s]++@[^@\s]++", value):
        return request.add_key(name, word, says="The e-mail address of who asks."), "k"
    if is_text and "query" in arguments and word in _QUERY_NAMES:
        if "query" not in request.args:
            if re.search(r"[:=<>\"()]", value):
                request.doubts[key] = f"how args.query stands in it, by `fill` or `join`; the address has {value}"
            return "=args.query", request.use("query", arguments)
        request.doubts[key] = "whether this takes args.query as well"
    is_count = (is_text and value.isdigit()) or (isinstance(value, int) and not isinstance(value, bool))
    if "num_results" in arguments and word in _COUNT_NAMES and is_count and "num_results" not in request.args:
        return "=args.num_results", request.use("num_results", arguments)
    for argument in arguments.values():
        if argument.name != "query" and words_of(argument.name) == words_of(key) and not isinstance(value, list):
            sent = request.use(argument.name, arguments)
            if getattr(argument.shape, "values", None) or argument.kind == "list":
                request.doubts[key] = f"how the API writes what args.{argument.name} says; a table, if not as it is"
            return f"=args.{argument.name}", sent
    if is_text and _is_day(value):
        request.doubts[key] = "a fixed day; what it follows from, or leave it out"
    return to_literal(value), value


def _is_day(value: str) -> bool:
    return re.fullmatch(r"(?:19|20)[0-9]{2}-[0-9]{2}(?:-[0-9]{2})?", value) is not None


def _is_secret(key: str, value: str) -> bool:
    """Whether a value is not to be written into a file: it is named, or looks like one that was issued."""
    if plain_name(key) in _CURSOR_NAMES:
        return False
    is_named = any(word.endswith(_SECRET_NAMES) for word in words_of(key))
    return is_named or looks_issued(value) or mask_values({key: value})[key] == MASK


def plain_name(key: str) -> str:
    """The word that a parameter goes by: of `page[size]` it is page_size, of `filter[query]` and `a.query` query."""
    pieces = [piece.lower().replace("-", "_") for piece in re.findall(r"[^\[\].]+", key)]
    if len(pieces) < 2:
        return pieces[0] if pieces else ""
    whole = "_".join(pieces)
    return whole if whole in _WHOLE_NAMES else pieces[-1]


def to_literal(value: Any) -> Any:
    """A constant in the words of a spec, where a text that begins with `=` would be an expression."""
    if isinstance(value, list):
        return [to_literal(one) for one in value]
    if isinstance(value, str) and value.startswith("="):
        quoted = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"='{quoted}'"
    return value


_NEXT = frozenset(WORDS["next"].split())


def _find_next(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    """Where a reply has a cursor, as an expression over its page."""
    if not isinstance(value, dict) or len(path) > 3:
        return
    for name, inner in value.items():
        if re.sub(r"[^a-z]", "", name.lower()) in _NEXT and not isinstance(inner, (dict, list)):
            yield f"page.{to_jmespath((*path, name))}"
    for name, inner in value.items():
        yield from _find_next(inner, (*path, name))


def request_lines(request: DraftRequest, part: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each parameter or header as YAML on one line, with what is to be decided of it."""
    for key, value in part.items():
        yield f"{_on_a_line(key)}: {_on_a_line(value)}", request.doubts.get(key, "")


def body_doubts(request: DraftRequest) -> list[str]:
    """What is to be decided of the keys of a body, each with the name of its key."""
    return [
        f"decide: {key} of the body: {request.doubts[key]}" for key in _keys_in(request.body) if key in request.doubts
    ]


def _keys_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _keys_in(inner)


def _on_a_line(value: Any) -> str:
    text = flow(value)
    return flow(value, '"') if "\n" in text else text
