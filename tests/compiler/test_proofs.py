"""The cache proof: an ignored input may not reach a request, a row or the answer; tables cover what they are asked."""

from __future__ import annotations

import pytest

from tests.support.spec_library import a_provider, a_tool, weave_texts

IGNORED = "cache: {ttl: 10m, shape: 1, ignore: [extra]}\n"
EXTRA = "extra: {type: string, description: Something more.}\n"
ROUTE = "- name: the route\n  first_of: {providers: =route.find, operation: find%s}\n"


def refusals(text: str, *others: str) -> list[str]:
    return [one for one in weave_texts(text, *others).sentences if one.startswith("E131")]


def test_an_input_that_an_operation_takes_by_name_is_not_ignored() -> None:
    tool = a_tool(
        inputs="num_results: {type: integer, description: How many.}\n",
        more="cache: {ttl: 10m, shape: 1, ignore: [num_results]}\n",
    )

    assert refusals(tool) == [
        "E131: the cache ignores 'num_results', but it changes the answer (used by: operation alpha.find)"
    ]


@pytest.mark.parametrize(
    ("parts", "by"),
    [
        ({"plan": ROUTE % ", with: {query: =args.extra}"}, "the strategy 'the route'"),
        (
            {"plan": ROUTE % ", again: {when: length(rows) < `1`, with: {query: =args.extra}}"},
            "the strategy 'the route'",
        ),
        (
            {"plan": "- name: the route\n  when: args.extra\n  first_of: {providers: =route.find, operation: find}\n"},
            "the strategy 'the route'",
        ),
        ({"plan": "- name: the route\n  call: {provider: =args.extra, operation: find}\n"}, "the strategy 'the route'"),
        ({"more": IGNORED + "after: [{keep: \"contains(row.url, not_null(args.extra, ''))\"}]\n"}, "the stage `keep`"),
        ({"more": IGNORED + "after: [{take: \"length(not_null(args.extra, ''))\"}]\n"}, "the stage `take`"),
        ({"more": IGNORED + "after: [{sort: {by: title, when: args.extra}}]\n"}, "the stage `sort`"),
        ({"answer": "urls: =rows[*].url\nsaid: =args.extra"}, "the answer's key 'said'"),
        (
            {"answer": "pages: {each: rows, take: \"length(args.extra || '')\", map: {url: url}}"},
            "the answer's key 'pages'",
        ),
        ({"more": IGNORED + "after: [{set: {title: args.extra}}]\n"}, "the stage `set`"),
        ({"more": IGNORED + "after: [{group: {by: args.extra, as: kinds}}]\n"}, "the stage `group`"),
        ({"answer": "pages: {each: rows, map: {url: url, said: =args.extra}}"}, "the answer's key 'pages'"),
        ({"answer": "pages: {each: rows, map: {url: {at: url, when: args.extra}}}"}, "the answer's key 'pages'"),
        ({"more": IGNORED + "hints: {filters: [extra]}\n"}, "the hints"),
        (
            {
                "more": IGNORED
                + "hints: {filters: [query], also: [{when: args.extra, action: think, detail: Think.}]}\n"
            },
            "the hints",
        ),
        (
            {"more": IGNORED + "values: {said: upper(args.extra || '')}\n", "answer": "said: =values.said"},
            "the answer's key 'said'",
        ),
        (
            {"more": IGNORED + "values: {one: args.extra, two: values.one}\n", "answer": "said: =values.two"},
            "the answer's key 'said'",
        ),
    ],
)
def test_an_input_that_reaches_the_answer_is_not_ignored(parts: dict[str, str], by: str) -> None:
    tool = a_tool(**{"inputs": EXTRA, "more": IGNORED, **parts})

    found = refusals(tool)
    assert len(found) == 1
    assert found[0].endswith(f"(used by: {by})")


def test_the_original_of_a_number_that_was_moved_to_a_bound_counts_as_its_input() -> None:
    inputs = "size: {type: integer, minimum: 1, maximum: 5, clamp: true, description: How many.}\n"
    tool = a_tool(inputs=inputs, more=IGNORED.replace("extra", "size"), answer="asked: =requested.size")

    assert len(refusals(tool)) == 1


def test_a_check_that_refuses_does_not_reach_an_answer() -> None:
    """A refused call has no answer that could be kept, but a call that is not refused has one under the same key."""
    tool = a_tool(inputs=EXTRA, more="checks: [{refuse_when: args.extra == 'no', message: \"'not that'\"}]\n" + IGNORED)

    assert refusals(tool) == []


def test_an_input_that_may_be_told_as_not_applied_is_not_ignored() -> None:
    inputs = "safe: {type: string, enum: ['off', high], description: Filter.}\n"
    plan = ROUTE % ", with: {safe: null}"
    ignored = IGNORED.replace("extra", "safe")

    assert refusals(a_tool(inputs=inputs, more=ignored, plan=plan)) == []
    assert refusals(a_tool(inputs=inputs, more=ignored, plan=plan, answer="left: =not_applied")) == [
        "E131: the cache ignores 'safe', but it changes the answer (used by: the answer's key 'left')"
    ]


def test_a_session_that_is_only_recorded_may_be_ignored() -> None:
    tool = a_tool(
        inputs="session: {type: string, description: Where to note it.}\n", more=IGNORED.replace("extra", "session")
    )
    tool += "record: {session: session, as: web}\n"

    assert weave_texts(tool).codes == []


def test_an_argument_that_is_replaced_for_every_provider_is_not_passed_by_name() -> None:
    inputs = "num_results: {type: integer, description: How many.}\n"
    tool = a_tool(inputs=inputs, more=IGNORED.replace("extra", "num_results"), plan=ROUTE % ", with: {num_results: 5}")

    assert refusals(tool) == []


def test_an_argument_that_one_strategy_replaces_and_another_passes_is_not_ignored() -> None:
    inputs = "num_results: {type: integer, description: How many.}\n"
    plan = ROUTE % ", with: {num_results: 5}" + ROUTE.replace("the route", "the rest") % ""
    tool = a_tool(inputs=inputs, more=IGNORED.replace("extra", "num_results"), plan=plan)

    assert len(refusals(tool)) == 1


@pytest.mark.parametrize(
    "operation",
    [
        "input: [query, safe]\nsteps: [{get: /x, query: {q: =args.query, s: =args.safe}, json: {map: {url: url}}}]\n",
        "input: [query, safe]\nsteps: [{get: /x, query: {q: =args.query}, json: {keep: args.safe, map: {url: url}}}]\n",
        (
            "input: [query, safe]\nsteps: [{get: /x, query: {q: =args.query}, json: "
            "{map: {url: url, title: =args.safe}}}]\n"
        ),
        (
            "input: [query, safe]\nsteps: [{get: /x, query: {q: =args.query}, json: "
            "{map: {url: {at: url, when: args.safe}}}}]\n"
        ),
        "input: [query, safe]\nsteps: [{get: '/{args.safe}', query: {q: =args.query}, json: {map: {url: url}}}]\n",
        "input: [query, safe]\nsteps: [{get: /x, query: {q: =args.query}, when: args.safe, json: {map: {url: url}}}]\n",
        (
            "input: [query, safe]\nsteps: [{post: /x, body: {json: {a: [{b: =args.safe}], q: "
            "=args.query}}, json: {map: {url: url}}}]\n"
        ),
        (
            "input: [query, safe]\nvalues: {s: args.safe}\nsteps: [{get: /x, query: {q: "
            "=args.query, s: =values.s}, json: {map: {url: url}}}]\n"
        ),
        (
            "input: [query, safe]\nvalues: {s: args.safe}\nsteps: [{get: /x, query: {q: =args.query}, json: "
            "{map: {url: url, title: {at: title, when: values.s}}}}]\n"
        ),
        (
            "input: [query, safe]\nsteps: [{get: /x, query: {q: =args.query}, json: {map: "
            "{url: url}}}]\nrows: {keep: args.safe}\n"
        ),
        (
            "input: [query, safe]\nsteps: [{get: /x, query: {q: =args.query}, json: "
            "{map: {url: url}}}]\nmeta: {s: args.safe}\n"
        ),
    ],
)
def test_whatever_way_an_operation_uses_an_argument_the_proof_follows_it(operation: str) -> None:
    inputs = "safe: {type: string, enum: ['off', high], description: Filter.}\n"
    tool = a_tool(inputs=inputs, more=IGNORED.replace("extra", "safe"))

    found = refusals(tool, a_provider(operation))
    assert found == ["E131: the cache ignores 'safe', but it changes the answer (used by: operation sample.find)"]


LOOKUP = 'input: [query, safe]\nsteps: [{get: /x, query: {q: =args.query, s: "%s"}, json: {map: {url: url}}}]\n'


@pytest.mark.parametrize(
    ("table", "expression", "codes"),
    [
        ("{high: '1'}", "=lookup('t', args.safe)", ["E123"]),
        ("{high: '1', 'off': null}", "=lookup('t', args.safe)", []),
        ("{high: '1'}", "=lookup('t', args.safe) || '0'", []),
        ("{high: '1'}", "=join('', ['a', lookup('t', args.safe) || '0'])", []),
        ("{high: '1'}", "=when(args.query, lookup('t', args.safe), 'x')", ["E123"]),
        ("{high: '1'}", "=lookup('t', parsed(args.safe).safe.level)", []),
        ("{high: '1'}", "=lookup('t', parsed(args.safe).args.safe)", []),
    ],
)
def test_a_table_has_a_row_for_every_value_of_its_key(table: str, expression: str, codes: list[str]) -> None:
    assert weave_texts(a_provider(LOOKUP % expression, top=f"tables:\n  t: {table}\n")).codes == codes
