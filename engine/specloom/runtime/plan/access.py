"""Reads and writes declared collections for a plan, each only for an owner who has agreed to what is kept in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.language import Bindings, Layer, how_many
from specloom.language.evaluate import evaluate
from specloom.model import Access, Pair, Row
from specloom.plugins import NOT_MEMBER, REASONS, find_refusal, is_member

from .effects import Run

if TYPE_CHECKING:
    from specloom.plugins import Collection, Context, Item


def reach(access: Access, scope: Bindings) -> Run:
    """What reaches into a collection, with everything that is worked out before it is read or written."""
    given: dict[str, Any] = {
        "collection": access.collection,
        "space": evaluate(access.space, scope) if access.space else "",
        "key": _to_key(evaluate(access.key, scope)) if access.key else "",
    }
    if access.kind == "save":
        return Run("save", given | {"access": access, "scope": scope}, _save)
    where = {name: evaluate(value, scope) for name, value in access.where}
    given["where"] = {name: str(text) for name, text in where.items() if text is not None}
    given["about"] = evaluate(access.about, scope) if access.about else None
    given["take"] = how_many(access.take, scope) if access.take else None
    return Run("recall", given, _recall)


def _to_key(value: Any) -> str:
    return "\0".join(map(str, value)) if isinstance(value, list) else str(value)


async def _recall(context: Context, given: Mapping[str, Any]) -> Row:
    collection = context.state(given["collection"], space=given["space"])
    if refusal := await _find_refusal(context, collection, given["space"]):
        return refusal
    limit = collection.spec.max_items if given["take"] is None else given["take"]
    items: list[Item]
    if given["key"]:
        item = await collection.get(given["key"])
        items = [item] if item else []
    elif given["about"]:
        found = await collection.search(given["about"], where=given["where"], limit=limit)
        items = [one.item for one in found]
    else:
        items = await collection.items(where=given["where"], limit=limit)
    return {"status": "ok", "reason": None, "rows": [dict(item.value) for item in items]}


async def _save(context: Context, given: Mapping[str, Any]) -> Row:
    collection, access = context.state(given["collection"], space=given["space"]), given["access"]
    if refusal := await _find_refusal(context, collection, given["space"]):
        return {**refusal, "was": None}
    key = given["key"] or context.new_id()
    written: dict[str, Any] = {}

    def change(value: Any) -> Any:
        inside = Layer(given["scope"], key=key, was=value)
        written["was"] = value
        written["row"] = None if value is None and access.only_there else _make(access.value, inside)
        return written["row"]

    lasts = evaluate(access.lasts, given["scope"]) if access.lasts else None
    await collection.update(key, change, lasts=lasts)
    rows = [written["row"]] if written["row"] is not None else []
    return {"status": "ok", "reason": None, "rows": rows, "was": written["was"]}


def _make(pairs: tuple[Pair, ...], scope: Bindings) -> Row:
    made = {name: evaluate(value, scope) for name, value in pairs}
    return {name: value for name, value in made.items() if value is not None}


async def _find_refusal(context: Context, collection: Collection, space: str) -> Row | None:
    """Why nothing of the caller may be read or written there, as what the part holds; None when it may."""
    spec, owner = collection.spec, context.owner
    if spec.consent and (refusal := await find_refusal(context.state("consents"), owner, spec.consent)):
        return {"status": refusal, "reason": REASONS[refusal], "rows": []}
    if spec.scope == "shared" and not await is_member(context.state("members", space=space), owner):
        return {"status": "not_member", "reason": NOT_MEMBER, "rows": []}
    return None
