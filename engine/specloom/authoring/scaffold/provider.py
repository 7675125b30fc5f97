"""The start of a provider's spec: mappings guessed from a sample, each beside the value it was guessed from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from specloom.compiler import compile_provider
from specloom.core import Fault, Report, dataclass
from specloom.model import Argument, Capability, Model, Provider, Row
from specloom.runtime import drive, perform
from specloom.specs import parse_spec

from ..examples.providers import DEFAULT_NOW, clock, to_response
from .common import ScaffoldError, check_name, draft, find_capability, flow, made_up, selector
from .sample import WORDS, Leaf, Sample, is_epoch, match, parse_sample, to_jmespath

UNDECIDED = "https://decide.invalid/the-address-from-the-documentation"
"""What the example expects until its author says where the request goes; `.invalid` never resolves (RFC 2606)."""

_QUERY_NAMES, _COUNT_NAMES = (WORDS[kind].split() for kind in ("query", "count"))
_LONGEST_TEXT = 160


def draft_provider(model: Model, name: str, capability: str | None, data: bytes | None, base: str) -> str:
    """The text of a spec that compiles; its example fails only at what the author has to decide."""
    check_name("provider", name, model.providers)
    contract = find_capability(model, capability)
    is_plain = base.isprintable() and not any(sign in base for sign in "{}\"'<> ")
    if base and (not re.match(r"https://[^\s/]+", base) or not is_plain):
        own = "for a service that you run, leave it out and write `base: =config.NAME` and `private: true`"
        raise ScaffoldError(f"{base!r} is not an address that can be asked; it starts with https:// ({own})")
    try:
        sample = parse_sample(data, contract.row) if data is not None else None
    except ValueError as error:
        raise ScaffoldError(str(error)) from None
    parts = urlsplit(base)
    new = _ProviderDraft(
        name,
        contract,
        sample,
        match(contract.row, sample.leaves) if sample else dict.fromkeys(contract.row),
        f"https://{parts.netloc}" if base else f"https://api.{name.replace('_', '-')}.example",
        parts.path if base and parts.path not in {"", "/"} else "",
        _query(parse_qsl(parts.query, keep_blank_values=True), contract),
    )
    provider = _compile(new, model)
    # The engine itself says what the map makes of the sample, so the expectation holds by construction.
    try:
        running = perform(provider, provider.operations[contract.name], new.args(), {}, clock(DEFAULT_NOW))
        new.rows = drive(running, lambda request: to_response(new.reply(), request.url)).rows
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


def _query(pairs: Sequence[tuple[str, str]], contract: Capability) -> dict[str, str]:
    """Parameters of the request: those of the address, with the search term and the count as arguments."""
    query: dict[str, str] = {}
    for name, value in pairs:
        plain = name.lower().replace("-", "_")
        if "query" in contract.arguments and plain in _QUERY_NAMES:
            query[name] = "=args.query"
        elif "num_results" in contract.arguments and plain in _COUNT_NAMES and value.isdigit():
            query[name] = "=args.num_results"
        else:
            query[name] = value
    return query if pairs or "query" not in contract.arguments else {"q": "=args.query"}


@dataclass(slots=True)
class _ProviderDraft:
    """What is known of a spec while it is written: the parts of its request, and what its fields were guessed from."""

    name: str
    contract: Capability
    sample: Sample | None
    fields: Mapping[str, Leaf | None]
    base: str
    path: str
    query: Mapping[str, str]
    rows: list[Row] = field(default_factory=list)

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
            "inputs": list(self.args()),
            "sample": self.sample,
            "fields": fields,
            "width": min(72, max((len(text) for text, _ in fields), default=0)),
            "examples": list(self._examples()),
        }
        return draft("provider", facts)

    def args(self) -> dict[str, Any]:
        """The arguments of the examples: those that the request uses, or else the first."""
        arguments = self.contract.arguments
        used = [name for name in arguments if f"=args.{name}" in self.query.values()] or [next(iter(arguments))]
        values = {"integer": 10, "number": 10, "boolean": True, "list": ["otters"]}
        return {name: values.get(arguments[name].kind, "otters") for name in used}

    def reply(self, *lacking: Sequence[str]) -> dict[str, Any]:
        """The sample with the first of the results that have most of what is mapped, or a made-up answer.

        For each path that is `lacking`, a result without what it leads to stands before.
        """
        if self.sample is None:
            row = {name: made_up(one) for name, one in self.contract.row.items() if one.kind != "object"}
            return {"json": {"results": [row]}}
        if self.sample.decoder != "json":
            return {"text": _only_first_xml(self.sample)}
        paths = [leaf.path for leaf in self.fields.values() if leaf is not None]
        result = max(self.sample.results, key=lambda one: sum(_leads(one, path) for path in paths))
        results = [*(_without(result, path) for path in lacking), result]
        return {"json": _only(self.sample.document, self.sample.results, results)}

    def _map(self) -> Iterator[tuple[str, Any]]:
        """Each field of the map as YAML, and what it was guessed from."""
        for name, leaf in self.fields.items():
            contract = self.contract.row[name]
            if leaf is not None:
                at, then, reason = self._selector(leaf.path), converters(contract, leaf), leaf.value
            elif contract.required or (self.sample is None and contract.kind != "object"):
                at, then, reason = self._guessed(name), [], "decide: a guess"
            else:
                continue
            more = ", required: true" * contract.required + (f", then: {flow(then)}" if then else "")
            yield f"{name}: {f'{{at: {selector(at)}{more}}}' if more else selector(at)}", reason

    def _guessed(self, name: str) -> str:
        """A selector for a field that no leaf is like: its name, in the namespace of the results if they have one."""
        prefix, colon, _ = self.sample.each.removeprefix("//").rpartition(":") if self.sample else ("", "", "")
        return f"{prefix}{colon}{name}" if self.sample and self.sample.decoder == "xml" else self._selector((name,))

    def _selector(self, path: Sequence[str]) -> str:
        return to_jmespath(path) if self.sample is None or self.sample.decoder == "json" else "/".join(path)

    def _examples(self) -> Iterator[dict[str, Any]]:
        args, required = self.args(), [name for name, one in self.contract.row.items() if one.required]
        values = {f"=args.{name}": value for name, value in args.items()}
        sent: dict[str, Any] = {"get": f"{self.base}{self.path}" if self.path else UNDECIDED}
        if self.query:
            sent["query"] = {name: values.get(value, value) for name, value in self.query.items()}
        first = "one result of the sample, field by field" if self.sample else "one result, field by field"
        rows = self.rows or [dict.fromkeys(required, "decide")]
        yield self._example(first, self.reply(), {"sent": {"main": sent}, "rows": rows})
        for name in required:
            leaf = self.fields[name]
            if leaf is not None and self.sample and self.sample.decoder == "json" and self.sample.each:
                yield self._example(f"a result without {name} is left out", self.reply(leaf.path), {"rows": self.rows})

    def _example(self, name: str, reply: Mapping[str, Any], expect: Mapping[str, Any]) -> dict[str, Any]:
        common = {"name": name, "operation": self.contract.name, "args": self.args()}
        return {**common, "replies": {"main": reply}, "expect": expect}


def converters(contract: Argument, leaf: Leaf) -> list[Any]:
    """What makes the sample's value one of the field's type."""
    value, kind = leaf.value, contract.kind
    if kind in {"timestamp", "date"}:
        if is_epoch(value):
            return [{"epoch": "milliseconds" if value > 1e11 else "seconds"}]
        return ["timestamp" if kind == "timestamp" else "day"]
    if kind == "text" and isinstance(value, int):
        return ["text"]
    if kind in {"integer", "number"} and isinstance(value, str):
        return [kind]
    if kind == "url" and not str(value).startswith("http"):
        return ["absolute_http"]
    texts = [text for text in leaf.values if isinstance(text, str)]
    has_markup = any(re.search(r"</?[a-z][^<>]*>|&[a-z]{1,40};", text) for text in texts)
    return ["strip_tags"] if kind == "text" and has_markup else []


# --- The reply of a new spec's example: a sample cut down to one result, as the engine will be given it ---------------


def _only(value: Any, results: Sequence[Any], instead: Sequence[Any]) -> Any:
    """The sample with other results, without what else is in it, and with long texts cut where that is harmless."""
    if value is results:
        return [_shortened(result) for result in instead]
    if isinstance(value, dict):
        kept = {name: _only(inner, results, instead) for name, inner in value.items() if _holds(inner, results)}
        return kept or _shortened(value)
    return _shortened(value)


def _holds(value: Any, results: Sequence[Any]) -> bool:
    return value is results or (isinstance(value, dict) and any(_holds(inner, results) for inner in value.values()))


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
