"""An answer fits its budget: what the spec says gives way, in its order, and the answer says so and how to read on."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from specloom.core import Fault, count_tokens
from specloom.core.messages import Request, Response
from specloom.plugins.context import Artifact
from specloom.runtime import fit_to_budget, parse_arguments, tell_within, to_text
from specloom.runtime.executor import Executor
from specloom.runtime.presentation import UNTOLD, Presenter
from tests.support.shipped import shipped_model, shipped_tool
from tests.support.spec_library import Woven, a_tool, weave_texts

ANSWER = """\
query: =args.query
results: {each: rows, map: {url: url, title: title}}
"""
BUDGET = """\
budget:
  tokens: 300
  cut: [{of: results.title, to: 20}, {of: results, to: 2}, {of: query, to: 10, source: "'https://a.example/'"}]
text: ["{args.query}", {each: answer.results, lines: ["{n}. {item.title}"]}]
cache: {ttl: 1h, shape: 1}
"""
READS = "reads: {source: query, offset: offset}\n"
READER = a_tool(more=READS, inputs="offset: {type: integer, description: Where to begin.}\n").replace(
    "sample", "reader"
)
WORDS = "How the otters of the river find their way home in winter when the water is high and cold. "


def weave_budget(*others: str) -> Woven:
    woven = weave_texts(a_tool(answer=ANSWER, more=BUDGET), *others)
    assert woven.report.errors == [], woven.sentences
    return woven


def fit(answer: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    woven = weave_budget()
    tool = woven.tool()
    return fit_to_budget(tool, woven.model, parse_arguments(tool, {"query": "otters", **arguments}), answer)[0]


def size(answer: dict[str, Any]) -> int:
    return count_tokens(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def test_what_fits_stays_as_it_is() -> None:
    answer = {"query": "q", "results": [{"url": "https://a.example/", "title": WORDS}]}

    assert fit(answer) == answer


def test_what_gives_way_does_so_in_the_order_of_the_spec_and_no_further_than_it_has_to() -> None:
    answer = {"query": "q", "results": [{"url": f"https://{n}.example/", "title": WORDS * 2} for n in range(8)]}

    told = fit(answer)

    assert len(told["results"]) == 8
    assert all(20 < len(row["title"]) < 2 * len(WORDS) for row in told["results"])
    assert told["notices"] == ["Shortened: title of results."]
    assert 200 < size(told) <= 300


def test_rows_are_left_out_from_the_end_where_shorter_texts_are_not_enough() -> None:
    answer = {"query": "q", "results": [{"url": f"https://{n}.example/", "title": WORDS} for n in range(40)]}

    told = fit(answer)

    assert [row["url"] for row in told["results"]] == [f"https://{n}.example/" for n in range(len(told["results"]))]
    assert told["notices"][1] == f"Here are the first {len(told['results'])} of 40 results."
    assert size(told) <= 300


def notices_of(answer: dict[str, Any], cut: str) -> list[str]:
    """What the notices say of 300 tokens of an answer, by the steps of a `cut`."""
    budget = f"budget: {{tokens: 300, cut: {cut}}}\ncache: {{ttl: 1h, shape: 1}}\n"
    woven = weave_texts(a_tool(answer=ANSWER, more=budget))
    tool = woven.tool()
    told, _ = fit_to_budget(tool, woven.model, parse_arguments(tool, {"query": "o"}), answer)
    return [sentence.replace(str(len(told["results"])), "SO MANY") for sentence in told["notices"]]


MANY = {"query": "q", "results": [{"url": f"https://{n}.example/", "title": WORDS} for n in range(40)]}


def test_what_gives_way_twice_is_told_once_and_of_how_much_there_was() -> None:
    cut = "[{of: results, to: 30}, {of: results.title, to: 20}, {of: results, to: 2}]"

    assert notices_of(MANY, cut) == ["Shortened: title of results.", "Here are the first SO MANY of 40 results."]


def test_what_gives_way_is_told_by_the_name_that_its_spec_gives_it() -> None:
    cut = "[{of: results.title, to: 20, called: names of works}, {of: results, to: 2, called: works of the river}]"

    assert notices_of(MANY, cut) == [
        "Shortened: names of works.",
        "Here are the first SO MANY of 40 works of the river.",
    ]


def test_the_last_items_stay_where_a_spec_says_so() -> None:
    budget = "budget: {tokens: 300, cut: [{of: results, to: 1, last: true}]}\ncache: {ttl: 1h, shape: 1}\n"
    woven = weave_texts(a_tool(answer=ANSWER, more=budget))
    assert woven.report.errors == [], woven.sentences
    tool = woven.tool()

    told, _ = fit_to_budget(tool, woven.model, parse_arguments(tool, {"query": "o"}), MANY)

    count = len(told["results"])
    assert told["results"] == MANY["results"][-count:]
    assert told["notices"] == [f"Here are the last {count} of 40 results."]


def test_items_that_a_spec_keeps_stay_longest_and_in_their_order() -> None:
    step = """{of: results, to: 1, keep: "ends_with(item.title, '!')", called: 'works, those with a finding first'}"""
    rows = [{"url": f"https://{n}.example/", "title": WORDS + "!" * (n in (7, 31))} for n in range(40)]
    budget = f"budget: {{tokens: 300, cut: [{step}]}}\ncache: {{ttl: 1h, shape: 1}}\n"
    woven = weave_texts(a_tool(answer=ANSWER, more=budget))
    assert woven.report.errors == [], woven.sentences
    tool = woven.tool()

    arguments = parse_arguments(tool, {"query": "o"})
    told, _ = fit_to_budget(tool, woven.model, arguments, {"query": "q", "results": rows})

    count = len(told["results"])
    assert 3 < count < 12
    kept = sorted([*[n for n in range(count) if n not in (7, 31)][: count - 2], 7, 31])
    assert [row["url"] for row in told["results"]] == [f"https://{n}.example/" for n in kept]
    assert told["notices"] == [f"Here are {count} of 40 works, those with a finding first."]


def test_a_caller_may_ask_for_more_and_is_told_what_the_bounds_are() -> None:
    answer = {"query": "q", "results": [{"url": f"https://{n}.example/", "title": WORDS} for n in range(40)]}

    assert "notices" not in fit(answer, max_tokens=5000)
    assert fit(answer, max_tokens=3)["notices"][0] == "max_tokens is 200, not 3: that is the least."


def test_a_text_that_another_tool_has_whole_is_cut_where_that_goes_on() -> None:
    woven = weave_budget(READER)
    tool = woven.tool()
    text = WORDS * 60

    told, cuts = fit_to_budget(tool, woven.model, parse_arguments(tool, {"query": "o"}), {"query": text, "results": []})

    assert text.startswith(told["query"])
    assert told["notices"][-1] == (
        f"Here are the first {len(told['query']):,} of {len(text):,} characters of query; "
        f'go on with reader {{"query": "https://a.example/", "offset": {len(told["query"])}}}.'
    )
    assert size(told) <= 300
    assert cuts[-1].source == "https://a.example/"


@settings(deadline=None)
@given(
    st.lists(st.text(max_size=400), max_size=30),
    st.integers(200, 2000),
)
def test_every_answer_fits_and_has_its_schema(titles: list[str], tokens: int) -> None:
    rows = [{"url": "https://a.example/", "title": title} for title in titles]

    told = fit({"query": "q", "results": rows}, max_tokens=tokens)

    # A tenth over is allowed, before what no spec foresees is shortened.
    assert size(told) <= tokens + tokens // 10 or len(told["results"]) <= 2
    Draft7Validator(weave_budget().tool().output_schema).validate(told)


class Items:
    """An upstream with forty long items."""

    async def send(self, request: Request) -> Response:
        items = [{"url": f"https://{at}.example/", "title": WORDS} for at in range(40)]
        return Response(200, {"content-type": "application/json"}, json.dumps({"items": items}).encode(), request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


class Shelf:
    """Keeps the last text."""

    text = ""

    async def keep(self, owner: str, text: str, *, name: str, mime_type: str) -> Artifact:
        self.text = text
        return Artifact("research://artifact/1", name, mime_type, len(text.encode()), 1_767_225_600.0)

    async def read(self, owner: str, identifier: str) -> tuple[str, str] | None:
        return None


async def test_the_whole_of_what_was_cut_is_kept_and_the_notice_says_who_reads_it() -> None:
    executor = Executor(weave_budget(READER).model, environ={}, sender=Items(), artifacts=(shelf := Shelf()))
    presenter, raw = Presenter(executor), {"query": "otters"}
    done = await executor.call("sample", raw)

    presented = await presenter.present("sample", done, "ada")

    assert shelf.text == done.body
    assert presented.whole is not None
    assert presented.text is not None
    assert presented.text.count("Shortened") == presented.text.count("Here are") == 1
    assert presented.text.count('go on with reader {"query": "research://artifact/1"}') == 1
    assert presenter.present_now("sample", done) is None
    wide = replace(done, arguments=parse_arguments(executor.tool("sample"), {"query": "otters", "max_tokens": 9000}))
    assert presenter.present_now("sample", wide) == await presenter.present("sample", wide, "ada")


class FullShelf(Shelf):
    """Takes nothing."""

    async def keep(self, owner: str, text: str, *, name: str, mime_type: str) -> Artifact:
        raise Fault("upstream_unavailable", "the store is full")


async def test_an_answer_whose_whole_cannot_be_kept_is_told_without_a_call_that_reads_it() -> None:
    executor = Executor(weave_budget(READER).model, environ={}, sender=Items(), artifacts=FullShelf())
    done = await executor.call("sample", {"query": "otters"})

    presented = await Presenter(executor).present("sample", done, "ada")

    assert presented.whole is None
    assert presented.text is not None
    assert "Here are the first" in presented.text
    assert "go on with" not in presented.text


async def test_an_operator_bounds_what_calls_may_ask_for_and_programs_get_json() -> None:
    executor = Executor(weave_budget().model, environ={}, sender=Items(), most_tokens=250)
    done = await executor.call("sample", {"query": "otters", "max_tokens": 9000})

    presented = await Presenter(executor, as_json=True).present("sample", done, "")

    assert presented.text is None
    answer = json.loads(presented.body)
    assert size(answer) <= 250
    assert "max_tokens is 250, not 9000: that is the most." in answer["notices"]


async def test_an_answer_of_which_its_spec_can_make_no_text_is_told_as_data() -> None:
    more = "text: [\"{replace(args.query, replace(args.query, args.query, ''), 'x')}\"]\n"
    woven = weave_texts(a_tool(answer=ANSWER, more=more))
    assert woven.report.errors == [], woven.sentences
    executor = Executor(woven.model, environ={}, sender=Items())
    done = await executor.call("sample", {"query": "otters"})

    presented = await Presenter(executor).present("sample", done, "")

    assert presented.text is None
    answer = json.loads(presented.body)
    assert answer["results"] == done.answer["results"]
    assert answer["notices"] == [UNTOLD]


async def test_the_bound_of_an_operator_is_that_of_the_plan_too() -> None:
    more = "budget: {tokens: 6000, cut: [{of: asked, to: 1}]}\n"
    woven = weave_texts(a_tool(answer="asked: =to_string(args.max_tokens)\n", more=more))
    assert woven.report.errors == [], woven.sentences
    executor = Executor(woven.model, environ={}, sender=Items(), most_tokens=250)

    done = await executor.call("sample", {"query": "otters"})

    assert done.answer == {"asked": "250"}


def read(answer: dict[str, Any]) -> str:
    tool = weave_budget().tool()
    return to_text(tool, parse_arguments(tool, {"query": "otters"}), answer)


def test_a_text_says_first_what_has_to_be_known_before_it_and_that_its_content_is_from_outside() -> None:
    answer = {"query": "q", "results": [], "notices": ["One.", "Two."], "trust": "untrusted-external-content"}

    assert read(answer) == "> One.\n> Two.\n> Untrusted external content.\n\notters"


def test_a_text_explains_an_empty_answer_as_its_structure_does() -> None:
    actions = [
        {"action": "remove_filter", "parameter": "site", "detail": "search again without site"},
        {"action": "try_different_provider", "parameter": "provider", "value": "kagi"},
    ]
    hints = {
        "reason": "filters_too_restrictive",
        "filtersApplied": {"site": "a.example", "safe": "high"},
        "suggestedActions": actions,
        "epistemicWarning": "Absence is no evidence.",
    }

    assert read({"query": "q", "results": [], "hints": hints}).split("\n\n")[1] == (
        "Filters too restrictive: site = a.example, safe = high.\n"
        "- search again without site\n"
        "- try different provider: provider = kagi\n"
        "Absence is no evidence."
    )


# --- answers in an envelope: their data is their contract's, and the budget is that of the text ----------------


IN_ENVELOPE = """\
envelope: papers
budget: {tokens: 300, cut: [{of: results, to: 2}]}
text: [{each: answer.results, lines: ["{n}. {item.title}"]}]
"""
WINDOWED = """\
envelope: papers
budget: {tokens: 300}
text:
  - "About {args.query}"
  - window: {of: answer.query, source: "'https://a.example/'"}
    lines: [{markdown: window.content}, "{window.end} of {window.length} · {to_string(window.readOn)}"]
"""


async def test_an_answer_in_an_envelope_stays_whole_as_data_and_its_text_fits() -> None:
    woven = weave_texts(a_tool(answer=ANSWER, more=IN_ENVELOPE), READER)
    assert woven.report.errors == [], woven.sentences
    executor = Executor(woven.model, environ={}, sender=Items(), artifacts=(shelf := Shelf()))
    done = await executor.call("sample", {"query": "otters"})

    presented = await Presenter(executor).present("sample", done, "ada")
    plain = await Presenter(executor, as_json=True).present("sample", done, "ada")

    assert presented.body == plain.body == done.body == shelf.text
    assert plain.text is None
    assert presented.text is not None
    assert 200 < count_tokens(presented.text) <= 300
    assert presented.text.startswith("> Here are the first ")
    assert 'of 40 results; go on with reader {"query": "research://artifact/1"}.' in presented.text
    assert "notices" not in executor.tool("sample").output_schema["properties"]


def test_a_window_has_the_room_that_the_rest_of_a_text_leaves_and_says_what_reads_on() -> None:
    woven = weave_texts(a_tool(answer=ANSWER, more=WINDOWED))
    assert woven.report.errors == [], woven.sentences
    tool, text = woven.tool(), WORDS * 60

    told, cuts = tell_within(tool, woven.model, parse_arguments(tool, {"query": "rivers"}), {"query": text})
    whole, _ = tell_within(tool, woven.model, parse_arguments(tool, {"query": "rivers"}), {"query": WORDS})

    shown = told.split("\n")[1]
    assert told.startswith(f"About rivers\n{WORDS}")
    assert text.startswith(shown)
    assert f'of {len(text)} · {{"source":"https://a.example/","offset":' in told
    assert 200 < count_tokens(told) <= 300
    assert cuts == ()
    assert whole.endswith(f"\n{len(WORDS)} of {len(WORDS)} · null")


def test_what_was_learned_on_the_way_stands_at_the_head_of_a_text_whose_data_has_no_place_for_it() -> None:
    woven = weave_texts(a_tool(answer=ANSWER, more=IN_ENVELOPE))
    tool = woven.tool()

    told, _ = tell_within(tool, woven.model, parse_arguments(tool, {"query": "o"}), {"results": []}, ["Two answered."])

    assert told == "> Two answered."


@pytest.mark.parametrize(
    ("right", "wrong", "code"),
    [
        ("envelope: papers\n", "", "E105"),
        ("budget: {tokens: 300}\n", "", "E102"),
        (WINDOWED[WINDOWED.index("  - window") :], "", "E102"),
    ],
)
def test_a_window_needs_an_envelope_and_a_budget_and_a_budget_something_that_gives_way(
    right: str, wrong: str, code: str
) -> None:
    woven = weave_texts(a_tool(answer=ANSWER, more=WINDOWED.replace(right, wrong)))

    assert [one.partition(":")[0] for one in woven.sentences] == [code]


# --- What no step of a spec foresees ---------------------------------------------------------------------------------

LONG_TITLE = a_tool(
    answer="query: =args.query\nresults: {each: rows, map: {url: url, title: title, authors: \"split(title, ' ')\"}}\n",
    more=(
        "budget: {tokens: 300, cut: [{of: results, to: 1}]}\n"
        'text: ["{args.query}", {each: answer.results, lines: ["{n}. {item.title}", "{item.authors}"]}]\n'
        "cache: {ttl: 1h, shape: 1}\n"
    ),
)


@pytest.mark.parametrize(
    "row",
    [
        {"title": WORDS * 500, "authors": ["Ada"]},
        {"title": "水獭在冬天怎样在河里找到回家的路。" * 300, "authors": ["Ada"]},
        {"title": "Otters", "authors": [f"Author Number {n}" for n in range(3000)]},
        {"title": WORDS * 50, "authors": ["Author"] * 200},
    ],
)
def test_what_no_step_foresees_is_shortened_in_the_last_place_and_told(row: dict[str, Any]) -> None:
    woven = weave_texts(LONG_TITLE)
    assert woven.report.errors == [], woven.sentences
    tool = woven.tool()
    arguments = parse_arguments(tool, {"query": "o"})
    answer = {"query": "q", "results": [{"url": "https://1.example/", **row}, {"url": "https://2.example/", **row}]}

    told, cuts = fit_to_budget(tool, woven.model, arguments, answer)

    assert 200 < size(told) <= 330
    assert count_tokens(to_text(tool, arguments, told)) <= 330
    (left,) = told["results"]
    assert left["url"] == "https://1.example/"
    assert left["title"][:6] == row["title"][:6]
    assert len(left["authors"]) >= min(10, len(row["authors"]))
    assert cuts[0].of == "results"
    assert any(sentence.startswith("Shortened: ") and " of results" in sentence for sentence in told["notices"])


def test_addresses_stay_whole_and_what_is_told_as_markdown_is_left_to_who_says_where_it_ends() -> None:
    text = 'text: ["{args.query}", {markdown: answer.body}]\ncache: {ttl: 1h, shape: 1}\n'
    more = f"budget: {{tokens: 300, cut: [{{of: query, to: 4000}}]}}\n{text}"
    woven = weave_texts(a_tool(answer="query: =args.query\nbody: =rows[0].title\nurl: =rows[0].url", more=more))
    assert woven.report.errors == [], woven.sentences
    tool = woven.tool()
    address = "https://a.example/" + "a1/" * 200
    answer = {"query": WORDS * 90, "body": WORDS * 20, "url": address}

    told, cuts = fit_to_budget(tool, woven.model, parse_arguments(tool, {"query": "o"}), answer)

    assert (told["body"], told["url"]) == (answer["body"], address)
    assert len(told["query"]) <= 302
    assert [cut.of for cut in cuts] == ["query"]


@pytest.mark.parametrize(
    ("tool", "of"), [("search_and_scrape", "sources.content"), ("brand_research", "sources.fields")]
)
def test_a_field_that_is_required_is_emptied_and_stays(tool: str, of: str) -> None:
    shipped = shipped_tool(tool)
    assert shipped.budget is not None
    # The last step that cuts the field; one before it leaves more of it.
    *_, step = [step for step in shipped.budget.cut if step.of == of]
    rows = shipped.output_schema["properties"][step.key]["items"]
    assert step.to == 0
    assert step.field in rows["required"]
    kinds = {"string": WORDS * 20, "array": [WORDS] * 200, "object": {}, "integer": 1, "number": 1, "boolean": True}
    row = {name: kinds[rows["properties"][name]["type"]] if name == step.field else "o" for name in rows["required"]}
    # What is never cut leaves no room for the field.
    row = {name: "https://a.example/" + "a1/" * 200 if name == "url" else value for name, value in row.items()}
    given = {"search_and_scrape": {"query": "o"}, "brand_research": {"company_name": "o"}}[tool]
    arguments = parse_arguments(shipped, {**given, "max_tokens": 200})

    told, _ = fit_to_budget(shipped, shipped_model(), arguments, {step.key: [row] * 30})

    assert told[step.key][0][step.field] in ("", [])
