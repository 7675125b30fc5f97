"""Compiles what a tool returns: its answer, the hints of an empty one, and what it refuses beforehand."""

from __future__ import annotations

from collections.abc import Mapping

from .fields import Language, compile_field
from .inputs import check_names
from .load_tree import Listing, Map, Node, Scalar, to_plain
from .model_tools import Advice, AnswerKey, Hints, Input, Link
from .model_values import Field, Value
from .shapes import ANY, ListOf, Maybe, Record, strip
from .tracker import Tracker
from .values import Scope, compile_pairs, compile_text


def compile_checks(node: Node | None, scope: Scope) -> tuple[tuple[Value, Value], ...]:
    """When a call is refused, each with its sentence. A refused call has no answer, so the cache need not know."""
    found = []
    for item in node.items if isinstance(node, Listing) else ():
        assert isinstance(item, Map)
        refuse, message = item.get("refuse_when"), item.get("message")
        if refuse is None or message is None:
            scope.report.add("E102", item.place, "a check needs `refuse_when` and `message`")
            continue
        pair = compile_text(refuse, scope), compile_text(message, scope)
        if pair[0] and pair[1]:
            found.append((pair[0], pair[1]))
    return tuple(found)


def compile_answer(
    node: Node | None, scope: Scope, row_shape: Record, tracker: Tracker
) -> tuple[tuple[AnswerKey, ...], Value | None]:
    """The keys of the answer, each a value or a list whose items are mapped; or the value that is the whole of it."""
    if isinstance(node, Scalar):
        value = tracker.value("the answer", node, scope)
        if value is not None and not isinstance(value.shape, Record):
            scope.report.add("E104", node.place, "an answer in one piece is the record of a procedure", "write =result")
        return (), value
    assert isinstance(node, Map)
    keys: list[AnswerKey] = []
    for entry in node:
        what = f"the answer's key {entry.key!r}"
        if isinstance(entry.value, Map):
            key = _compile_list(what, entry.key, entry.value, scope, row_shape, tracker)
        else:
            value = tracker.value(what, entry.value, scope)
            key = AnswerKey(entry.key, value) if value else None
        if key:
            keys.append(key)
    return tuple(keys), None


def _compile_list(
    what: str, name: str, node: Map, scope: Scope, row_shape: Record, tracker: Tracker
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
        field = compile_field(one, Language("jmespath", {}), item, inside)
        if field:
            tracker.note(what, field.uses)
            fields.append(field)
    return AnswerKey(name, each, tuple(fields), tracker.text(what, "take", node, scope))


def compile_hints(node: Node | None, scope: Scope, inputs: Mapping[str, Input], tracker: Tracker) -> Hints | None:
    """What an empty answer says."""
    if not isinstance(node, Map):
        return None
    for key in ("filters", "always"):
        check_names(node.get(key), inputs, scope.report)
    advice: list[Advice] = []
    also = node.get("also")
    for item in also.items if isinstance(also, Listing) else ():
        assert isinstance(item, Map)
        said = to_plain(item)
        when = tracker.text("the hints", "when", item, scope)
        if when:
            more = (said.get(key, "") for key in ("reason", "parameter", "detail"))
            advice.append(Advice(when, said["action"], *more))
    plain = to_plain(node)
    return Hints(tuple(plain["filters"]), tuple(plain.get("always", ())), tuple(advice))


def compile_link(node: Node | None, scope: Scope, answer: tuple[AnswerKey, ...]) -> Link | None:
    """When an answer is linked, and what stands in its place; it is told from arguments and answer alone, because a
    kept answer is linked as well."""
    if not isinstance(node, Map):
        return None
    shapes = {key.name: ANY if key.fields is not None else key.value.shape for key in answer}
    inside = Scope(Record({"args": scope.names.fields["args"], "answer": Record(shapes)}), scope.tables, scope.report)
    summary, when = node.get("summary"), node.get("when")
    assert summary is not None
    said = compile_text(summary, inside)
    condition = compile_text(when, inside) if when is not None else None
    also = compile_pairs(node.get("also"), inside)
    return Link(int(to_plain(node.get("above"))), said, condition, also) if said else None
