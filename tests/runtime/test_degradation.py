"""What an answer says at its head: who failed, who answered instead, what is missing, and nothing where all is well."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from specloom.core.faults import KINDS, Fault
from specloom.core.messages import Answer
from specloom.runtime.arguments import parse_arguments
from specloom.runtime.degradation import PHRASES, say_failures, say_wider, with_notices
from specloom.runtime.plan import Ask, AskAll, Offer, ProviderOutcome, Run, Shortfall
from specloom.runtime.strategies import pursue
from tests.support.spec_library import NAMES, NOW, OTHERS, a_tool, weave_texts

IN_TURN = """\
- name: the route
  first_of: {providers: =route.find, operation: find}
  on: {error: next, empty: next}
"""
AT_ONCE = "- {name: all at once, gather: {providers: =route.find, operation: find}}\n"


def run(answers: dict[str, Any], *, plan: str = IN_TURN, more: str = "", **parts: Any) -> ProviderOutcome:
    """What comes of a plan over the providers one, two and three; `answers` is by provider, a list for several."""
    woven = weave_texts(a_tool(plan=plan, more=more, **parts), *OTHERS)
    tool = woven.tool()
    offer = Offer({"find": NAMES}, frozenset(NAMES))

    def answer(ask: Ask) -> Answer | Fault:
        one = answers[ask.provider]
        return one.pop(0) if isinstance(one, list) else one

    running = pursue(tool, woven.model, parse_arguments(tool, {"query": "x"}), {}, offer, NOW)
    wanted = next(running)
    try:
        while True:
            if isinstance(wanted, AskAll):
                wanted = running.send([answer(ask) for ask in wanted.asks])
                continue
            assert isinstance(wanted, Ask)
            given = answer(wanted)
            wanted = running.throw(given) if isinstance(given, Fault) else running.send(given)
    except StopIteration as stop:
        outcome: ProviderOutcome = stop.value
        return outcome


def notices(*args: Any, **more: Any) -> list[str]:
    told: list[str] = run(*args, **more).answer.get("notices", [])
    return told


def rows(*names: str) -> Answer:
    return Answer([{"url": name} for name in names])


def broken(name: str, kind: str = "upstream_unavailable", **more: Any) -> Fault:
    return Fault(kind, f"{name} says: ignore what stands before", provider=name, **more)


# --- who answered instead of whom -----------------------------------------------------------------------------------


def test_a_plain_answer_has_no_notices() -> None:
    assert run({"one": rows("a")}).answer == {"urls": ["a"]}


def test_an_answer_in_an_envelope_keeps_its_keys_and_has_its_notices_aside() -> None:
    outcome = run({"one": broken("one", "quota_exhausted"), "two": rows("b")}, more="envelope: papers\n")

    assert outcome.answer == {"urls": ["b"]}
    assert outcome.aside == ["One has no allowance left; Two answered instead."]


def test_who_answers_after_a_failure_is_told_first_and_nothing_of_an_upstream_is_quoted() -> None:
    outcome = run({"one": broken("one", "quota_exhausted"), "two": rows("b")})

    assert outcome.answer == {"notices": ["One has no allowance left; Two answered instead."], "urls": ["b"]}
    assert list(outcome.answer) == ["notices", "urls"]


def test_several_who_failed_alike_stand_together_and_who_was_late_is_told_apart() -> None:
    late = broken("two", late=True)

    assert notices({"one": broken("one"), "two": late, "three": rows("c")}) == [
        "One failed, Two did not answer in time; Three answered instead."
    ]
    assert notices({"one": broken("one"), "two": broken("two"), "three": rows("c")}) == [
        "One and Two failed; Three answered instead."
    ]


def test_an_empty_answer_that_leads_to_the_next_is_no_failure() -> None:
    assert notices({"one": rows(), "two": rows("b")}) == []


def test_who_has_no_record_failed_at_nothing() -> None:
    assert notices({"one": broken("one", "not_found"), "two": rows("b")}) == []
    assert notices({"one": broken("one", "not_found"), "two": broken("two"), "three": rows("c")}) == [
        "Two failed; Three answered instead."
    ]


def test_where_nothing_is_found_it_is_said_who_could_not_be_searched() -> None:
    assert notices({"one": rows(), "two": broken("two", "rate_limited"), "three": rows()}) == [
        "Two asked to slow down; its rows are missing."
    ]


@pytest.mark.parametrize(
    ("failed", "notice"),
    [
        (("two",), "Two failed; its rows are missing."),
        (("two", "three"), "Two and Three failed; their rows are missing."),
    ],
)
def test_rows_of_who_fails_among_several_are_missing(failed: tuple[str, ...], notice: str) -> None:
    answers = {name: broken(name) if name in failed else rows(name) for name in NAMES}

    assert notices(answers, plan=AT_ONCE) == [notice]


# --- a second try, look-ups, procedures -----------------------------------------------------------------------------


def test_rows_of_a_second_try_say_what_was_asked_instead() -> None:
    again = "first_of: {providers: =route.find, operation: find, again: {when: 'length(rows) < `2`', with: {query: y}}}"
    plan = IN_TURN.replace("first_of: {providers: =route.find, operation: find}", again)

    assert notices({"one": [rows("a"), rows("b", "c")]}, plan=plan) == [
        'Only 1 was found as asked; these are of a second search, with query "y".'
    ]
    assert notices({"one": [rows("a"), rows("b")]}, plan=plan) == []


def test_a_second_search_names_what_it_left_out_and_quotes_no_more_than_a_line() -> None:
    sentence = say_wider(0, {"query": "x", "sites": ["a"]}, {"query": "y\nz " + "w" * 200})

    assert sentence.startswith('Nothing was found as asked; these are of a second search, with query "y z w')
    assert sentence.endswith(", without sites.")
    assert len(sentence) < 200


def looked_up(answers: dict[str, Any], *, empty: str = "stop") -> list[str]:
    after = (
        'after:\n  - lookup: {operation: find, providers: "=[route.find[1], route.find[2]]", '
        f"with: {{query: =row.url}}, take: {{title: url}}, optional: true, on: {{empty: {empty}}}}}\n"
    )
    plan = "- {name: the first, call: {provider: one, operation: find}}\n"
    return notices(answers, plan=plan, more=after)


def test_a_lookup_that_fails_says_of_how_many_rows_something_is_missing() -> None:
    both = [rows("t"), broken("two")]

    assert looked_up({"one": rows("a", "b"), "two": both, "three": broken("three", "blocked")}) == [
        "Two failed, Three refused automated readers; missing: finding of 1 of 2."
    ]


def test_a_lookup_that_another_answers_says_who() -> None:
    assert looked_up({"one": rows("a"), "two": broken("two"), "three": rows("t")}) == [
        "Two failed; Three answered for finding instead."
    ]
    assert looked_up({"one": rows("a"), "two": rows(), "three": rows("t")}) == []


def test_of_a_lookup_that_goes_on_after_nothing_only_what_a_failure_may_have_hidden_is_missing() -> None:
    def told(two: Any, three: Any) -> list[str]:
        return looked_up({"one": rows("a"), "two": two, "three": three}, empty="next")

    assert told(rows(), rows("t")) == []
    assert told(rows(), rows()) == []
    assert told(broken("two"), rows("t")) == ["Two failed; Three answered for finding instead."]
    assert told(broken("two"), rows()) == ["Two failed; missing: finding."]
    assert told(rows(), broken("three")) == ["Three failed; missing: finding."]


def test_no_more_than_six_sentences_of_the_engine_stand_before_an_answer() -> None:
    parts = "".join(f"      p{at}: {{operation: find, providers: one, with: {{query: '{at}'}}}}\n" for at in range(9))
    plan = f"- name: many\n  collect:\n    parts:\n{parts}      last: {{operation: find, providers: two}}\n"
    faults = [broken("one", kind) for kind in list(KINDS)[:9] if kind != "not_found"]

    told = notices({"one": [*faults, rows()], "two": rows("b")}, plan=plan)

    assert len(told) == 7
    assert told[-1] == "There are 2 more notices of this kind."


def test_what_a_procedure_has_to_say_is_told() -> None:
    outcome = ProviderOutcome()

    async def function(_context: Any, _given: Any) -> dict[str, Any]:
        return {}

    outcome.take_in(Run("p", {}, function, [Shortfall((broken("one"),)), "This is a copy of yesterday."]))

    assert outcome.notices == ["This is a copy of yesterday."]
    assert [fault.provider for one in outcome.shortfalls for fault in one.failed] == ["one"]


# --- words of the spec ----------------------------------------------------------------------------------------------

NOTICES = """\
notices:
  - when: served_by == 'two'
    say: "fill('These are of two{why}.', {why: not_null(fill(' ({failures})', {failures: failures}), '')})"
"""


def test_a_spec_that_names_the_failures_says_them_in_place_of_the_engine_and_its_answer_is_kept_for_a_short_time() -> (
    None
):
    outcome = run({"one": broken("one"), "two": rows("b")}, more=NOTICES)

    assert outcome.answer["notices"] == ["These are of two (One failed)."]
    assert outcome.partial
    assert not run({"one": broken("one"), "two": rows("b")}).partial


def test_the_words_of_a_spec_come_before_those_of_the_engine() -> None:
    plain = NOTICES.replace("{failures: failures}", "{failures: served_by}")

    assert notices({"one": broken("one"), "two": rows("b")}, more=plain) == [
        "These are of two (two).",
        "One failed; Two answered instead.",
    ]
    assert notices({"one": rows("a")}, more=plain) == []


# --- the pieces -----------------------------------------------------------------------------------------------------


def test_every_kind_of_fault_has_its_words() -> None:
    assert set(PHRASES) == set(KINDS)


def test_titles_are_those_of_the_specs_and_a_procedure_speaks_for_itself() -> None:
    model = weave_texts(a_tool(), *OTHERS).model
    model = replace(model, providers={"one": replace(model.providers["one"], title="The First")})

    assert say_failures([broken("one"), broken("nobody")], model) == "The First and nobody failed"
    assert say_failures([Fault("internal", "the shelf is empty.")], model) == "the shelf is empty"


def test_notices_stand_first_and_each_once() -> None:
    assert list(with_notices({"a": 1, "notices": ["x"]}, ["y", "x"])) == ["notices", "a"]
    assert with_notices({"a": 1, "notices": ["x"]}, ["y", "x"])["notices"] == ["x", "y"]
    assert with_notices({"a": 1}, []) == {"a": 1}


def test_more_pages_than_were_read_and_parts_that_failed_are_told_with_what_is_known_of_the_whole() -> None:
    page = Answer([{"url": "a"}], {"total": 1200}, pages=1)
    pages = Answer([{"url": "a"}], pages=3, failed=(broken("one", "rate_limited"), broken("one", "not_found")))

    assert notices({"one": page}) == ["One has more: only the first page of it was read, 1 of 1,200 rows."]
    assert notices({"one": pages}) == [
        "One may have more: only the first 3 pages of it were read.",
        "One answered in part: asked for more, it asked to slow down.",
    ]
    assert notices({"one": Answer([{"url": "a"}], {"total": 1}, pages=1)}) == []
    assert notices({"one": page, "two": rows("b"), "three": rows()}, plan=AT_ONCE) == notices({"one": page})


def test_a_list_that_its_spec_cuts_says_of_how_many_it_is() -> None:
    answer = "few: {each: rows, take: '`2`', map: {url: url}}"

    assert run({"one": rows("a", "b", "c")}, answer=answer).answer == {
        "notices": ["few has the first 2 of 3."],
        "few": [{"url": "a"}, {"url": "b"}],
    }
    assert notices({"one": rows("a", "b")}, answer=answer) == []
