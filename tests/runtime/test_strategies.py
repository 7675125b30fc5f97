"""Plans as they run: who is asked, what leads to the next one, what an empty answer says; driven with answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Answer
from specloom.plugins.registry import HOOKS
from specloom.runtime.arguments import parse_arguments
from specloom.runtime.notices import none_configured, tell_all
from specloom.runtime.plan import Ask, AskAll, Offer, ProviderOutcome
from specloom.runtime.stages import dedupe, sort
from specloom.runtime.strategies import pursue
from tests.support.spec_library import NAMES, NOW, OTHERS, a_tool, weave_texts

MORE = (
    "num_results: {type: integer, default: 5, description: How many.}\nprovider: {type: string, "
    "enum: providers.find, open: true, description: Whom.}\n"
)
PLAN = """\
- name: the one that was asked for
  when: args.provider
  call: {provider: =args.provider, operation: find}
  on: {error: stop}
- name: the route
  when: "!(args.provider)"
  first_of: {providers: =route.find, operation: find%s}
  on: {%s}
"""
ROUTE = PLAN % ("", "error: next, empty: next")


@dataclass
class Pursued:
    """Who was asked with what, and how it ended."""

    asked: list[Ask] = field(default_factory=list)
    together: int = 0
    outcome: ProviderOutcome | None = None
    fault: Fault | None = None

    @property
    def names(self) -> list[str]:
        return [ask.provider for ask in self.asked]

    @property
    def urls(self) -> list[str]:
        assert self.outcome is not None, self.fault
        return [row["url"] for row in self.outcome.rows]


def rows(*names: str) -> Answer:
    return Answer([{"url": name} for name in names])


def run(
    answers: dict[str, Any],
    *,
    plan: str = ROUTE,
    configured: tuple[str, ...] = NAMES,
    resting: frozenset[str] = frozenset(),
    args: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
    **parts: str,
) -> Pursued:
    """`answers` is by provider: an Answer, a Fault, or a list of them for several calls."""
    woven = weave_texts(a_tool(plan=plan, **{"inputs": MORE, **parts}), *OTHERS)
    tool = woven.tool()
    missing = {name: (f"{name.upper()}_KEY",) for name in NAMES if name not in configured}
    offer = Offer({"find": tuple(one for one in NAMES if one in configured)}, frozenset(configured), missing, resting)
    found = Pursued()

    def answer(ask: Ask) -> Answer | Fault:
        found.asked.append(ask)
        one: Answer | Fault | list[Answer | Fault] = answers[ask.provider]
        return one.pop(0) if isinstance(one, list) else one

    try:
        running = pursue(
            tool, woven.model, parse_arguments(tool, {"query": "x", **(args or {})}), config or {}, offer, NOW
        )
        wanted = next(running)
        while True:
            if isinstance(wanted, AskAll):
                found.together = len(wanted.asks)
                wanted = running.send([answer(ask) for ask in wanted.asks])
                continue
            given = answer(wanted)
            wanted = running.throw(given) if isinstance(given, Fault) else running.send(given)
    except StopIteration as stop:
        found.outcome = stop.value
    except Fault as fault:
        found.fault = fault
    return found


def broken(name: str, kind: str = "upstream_unavailable", **more: Any) -> Fault:
    return Fault(kind, f"{name} is down", provider=name, **more)


# --- who is asked ---------------------------------------------------------------------------------------------------


def test_the_first_that_answers_serves() -> None:
    found = run({"one": rows("a")})

    assert (found.names, found.urls) == (["one"], ["a"])
    assert found.outcome is not None
    assert (found.outcome.served_by, found.outcome.fallback_reason) == ("one", "")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("upstream_unavailable", "primary_unavailable"),
        ("circuit_open", "circuit_open"),
        ("quota_exhausted", "primary_unavailable"),
    ],
)
def test_a_fault_leads_to_the_next(kind: str, reason: str) -> None:
    found = run({"one": broken("one", kind), "two": rows("b")})

    assert (found.names, found.urls) == (["one", "two"], ["b"])
    assert found.outcome is not None
    assert (found.outcome.served_by, found.outcome.fallback_reason) == ("two", reason)


def test_an_empty_answer_leads_to_the_next_and_is_the_answer_when_all_are_empty() -> None:
    assert run({"one": rows(), "two": rows("b")}).urls == ["b"]

    found = run({"one": rows(), "two": broken("two"), "three": rows()})
    assert (found.names, found.urls) == (["one", "two", "three"], [])
    assert found.outcome is not None
    assert found.outcome.served_by == "one"


def test_who_had_nothing_to_ask_for_does_not_hide_that_the_others_failed() -> None:
    silent = Answer(asked=False)
    broken = Fault("upstream_unavailable", "it is gone")

    found = run({"one": broken, "two": silent, "three": broken})
    alone = run({"one": silent, "two": silent, "three": silent}, plan=PLAN % ("", "error: next, empty: stop"))
    beside = run({"one": broken, "two": silent, "three": rows()})

    assert found.fault is not None
    assert found.fault.kind == "upstream_unavailable"
    for empty in (alone, beside):
        assert empty.outcome is not None
        assert empty.urls == []
    assert alone.names == list(NAMES)


def test_in_a_gathering_who_had_nothing_to_ask_for_does_not_hide_that_the_others_failed() -> None:
    plan = "- name: all\n  gather: {providers: =route.find, operation: find}\n  on: {error: next, empty: next}\n"
    broken = Fault("upstream_unavailable", "it is gone")

    found = run({"one": broken, "two": Answer(asked=False), "three": broken}, plan=plan)
    beside = run({"one": broken, "two": Answer(asked=False), "three": rows()}, plan=plan)

    assert found.fault is not None
    assert beside.outcome is not None


def test_an_empty_answer_stops_where_the_spec_says_so() -> None:
    assert run({"one": rows()}, plan=PLAN % ("", "error: next, empty: stop")).names == ["one"]


def test_an_outcome_of_one_kind_goes_before_that_of_all_errors() -> None:
    found = run({"one": broken("one", "bad_request")}, plan=PLAN % ("", "error: next, bad_request: stop"))

    assert found.names == ["one"]
    assert found.fault is not None
    assert found.fault.kind == "bad_request"


def test_when_all_fail_one_fault_tells_of_the_others() -> None:
    found = run(
        {
            "one": broken("one", retry_after=9),
            "two": broken("two", "rate_limited", retry_after=7),
            "three": broken("three", "blocked"),
        }
    )

    assert found.fault is not None
    assert (found.fault.kind, found.fault.provider, found.fault.retry_after) == ("rate_limited", "two", 7)
    assert found.fault.detail == "one: one is down; two: two is down; three: three is down"


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        (("network", "auth_required", "rate_limited"), "two"),
        (("rate_limited", "network", "not_in_plan"), "three"),
        (("upstream_unavailable", "bad_request", "quota_exhausted"), "two"),
        (("not_found", "network", "internal"), "two"),
        (("blocked", "not_found", "content_empty"), "one"),
        (("network", "network", "network"), "one"),
        (("auth_required", "auth_required", "config"), "one"),
    ],
)
def test_when_all_fail_the_fault_that_somebody_can_mend_is_told_first(kinds: tuple[str, ...], told: str) -> None:
    found = run({name: broken(name, kind) for name, kind in zip(NAMES, kinds, strict=True)})

    assert found.fault is not None
    assert found.fault.provider == told
    assert found.fault.message.startswith(f"{told} is down; no answer either from ")
    assert found.fault.action == Fault(kinds[NAMES.index(told)], "").action
    assert found.fault.detail == "one: one is down; two: two is down; three: three is down"


def test_one_that_failed_alone_is_told_in_its_own_words() -> None:
    fault = tell_all([Fault("network", "one is down.", provider="one")] * 2)

    assert fault.message == "one is down."


def test_of_many_that_failed_a_handful_is_named_and_the_rest_is_counted() -> None:
    fault = tell_all([Fault("network", "p0 is down.", provider=f"p{number}", late=number == 2) for number in range(9)])

    assert fault.message == (
        "p0 is down; no answer either from p1: could not be reached, p2: did not answer in time, "
        "p3: could not be reached, p4: could not be reached, p5: could not be reached, and 3 more"
    )
    assert fault.detail.count(": p0 is down") == 9


def test_of_several_that_ask_to_wait_the_one_that_is_back_soonest_is_told() -> None:
    waits = {"one": 90, "two": 3, "three": 60}

    found = run({name: broken(name, "rate_limited", retry_after=wait) for name, wait in waits.items()})

    assert found.fault is not None
    assert (found.fault.provider, found.fault.retry_after) == ("two", 3)


def test_without_anyone_configured_the_settings_are_named() -> None:
    found = run({}, configured=())

    assert found.fault is not None
    assert (found.fault.kind, found.fault.action) == ("config", "check_api_key")
    assert found.fault.message == (
        "no provider is configured for sample; configure one of: one (ONE_KEY), three (THREE_KEY), two (TWO_KEY)"
    )
    assert found.asked == []


@pytest.mark.parametrize(
    ("needed", "sentence"),
    [(("ONE_KEY",), "set ONE_KEY to use one"), (("ONE_KEY", "ONE_URL"), "set ONE_KEY and ONE_URL to use one")],
)
def test_a_single_provider_to_configure_reads_as_a_sentence(needed: tuple[str, ...], sentence: str) -> None:
    woven = weave_texts(a_tool(), *OTHERS)

    fault = none_configured(woven.tool(), woven.model, Offer({}, frozenset(), {"one": needed}), ("find",))

    assert fault.message == f"no provider is configured for sample; {sentence}"


def test_a_provider_by_name_is_asked_alone_and_its_fault_is_the_answer() -> None:
    found = run({"two": broken("two")}, args={"provider": "two"})

    assert found.names == ["two"]
    assert found.fault is not None
    assert found.fault.provider == "two"


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("tow", "there is no provider 'tow'; those that do: "),
        ("unable", "provider 'unable' does not offer finding; those that do: "),
        ("three", "provider 'three' is not configured; set THREE_KEY"),
    ],
)
def test_unknown_unable_and_unconfigured_are_different_answers(
    name: str, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unable = (
        OTHERS[0]
        .replace("one", "unable")
        .replace("ONE", "UNABLE")
        .replace("  find:\n", "  look:\n    capability: find\n")
    )
    monkeypatch.setitem(globals(), "OTHERS", [*OTHERS, unable])

    found = run({}, args={"provider": name}, configured=("one", "two", "unable"))

    assert found.fault is not None
    assert found.fault.kind == "config"
    assert found.fault.message.startswith(start)
    assert found.asked == []
    assert "one" in found.fault.alternatives


def test_a_strategy_whose_condition_does_not_hold_is_passed_over() -> None:
    plan = "- name: never\n  when: args.query == 'other'\n  call: {provider: three, operation: find}\n" + ROUTE

    assert run({"one": rows("a")}, plan=plan).names == ["one"]


# --- with what ------------------------------------------------------------------------------------------------------


def test_arguments_pass_by_name_and_with_replaces_them() -> None:
    found = run({"one": rows("a")}, plan=PLAN % (', with: {query: "=upper(args.query)", num_results: null}', ""))

    assert found.asked[0].arguments == {"query": "X"}
    assert run({"one": rows("a")}).asked[0].arguments == {"query": "x", "num_results": 5}


AGAIN = PLAN % (", again: {when: length(rows) < `2`, with: {query: %s}}", "error: next, empty: next")


@pytest.mark.parametrize(
    ("second", "urls"),
    [(rows("a", "b"), ["a", "b"]), (rows("z"), ["a"]), (rows(), ["a"]), (broken("one"), ["a"])],
)
def test_a_second_try_counts_only_when_it_gives_more(second: Answer | Fault, urls: list[str]) -> None:
    found = run({"one": [rows("a"), second]}, plan=AGAIN % "=upper(args.query)")

    assert found.urls == urls
    assert [(ask.arguments["query"], ask.again) for ask in found.asked] == [("x", False), ("X", True)]


def test_there_is_no_second_try_when_nothing_would_be_different_or_the_first_was_enough() -> None:
    assert len(run({"one": rows("a")}, plan=AGAIN % "=args.query").asked) == 1
    assert len(run({"one": rows("a", "b")}, plan=AGAIN % "=upper(args.query)").asked) == 1


GATHER = "- name: all at once\n  gather: {providers: =route.find, operation: find}\n"


def test_gathering_asks_all_at_once_and_interleaves() -> None:
    found = run({"one": rows("a", "b"), "two": broken("two"), "three": rows("c")}, plan=GATHER)

    assert found.together == 3
    assert found.urls == ["a", "c", "b"]
    assert found.outcome is not None
    assert (found.outcome.served_by, found.outcome.notes) == ("one", ["two is down"])


def test_gathering_fails_only_when_all_fail() -> None:
    found = run({name: broken(name) for name in NAMES}, plan=GATHER)

    assert found.fault is not None
    assert found.fault.detail.count("is down") == 3


@pytest.mark.parametrize("plan", [ROUTE, GATHER])
def test_the_sentence_of_the_fault_names_everybody_who_was_asked_with_a_reason(plan: str) -> None:
    asked = {"one": broken("one", "network"), "two": broken("two", "auth_required"), "three": broken("three")}
    found = run(asked, plan=plan)

    assert found.fault is not None
    assert found.fault.message == "two is down; no answer either from one: could not be reached, three: failed"


# --- what happens to rows -------------------------------------------------------------------------------------------


def test_stages_run_in_order() -> None:
    after = (
        "after: [{drop: row.url == 'b'}, {dedupe: {by: [url]}}, {sort: {by: url, "
        "descending: true}}, {take: args.num_results}]\n"
    )

    found = run({"one": rows("a", "b", "c", "A", "d")}, more=after, args={"num_results": 2})

    assert found.urls == ["d", "c"]


def test_a_stage_sees_the_rows_that_are_left() -> None:
    after = (
        "after: [{keep: row.url != 'a'}, {take: length(rows)}, {sort: {by: url, "
        "descending: true, when: length(rows) == `2`}}]\n"
    )

    assert run({"one": rows("a", "b", "c")}, more=after).urls == ["c", "b"]


@pytest.fixture
def failing_hook() -> Any:
    @HOOKS.register("failing", parameters={}, adds={"score": {"type": "number"}}, reads=())
    def fail(rows: list[dict[str, Any]], arguments: Any) -> list[dict[str, Any]]:
        """Always fails."""
        raise Fault("internal", "no luck")

    yield fail
    del HOOKS["failing"]


@pytest.mark.usefixtures("failing_hook")
def test_an_optional_stage_that_fails_leaves_the_rows_and_a_note() -> None:
    found = run({"one": rows("a")}, more="after: [{enrich: {hook: failing, optional: true}}]\n")

    assert found.urls == ["a"]
    assert found.outcome is not None
    assert found.outcome.notes == ["no luck"]
    assert run({"one": rows("a")}, more="after: [{enrich: {hook: failing}}]\n").fault is not None


def test_rows_that_share_a_field_are_one_whatever_their_dress() -> None:
    urls = [
        "https://www.a.example/x/",
        "http://a.example/x?utm_source=y",
        "https://a.example/x#part",
        "https://a.example/x?b=1",
        "https://a.example:8443/x",
    ]

    kept = dedupe([{"url": url} for url in urls], (("url",),))

    assert [row["url"] for row in kept] == [urls[0], urls[3], urls[4]]
    assert len(dedupe([{}, {}, {"url": None}], (("url",),))) == 3
    assert len(dedupe([{"t": "One  Thing"}, {"t": "one thing"}], (("t",),))) == 1


def test_sorting_is_stable_and_rows_without_the_field_come_last() -> None:
    found: list[dict[str, Any]] = [{"n": 1}, {"y": 2, "n": 2}, {"y": 1, "n": 3}, {"y": 2, "n": 4}]

    assert [row["n"] for row in sort(found, "y", descending=False)] == [3, 2, 4, 1]
    assert [row["n"] for row in sort(found, "y", descending=True)] == [2, 4, 3, 1]


FIRST = PLAN % (", first_decides: true", "error: next, empty: next")


def test_where_the_first_decides_its_failure_is_told_when_nobody_else_finds_anything() -> None:
    found = run({"one": broken("one", "rate_limited"), "two": rows(), "three": broken("three")}, plan=FIRST)
    assert found.fault is not None
    assert (found.fault.kind, found.fault.provider) == ("rate_limited", "one")

    assert run({"one": broken("one"), "two": rows(), "three": rows("c")}, plan=FIRST).urls == ["c"]
    assert run({"one": rows(), "two": broken("two"), "three": broken("three")}, plan=FIRST).urls == []
    assert run({"one": broken("one"), "two": rows(), "three": rows()}).urls == []


@pytest.mark.parametrize(
    ("kind", "args", "others"),
    [
        ("rate_limited", {"provider": "two"}, ("one",)),
        ("auth_required", {"provider": "two"}, ("one",)),
        ("validation", {"provider": "two"}, ()),
        ("not_found", {"provider": "two"}, ()),
        ("rate_limited", {}, ()),
    ],
)
def test_where_whoever_was_asked_by_name_fails_those_who_could_be_asked_instead_are_named(
    kind: str, args: dict[str, str], others: tuple[str, ...]
) -> None:
    answers = {name: broken(name, kind) for name in NAMES}

    found = run(answers, args=args, resting=frozenset({"three"}))

    assert found.fault is not None
    assert found.fault.alternatives == others


NARROW = "provider: {type: string, enum: [two, three], description: Whom.}\n"


@pytest.mark.parametrize(("inputs", "others"), [("", ()), (NARROW, ("three",))])
def test_only_those_whom_the_caller_may_name_are_named(inputs: str, others: tuple[str, ...]) -> None:
    plan = "- {name: two, call: {provider: two, operation: find}}\n"

    failed = run({"two": broken("two")}, plan=plan, inputs=inputs)
    empty = run({"two": rows()}, plan=plan, inputs=inputs, more="hints: {filters: [query]}\n")

    assert failed.fault is not None
    assert failed.fault.alternatives == others
    assert empty.outcome is not None
    assert [one["value"] for one in empty.outcome.answer["hints"]["suggestedActions"]] == list(others)


def test_whoever_names_others_itself_is_believed() -> None:
    found = run({"two": broken("two", alternatives=("three",))}, args={"provider": "two"})

    assert found.fault is not None
    assert found.fault.alternatives == ("three",)


def test_who_is_configured_but_in_no_route_is_named() -> None:
    woven = weave_texts(a_tool(plan=ROUTE, inputs=MORE), *OTHERS)
    tool = woven.tool()
    running = pursue(
        tool, woven.model, parse_arguments(tool, {"query": "x"}), {}, Offer({"find": ()}, frozenset({"two"})), NOW
    )

    with pytest.raises(Fault) as caught:
        next(running)

    assert caught.value.kind == "config"
    assert caught.value.message == "nobody is in the route of sample; ask two by name, or put it into SEARCH_ROUTING"


def test_who_stands_in_the_route_without_its_settings_is_named_with_them() -> None:
    woven = weave_texts(a_tool(plan=ROUTE, inputs=MORE), *OTHERS)
    offer = Offer({"find": ()}, frozenset({"two"}), {"one": ("ONE_KEY",)}, unmet={"find": ("one",)})

    fault = none_configured(woven.tool(), woven.model, offer, ("find",))

    assert fault.message == "nobody in the route of sample is configured; set ONE_KEY to use one, or ask two by name"
    assert fault.action == "check_api_key"


# --- the answer and its hints ---------------------------------------------------------------------------------------


def test_the_answer_leaves_out_what_is_null_and_maps_rows() -> None:
    answer = (
        "urls: =rows[*].url\nwho: =served_by\nnone: =args.provider\npages: {each: rows, map: {link: "
        "url, title: {at: title, else: ''}, snippet: snippet}}"
    )

    found = run({"one": rows("a")}, answer=answer)

    assert found.outcome is not None
    assert found.outcome.answer == {"urls": ["a"], "who": "one", "pages": [{"link": "a", "title": ""}]}


def test_what_whoever_answered_does_not_take_is_known_unless_it_is_the_default() -> None:
    inputs = MORE + "safe: {type: string, enum: ['off', high], default: 'off', description: Filter.}\n"
    answer = "left: =not_applied\n"

    def left(**args: Any) -> Any:
        found = run({"one": rows(), "two": rows("b")}, answer=answer, inputs=inputs, args=args)
        assert found.outcome is not None, found.fault
        return found.outcome.answer["left"]

    assert left() == []
    assert left(safe="off", num_results=3) == []
    assert left(safe="high", num_results=3) == ["safe"]


LOOK = """
spec: capability/1
name: look
title: Look
description: Looks.
routing: {key: find, order: [one]}
arguments: {query: {type: text, description: What.}}
row: {url: {type: url, required: true, description: Where.}}
"""
LOOKING = (
    OTHERS[0]
    + """\
  look:
    input: [query]
    steps: [{get: /l, query: {q: =args.query}, json: {map: {url: url}}}]
"""
)


def test_what_only_another_question_of_the_plan_takes_is_told_as_not_applied() -> None:
    plan = "- {name: by name, when: args.provider, call: {provider: =args.provider, operation: find}}\n"
    plan += "- {name: look, when: '!(args.provider)', call: {provider: one, operation: look}}\n"
    woven = weave_texts(a_tool(plan=plan, answer="left: =not_applied\n", inputs=MORE), LOOK, LOOKING, *OTHERS[1:])
    tool, offer = woven.tool(), Offer({}, frozenset(NAMES))

    def left(**args: Any) -> Any:
        running = pursue(tool, woven.model, parse_arguments(tool, {"query": "x", **args}), {}, offer, NOW)
        next(running)
        with pytest.raises(StopIteration) as stopped:
            running.send(rows("a"))
        return stopped.value.value.answer["left"]

    assert left() == []
    assert left(num_results=3) == ["num_results"]
    assert left(num_results=3, provider="one") == []


def test_nothing_is_left_out_where_nobody_answered() -> None:
    plan = "- name: side by side\n  collect: {parts: {one: {operation: find, providers: nobody}}}\n"
    woven = weave_texts(a_tool(plan=plan, answer="left: =not_applied\n", inputs=MORE), *OTHERS)
    tool = woven.tool()
    running = pursue(
        tool, woven.model, parse_arguments(tool, {"query": "x", "num_results": 2}), {}, Offer({}, frozenset()), NOW
    )

    with pytest.raises(StopIteration) as stopped:
        next(running)

    notice = "Nobody is configured for finding, so it is missing."
    assert stopped.value.value.answer == {"notices": [notice], "left": []}


def test_a_key_with_else_null_stays_and_publishes_no_type() -> None:
    more = "{at: title, when: args.provider, else: null}"
    answer = f"pages: {{each: rows, map: {{url: url, title: {{at: title, else: null}}, more: {more}}}}}"

    found = run({"one": rows("a")}, answer=answer)

    assert found.outcome is not None
    assert found.outcome.answer == {"pages": [{"url": "a", "title": None}]}
    item = weave_texts(a_tool(answer=answer, inputs=MORE), *OTHERS).tool().output_schema["properties"]["pages"]["items"]
    assert (item["properties"]["title"], item["properties"]["more"]) == ({}, {})
    assert item["required"] == ["url", "title"]


HINTS = """\
hints:
  filters: [provider, num_results]
  also: [{when: args.query == 'x y', action: think, reason: odd, parameter: query, detail: Think again.}]
"""


def hints(args: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    found = run({name: rows() for name in NAMES}, more=HINTS, args=args, **more)
    assert found.outcome is not None, found.fault
    said: dict[str, Any] = found.outcome.answer["hints"]
    return said


def test_an_empty_answer_without_filters_is_just_no_match() -> None:
    said = hints()

    assert said["reason"] == "no_match"
    assert "filtersApplied" not in said
    assert "not evidence that nothing exists" in said["epistemicWarning"]


def test_filters_that_the_caller_set_are_named_and_may_be_left_out() -> None:
    said = hints({"num_results": 3})

    assert (said["reason"], said["filtersApplied"]) == ("filters_too_restrictive", {"num_results": "3"})
    assert {
        "action": "remove_filter",
        "parameter": "num_results",
        "detail": "search again without num_results",
    } in said["suggestedActions"]


SAFE = MORE + "safe: {type: string, enum: ['off', high], default: 'off', description: Filter.}\n"
SAFE_HINTS = "hints: {filters: [safe, num_results]}\n"


@pytest.mark.parametrize("left", ["=not_applied", "=unique([not_applied, ['safe']][])"])
def test_what_the_answer_says_was_not_applied_is_no_filter_of_it(left: str) -> None:
    answers = {name: rows() for name in NAMES}
    args = {"safe": "high", "num_results": 3}

    found = run(answers, more=SAFE_HINTS, inputs=SAFE, answer=f"left: {left}\n", args=args)

    assert found.outcome is not None, found.fault
    assert found.outcome.answer["left"] == ["safe"]
    assert found.outcome.answer["hints"]["filtersApplied"] == {"num_results": "3"}
    removed = [
        one["parameter"] for one in found.outcome.answer["hints"]["suggestedActions"] if "filter" in one["action"]
    ]
    assert removed == ["num_results"]


@pytest.mark.parametrize(
    ("left", "applied"),
    [("=not_applied", {"safe": "high", "num_results": "3"}), ("=['num_results', not_applied[0]]", {"safe": "high"})],
)
def test_a_filter_that_nobody_took_is_one_where_a_stage_took_rows_out(left: str, applied: dict[str, str]) -> None:
    stage = "after:\n  - {drop: args.safe == 'high', as: unsafe}\n"
    args = {"safe": "high", "num_results": 3}

    found = run(
        {name: rows("a") for name in NAMES}, more=stage + SAFE_HINTS, inputs=SAFE, answer=f"left: {left}\n", args=args
    )

    assert found.outcome is not None, found.fault
    assert found.outcome.answer["hints"]["filtersApplied"] == applied


def test_another_provider_is_suggested_unless_it_was_asked_or_rests() -> None:
    args = {"provider": "one"}

    assert {"action": "try_different_provider", "parameter": "provider", "value": "two"} in hints(args)[
        "suggestedActions"
    ]
    resting = hints(args, resting=frozenset({"two"}))["suggestedActions"]
    assert {"action": "try_different_provider", "parameter": "provider", "value": "three"} in resting
    assert hints(args)["providersAttempted"] == ["one"]
    assert not any(one["action"] == "try_different_provider" for one in hints()["suggestedActions"])


def test_special_advice_comes_first_and_may_replace_the_reason() -> None:
    said = hints({"query": "x y", "num_results": 3})

    assert said["reason"] == "odd"
    assert said["suggestedActions"][0] == {"action": "think", "parameter": "query", "detail": "Think again."}
    assert len(said["suggestedActions"]) <= 3


def test_an_input_with_advice_of_its_own_is_never_one_to_leave_out() -> None:
    advice = "{when: args.num_results > `9`, action: broaden_query, parameter: num_results, detail: Ask for more.}"
    more = f"hints: {{filters: [num_results], also: [{advice}]}}\n"

    def actions(num_results: int) -> list[str]:
        found = run({name: rows() for name in NAMES}, more=more, args={"num_results": num_results})
        assert found.outcome is not None, found.fault
        return [one["action"] for one in found.outcome.answer["hints"]["suggestedActions"]]

    assert actions(3) == []
    assert actions(10) == ["broaden_query"]


def test_an_answer_with_rows_has_no_hints_and_one_that_may_not_be_kept_says_so() -> None:
    found = run({"one": rows("a")}, more=HINTS + "cache: {ttl: 1m, shape: 1, unless: length(rows) < `2`}\n")

    assert found.outcome is not None
    assert "hints" not in found.outcome.answer
    assert not found.outcome.keep
