"""Compiles the `pages` of providers: forms of addresses, questions in their order, and templates that fit them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from specloom.core import PageTemplate, Report, dataclass, did_you_mean, parse_duration, template_environment
from specloom.language import (
    ANY,
    TEXT,
    ListOf,
    RecordType,
    Shape,
    join,
    maybe,
    strip,
    to_pattern,
)
from specloom.model import (
    AddressPart,
    AddressPattern,
    AddressSegment,
    Capability,
    ErrorRule,
    Operation,
    PageModel,
    PageQuestion,
    Provider,
    Value,
)
from specloom.specs import Map, Node, Spec, YamlEntry, YamlScalar, to_plain

from .inputs import check_pattern
from .symbols import DependencyTracker, check_kind, kind_of, overrides_of
from .templates import find_problems, place_in
from .values import Scope, compile_definitions, compile_text, compile_value, entries_of, items_of, whole

FACTS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("title", "by", "url", "published", "extent", "missing", "fallback"), frozenset({"string"})),
    **dict.fromkeys(("truncated", "markdown"), frozenset({"boolean"})),
    "authors": frozenset({"string", "array"}),
    "forum": frozenset({"object"}),
    "repository": frozenset({"object"}),
    "transcript": frozenset({"array"}),
}
"""What a page says beside its text, and what JSON calls the values that each may have."""

_HOLE = re.compile(r"\{(\w+)(\+?)\}")
_ANY, _SEGMENT, _PARAMETER = r"(?s:.*)", r"[^/\\\x00-\x1f]{1,300}", r"(?s:.{1,2000})"


def compile_pages(
    spec: Spec,
    providers: Mapping[str, Provider],
    capabilities: Mapping[str, Capability],
    templates: Mapping[str, PageTemplate],
    report: Report,
) -> tuple[PageModel, ...]:
    """The pages of a provider in the order of its file; those with problems are reported and left out."""
    node = spec.root.get("pages")
    if not isinstance(node, Map):
        return ()
    compiler = _Compiler(spec.name, node, providers, capabilities, templates, report)
    found = [compiler.page(entry) for entry in entries_of(node.get("kinds"))]
    return tuple(one for one in found if one is not None)


@dataclass(frozen=True, slots=True)
class _Compiler:
    """What all pages of one provider are compiled with."""

    provider: str
    node: Map
    providers: Mapping[str, Provider]
    capabilities: Mapping[str, Capability]
    templates: Mapping[str, PageTemplate]
    report: Report

    def page(self, entry: YamlEntry) -> PageModel | None:
        node = entry.value
        assert isinstance(node, Map)
        before = len(self.report.errors)
        forms = self._forms(node)
        hosts = node.get("hosts") or self.node.get("hosts")
        patterns = tuple(_patterns(node.get("addresses"), hosts, forms))
        holders = tuple(_patterns(node.get("holders"), hosts, forms))
        for one in holders:
            if "address" not in one.names:
                self.report.add("E110", one.place, "this address has no part 'address'", "write {address} where it is")
        scope = self._scope(patterns)
        when = self._text(node, "when", scope)
        facts: dict[str, Value | None] = {}
        if (fallback := node.get("fallback")) is not None:
            facts["fallback"] = compile_value(fallback, scope)
        questions = [(one, self._operation(one)) for one in entries_of(node.get("asks"))]
        rows = {one.key: self._rows(one, operation) for one, operation in questions}
        values, scope = compile_definitions(entries_of(node.get("values")), scope.plus(rows=whole(rows)))
        tracker = DependencyTracker()
        asks = self._asks(questions, dict(values), scope)
        errors = tuple(self._errors(node, scope, tracker))
        for name in FACTS.keys() - {"fallback"}:
            if (fact := node.get(name)) is not None:
                facts[name] = tracker.value("a fact", fact, scope)
        for name, value in facts.items():
            kind = kind_of(value.shape) if value is not None else ""
            if value is not None and kind and kind not in FACTS[name]:
                wanted = " or ".join(sorted(FACTS[name]))
                self.report.add("E204", value.place, f"{name!r} of a page is {wanted}, and this is {kind}")
        template = self._template(node)
        if len(self.report.errors) > before or template is None or len(asks) < len(questions):
            return None
        used = {path[1] for _, path in tracker.paths(dict(values)) if path[0] == "rows" and len(path) > 1}
        used |= {name for ask in asks for name in ask.needs}
        known = {
            "parts": {name for one in patterns for name in one.names},
            "rows": {*rows},
            "values": {*dict(values)},
        }
        shapes = [self.capabilities[ask.operation.capability].shape for ask in asks]
        self._check_template(template, known, [*shapes, *(value.shape for _, value in values)], used)
        for ask in asks:
            if ask.name not in used:
                self.report.add("W307", ask.place, f"question {ask.name!r} is asked and nothing uses its rows")
        plain = to_plain(self.node)
        return PageModel(
            self.provider,
            entry.key,
            plain.get("name", plain["type"]),
            plain["site"],
            plain["type"],
            patterns,
            holders,
            tuple(asks),
            template,
            entry.place,
            when,
            values,
            errors,
            {name: value for name, value in facts.items() if value is not None},
        )

    # --- addresses ------------------------------------------------------------------------------------------------

    def _forms(self, node: Map) -> dict[str, str]:
        forms: dict[str, str] = {}
        for source in (self.node, node):
            for entry in entries_of(source.get("parts")):
                forms[entry.key] = str(to_plain(entry.value))
                if not check_pattern(forms[entry.key], entry.value.place, self.report):
                    forms[entry.key] = _ANY
        return forms

    def _scope(self, patterns: Iterable[AddressPattern]) -> Scope:
        listed = list(patterns)
        shapes: dict[str, Shape] = {}
        for one in listed:
            for name in one.names:
                shape = ListOf(TEXT) if one.rest is not None and one.rest.name == name else TEXT
                shapes[name] = join(shapes[name], shape) if name in shapes else shape
        parts = {
            name: shape if all(name in one.names for one in listed) else maybe(shape) for name, shape in shapes.items()
        }
        provider = self.providers[self.provider]
        names: dict[str, Shape] = {
            "parts": whole(parts),
            "query": RecordType({}, closed=False),
            "fragment": TEXT,
            "host": TEXT,
            "url": TEXT,
        }
        return Scope(whole(names), provider.tables, self.report)

    # --- questions ------------------------------------------------------------------------------------------------

    def _operation(self, entry: YamlEntry) -> Operation | None:
        assert isinstance(entry.value, Map)
        said, named = entry.value.get("operation"), entry.value.get("provider")
        assert isinstance(said, YamlScalar)
        owner = str(to_plain(named)) if named is not None else self.provider
        provider = self.providers.get(owner)
        if provider is None:
            if owner not in self.report.left_out:
                assert named is not None
                hint = did_you_mean(owner, self.providers)
                self.report.add("E110", named.place, f"there is no provider {owner!r}", hint)
            return None
        offered = {name: one for name, one in provider.operations.items() if one.capability == name}
        if said.value not in offered:
            hint = did_you_mean(str(said.value), offered)
            self.report.add("E110", said.place, f"{owner} has no operation {said.value!r} of that capability", hint)
        return offered.get(str(said.value))

    def _rows(self, entry: YamlEntry, operation: Operation | None) -> Shape:
        assert isinstance(entry.value, Map)
        shape = ListOf(self.capabilities[operation.capability].shape) if operation else ANY
        return maybe(shape) if "when" in entry.value or to_plain(entry.value.get("optional")) else shape

    def _asks(
        self, questions: list[tuple[YamlEntry, Operation | None]], values: Mapping[str, Value], scope: Scope
    ) -> list[PageQuestion]:
        asks: list[PageQuestion] = []
        for entry, operation in questions:
            node = entry.value
            assert isinstance(node, Map)
            tracker = DependencyTracker()
            each = tracker.text("its items", "each", node, scope)
            when = tracker.text("when it is asked", "when", node, scope)
            if operation is None:
                continue
            inside = scope.plus(item=_item(each.shape)) if each else scope
            capability = self.capabilities[operation.capability]
            arguments = overrides_of("its arguments", node.get("with"), capability, inside, tracker)
            for name, value in arguments:
                self._check_argument(name, value, capability, operation)
            paths = {path for _, path in tracker.paths(values)}
            earlier = {one.name for one in asks}
            needs = {path[1] for path in paths if path[0] == "rows" and len(path) > 1}
            for name in sorted(needs - earlier):
                self.report.add(
                    "E111", entry.place, f"rows.{name} is not known yet here", "a question sees those above it"
                )
            asks.append(
                PageQuestion(
                    entry.key,
                    operation,
                    arguments,
                    entry.place,
                    frozenset(earlier if ("rows",) in paths else needs & earlier),
                    when,
                    each,
                    to_plain(node.get("first")) is True,
                    to_plain(node.get("optional")) is True,
                    parse_duration(said) if (said := to_plain(node.get("within"))) else 0.0,
                )
            )
        return asks

    def _check_argument(self, name: str, value: Value, capability: Capability, operation: Operation) -> None:
        """An argument that the operation takes, and of the kind that its capability declares."""
        if name not in capability.arguments:
            return
        if name not in operation.input:
            hint = did_you_mean(name, operation.input)
            self.report.add("E110", value.place, f"{operation.id} takes no argument {name!r}", hint)
        check_kind(f"the argument {name!r}", capability.arguments[name].shape, value, self.report)

    def _errors(self, node: Map, scope: Scope, tracker: DependencyTracker) -> Iterator[ErrorRule]:
        for item in items_of(node.get("errors")):
            assert isinstance(item, Map)
            when = tracker.text("an error rule", "when", item, scope)
            if when is not None:
                message = tracker.text("an error rule", "message", item, scope)
                yield ErrorRule(when, to_plain(item.get("kind")), item.place, message)

    def _text(self, node: Map, key: str, scope: Scope) -> Value | None:
        inner = node.get(key)
        return compile_text(inner, scope) if inner is not None else None

    # --- templates ------------------------------------------------------------------------------------------------

    def _template(self, node: Map) -> PageTemplate | None:
        said = node.get("template")
        assert isinstance(said, YamlScalar)
        found = self.templates.get(str(said.value))
        if found is None:
            hint = did_you_mean(str(said.value), self.templates) or "templates are files in templates/pages"
            self.report.add("E110", said.place, f"there is no template {said.value!r}", hint)
        return found

    def _check_template(
        self, template: PageTemplate, known: Mapping[str, set[str]], shapes: Iterable[Shape], used: set[str]
    ) -> None:
        """Report names that a template uses and that are not there; add the questions that it uses to `used`."""
        from jinja2 import TemplateSyntaxError, nodes

        roots = (*known, "query", "fragment", "host", "url")
        problems = list(find_problems(template.text, roots))
        fields = {name for shape in shapes for name in _field_names(shape)}
        try:
            tree = template_environment().parse(template.text)
        except TemplateSyntaxError:
            tree = nodes.Template([])
        local = {one.name for one in tree.find_all(nodes.NSRef)} | {"loop"}
        for one in tree.find_all(nodes.Getattr):
            base = one.node.name if isinstance(one.node, nodes.Name) else ""
            if base == "rows":
                used.add(one.attr)
            names = known.get(base, fields)
            if base not in {"query", *local} and one.attr not in names:
                what = f"{base}.{one.attr}" if base in known else one.attr
                problems.append(("E202", one.lineno, one.attr, f"unknown name {what!r}", did_you_mean(one.attr, names)))
        for code, line, word, message, hint in problems:
            self.report.add(code, place_in(template.file, template.text, line, word), message, hint)


def _item(shape: Shape) -> Shape:
    inner = strip(shape)
    return inner.item if isinstance(inner, ListOf) else ANY


def _field_names(shape: Shape) -> Iterator[str]:
    """The names of all fields of a record, those of records in it included."""
    inner = strip(shape)
    if isinstance(inner, ListOf):
        yield from _field_names(inner.item)
    for name, field in inner.fields.items() if isinstance(inner, RecordType) else ():
        yield name
        yield from _field_names(field)


def _patterns(node: Node | None, hosts: Node | None, forms: Mapping[str, str]) -> Iterator[AddressPattern]:
    """The forms of listed addresses; one that begins with its path is on each of the hosts."""
    for item in items_of(node):
        text = str(to_plain(item))
        own, slash, behind = text.partition("/")
        path, _, query = behind.partition("?")
        pairs = tuple(
            (name, _part(hole[1:-1], forms, _PARAMETER))
            for name, _, hole in (pair.partition("=") for pair in query.split("&") if pair)
        )
        segments: list[AddressSegment] = []
        rest, least = None, 0
        for piece in path.split("/") if path else ():
            hole = _HOLE.fullmatch(piece)
            if piece == "**" or (hole and hole[2]):
                rest, least = _part(hole[1] if hole else "", forms, _SEGMENT if hole else _ANY), int(hole is not None)
            elif hole or piece == "*":
                segments.append(_part(hole[1] if hole else "", forms, _SEGMENT if hole else _ANY))
            elif piece:
                segments.append(piece)
        for host in [own] if own else to_plain(hosts):
            front, _, end = host.partition(".")
            hole = _HOLE.fullmatch(front)
            label = _part(hole[1], forms, _SEGMENT) if hole else None
            yield AddressPattern(
                f"{host}{slash}{behind}", item.place, end if hole else host, label, tuple(segments), rest, least, pairs
            )


def _part(name: str, forms: Mapping[str, str], otherwise: str) -> AddressPart:
    return AddressPart(name, to_pattern(forms.get(name, otherwise)))
