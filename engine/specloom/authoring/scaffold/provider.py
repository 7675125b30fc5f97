"""The start of a provider's spec: mappings guessed from a sample, each beside the value it was guessed from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any
from urllib.parse import quote

from specloom.compiler import compile_provider
from specloom.core import Fault, Report, dataclass
from specloom.model import Argument, Capability, Model, Provider, Row
from specloom.runtime import STEP as TOKEN_STEP
from specloom.runtime import drive, perform
from specloom.specs import parse_spec

from ..examples.providers import DEFAULT_NOW, clock, to_response
from ..try_live import LinedText
from .common import ScaffoldError, check_name, draft, find_capability, flow, made_up, selector
from .leaves import ITEMS, Leaf, to_jmespath, to_selector
from .likeness import SURE, candidates, fits, is_epoch, likeness, match
from .request import DraftRequest, body_doubts, read_request, request_lines
from .sample import Sample, parse_sample

UNDECIDED = "https://decide.invalid/the-address-from-the-documentation"
"""What the example expects until its author says where the request goes; `.invalid` never resolves (RFC 2606)."""

_TOKEN_REPLY: Mapping[str, Any] = {"json": {"access_token": "t", "token_type": "Bearer", "expires_in": 3600}}
_LONGEST_TEXT = 160
_LONGEST_REST, _LONGEST_INNER = 200, 40
"""Signs of JSON that something in a result, and in a part of it, may have which nothing reads; what is larger is not in
the example."""


def draft_provider(
    model: Model, name: str, capability: str | None, data: bytes | None, base: str, body: bytes | None = None
) -> str:
    """The text of a spec that compiles; what it cannot know is marked `decide`, each at its place."""
    check_name("provider", name, model.providers)
    contract = find_capability(model, capability)
    check_base(base)
    request = read_request(name, contract, base, body)
    try:
        reply = json.loads(data or b"null")
    except ValueError:
        reply = None  # of another form than JSON, or of none, which is told further down
    request.place_cursor(reply)
    return write_provider(model, name, contract, data, request)


def check_base(base: str) -> None:
    """Refuse an address that cannot be asked."""
    is_plain = base.isprintable() and not any(sign in base for sign in "{}\"'<> ")
    if base and (not re.match(r"https://[^\s/]+", base) or not is_plain):
        own = "for a service that you run, leave out --base; then write `base: =config.NAME` and `private: true`"
        raise ScaffoldError(f"{base!r} is not an address that can be asked; it starts with https:// ({own})")


def write_provider(
    model: Model, name: str, contract: Capability, data: bytes | None, request: DraftRequest, homepage: str = ""
) -> str:
    """The text of a spec with this request, and with a map that a sample of the answer shows."""
    try:
        sample = parse_sample(data, contract.row) if data is not None else None
    except ValueError as error:
        raise ScaffoldError(str(error)) from None
    fields = match(contract.row, sample.leaves) if sample else dict.fromkeys(contract.row)
    new = _ProviderDraft(name, contract, sample, fields, request, homepage)
    provider = _compile(new, model)
    # The engine itself says what the map makes of the sample, so the expectation holds by construction.
    try:
        settings: dict[str, Any] = {}
        for setting in provider.settings.values():
            if setting.name in request.config:
                settings[setting.name] = request.values.get(setting.name, "k")
        running = perform(provider, provider.operations[contract.name], new.args(), settings, clock(DEFAULT_NOW))
        replies = {TOKEN_STEP: _TOKEN_REPLY, "main": new.reply()}
        new.rows = drive(running, lambda asked: to_response(replies[asked.step], asked.url)).rows
    except Fault:
        new.rows = []
    _compile(new, model)
    return new.text()


def _compile(new: _ProviderDraft, model: Model) -> Provider:
    report = Report()
    spec = parse_spec(f"{new.name}.yaml", new.text().encode(), report)
    provider = compile_provider(spec, model.capabilities, report) if spec else None
    if provider is None or report.errors:
        first = report.errors[0]
        raise ScaffoldError(f"the sample makes a spec that does not compile ({first.place}: {first.message})")
    return provider


@dataclass(slots=True)
class _ProviderDraft:
    """What is known of a spec while it is written: its request, and what its fields were guessed from."""

    name: str
    contract: Capability
    sample: Sample | None
    fields: Mapping[str, Leaf | None]
    request: DraftRequest
    homepage: str = ""
    rows: list[Row] = field(default_factory=list)

    def text(self) -> str:
        """The spec as YAML, as far as it is known."""
        fields = list(self._map())
        facts = {
            "name": self.name,
            "title": self.name.replace("_", " ").title(),
            "homepage": self.homepage,
            "capability": self.contract.name,
            "request": self.request,
            "query": list(request_lines(self.request, self.request.query)),
            "headers": list(request_lines(self.request, self.request.headers)),
            "body_doubts": body_doubts(self.request),
            "is_decided": bool(self.request.path) and bool(self.request.query or self.request.body_kind),
            "inputs": list(self.args()),
            "sample": self.sample,
            "fields": fields,
            "width": min(72, max((len(text) for text, _ in fields), default=0)),
            "examples": list(self._examples()),
        }
        return draft("provider", facts)

    def args(self) -> dict[str, Any]:
        """The arguments of the examples: those that the request uses, or else the first."""
        first = next(iter(self.contract.arguments))
        return self.request.args or {first: self.request.use(first, self.contract.arguments)}

    def reply(self, *lacking: Sequence[str]) -> dict[str, Any]:
        """The sample with the first of the results that have most of what is mapped, or a made-up answer.

        For each path that is `lacking`, a result without what it leads to stands before.
        """
        if self.sample is None:
            row = {name: made_up(one) for name, one in self.contract.row.items() if one.kind != "object"}
            return {"json": {"results": [row]}}
        if self.sample.decoder == "xml":
            return {"text": _only_first_xml(self.sample)}
        paths = [_to_list(leaf.path) for leaf in (*self.fields.values(), *self._rivals()) if leaf is not None]
        result = max(self.sample.results, key=lambda one: sum(_leads(one, path) for path in paths))
        result = _shortened(_pruned(result, paths))
        results = [*(_without(result, _to_list(path)) for path in lacking), result]
        if self.sample.table is not None:
            return {"text": LinedText(self.sample.table.write(results, [path[0] for path in paths]))}
        return {"json": self.sample.rebuild(results)}

    def _map(self) -> Iterator[tuple[str, Any]]:
        """Each field of the map as YAML, and what it was guessed from or what is to be decided of it."""
        for name, leaf in self.fields.items():
            contract = self.contract.row[name]
            if leaf is not None:
                at, then, reason = self._selector(leaf, contract), converters(contract, leaf), self._reason(name, leaf)
            elif contract.required and contract.kind == "url" and (key := self._find_id()) is not None:
                prefix = {"prefix": f"{self.request.base}/"}
                at, then = self._selector(key, self.contract.row.get("id", contract)), ["text", prefix]
                reason = "decide: the address of its page, which the sample does not have; this is an id behind a host"
            elif contract.required or (self.sample is None and contract.kind != "object"):
                at, then, reason = self._guessed(name), [], self._unknown(name)
            else:
                continue
            is_list = leaf is not None and leaf.is_markup and contract.kind == "list"
            more = ", required: true" * contract.required + ", all: true" * is_list
            more += f", then: {flow(then)}" if then else ""
            yield f"{name}: {f'{{at: {selector(at)}{more}}}' if more else selector(at)}", reason

    def _reason(self, name: str, leaf: Leaf) -> Any:
        """The value that a field was guessed from, or what makes the guess no more than that."""
        contract = self.contract.row[name]
        leaves = self.sample.leaves if self.sample else ()
        score = likeness(contract, leaf)
        others = [one for one in candidates(contract, leaves) if one is not leaf]
        same = [one for one in others if abs(likeness(contract, one) - score) < 0.004]
        value = leaf.value if not isinstance(leaf.value, list) or contract.kind == "list" else leaf.value[0]
        if contract.kind == "url" and str(value).startswith("/") and not str(value).startswith("//"):
            return f"decide: on which host {value} is; as it stands that of the API"
        if score < SURE or same:
            rivals = (same or others)[:3]
            others_text = f", or {' or '.join(self._selector(one, contract) for one in rivals)}" if rivals else ""
            return f"decide: whether this is it{others_text}; here it is {json.dumps(value, ensure_ascii=False)}"
        if doubt := _doubt_of_text(contract, leaf):
            return f"decide: {doubt}; here it is {json.dumps(value, ensure_ascii=False)}"
        if contract.kind != "list" and leaf.several:
            return f"decide: which of several; this is the first, {json.dumps(value, ensure_ascii=False)}"
        return json.dumps(value, ensure_ascii=False) if str(value).startswith("decide:") else value

    def _unknown(self, name: str) -> str:
        if self.sample is None:
            return "decide: a guess"
        fitting = self._fitting(name)
        named = f"; it could be {' or '.join(self._selector(one) for one in fitting)}" if fitting else ""
        return f"decide: where it is; nothing in the sample is called like it{named}"

    def _fitting(self, name: str) -> list[Leaf]:
        """The first leaves whose kind would do for a field."""
        leaves = self.sample.leaves if self.sample else ()
        return [leaf for leaf in leaves if fits(self.contract.row[name].kind, leaf.value)][:3]

    def _rivals(self) -> list[Leaf]:
        """What the marks of fields that are still to be decided name, so that the example has it."""
        open_fields = [name for name, leaf in self.fields.items() if leaf is None and self.contract.row[name].required]
        return [leaf for name in open_fields for leaf in self._fitting(name)]

    def _find_id(self) -> Leaf | None:
        """What says of a result which it is."""
        if self.sample is None or self.sample.decoder == "xml":
            return None
        field = Argument("id", "text", "", self.contract.place)
        return match({"id": field}, self.sample.leaves)["id"]

    def _guessed(self, name: str) -> str:
        """A selector for a field that no leaf is like: its name, in the namespace of the results if they have one."""
        prefix, colon, _ = self.sample.each.removeprefix("//").rpartition(":") if self.sample else ("", "", "")
        return f"{prefix}{colon}{name}" if self.sample and self.sample.decoder == "xml" else to_jmespath((name,))

    def _selector(self, leaf: Leaf, contract: Argument | None = None) -> str:
        if leaf.is_markup:
            return "/".join(leaf.path)
        kind = contract.kind if contract else "text"
        return to_selector(leaf, kind, family_first="Family, Given" in (contract.description if contract else ""))

    def _examples(self) -> Iterator[dict[str, Any]]:
        required = [name for name, one in self.contract.row.items() if one.required]
        request = self.request
        path = re.sub(r"\{args\.([a-z0-9_]+)\}", lambda hole: quote(str(request.args[hole[1]]), safe=""), request.path)
        sent: dict[str, Any] = {request.verb: f"{request.base}{path}" if path else UNDECIDED}
        if request.query:
            sent["query"] = request.sent_query
        if request.sent_headers:
            sent["headers"] = request.sent_headers
        if request.body_kind:
            sent[request.body_kind] = request.sent_body
        first = "one result of the sample, field by field" if self.sample else "one result, field by field"
        rows = self.rows or [dict.fromkeys(required, "decide")]
        yield self._example(first, self.reply(), {"sent": {"main": sent}, "rows": rows})
        for name in required:
            leaf = self.fields[name]
            sample = self.sample
            if leaf is not None and sample and (sample.table or (sample.decoder == "json" and sample.each)):
                yield self._example(f"a result without {name} is left out", self.reply(leaf.path), {"rows": self.rows})

    def _example(self, name: str, reply: Mapping[str, Any], expect: Mapping[str, Any]) -> dict[str, Any]:
        common: dict[str, Any] = {"name": name, "operation": self.contract.name, "args": self.args()}
        if self.request.config:
            common["config"] = {name: self.request.values.get(name, "k") for name in self.request.config}
        token = {TOKEN_STEP: _TOKEN_REPLY} if "client_credentials" in self.request.auth else {}
        return {**common, "replies": {**token, "main": reply}, "expect": expect}


_PARTS = (";", "|")
"""What parts the items in a cell and stands in no item."""
_DAY_OR_MONTH = re.compile(r"\d{1,2}/\d{1,2}/\d{4}\b")
_DECIMAL_COMMA = re.compile(r"-?\d+,(?:\d{1,2}|\d{4,})")


def _doubt_of_text(contract: Argument, leaf: Leaf) -> str:
    """What the spelling of a value leaves open."""
    texts = [value for value in leaf.values if isinstance(value, str)]
    if contract.kind in {"timestamp", "date"} and any(_DAY_OR_MONTH.match(text) for text in texts):
        return "whether the day or the month is written first; the month is read first"
    if contract.kind in {"integer", "number"} and any(_DECIMAL_COMMA.fullmatch(text) for text in texts):
        return "whether its comma parts a fraction, as it is read here"
    if contract.kind == "list" and leaf.is_cell and not any(part in text for part in _PARTS for text in texts):
        return f"what parts the items in a cell; as it stands {_part_of(texts)!r}"
    return ""


def _part_of(texts: Sequence[str]) -> str:
    """What parts the items in these cells."""
    return next((part for part in (*_PARTS, ",") if any(part in text for text in texts)), ";")


def _to_list(path: Sequence[str]) -> Sequence[str]:
    """The path up to the list that it goes through."""
    return path[: path.index(ITEMS)] if ITEMS in path else path


def converters(contract: Argument, leaf: Leaf) -> list[Any]:
    """What makes the sample's value one of the field's type."""
    if leaf.is_cell:
        return _cell_converters(contract, leaf)
    return _converters(contract, leaf)


def _cell_converters(contract: Argument, leaf: Leaf) -> list[Any]:
    """What makes the text of a cell one of the field's type."""
    nothing = [{"null_if": list(leaf.no_values)}] if leaf.no_values and contract.kind in {"text", "list"} else []
    if contract.kind == "boolean":
        return ["boolean"]
    if contract.kind == "list":
        return [*nothing, {"split": _part_of(leaf.values)}]
    if contract.kind in {"integer", "number"} and any(_DECIMAL_COMMA.fullmatch(text) for text in leaf.values):
        return [{"replace": [",", "."]}, contract.kind]
    return [*nothing, *_converters(contract, leaf)]


def _converters(contract: Argument, leaf: Leaf) -> list[Any]:
    value, kind = leaf.value, contract.kind
    if isinstance(value, list) and kind != "list":
        value = value[0]
    if kind in {"timestamp", "date"}:
        if is_epoch(value):
            return [{"epoch": "milliseconds" if value > 1e11 else "seconds"}]
        return ["timestamp" if kind == "timestamp" else "day"]
    if kind == "text" and str(value).startswith("https://doi.org/"):
        return [{"replace": ["https://doi.org/", ""]}]
    if kind == "text" and isinstance(value, int):
        return ["text"]
    if kind == "integer" and contract.name.endswith("year") and isinstance(value, str) and not value.isdigit():
        return ["year"]
    if kind in {"integer", "number"} and isinstance(value, str):
        return [kind]
    if kind == "url" and not str(value).startswith("http"):
        return ["absolute_http"] if str(value).startswith("//") else ["absolute"]
    listed = [one for value in leaf.values for one in (value if isinstance(value, list) else [value])]
    texts = [text for text in listed if isinstance(text, str)]
    if kind not in {"text", "list"}:
        return []
    if any(re.search(r"</?[a-zA-Z][^<>]*>", text) for text in texts):
        return ["strip_tags"]
    has_entity = any(re.search(r"&(?:[a-zA-Z]{2,20}|#[0-9]{1,6}|#x[0-9a-fA-F]{1,5});", text) for text in texts)
    return ["unescape"] if has_entity else []


# --- The reply of a new spec's example: a sample cut down to one result, as the engine will be given it ---------------


def _pruned(value: Any, paths: Sequence[Sequence[str]], most: int = _LONGEST_REST) -> Any:
    """A result with what these paths lead to, and of the rest what is small."""
    if not isinstance(value, dict):
        return value
    kept = {}
    for name, inner in value.items():
        below = [path[1:] for path in paths if path and path[0] == name]
        if below and all(below):
            kept[name] = _pruned(inner, below, _LONGEST_INNER)
        elif below or len(json.dumps(inner, ensure_ascii=False, default=str)) <= most:
            kept[name] = inner
    return kept


def _leads(value: Any, path: Sequence[str]) -> bool:
    """Whether names lead to something in a result."""
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return value not in (None, "", [])


def _without(value: Any, path: Sequence[str]) -> Any:
    """A result without what names lead to."""
    if not isinstance(value, dict):
        return value
    if len(path) == 1:
        return {name: inner for name, inner in value.items() if name != path[0]}
    return {name: _without(inner, path[1:]) if name == path[0] else inner for name, inner in value.items()}


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _shortened(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value[:3]]
    if isinstance(value, str) and len(value) > _LONGEST_TEXT and " " in value:
        return value[:_LONGEST_TEXT].rsplit(" ", 1)[0]
    return value


def _only_first_xml(sample: Sample) -> str:
    """The document of an XML sample with its first result alone."""
    from copy import deepcopy

    from lxml import etree

    root = deepcopy(sample.document)
    same = [node for node in root.iter(sample.results[0].tag) if node is not root]
    for node in same[1:]:
        parent = node.getparent()
        if parent is not None:
            parent.remove(node)
    text: str = etree.tostring(root, encoding="unicode")
    return re.sub(r">\s+<", "><", text).strip()
