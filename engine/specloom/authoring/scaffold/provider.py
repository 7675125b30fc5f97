"""The start of a provider's spec: mappings guessed from a sample, each beside the value it was guessed from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from specloom.compiler import compile_provider
from specloom.core import Fault, Report, Request, Response
from specloom.language import Choice
from specloom.model import Argument, Capability, Model, Operation, Provider, Row
from specloom.runtime import perform
from specloom.specs import parse_spec

from ..examples.providers import DEFAULT_NOW, clock
from .common import ScaffoldError, check_name, draft, find_capability, flow, selector
from .sample import Leaf, Sample, is_epoch, match, parse_sample, to_jmespath

# --- Pieces of a new spec: fields, and the converters that a sample's value asks for ----------------------------------


def _field_text(path: str, required: bool, then: Sequence[Any]) -> str:
    """A field of a map, in the shortest form that says all of it."""
    if not required and not then:
        return selector(path)
    more = ", required: true" * required + (f", then: {flow(then)}" if then else "")
    return f"{{at: {selector(path)}{more}}}"


def converters(one: Argument, leaf: Leaf) -> list[Any]:
    """What makes the sample's value one of the field's type."""
    value = leaf.value
    if one.kind in {"timestamp", "date"}:
        if is_epoch(value):
            return [{"epoch": "milliseconds" if value > 1e11 else "seconds"}]
        return ["timestamp" if one.kind == "timestamp" else "day"]
    if one.kind == "text" and isinstance(value, int):
        return ["text"]
    if one.kind in {"integer", "number"} and isinstance(value, str):
        return [one.kind]
    if one.kind == "url" and not str(value).startswith("http"):
        return ["absolute_http"]
    if one.kind == "text" and any(
        isinstance(text, str) and re.search(r"</?[a-z][^>]*>|&[a-z]+;", text) for text in leaf.values
    ):
        return ["strip_tags"]
    return []


def made_up(one: Argument) -> Any:
    """A value of an argument's or a field's type."""
    if isinstance(one.shape, Choice):
        return one.shape.values[0]
    made: dict[str, Any] = {
        "url": "https://example.org/otters",
        "timestamp": "2026-01-02T03:04:05Z",
        "date": "2026-01-02",
        "integer": 3,
        "number": 1.5,
        "boolean": True,
        "list": ["otters"],
    }
    return made.get(one.kind, f"the {one.name.replace('_', ' ')}")


# --- The reply of a new spec's example: a sample cut down to one result, as the engine will be given it ---------------


_LONGEST_TEXT = 160


def only(value: Any, results: Sequence[Any], instead: Sequence[Any]) -> Any:
    """The sample with other results, without what else is in it, and with long texts cut where that is harmless."""
    if value is results:
        return [_shortened(one) for one in instead]
    if isinstance(value, dict):
        kept = {name: only(inner, results, instead) for name, inner in value.items() if _holds(inner, results)}
        return kept or _shortened(value)
    return _shortened(value)


def _holds(value: Any, results: Sequence[Any]) -> bool:
    if value is results:
        return True
    return isinstance(value, dict) and any(_holds(inner, results) for inner in value.values())


def reached(value: Any, path: Sequence[str]) -> bool:
    """Whether names lead to something in a result."""
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return value not in (None, "", [])


def without(value: Any, path: Sequence[str]) -> Any:
    """A result without what names lead to."""
    if not isinstance(value, dict):
        return value
    if len(path) == 1:
        return {name: inner for name, inner in value.items() if name != path[0]}
    return {name: without(inner, path[1:]) if name == path[0] else inner for name, inner in value.items()}


def to_response(reply: Mapping[str, Any], request: Request) -> Response:
    """A reply of an example as the response to a request."""
    if "json" in reply:
        return Response(200, {"content-type": "application/json"}, json.dumps(reply["json"]).encode(), request.url)
    return Response(200, {}, str(reply["text"]).encode(), request.url)


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _shortened(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_shortened(one) for one in value[:3]]
    if isinstance(value, str) and len(value) > _LONGEST_TEXT and " " in value:
        return value[:_LONGEST_TEXT].rsplit(" ", 1)[0]
    return value


def only_first_xml(sample: Sample) -> str:
    """The document of an XML sample with its first result alone."""
    from copy import deepcopy

    from lxml import etree

    root = deepcopy(sample.document)
    first = sample.results[0]
    same = [node for node in root.iter(first.tag) if node is not root]
    for node in same[1:]:
        parent = node.getparent()
        if parent is not None:
            parent.remove(node)
    text: str = etree.tostring(root, encoding="unicode")
    return re.sub(r">\s+<", "><", text).strip()


UNDECIDED = "https://decide.invalid/the-address-from-the-documentation"
"""What the example expects until its author says where the request goes; `.invalid` never resolves (RFC 2606)."""

_QUERY_NAMES = ("q", "query", "search", "search_query", "term", "terms", "text", "keyword", "keywords", "s")
_COUNT_NAMES = ("count", "limit", "num", "size", "per_page", "pagesize", "rows", "max_results", "n")


def draft_provider(model: Model, name: str, capability: str | None, data: bytes | None, base: str) -> str:
    """The text of a spec that compiles; its example fails only at what the author has to decide."""
    check_name("provider", name, model.providers)
    contract = find_capability(model, capability)
    if base and (not re.match(r"https://[^\s/]+", base) or not _is_plain(base)):
        own = "for a service that you run, leave it out and write `base: =config.NAME` and `private: true`"
        raise ScaffoldError(f"{base!r} is not an address that can be asked; it starts with https:// ({own})")
    try:
        sample = parse_sample(data, contract.row) if data is not None else None
    except ValueError as error:
        raise ScaffoldError(str(error)) from None
    new = _Draft(name, contract, sample, base)
    provider = _compile(new, model)
    # The engine itself says what the map makes of the sample, so the expectation holds by construction.
    new.rows = _rows_of(provider.operations[contract.name], provider, new)
    _compile(new, model)
    return new.text()


def _compile(new: _Draft, model: Model) -> Provider:
    report = Report()
    spec = parse_spec(f"{new.name}.yaml", new.text().encode(), report)
    provider = compile_provider(spec, model.capabilities, report) if spec else None
    if provider is None or report.errors:
        first = report.errors[0]
        raise ScaffoldError(f"the sample makes a spec that does not compile ({first.place}: {first.message})")
    return provider


def _rows_of(operation: Operation, provider: Provider, new: _Draft) -> list[Row]:
    running = perform(provider, operation, new.args(), {}, clock(DEFAULT_NOW))
    try:
        request = next(running)
        assert isinstance(request, Request)
        running.send(to_response(new.reply(), request))
    except StopIteration as stop:
        rows: list[Row] = stop.value.rows
        return rows
    except Fault:
        return []
    return []


def _is_plain(text: str) -> bool:
    return text.isprintable() and not any(one in text for one in "{}\"'<> ")


class _Draft:
    """A spec while it is written, part by part."""

    def __init__(self, name: str, contract: Capability, sample: Sample | None, base: str) -> None:
        self.name = name
        self.contract = contract
        self.sample = sample
        self.fields = match(contract.row, sample.leaves) if sample else dict.fromkeys(contract.row)
        parts = urlsplit(base)
        self.base = f"https://{parts.netloc}" if base else f"https://api.{name.replace('_', '-')}.example"
        self.path = parts.path if base and parts.path not in {"", "/"} else ""
        self.query = self._query(parse_qsl(parts.query, keep_blank_values=True))
        self.rows: list[Row] = []

    def _query(self, said: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """Parameters of the request: those of the address, with the search term and the count as arguments."""
        found: dict[str, Any] = {}
        for name, value in said:
            plain = name.lower().replace("-", "_")
            if "query" in self.contract.arguments and plain in _QUERY_NAMES:
                found[name] = "=args.query"
            elif "num_results" in self.contract.arguments and plain in _COUNT_NAMES and value.isdigit():
                found[name] = "=args.num_results"
            else:
                found[name] = value
        if not said and "query" in self.contract.arguments:
            found["q"] = "=args.query"
        return found

    def text(self) -> str:
        """The spec as YAML, as far as it is known."""
        fields = list(self._map())
        facts = {
            "name": self.name,
            "title": self.name.replace("_", " ").title(),
            "capability": self.contract.name,
            "base": self.base,
            "path": self.path,
            "query": self.query,
            "inputs": self._input(),
            "sample": self.sample,
            "fields": fields,
            "width": min(72, max((len(text) for text, _ in fields), default=0)),
            "examples": self._examples(),
        }
        return draft("provider", facts)

    def _input(self) -> list[str]:
        used = [name for name in self.contract.arguments if f"=args.{name}" in self.query.values()]
        return used or [next(iter(self.contract.arguments))]

    def _map(self) -> Iterator[tuple[str, Any]]:
        """Each field of the map as YAML, and what it was guessed from."""
        for name, leaf in self.fields.items():
            one = self.contract.row[name]
            if leaf is not None:
                text = _field_text(self._selector(leaf.path), one.required, converters(one, leaf))
                yield f"{name}: {text}", leaf.value
            elif one.required or (self.sample is None and one.kind != "object"):
                yield f"{name}: {_field_text(self._guessed(name), one.required, [])}", "decide: a guess"

    def _guessed(self, name: str) -> str:
        """A selector for a field that no leaf is like: its name, in the namespace of the results if they have one."""
        prefix, colon, _ = self.sample.each.removeprefix("//").rpartition(":") if self.sample else ("", "", "")
        return f"{prefix}{colon}{name}" if self.sample and self.sample.decoder == "xml" else self._selector((name,))

    def _selector(self, path: Sequence[str]) -> str:
        if self.sample is None or self.sample.decoder == "json":
            return to_jmespath(path)
        return "/".join(path)

    def _examples(self) -> list[dict[str, Any]]:
        args = self.args()
        query = {name: _sent(value, args) for name, value in self.query.items()}
        sent: dict[str, Any] = {"get": f"{self.base}{self.path}" if self.path else UNDECIDED}
        if query:
            sent["query"] = query
        common = {"operation": self.contract.name, "args": args}
        first = {"name": "one result of the sample, field by field" if self.sample else "one result, field by field"}
        expect = {"sent": {"main": sent}, "rows": self.rows or [dict.fromkeys(self._required(), "decide")]}
        found = [{**first, **common, "replies": {"main": self.reply()}, "expect": expect}]
        for name in self._required():
            reply = self._reply_without(name)
            if reply is not None:
                said = {"name": f"a result without {name} is left out"}
                found.append({**said, **common, "replies": {"main": reply}, "expect": {"rows": self.rows}})
        return found

    def args(self) -> dict[str, Any]:
        """The arguments of the examples."""
        return {name: self._value(name) for name in self._input()}

    def _value(self, name: str) -> Any:
        kind = self.contract.arguments[name].kind
        return {"integer": 10, "number": 10, "boolean": True, "list": ["otters"]}.get(kind, "otters")

    def reply(self) -> dict[str, Any]:
        """The sample with one result, or a made-up answer."""
        if self.sample is None:
            return {"json": {"results": [{name: made_up(one) for name, one in self._simple()}]}}
        if self.sample.decoder == "json":
            return {"json": only(self.sample.document, self.sample.results, [self._shown()])}
        return {"text": only_first_xml(self.sample)}

    def _reply_without(self, name: str) -> dict[str, Any] | None:
        """The sample with its result twice, first without a required field."""
        leaf = self.fields[name]
        if self.sample is None or leaf is None or self.sample.decoder != "json" or not self.sample.each:
            return None
        whole = self._shown()
        return {"json": only(self.sample.document, self.sample.results, [without(whole, leaf.path), whole])}

    def _shown(self) -> Any:
        """The first of the results that have most of what is mapped."""
        assert self.sample is not None
        wanted = [leaf.path for leaf in self.fields.values() if leaf is not None]
        return max(self.sample.results, key=lambda one: sum(reached(one, path) for path in wanted))

    def _required(self) -> list[str]:
        return [name for name, one in self.contract.row.items() if one.required]

    def _simple(self) -> list[tuple[str, Argument]]:
        return [(name, one) for name, one in self.contract.row.items() if one.kind != "object"]


def _sent(value: Any, args: Mapping[str, Any]) -> Any:
    return args[value.removeprefix("=args.")] if isinstance(value, str) and value.startswith("=args.") else value
