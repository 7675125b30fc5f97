"""Fits an answer to its budget of tokens, and renders it as the text that a model reads."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from specloom.core import Fault, count_tokens, cut_text, dataclass
from specloom.language import MISSING, Unworkable, evaluate, truthy
from specloom.model import BUDGET, HINTS, NOTICES, TRUST, Model, Shortening, Tool, has_window
from specloom.plugins import ENVELOPES

from .answer_parts import AnswerPart, find_part
from .answer_text import render_answer, to_words
from .arguments import Arguments
from .degradation import with_notices
from .truncation import ELLIPSIS, trim

if TYPE_CHECKING:
    from specloom.plugins import Artifact

    from .executor import Done, Executor

SLACK = 10
"""Tokens of a budget that are left free where the notices of what was cut were too much for it."""
LEAST_ROOM = 60
"""Tokens of a window at least."""
MOST_KEPT, MOST_CHARACTERS = 256, 32_768
"""Presented answers that are remembered, because kept answers are asked for again; and how long one of them may be."""
TOLERANCE = 10
"""An answer may be over its budget by one part in so many, before what no spec foresees is shortened."""
ARTIFACT_TYPE = "application/json"
UNTOLD = "This is told as data, because its text could not be made: a defect of the spec of this tool."


@dataclass(frozen=True, slots=True)
class Omission:
    """What was left out of an answer: of which key, how much of it is told of how much, and who reads it on."""

    of: str
    kept: int
    total: int
    unit: str
    """`items` or `characters`."""
    source: str = ""
    """The address under which a reader has the whole; empty for the answer's own."""
    called: str = ""
    """What a notice calls it; empty for the words of `of`."""
    which: str = "first"
    """Which items of a list are told: the `first`, the `last`, the `next`, or empty for those that the spec keeps."""
    goes_on: bool = False
    """The cursor of the answer stands at the first that is not told, so that a call has the others."""


_JOINTS = re.compile(r"[-_]+|(?<=[a-z])(?=[A-Z])")
NOTHING_CUT: tuple[Omission, ...] = ()


@dataclass(frozen=True, slots=True)
class Presented:
    """An answer as it is sent: JSON, text, and where the whole of it is kept."""

    body: str
    text: str | None
    """Markdown; None where the answer is told as JSON."""
    whole: Artifact | None = None
    cuts: tuple[Omission, ...] = NOTHING_CUT


class Presenter:
    """Presents the answers of one executor.

    `as_json` leaves the text of all answers JSON.
    """

    def __init__(self, executor: Executor, *, as_json: bool = False) -> None:
        self._executor = executor
        self._as_json = as_json
        self._kept: OrderedDict[tuple[str, str, bytes], Presented] = OrderedDict()

    def over(self, executor: Executor) -> Presenter:
        """The same for the answers of another executor."""
        return Presenter(executor, as_json=self._as_json)

    def present_now(self, name: str, done: Done) -> Presented | None:
        """The answer as it is sent; None where something was cut whose whole has to be kept first."""
        tool = self._executor.model.tools[name]
        if tool.envelope:
            told = self._present_text(tool, done)
            return None if _has_losses(told.cuts) else told
        if done.arguments is None or done.linked is not None or not (tool.text or tool.budget):
            return Presented(done.body, None)
        digest = hashlib.blake2b(done.body.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        key = (name, repr((done.arguments.given, done.arguments.requested, done.begin)), digest)
        presented = self._kept.get(key)
        if presented is not None:
            self._kept.move_to_end(key)
            return presented
        presented = self._present(tool, done.arguments, done)
        if _has_losses(presented.cuts):
            return None
        if len(presented.body) <= MOST_CHARACTERS:
            self._kept[key] = presented
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return presented

    async def present(self, name: str, done: Done, owner: str) -> Presented:
        """The answer as it is sent, its whole kept as an artifact where a part of it was cut that is nowhere else."""
        presented = self.present_now(name, done)
        if presented is not None:
            return presented
        assert done.arguments is not None
        tool, keeper, whole = self._executor.model.tools[name], self._executor.artifacts, None
        if keeper is not None and done.since in (None, self._executor.count_erasures()):
            # A store that is full costs the whole of an answer, and not the answer.
            with suppress(Fault):
                whole = await keeper.keep(owner, done.body, name=name, mime_type=ARTIFACT_TYPE)
        if tool.envelope:
            return self._present_text(tool, done, whole)
        return self._present(tool, done.arguments, done, whole)

    def _present_text(self, tool: Tool, done: Done, whole: Artifact | None = None) -> Presented:
        """An answer in an envelope: its data is whole, as its contract wants it, and its text within the budget."""
        if self._as_json or not tool.text:
            return Presented(done.body, None)
        if done.arguments is None:
            return Presented(done.body, tell_failure(tool, done.answer))
        try:
            text, cuts = tell_within(
                tool, self._executor.model, done.arguments, done.answer, done.aside, whole, begin=done.begin
            )
        except Unworkable:
            # What a spec cannot make a text of is no reason to lose the answer; the data of an envelope has no notices.
            return Presented(done.body, None)
        return Presented(done.body, text, whole, cuts)

    def _present(self, tool: Tool, arguments: Arguments, done: Done, whole: Artifact | None = None) -> Presented:
        model = self._executor.model
        answer, cuts = fit_to_budget(tool, model, arguments, done.answer, whole, body=done.body, begin=done.begin)
        text = None
        if tool.text and not self._as_json:
            try:
                text = to_text(tool, arguments, answer)
            except Unworkable:
                answer = with_notices(answer, [UNTOLD])
        is_changed = bool(cuts) or NOTICES in answer
        body = json.dumps(answer, ensure_ascii=False, separators=(",", ":")) if is_changed else done.body
        return Presented(body, text, whole, cuts)


def _has_losses(cuts: Iterable[Omission]) -> bool:
    """Whether something was cut that is nowhere else, so that the whole has to be kept."""
    return any(not cut.source and not cut.goes_on for cut in cuts)


def fit_to_budget(
    tool: Tool,
    model: Model,
    arguments: Arguments,
    answer: dict[str, Any],
    whole: Artifact | None = None,
    *,
    body: str = "",
    begin: str = "",
) -> tuple[dict[str, Any], tuple[Omission, ...]]:
    """The answer within the budget of its call, with notices of what was cut and moved; and what was cut.

    `whole` is where the uncut answer is kept, `body` is the answer as compact JSON where that is known, and `begin` the
    cursor at its first row, with which the answer ends where a row does not fit.
    """
    if tool.budget is None:
        return answer, NOTHING_CUT
    budget = int(arguments.given.get(BUDGET) or tool.budget.tokens)
    said = [*answer.get(NOTICES, ()), *say_bounds(tool, arguments)]
    if body and not said and count_tokens(body) <= budget - _NOTHING_SAID:
        return answer, NOTHING_CUT
    answer = {name: value for name, value in answer.items() if name != NOTICES}
    part = find_part(tool, model, arguments, answer, begin)
    fitted, cuts = fit(tool, arguments, answer, budget - _size(said), part=part)
    told = with_notices(fitted, [*said, *say_cuts(cuts, model, whole)])
    if cuts and (beyond := _size(told) - budget) > 0:
        # What is said of the cuts needs room as well.
        fitted, cuts = fit(tool, arguments, answer, budget - _size(said) - beyond - SLACK, part=part)
        told = with_notices(fitted, [*said, *say_cuts(cuts, model, whole)])
    return told, cuts


def tell_failure(tool: Tool, answer: Mapping[str, Any]) -> str | None:
    """A failure that an envelope tells, as Markdown; None where it is told as JSON."""
    tell = ENVELOPES[tool.envelope].text
    return tell(answer) if tell else None


def tell_within(
    tool: Tool,
    model: Model,
    arguments: Arguments,
    answer: Mapping[str, Any],
    aside: Sequence[str] = (),
    whole: Artifact | None = None,
    *,
    begin: str = "",
) -> tuple[str, tuple[Omission, ...]]:
    """An answer as Markdown within the budget of its call, with notices of what was cut and moved; and what was cut.

    A window of the text gives way first, and says itself how to read on. `aside` are the notices of the call, `whole`
    is where the answer is kept, `begin` the cursor at its first row.
    """
    said, room = [*aside, *say_bounds(tool, arguments)], 0

    def tell(shown: Mapping[str, Any], more: Sequence[str] = ()) -> str:
        return to_text(tool, arguments, with_notices(shown, [*said, *more]), room=room)

    def size(shown: Mapping[str, Any]) -> int:
        return count_tokens(tell(shown))

    if tool.budget is None or size(answer) <= (budget := int(arguments.given.get(BUDGET) or tool.budget.tokens)):
        return tell(answer), NOTHING_CUT
    if has_window(tool.text):
        room = LEAST_ROOM
        room += max(0, budget - size(answer))
        # It ends where a reader would pause, so what it has at least said little of what it will cost.
        room = max(LEAST_ROOM, room - max(0, size(answer) - budget))
    part = find_part(tool, model, arguments, answer, begin)
    shown, cuts = fit(tool, arguments, answer, budget, size, part=part)
    text = tell(shown, say_cuts(cuts, model, whole))
    if cuts and (beyond := count_tokens(text) - budget) > 0:
        # What is said of the cuts needs room as well.
        shown, cuts = fit(tool, arguments, answer, budget - beyond - SLACK, size, part=part)
        text = tell(shown, say_cuts(cuts, model, whole))
    return text, cuts


def to_text(tool: Tool, arguments: Arguments, answer: Mapping[str, Any], *, room: int = 0) -> str:
    """The answer as Markdown: what has to be known before it first, and behind it why nothing was found.

    A window is told in at most `room` tokens; 0 is no bound.
    """
    context = {"args": arguments.given, "requested": arguments.requested, "answer": answer}
    trust = answer.get(TRUST)
    before = [*answer.get(NOTICES, ()), *([f"{_to_words(trust).capitalize()}."] if trust else [])]
    parts = (
        "\n".join(f"> {sentence}" for sentence in before),
        render_answer(tool.text, context, room=room),
        "\n".join(say_hints(answer.get(HINTS) or {})),
    )
    return "\n\n".join(part for part in parts if part)


def say_hints(hints: Mapping[str, Any]) -> Iterator[str]:
    """Lines that explain an empty answer: why it may be, with which filters, what to try, and what it does not mean."""
    if reason := hints.get("reason"):
        filters = ", ".join(f"{name} = {value}" for name, value in (hints.get("filtersApplied") or {}).items())
        yield f"{_to_words(reason).capitalize()}{f': {filters}' if filters else ''}."
    for one in hints.get("suggestedActions") or ():
        said = " = ".join(str(one[key]) for key in ("parameter", "value") if key in one)
        yield "- " + (one.get("detail") or f"{_to_words(one['action'])}: {said}")
    if warning := hints.get("epistemicWarning"):
        yield warning


def _to_words(name: str) -> str:
    """A name of a key, a code or a value as people write it: `extraSnippets`, `no_match`, `user-asserted-content`."""
    return _JOINTS.sub(" ", name).lower()


# --- Fitting: what the spec says gives way first, as much as is needed ------------------------------------------------


def fit(
    tool: Tool,
    arguments: Arguments,
    answer: Mapping[str, Any],
    budget: int,
    size: Callable[[Mapping[str, Any]], int] | None = None,
    *,
    part: AnswerPart | None = None,
) -> tuple[dict[str, Any], tuple[Omission, ...]]:
    """The answer shortened until it has at most so many tokens; and what was cut.

    Without a `size` that is as JSON, and so as text too. With a `part` the cursor stands at the first row that was cut.
    """
    assert tool.budget is not None
    size = size or _size
    answer = dict(answer)
    if size(answer) <= budget:
        return answer, ()
    whole = answer
    cuts: dict[str, Shortening] = {}
    for step in tool.budget.cut:
        longest = _longest(answer, step)
        if longest <= step.to or not _gives_way(step, answer, arguments):
            continue
        shorten = part.take if part is not None and step.of == part.rows else functools.partial(_shorten, tool, step)
        shortened, low, high = shorten(answer, step.to), step.to, longest
        if size(shortened) <= budget:
            # The most that fits lies between what fits and what does not.
            while high - low > max(1, low // 40):
                middle = (low + high) // 2
                tried = shorten(answer, middle)
                if size(tried) <= budget:
                    shortened, low = tried, middle
                else:
                    high = middle
        # What gives way twice is told once, and last: of how much there was at first.
        cuts.pop(step.of, None)
        cuts[step.of] = step
        answer = shortened
        if size(answer) <= budget:
            break
    if size(answer) > budget + budget // TOLERANCE:
        before = answer
        answer, trimmed = trim(tool, answer, budget, size)
        if part is not None:
            answer = part.restore(before, answer)
            trimmed = [of for of in trimmed if of not in part.following]
        cuts |= {of: Shortening(*of.partition(".")[::2], 0) for of in trimmed if of not in cuts}
    return answer, tuple(_to_omission(step, whole, answer, arguments, part) for step in cuts.values())


def _gives_way(step: Shortening, answer: Mapping[str, Any], arguments: Arguments) -> bool:
    return step.when is None or truthy(evaluate(step.when, {"args": arguments.given, "answer": answer}))


def _size(answer: Mapping[str, Any] | list[str]) -> int:
    """Tokens of an answer as JSON. Its text repeats less of it, so an answer that fits so does in both forms."""
    return count_tokens(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


_NOTHING_SAID = _size([])
"""Tokens of no notices."""


def _values(answer: Mapping[str, Any], step: Shortening) -> list[Any]:
    """What a step shortens: the value of a key, or that of a field in each row under it."""
    value = answer.get(step.key)
    if not step.field:
        return [value]
    rows = value if isinstance(value, list) else [value]
    return [row.get(step.field) for row in rows if isinstance(row, dict)]


def _longest(answer: Mapping[str, Any], step: Shortening) -> int:
    return max((len(value) for value in _values(answer, step) if isinstance(value, (str, list))), default=0)


def _is_required(tool: Tool, step: Shortening) -> bool:
    """Whether the published schema wants the field in every row, so that it stays although it is empty."""
    rows = tool.output_schema.get("properties", {}).get(step.key, {})
    return step.field in rows.get("items", rows).get("required", ())


def _shorten(tool: Tool, step: Shortening, answer: Mapping[str, Any], most: int) -> dict[str, Any]:
    """A copy of the answer in which nothing that the step is about is longer: items of a list, characters of a text.

    A field of which nothing is left is left out, but where it is required.
    """
    is_required = _is_required(tool, step)

    def short(value: Any) -> Any:
        if isinstance(value, str) and step.source is None and len(value) > most:
            return f"{cut_text(value, most)}{ELLIPSIS}" if most else ""
        if isinstance(value, str):
            # A reader goes on where it ends, so nothing is put behind it.
            return cut_text(value, most)
        return _cut_list(value, most, step) if isinstance(value, list) else value

    value = answer.get(step.key)
    if not step.field:
        changed = short(value)
    elif isinstance(value, list):
        changed = [_with_field(row, step.field, short, is_required=is_required) for row in value]
    else:
        changed = _with_field(value, step.field, short, is_required=is_required)
    return {**answer, step.key: changed}


def _cut_list(items: list[Any], most: int, step: Shortening) -> list[Any]:
    """So many items of a list, in their order: those that the step keeps before the others, and of each the first."""
    if step.last:
        return items[max(0, len(items) - most) :]
    if step.keep is None or len(items) <= most:
        return items[:most]
    keep = step.keep
    last = [not truthy(evaluate(keep, {"item": item})) for item in items]
    chosen = sorted(sorted(range(len(items)), key=last.__getitem__)[:most])
    return [items[at] for at in chosen]


def _with_field(row: Any, name: str, short: Callable[[Any], Any], *, is_required: bool) -> Any:
    if not isinstance(row, dict) or row.get(name) is None:
        return row
    value = short(row[name])
    if value in MISSING and not is_required:
        return {key: one for key, one in row.items() if key != name}
    return {**row, name: value}


def _to_omission(
    step: Shortening,
    whole: Mapping[str, Any],
    shortened: Mapping[str, Any],
    arguments: Arguments,
    part: AnswerPart | None,
) -> Omission:
    if part is not None and step.of == part.rows:
        kept, told = len(shortened[step.key]), part.begin.told
        which = "next" if told else "first"
        return Omission(step.of, kept, told + len(whole[step.key]), "items", "", step.called, which, goes_on=True)
    before, after = (_values(one, step)[0] if not step.field else None for one in (whole, shortened))
    source = ""
    if step.source is not None:
        source = str(evaluate(step.source, {"args": arguments.given, "answer": whole}) or "")
    unit = "characters" if isinstance(before, str) else "items"
    return Omission(
        step.of,
        len(after) if isinstance(after, (str, list)) else 0,
        len(before) if isinstance(before, (str, list)) else 0,
        unit,
        source,
        step.called,
        "last" if step.last else "first" if step.keep is None else "",
    )


# --- What is said before an answer: what was cut and how to read on, and which numbers were moved to a bound ----------


def say_cuts(cuts: tuple[Omission, ...], model: Model, whole: Artifact | None) -> list[str]:
    """A sentence for what was left out, and the call that reads on where a tool does; the same call is said once."""
    sentences = []
    calls = [_reading_call(model, cut.source or (whole.uri if whole else ""), cut) for cut in cuts]
    for at, cut in enumerate(cuts):
        reads = calls[at] if calls[at] not in calls[at + 1 :] else ""
        key, _, field = map(_to_words, cut.of.partition("."))
        called = cut.called or (f"{field} of {key}" if field else key)
        if field:
            sentences.append(f"Shortened: {called}{reads}.")
        elif cut.unit == "items":
            sentences.append(f"Here {_are(cut)} of {cut.total:,} {called}{reads}.")
        else:
            sentences.append(f"Here are the first {cut.kept:,} of {cut.total:,} characters of {called}{reads}.")
    return sentences


def _are(cut: Omission) -> str:
    if not cut.kept:
        return "is none"
    which = f"the {cut.which} " if cut.which else ""
    return f"is {which or '1 '}".rstrip() if cut.kept == 1 else f"are {which}{cut.kept:,}"


def _reading_call(model: Model, source: str, cut: Omission) -> str:
    tool = model.reader
    if cut.goes_on:
        return f"; the cursor goes on behind {'it' if cut.kept == 1 else 'them'}"
    if tool is None or not source:
        return ""
    assert tool.reads is not None
    arguments: dict[str, Any] = {tool.reads.source: source}
    if cut.unit == "characters" and cut.source:
        arguments[tool.reads.offset] = cut.kept
    return f"; go on with {tool.name} {json.dumps(arguments, ensure_ascii=False)}"


def say_bounds(tool: Tool, arguments: Arguments) -> list[str]:
    """A sentence for each number of the caller that was moved to its bound."""
    sentences = []
    for name, value in arguments.requested.items():
        one = tool.inputs[name]
        bound = arguments.given[name]
        word = "least" if one.minimum is not None and bound == one.minimum else "most"
        sentences.append(f"{name} is {to_words(bound)}, not {to_words(value)}: that is the {word}.")
    return sentences
