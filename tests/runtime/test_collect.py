"""`collect`: questions side by side, each with its own fault, and those that wait for the answers of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Answer
from specloom.runtime.arguments import parse_arguments
from specloom.runtime.plan import Ask, AskAll, Offer, ProviderOutcome
from specloom.runtime.strategies import pursue
from tests.support.spec_library import NAMES, NOW, OTHERS, a_tool, weave_texts

PART = "{operation: find, providers: %s%s}"
ANSWER = """\
first: =parts.first.rows[*].url
failed: "=values(parts)[?fault].fault.message"
all: =rows[*].url
"""


def plan_of(*, more: str = "", **parts: str) -> str:
    listed = "".join(f"      {name}: {text}\n" for name, text in parts.items())
    return f"- name: side by side\n  collect:\n    parts:\n{listed}{more}"


def run(
    plan: str,
    answers: Callable[[Ask], Answer | Fault],
    *,
    configured: tuple[str, ...] = NAMES,
    args: dict[str, Any] | None = None,
    answer: str = ANSWER,
    **parts: str,
) -> tuple[list[list[Ask]], ProviderOutcome]:
    """The questions, those of one moment together, and what came of them."""
    woven = weave_texts(a_tool(plan=plan, answer=answer, **parts), *OTHERS)
    tool = woven.tool()
    offer = Offer({"find": tuple(one for one in NAMES if one in configured)}, frozenset(configured))
    asked: list[list[Ask]] = []
    running = pursue(tool, woven.model, parse_arguments(tool, {"query": "x", **(args or {})}), {}, offer, NOW)
    wanted = next(running)
    try:
        while True:
            assert isinstance(wanted, AskAll)
            asked.append(list(wanted.asks))
            wanted = running.send([answers(ask) for ask in wanted.asks])
    except StopIteration as stop:
        outcome: ProviderOutcome = stop.value
        return asked, outcome


def whom(asked: list[list[Ask]]) -> list[list[str]]:
    return [[ask.provider for ask in together] for together in asked]


def by_name(**answers: Answer | Fault) -> Callable[[Ask], Answer | Fault]:
    return lambda ask: answers[ask.provider]


def rows(*urls: str) -> Answer:
    return Answer([{"url": url} for url in urls])


def broken(name: str, kind: str = "upstream_unavailable") -> Fault:
    return Fault(kind, f"{name} is down", provider=name)


def test_parts_are_asked_side_by_side_and_each_fails_by_itself() -> None:
    plan = plan_of(first=PART % ("one", ""), second=PART % ("two", ""), third=PART % ("three", ""))
    asked, outcome = run(plan, by_name(one=rows("a"), two=broken("two"), three=rows("b", "c")))

    assert whom(asked) == [["one", "two", "three"]]
    assert outcome.answer == {
        "notices": ["Two failed; missing: finding."],
        "first": ["a"],
        "failed": ["two is down"],
        "all": ["a", "b", "c"],
    }
    assert (outcome.served_by, outcome.tried) == ("one", ["one", "two", "three"])


def test_nothing_but_faults_is_still_an_answer() -> None:
    plan = plan_of(first=PART % ("one", ""), second=PART % ("two", ""))
    _, outcome = run(plan, by_name(one=broken("one"), two=broken("two")))

    assert outcome.answer.pop("notices") == ["One failed; missing: finding.", "Two failed; missing: finding."]
    assert outcome.answer == {"first": [], "failed": ["one is down", "two is down"], "all": []}
    assert outcome.served_by == ""


def test_a_part_whose_providers_all_fail_has_the_fault_that_somebody_can_mend() -> None:
    plan = plan_of(first=PART % ("=route.find", ""))
    faults = {"one": broken("one"), "two": broken("two", "auth_required"), "three": broken("three", "rate_limited")}
    _, outcome = run(plan, by_name(**faults), answer="fault: =parts.first.fault\n")

    assert outcome.answer["fault"] == {"kind": "auth_required", "message": "two is down"}


def test_the_fault_of_a_part_that_is_required_names_everybody_who_was_asked() -> None:
    plan = plan_of(first=PART % ("=route.find", ", required: true"))
    faults = {name: broken(name) for name in ("one", "two", "three")}

    with pytest.raises(Fault) as caught:
        run(plan, by_name(**faults))

    assert caught.value.tried == ("one", "two", "three")
    assert caught.value.message == "one is down; no answer either from two: failed, three: failed"


def test_providers_of_a_part_follow_one_another_while_other_parts_are_done() -> None:
    plan = plan_of(first=PART % ("=route.find", ""), second=PART % ("three", ""))
    asked, outcome = run(plan, by_name(one=broken("one"), two=rows("b"), three=rows("c")))

    assert whom(asked) == [["one", "three"], ["two"]]
    assert outcome.answer.pop("notices") == ["One failed; Two answered for finding instead."]
    assert outcome.answer == {"first": ["b"], "failed": [], "all": ["b", "c"]}


@pytest.mark.parametrize(
    ("rule", "names"),
    [("", [["one"]]), (", on: {empty: next}", [["one"], ["two"]]), (", on: {error: stop}", [["one"]])],
)
def test_an_empty_answer_ends_a_part_unless_it_says_next(rule: str, names: list[list[str]]) -> None:
    asked, _ = run(plan_of(first=PART % ("=route.find", rule)), by_name(one=rows(), two=rows("b")))

    assert whom(asked) == names


def test_nothing_found_is_not_undone_by_a_later_failure() -> None:
    plan = plan_of(first=PART % ("=[route.find[0], route.find[1]]", ", on: {empty: next}"))
    plan = plan.replace("=[route.find[0], route.find[1]]", '"=[route.find[0], route.find[1]]"')
    _, outcome = run(plan, by_name(one=rows(), two=broken("two")))

    assert outcome.answer.pop("notices") == ["Two failed; missing: finding."]
    assert outcome.answer == {"first": [], "failed": [], "all": []}
    assert outcome.served_by == "one"


def test_a_part_that_stops_on_errors_asks_nobody_else() -> None:
    asked, outcome = run(
        plan_of(first=PART % ("=route.find", ", on: {error: stop}")), by_name(one=broken("one"), two=rows("b"))
    )

    assert whom(asked) == [["one"]]
    assert outcome.answer["failed"] == ["one is down"]


def test_a_part_that_uses_another_waits_for_it_also_through_a_named_value() -> None:
    plan = plan_of(
        first=PART % ("one", ""),
        beside=PART % ("three", ""),
        second=PART % ("two", ", when: values.found, with: {query: =values.found}"),
    )
    asked, outcome = run(
        plan,
        by_name(one=rows("a"), two=rows("b"), three=rows("c")),
        more='values: {found: "parts.first.rows[0].url"}\n',
    )

    assert whom(asked) == [["one", "three"], ["two"]]
    assert asked[1][0].arguments["query"] == "a"
    assert outcome.answer["all"] == ["a", "c", "b"]


def test_a_part_whose_condition_does_not_hold_is_not_asked() -> None:
    plan = plan_of(first=PART % ("one", ""), second=PART % ("two", ", when: parts.first.rows"))
    asked, outcome = run(
        plan, by_name(one=rows()), answer="asked: =[parts.first.asked, parts.second.asked]\nby: =parts.first.provider\n"
    )

    assert whom(asked) == [["one"]]
    assert outcome.answer == {"asked": [True, False], "by": "one"}


def test_a_part_for_which_nobody_can_be_asked_says_so() -> None:
    plan = plan_of(first=PART % ("two", ""), second=PART % ("one", ""))
    asked, outcome = run(plan, by_name(one=rows("a")), configured=("one",), answer="fault: =parts.first.fault\n")

    assert whom(asked) == [["one"]]
    assert outcome.answer["fault"]["kind"] == "config"
    assert "no provider is configured for sample" in outcome.answer["fault"]["message"]


def test_only_the_rows_of_the_parts_that_are_named_go_on_and_stages_of_a_part_are_its_own() -> None:
    plan = plan_of(
        first=PART % ("one", ', after: [{set: {url: "upper(row.url)"}}, {take: "`1`"}]'),
        second=PART % ("two", ""),
        more="    rows: [second, first]\n",
    )
    _, outcome = run(plan, by_name(one=rows("a", "b"), two=rows("c")))

    assert outcome.answer["all"] == ["c", "A"]


def test_rows_dropped_within_a_part_are_counted() -> None:
    part = PART % ("one", ", after: [{drop: row.url == 'a', as: unwanted}]")
    _, outcome = run(plan_of(first=part), by_name(one=rows("a", "b")), answer="gone: =dropped.unwanted\n")

    assert outcome.answer == {"gone": 1}


def test_when_no_part_has_rows_the_next_strategy_may_try() -> None:
    plan = plan_of(first=PART % ("one", "")) + (
        "  on: {empty: next}\n- name: then\n  first_of: {providers: two, operation: find}\n"
    )
    woven = weave_texts(a_tool(plan=plan), *OTHERS)
    tool = woven.tool()
    offer = Offer({"find": NAMES}, frozenset(NAMES))
    running = pursue(tool, woven.model, parse_arguments(tool, {"query": "x"}), {}, offer, NOW)
    next(running)

    assert running.send([rows()]) == Ask("two", "find", {"query": "x"})


@pytest.mark.parametrize(
    ("plan", "start"),
    [
        (plan_of(first=PART % ("=parts.second.rows", ""), second=PART % ("one", "")), "E202: unknown name 'second'"),
        (plan_of(first=PART % ("one", ", with: {qury: x}")), "E110: capability 'find' has no argument 'qury'"),
        (
            plan_of(first=PART % ("one", ""), more="    rows: [frist]\n"),
            "E110: no part is called 'frist' (did you mean",
        ),
        (plan_of(first=PART.replace("find", "fnd") % ("one", "")), "E110: no capability is called 'fnd'"),
        (
            plan_of(first=PART % ("one", ", after: [{expand: {list: title, as: x}}]")),
            "E110: the field 'title' is no list",
        ),
        (
            plan_of(first=PART % ("one", ", after: [{expand: {list: titel, as: x}}]")),
            "E110: a row has no field 'titel'",
        ),
        (plan_of(first=PART % ("one", ", after: [{dedupe: {by: [[url, urll]]}}]")), "E110: a row has no field 'urll'"),
    ],
)
def test_what_could_go_wrong_is_told(plan: str, start: str) -> None:
    found = weave_texts(a_tool(plan=plan), *OTHERS).sentences

    assert [one for one in found if one.startswith(start)], found


def test_a_part_that_uses_a_later_one_through_a_named_value_is_told() -> None:
    plan = plan_of(first=PART % ("one", ", when: values.found"), second=PART % ("two", ""))
    found = weave_texts(a_tool(plan=plan, more="values: {found: parts.second.rows}\n"), *OTHERS).sentences

    assert "E110: the part 'first' uses 'second', which is not there before it" in found


def test_an_ignored_input_may_reach_no_part() -> None:
    extra = "extra: {type: string, description: Something more.}\n"
    ignored = "cache: {ttl: 10m, shape: 1, ignore: [%s]}\n"

    for part, name in [
        (PART % ("one", ", with: {query: =args.extra}"), "extra"),
        (PART % ("one", ", when: args.extra"), "extra"),
        (PART % ("one", ', after: [{set: {url: "args.extra"}}]'), "extra"),
        (PART % ("one", ""), "query"),
    ]:
        tool = a_tool(plan=plan_of(first=part), inputs=extra, more=ignored % name)
        assert [one for one in weave_texts(tool, *OTHERS).sentences if one.startswith("E131")], part


def test_who_is_late_is_not_awaited_and_who_is_asked_instead_has_half_as_long() -> None:
    part = PART % ("=route.find", "")
    woven = weave_texts(a_tool(plan=plan_of(first=part, more="    wait: 8s\n"), answer=ANSWER), *OTHERS)
    offer = Offer({"find": NAMES}, frozenset(NAMES))
    running = pursue(woven.tool(), woven.model, parse_arguments(woven.tool(), {"query": "x"}), {}, offer, NOW)

    first = next(running)
    second = running.send([broken("one")])
    third = running.send([broken("two")])

    assert [asked.wait for asked in (first, second, third) if isinstance(asked, AskAll)] == [8.0, 4.0, 2.0]


def test_without_a_wait_a_part_has_the_time_of_the_call() -> None:
    woven = weave_texts(a_tool(plan=plan_of(first=PART % ("one", "")), answer=ANSWER), *OTHERS)
    offer = Offer({"find": NAMES}, frozenset(NAMES))

    asked = next(pursue(woven.tool(), woven.model, parse_arguments(woven.tool(), {"query": "x"}), {}, offer, NOW))

    assert isinstance(asked, AskAll)
    assert asked.wait == 0
