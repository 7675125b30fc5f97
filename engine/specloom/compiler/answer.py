"""Compiles what a tool returns: its answer, the hints of an empty one, and what it refuses beforehand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from specloom.core import Report, did_you_mean, replace
from specloom.language import ANY, ListOf, Maybe, RecordType, may_be_null, parse, strip
from specloom.model import (
    NAMED_TOOL,
    Advice,
    AnswerKey,
    CursorInput,
    Field,
    Hints,
    Input,
    LinkPolicy,
    Pair,
    Tool,
    Toolset,
    Value,
)
from specloom.specs import Listing, Map, Node, Spec, YamlEntry, YamlScalar, to_plain

from .inputs import check_names
from .symbols import DependencyTracker
from .values import (
    Scope,
    SelectorLanguage,
    compile_field,
    compile_pairs,
    compile_text,
    compile_value,
    maps_of,
    scalars_of,
    whole,
)

SPREAD = "..."
"""The key of an answer that stands for all fields of a record that no other key is called like."""


def compile_checks(node: Node | None, scope: Scope) -> tuple[tuple[Value, Value], ...]:
    """When a call is refused, each with its sentence. A refused call has no answer, so the cache need not know."""
    found = []
    for item in maps_of(node):
        refuse, message = item.get("refuse_when"), item.get("message")
        if refuse is None or message is None:
            scope.report.add("E102", item.place, "a check needs `refuse_when` and `message`")
            continue
        pair = compile_text(refuse, scope), compile_text(message, scope)
        if pair[0] and pair[1]:
            found.append((pair[0], pair[1]))
    return tuple(found)


def compile_answer(
    node: Node | None, scope: Scope, row_shape: RecordType, tracker: DependencyTracker, origins: Collection[str] = ()
) -> tuple[tuple[AnswerKey, ...], Value | None]:
    """The keys of the answer, each a value or a list whose items are mapped; or the value that is the whole of it.

    `origins` are fields of rows that say who gave which other field.
    """
    if isinstance(node, YamlScalar):
        value = tracker.value("the answer", node, scope)
        if value is not None and not isinstance(value.shape, RecordType):
            scope.report.add("E104", node.place, "an answer in one piece is the record of a procedure", "write =result")
        return (), value
    assert isinstance(node, Map)
    keys: list[AnswerKey] = []
    for entry in _spread(node, scope):
        what = f"the answer's key {entry.key!r}"
        if isinstance(entry.value, Map):
            key = _compile_list(what, entry.key, entry.value, scope, row_shape, tracker)
            key = _name_sources(key, entry.value, origins) if key else None
        else:
            value = tracker.value(what, entry.value, scope)
            key = AnswerKey(entry.key, value) if value else None
        if key:
            keys.append(key)
    return tuple(keys), None


def _spread(node: Map, scope: Scope) -> Iterator[YamlEntry]:
    """The keys of an answer; in place of `...`, the fields of its record that no other key is called like."""
    for entry in node:
        if entry.key != SPREAD:
            yield entry
            continue
        said = entry.value
        text = said.value if isinstance(said, YamlScalar) else None
        value = compile_value(said, scope) if isinstance(text, str) and text.startswith("=") else None
        shape = strip(value.shape) if value is not None else ANY
        if isinstance(text, str) and isinstance(shape, RecordType) and shape.closed:
            names = [name for name in shape.fields if name not in node]
            yield from (YamlEntry(name, entry.place, YamlScalar(f"=({text[1:]}).{name}", said.place)) for name in names)
        elif value is not None or not scope.report.errors:
            hint = "write =result, where a procedure gives it"
            scope.report.add("E104", said.place, "`...` stands for the fields of a record that is declared", hint)


def _compile_list(
    what: str, name: str, node: Map, scope: Scope, row_shape: RecordType, tracker: DependencyTracker
) -> AnswerKey | None:
    map_node = node.get("map")
    assert isinstance(map_node, Map)
    each = tracker.text(what, "each", node, scope)
    if each is None:
        return None
    listed = strip(each.shape)
    item = listed.item if isinstance(listed, ListOf) else row_shape
    item = item.shape if isinstance(item, Maybe) else item
    inside = scope.plus(item=item, page=ANY)
    fields: list[Field] = []
    for one in map_node:
        field = compile_field(one, SelectorLanguage("jmespath", {}), item, inside)
        if field:
            tracker.note(what, field.uses)
            fields.append(field)
    take = tracker.text(what, "take", node, scope)
    return AnswerKey(name, each, tuple(fields), take, may_be_null(each.shape))


def _name_sources(key: AnswerKey, node: Map, origins: Collection[str]) -> AnswerKey:
    """The key with what its fields are read from, where one of them says who gave which field of a row."""
    map_node = node.get("map")
    assert isinstance(map_node, Map)
    sources = [(entry.key, tuple(_read_from(entry.value))) for entry in map_node]
    telling = next((name for name, fields in sources if len(fields) == 1 and fields[0] in origins), "")
    if not telling:
        return key
    return replace(key, origins=telling, sources=tuple(one for one in sources if one[0] != telling))


def _read_from(node: Node) -> Iterator[str]:
    """The fields of a row that a mapped field is read from, in the order in which it names them."""
    at = node.get("at") if isinstance(node, Map) else node
    found: dict[str, None] = {}
    for one in at.items if isinstance(at, Listing) else (at,):
        text = one.value if isinstance(one, YamlScalar) else None
        tree = parse(text) if isinstance(text, str) and not text.startswith("=") else None
        if isinstance(tree, dict):
            found.update(dict.fromkeys(_fields_of(tree)))
    yield from found


_OF_THE_FIRST = frozenset({
    "subexpression", "index_expression", "projection", "value_projection", "filter_projection", "flatten", "pipe",
    "slice",
})  # fmt: skip
"""Expressions of which only the first part is about the row itself, and what follows about what came of it."""


def _fields_of(tree: Mapping[str, Any]) -> Iterator[str]:
    if tree["type"] == "field":
        yield str(tree["value"])
    elif tree["type"] != "expref":
        children = [one for one in tree.get("children", ()) if isinstance(one, dict)]
        for child in children[:1] if tree["type"] in _OF_THE_FIRST else children:
            yield from _fields_of(child)


_COLUMN = "rows[*]."


def find_row_keys(
    cursor: CursorInput, node: Map, answer: Iterable[AnswerKey], budget: Node | None, report: Report
) -> CursorInput:
    """The cursor with the keys of the answer that follow from its rows, so that it can stand at any of these.

    `node` are the inputs of the spec, of which the cursor may name these keys. It stands behind all rows where it names
    none and no key lists the rows as they are, or several do, and where none is the cursor alone.
    """
    keys = list(answer)
    check_keys(node, cursor.name, keys, report)
    lists = cursor.lists or tuple(
        key.name for key in keys if key.fields is not None and key.value.text == "rows" and key.take is None
    )
    values = {key.name: key.value.text for key in keys if key.fields is None}

    def named(text: str) -> tuple[str, ...]:
        return tuple(name for name, value in values.items() if value == text)

    following = named("next_cursor")
    if not lists or (len(lists) > 1 and not cursor.lists) or len(following) != 1:
        return replace(cursor, lists=())
    for item in maps_of(budget.get("cut") if isinstance(budget, Map) else None):
        said = to_plain(item)
        if said["of"] in lists and (said["to"] < 1 or said.keys() & {"keep", "last", "source"}):
            message = f"{said['of']!r} gives way from its end, where the cursor goes on, and one stays"
            report.add("E105", item.place, message, "write `to: 1` without `keep`, `last` and `source`")
    columns = [
        name for name, text in values.items() if text.startswith(_COLUMN) and text.removeprefix(_COLUMN).isidentifier()
    ]
    return replace(
        cursor,
        lists=lists,
        following=following[0],
        more=tuple(key.name for key in keys if key.fields is None and ("more_exists",) in key.value.uses),
        counts=(*cursor.counts, *named("length(rows)")),
        columns=tuple(columns),
    )


def check_keys(node: Map, name: str, answer: Iterable[AnswerKey], report: Report) -> None:
    """Report what a cursor names and the answer does not have."""
    said, known = node.get(name), [key.name for key in answer]
    for word in ("lists", "counts"):
        for item in scalars_of(said.get(word) if isinstance(said, Map) else None):
            if item.value not in known:
                message = f"the answer has no key {item.value!r}"
                report.add("E110", item.place, message, did_you_mean(str(item.value), known))


def compile_hints(
    node: Node | None, scope: Scope, inputs: Mapping[str, Input], tracker: DependencyTracker
) -> Hints | None:
    """What an empty answer says."""
    if not isinstance(node, Map):
        return None
    for key in ("filters", "always"):
        check_names(node.get(key), inputs, scope.report)
    advice: list[Advice] = []
    for item in maps_of(node.get("also")):
        said = to_plain(item)
        when = tracker.text("the hints", "when", item, scope)
        if when:
            more = (said.get(key, "") for key in ("reason", "parameter", "detail"))
            advice.append(Advice(when, said["action"], *more))
    plain = to_plain(node)
    return Hints(tuple(plain["filters"]), tuple(plain.get("always", ())), tuple(advice))


def compile_notices(node: Node | None, scope: Scope, tracker: DependencyTracker) -> tuple[tuple[Value, Value], ...]:
    """What is said at the head of an answer, each sentence behind when it is said."""
    found = []
    for item in maps_of(node):
        when, say = tracker.text("a notice", "when", item, scope), tracker.text("a notice", "say", item, scope)
        if when and say:
            found.append((when, say))
    return tuple(found)


def _told(answer: Iterable[AnswerKey]) -> RecordType:
    """The answer as those see it who come after it."""
    return RecordType({key.name: ANY if key.fields is not None else key.value.shape for key in answer})


def compile_recorded(node: Node | None, scope: Scope, answer: tuple[AnswerKey, ...]) -> Value | None:
    """The sources that a session records of an answer; None where they are the lists that it makes of rows."""
    sources = node.get("sources") if isinstance(node, Map) else None
    if sources is None:
        return None
    inside = whole({"answer": _told(answer), "rows": scope.names.fields["rows"]})
    return compile_text(sources, Scope(inside, scope.tables, scope.report))


def compile_link(node: Node | None, scope: Scope, answer: tuple[AnswerKey, ...]) -> LinkPolicy | None:
    """When an answer is linked, and what stands in its place; it is told from arguments and answer alone, because a
    kept answer is linked as well."""
    if not isinstance(node, Map):
        return None
    inside = _after_answer(scope, answer)
    summary, when = node.get("summary"), node.get("when")
    assert summary is not None
    said = compile_text(summary, inside)
    condition = compile_text(when, inside) if when is not None else None
    also = compile_pairs(node.get("also"), inside)
    return LinkPolicy(int(to_plain(node.get("above"))), said, condition, also) if said else None


def compile_verbatim(node: Node | None, scope: Scope, answer: tuple[AnswerKey, ...]) -> tuple[Pair, ...]:
    """The keys of an answer whose texts are not cleaned, each with when that is so."""
    return compile_pairs(node, _after_answer(scope, answer))


def _after_answer(scope: Scope, answer: tuple[AnswerKey, ...]) -> Scope:
    names = RecordType({"args": scope.names.fields["args"], "answer": _told(answer)})
    return Scope(names, scope.tables, scope.report)


# --- Compiles toolset files: what a client is told at the start about the tools of a folder, and their prompts --------


def compile_toolset(
    spec: Spec, tools: Mapping[str, Tool], written: Collection[str], prompts: Collection[str], report: Report
) -> Toolset:
    """A toolset, after a report of every name in it that no tool or none of the `prompts` has.

    `written` are the names of all tools, since one that does not compile has its own report.
    """
    own = [tool.name for tool in tools.values() if spec.name in tool.toolsets]
    is_whole = len(tools) == len(written) and not report.left_out
    if not own and is_whole:
        known = {name for tool in tools.values() for name in tool.toolsets}
        hint = did_you_mean(spec.name, known)
        report.add("E202", spec.place, f"no tool is in the toolset {spec.name!r}", hint)
    paragraphs = []
    for item in scalars_of(spec.root.get("instructions")):
        paragraphs.append(" ".join(str(item.value).split()))
        for name in NAMED_TOOL.findall(paragraphs[-1]):
            if own and name not in own and name not in report.left_out and (name in tools or name not in written):
                hint = did_you_mean(name, own)
                report.add("E202", item.place, f"there is no tool {name!r} in the toolset {spec.name!r}", hint)
    offered = []
    for item in scalars_of(spec.root.get("prompts")):
        offered.append(str(item.value))
        if offered[-1] not in prompts:
            report.add("E202", item.place, f"there is no prompt {item.value!r}", did_you_mean(offered[-1], prompts))
    shared_by = spec.root.get("shared_by")
    variable = str(shared_by.value) if isinstance(shared_by, YamlScalar) else ""
    return Toolset(spec.name, tuple(paragraphs), spec.place, tuple(offered), variable)
