"""Cursors: opaque texts by which a caller goes on where an answer has ended. Nothing of them is kept on this side.

A cursor carries values of declared parameters, never an address, and each is held against its spec, so that whoever
makes one up can do no more with it than with an argument. It has no clock and no counter: the same call gives the same
cursor, so that a page that was asked for before is found in the cache.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from specloom.core import Fault, PagePosition, replace
from specloom.model import BUDGET, Model, Strategy, Tool
from specloom.plugins import PROCEDURES

from .arguments import Arguments
from .plan import AnswerEnd, PlanRun, ProviderOutcome, Run
from .request import is_page

VERSION = 1
LONGEST = 2_000
"""Characters of a cursor."""
_DIGITS = 6
"""Hexadecimal digits of the digest of what was asked, and of that of the cursor itself."""
_MARK, _TOLD_ROOM = 4, 12
"""Characters of a mark of what was given before, and those left free for the number of rows told of an answer."""
_SEEN = re.compile(r"(?:[A-Za-z0-9_-]{4}){0,340}")
_FORM = re.compile(r"[A-Za-z0-9_-]+")
_MOST_PROVIDERS = 16
_RETRIED, _WAITING = 1, 2
"""States of a position: its provider failed when it was asked last, or is not asked before this round was told."""
_LONGEST_POSITION = 4
"""Provider, page, rows of it that were given, and state."""
_MOST = 100_000
"""Rows that a page can have been cut at, far above what any has."""


# --- How a plan goes on with an answer, and where its own ends -------------------------------------------------------


def take_up(tool: Tool, model: Model, arguments: Arguments) -> tuple[Arguments, AnswerEnd | None]:
    """The arguments of a call with as many rows a page as its answer began with, and where that has ended."""
    text = arguments.given.get(tool.cursor.name) if tool.cursor is not None else None
    if tool.cursor is None or not text:
        return arguments, None
    cursor = read_cursor(tool, arguments.given, str(text), model)
    size, requested = tool.cursor.size, arguments.requested
    if not size:
        return arguments, cursor
    if size in arguments.explicit and arguments.given[size] != cursor.size:
        requested = {size: arguments.given[size], **requested}
    given = {name: value for name, value in arguments.given.items() if name != size}
    if cursor.size is not None:
        given[size] = cursor.size
    return replace(arguments, given=given, requested=requested), cursor


def asked_again(cursor: AnswerEnd, names: Sequence[str]) -> list[str]:
    """Those who gave the rows so far; nobody else's further pages would belong to them."""
    wanted = [name for name, _ in cursor.positions if name in names]
    if len(wanted) < len(cursor.positions):
        lacking = [name for name, _ in cursor.positions if name not in wanted]
        sentence = f"the next page can only come from {' and '.join(lacking)}, not asked here any more"
        raise Fault("validation", f"{sentence}; leave the cursor out to begin anew", action="fix_arguments")
    return wanted


def paged_operation(strategy: Strategy) -> str:
    """The capability of the question of a strategy that a caller goes on with; "" for none."""
    return PROCEDURES[strategy.hook].pages if strategy.kind == "procedure" else strategy.operation


def find_position(run: Run | None, names: Sequence[str]) -> tuple[list[str], PagePosition | None]:
    """Whom the question of a procedure that can be gone on with is asked, and from where on; None for any other."""
    if run is None or not run.can_resume:
        return [*names], None
    if run.cursor is None:
        return [*names], PagePosition()
    return asked_again(run.cursor, names), run.cursor.positions[0][1]


def tell_unresumed(run: PlanRun) -> Fault:
    """Why an answer cannot be gone on with now: how whoever gave it failed, or that nobody is asked so any more."""
    assert run.cursor is not None
    failed = run.outcome.failed[-1:]
    if not failed:
        return _refused(run.tool)
    names = " and ".join(name for name, _ in run.cursor.positions)
    sentence = f"{failed[0].message.rstrip('.')}; the next page can only come from {names}"
    return failed[0].told_as(message=f"{sentence}: try again later, or leave the cursor out to begin anew with others")


def tell_lacking(fault: Fault, names: Sequence[str]) -> Fault:
    """Why what is left of rows that were merged cannot be told now: these providers, who gave some of them, failed."""
    sentence = f"what is left of these rows can only be told where {' and '.join(names)} can be asked again"
    begin = f"{fault.message.rstrip('.')}; {sentence}"
    return fault.told_as(message=f"{begin}: try again later, or leave the cursor out to begin anew")


def find_begin(run: PlanRun, given: Mapping[str, Any]) -> AnswerEnd | None:
    """Where this part began, held to whoever gave it; None where nobody has pages."""
    tool, outcome, cursor = run.tool, run.outcome, run.cursor
    assert tool.cursor is not None
    if not outcome.pages:
        return None
    positions = tuple((name, begin) for name, begin, _ in outcome.pages)
    size = given.get(tool.cursor.size) if tool.cursor.size else None
    offset, seen = (cursor.offset, cursor.seen) if cursor is not None else (0, "")
    retried = cursor.retried & {name for name, _ in positions} if cursor is not None else frozenset[str]()
    waiting = tuple(outcome.waiting.items())
    return AnswerEnd(
        outcome.strategy, positions, offset, size, outcome.is_again, seen, retried=retried, waiting=waiting
    )


def find_next(run: PlanRun, offset: int, given: Mapping[str, Any]) -> AnswerEnd | None:
    """Where the next part begins: in the middle of what came, with so many rows of it given, or behind it.

    Who failed beside others is asked again behind it, from where they were.
    """
    tool, outcome = run.tool, run.outcome
    assert tool.cursor is not None
    waiting = tuple(outcome.waiting.items())
    retried: frozenset[str] = frozenset()
    if offset:
        positions = tuple((name, begin) for name, begin, _ in outcome.pages)
    else:
        positions = tuple((name, answer.following) for name, _, answer in outcome.pages if answer.following is not None)
        positions, waiting, retried = positions + waiting, (), frozenset(outcome.waiting)
    if not positions:
        return None
    size = given.get(tool.cursor.size) if tool.cursor.size else None
    seen = run.cursor.seen if run.cursor is not None else ""
    if not offset and outcome.marks and tool.plan[outcome.strategy].kind == "gather":
        from .merge import join_marks

        # A thing that one provider gives now another one may give later.
        seen = join_marks(seen, outcome.marks)
    return AnswerEnd(
        outcome.strategy, positions, offset, size, outcome.is_again, seen, retried=retried, waiting=waiting
    )


def find_more(outcome: ProviderOutcome) -> bool | None:
    """Whether there are further rows, whether or not a call can have them; None where nobody says."""
    if outcome.cursor is not None and outcome.cursor.offset:
        return True
    known = [answer.has_more for _, _, answer in outcome.pages]
    if any(known):
        return True
    if outcome.waiting:
        return None
    return False if known and None not in known else None


def note_end(run: PlanRun, arguments: Arguments, shown: int) -> None:
    """Tell whoever asked for more rows than there are what is in the way, and whoever changed their number that it
    stays."""
    tool, outcome = run.tool, run.outcome
    assert tool.cursor is not None
    size = tool.cursor.size
    if run.cursor is not None and arguments.requested.get(size, run.cursor.size) != run.cursor.size:
        began = "" if run.cursor.size is None else f", {run.cursor.size}"
        outcome.notices.append(f"A search that is gone on with keeps its {size}{began}.")
    wanted = arguments.given.get(size, 0) if size in arguments.explicit else 0
    if not shown or shown >= wanted or outcome.cursor is not None:
        return
    for name, _, answer in outcome.pages:
        operation = run.model.providers[name].operations[outcome.operation]
        title = run.model.heads.providers[name].title
        if operation.paging is None and answer.rows:
            outcome.notices.append(f"{title} has no further pages that can be asked for: {shown} of {wanted}.")
        elif answer.has_more:
            outcome.notices.append(f"{title} has more that no further page of it gives; narrow the question to see it.")


# --- What a cursor says, and how it is written ------------------------------------------------------------------------


def write_cursor(tool: Tool, given: Mapping[str, Any], cursor: AnswerEnd) -> str:
    """The cursor as text, for the same question alone. It passes through a model twice, so it is short."""
    return write_cursors(tool, given, [cursor])[0]


def write_cursors(tool: Tool, given: Mapping[str, Any], cursors: Iterable[AnswerEnd | None]) -> list[str]:
    """Several cursors of one question, each as text; "" where there is none."""
    question = _digest_question(tool, given)
    return ["" if cursor is None else _to_text(question, cursor) for cursor in cursors]


def _to_text(question: str, cursor: AnswerEnd) -> str:
    positions = [_write_position(name, at, _RETRIED if name in cursor.retried else 0) for name, at in cursor.positions]
    positions += [_write_position(name, at, _WAITING) for name, at in cursor.waiting]
    fields = [cursor.strategy, cursor.offset, cursor.size or 0, int(cursor.is_again)]
    fields += [cursor.told] if cursor.told else []
    head, seen = [VERSION, question, *fields], cursor.seen
    text = _write([*head, *([seen] if seen else []), *positions])
    # A part of an answer has the marks of the whole, so room is left for how much of it was told.
    beyond = len(text) - (LONGEST if cursor.told else LONGEST - _TOLD_ROOM)
    if seen and beyond > 0:
        seen = seen[-(-beyond // _MARK) * _MARK :]
        text = _write([*head, *([seen] if seen else []), *positions])
    return text


def _write_position(name: str, at: PagePosition, state: int) -> list[Any]:
    if state:
        return [name, at.page, at.skip, state]
    return [name, at.page, at.skip] if at.skip else [name, at.page]


def _write(content: list[Any]) -> str:
    """A list with its digest as its last item."""
    written = _to_json(content)
    sealed = written[:-1] + f',"{_digest(written)}"]'.encode()
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def read_cursor(tool: Tool, given: Mapping[str, Any], text: str, model: Model) -> AnswerEnd:
    """What a cursor says, or a `validation` fault: for one that was made up, cut off, or given to another question."""
    version, question, at, offset, size, again, *pairs = _parse(tool, text)
    told = pairs.pop(0) if len(pairs) > 1 and not isinstance(pairs[0], str | list) else 0
    if version != VERSION or question != _digest_question(tool, given):
        raise _refused(tool, "it belongs to a call with other arguments or of another tool; repeat those it came from")
    if not all(_is_count(one) for one in (at, offset, size, again, told)) or at >= len(tool.plan):
        raise _refused(tool)
    seen = pairs.pop(0) if isinstance(pairs[0], str) else ""
    if not 0 < len(pairs) <= _MOST_PROVIDERS or not _SEEN.fullmatch(seen):
        raise _refused(tool)
    strategy = tool.plan[at]
    is_resumable = strategy.kind in ("call", "first_of", "gather", "procedure") and paged_operation(strategy)
    if not is_resumable or (len(pairs) > 1 and strategy.kind != "gather"):
        raise _refused(tool)
    if again and strategy.again is None:
        raise _refused(tool)
    read = [_to_position(tool, strategy, pair, model) for pair in pairs]
    positions = tuple((name, position) for name, position, state in read if state != _WAITING)
    if len({name for name, *_ in read}) < len(read) or not positions:
        raise _refused(tool)
    waiting = tuple((name, position) for name, position, state in read if state == _WAITING)
    retried = frozenset(name for name, _, state in read if state == _RETRIED)
    return AnswerEnd(at, positions, offset, _bound_size(tool, size), bool(again), seen, told, retried, waiting)


_FIELDS = 7
"""Fewest items of a cursor, without its own digest: version, question, four numbers and a position."""


def _parse(tool: Tool, text: str) -> list[Any]:
    """The content of a cursor that is whole."""
    if len(text) > LONGEST or not _FORM.fullmatch(text):
        raise _refused(tool)
    try:
        written = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        content = json.loads(written)
    except (ValueError, RecursionError):
        raise _refused(tool) from None
    # What is written in another way than here was not written here.
    if not isinstance(content, list) or len(content) <= _FIELDS or _to_json(content) != written:
        raise _refused(tool)
    *content, seal = content
    if seal != _digest(_to_json(content)):
        raise _refused(tool)
    return content


def _to_position(tool: Tool, strategy: Strategy, pair: Any, model: Model) -> tuple[str, PagePosition, int]:
    if not isinstance(pair, list) or not 2 <= len(pair) <= _LONGEST_POSITION:
        raise _refused(tool)
    name, page, skip, state = (*pair, 0, 0)[:_LONGEST_POSITION]
    if not isinstance(name, str) or not isinstance(page, str) or not _is_count(skip) or not _is_count(state):
        raise _refused(tool)
    if state > _WAITING or (state and strategy.kind != "gather"):
        raise _refused(tool)
    operation = paged_operation(strategy)
    if name not in model.heads.offering(operation):
        raise _refused(tool, "whoever gave it is not among those that are asked here")
    paging = model.providers[name].operations[operation].paging
    if paging is None:
        if page or skip:
            raise _refused(tool)
    elif not is_page(paging, page):
        raise _refused(tool)
    return name, PagePosition(page, skip), state


def _bound_size(tool: Tool, size: int) -> int | None:
    """How many rows a page has, within the bounds of the input that says so; None where that was left to the tool."""
    assert tool.cursor is not None
    if not tool.cursor.size:
        return None
    bounds = tool.inputs[tool.cursor.size]
    if not size and bounds.default is None:
        return None
    if size < (bounds.minimum or 1) or (bounds.maximum is not None and size > bounds.maximum):
        raise _refused(tool)
    return size


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST


def _digest_question(tool: Tool, given: Mapping[str, Any]) -> str:
    """A digest of what was asked of which version of a tool, without how many rows and what changes nothing."""
    assert tool.cursor is not None
    beside = {tool.cursor.name, tool.cursor.size, BUDGET, *(tool.cache.ignore if tool.cache else ())}
    asked = {name: value for name, value in given.items() if name not in beside}
    return _digest(_to_json([tool.name, tool.cache.shape if tool.cache else 0, asked]))


def _digest(written: bytes) -> str:
    return hashlib.sha256(written).hexdigest()[:_DIGITS]


def _to_json(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode()


def _refused(tool: Tool, why: str = "") -> Fault:
    assert tool.cursor is not None
    name = tool.cursor.name
    reason = why or f"{tool.name} has given none like it"
    sentence = f"{name} cannot be gone on with: {reason}; leave {name} out to begin anew"
    detail = f"argument {name} of {tool.name}"
    return Fault("validation", sentence, action="fix_arguments", argument=name, detail=detail)
