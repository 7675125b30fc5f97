"""What the examples of a spec do not show is found, at its place, and what they show is not."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from specloom.authoring.coverage import SpecUse, check_coverage, cover_spec
from specloom.authoring.examples.compare import examples_of
from specloom.authoring.examples.run import check_examples
from specloom.authoring.reach import check_reach
from specloom.core.diagnostics import Report
from tests.support.spec_library import a_tool, weave_texts

SPEC = """\
spec: provider/1
name: sample
title: Sample
config:
  SAMPLE_KEY: {description: The key., secret: true, required: true}
service:
  base: https://sample.example
  headers: {Accept: application/json}
  auth: {bearer: config.SAMPLE_KEY}
  errors:
    - {when: status == `402`, kind: quota_exhausted}
    - {when: body.gone, kind: empty}
operations:
  find:
    input: [query, num_results, safe]
    steps:
      - as: list
        get: /search/{args.query}
        query: {n: =args.num_results, never: null}
        headers: {X-Step: a}
        json: {each: items, map: {title: title, url: {at: url, required: true}}}
      - as: more
        optional: true
        post: /more
        body: {json: {filter: {safe: =args.safe, list: [=args.query, 2]}}}
        json: {each: items, map: {url: url, snippet: text}}
    rows: {from: steps.list, join: {with: steps.more, on: url, take: [snippet]}}
    meta: {total: page.total}
examples:
  - name: everything is shown
    operation: find
    args: {query: otters, num_results: 3, safe: high}
    config: {SAMPLE_KEY: k}
    replies:
      list: {json: {items: [{title: T, url: https://u/}, {title: none}]}}
      more: {json: {total: 1, items: [{url: https://u/, text: S}]}}
    expect:
      sent:
        list:
          get: https://sample.example/search/otters
          query: {n: 3}
          headers: {accept: application/json, X-Step: a, Authorization: Bearer k}
        more:
          post: https://sample.example/more
          json: {filter: {safe: high, list: [otters, 2]}}
      rows: [{title: T, url: https://u/, snippet: S}]
      meta: {total: 1}
  - name: an allowance that is used up
    operation: find
    args: {query: x}
    config: {SAMPLE_KEY: k}
    replies: {list: {status: 402}}
    expect: {error: quota_exhausted}
  - name: nothing, in its own way
    operation: find
    args: {query: x}
    config: {SAMPLE_KEY: k}
    replies: {list: {json: {gone: true}}, more: {json: {}}}
    expect: {count: 0}
"""


def uncovered(spec: str, *, errors: bool = True) -> list[str]:
    woven = weave_texts(spec)
    model, use, report = woven.model, SpecUse(), Report()
    traces = check_examples(woven.library, model, woven.report, watch=use.watch)
    if errors:
        assert woven.report.errors == [], woven.sentences
    for (kind, name), ran in traces.items():
        compiled = model.providers.get(name) if kind == "provider" else model.tools.get(name)
        cover_spec(woven.library.of(kind)[name], compiled, ran, use, model, report)
    lines = woven.library.sources["memory/sample.yaml"].splitlines()
    return [f"{one.code} {lines[one.place.line - 1][one.place.column - 1 :][: one.place.width]}" for one in report]


def without(old: str, new: str = "") -> list[str]:
    assert old in SPEC
    return uncovered(SPEC.replace(old, new))


def test_a_spec_whose_examples_show_everything_is_covered() -> None:
    assert uncovered(SPEC) == []


def test_a_field_that_no_example_states_is_found_in_its_own_step() -> None:
    assert without("rows: [{title: T, url: https://u/, snippet: S}]", "rows: [{title: T, url: https://u/}]") == [
        "W301 snippet"
    ]
    assert without("rows: [{title: T, url: https://u/, snippet: S}]", "rows: [{url: https://u/, snippet: S}]") == [
        "W301 title"
    ]
    assert without("      meta: {total: 1}\n") == ["W301 page.total"]


def test_null_states_that_a_field_is_absent_and_shows_nothing() -> None:
    spec = SPEC.replace("{url: https://u/, text: S}]}", "{url: https://u/}]}").replace(
        "snippet: S}]", "snippet: null}]"
    )
    assert uncovered(spec) == ["W301 snippet"]


def test_a_field_of_a_helping_step_does_not_reach_rows() -> None:
    assert without("map: {url: url, snippet: text}", "map: {url: url, snippet: text, title: headline}") == []


def test_request_values_that_no_example_states_are_found() -> None:
    assert without("          get: https://sample.example/search/otters\n") == ["W302 get"]
    assert without("          headers: {accept: application/json, X-Step: a, Authorization: Bearer k}\n") == [
        "W302 Accept",
        "W302 auth",
        "W302 X-Step",
    ]


def test_the_leaves_of_a_body_are_each_stated() -> None:
    spec = SPEC.replace("          json: {filter: {safe: high, list: [otters, 2]}}\n", "          times: 1\n")

    assert uncovered(spec, errors=False) == ["W302 safe", "W302 =args.query", "W302 2"]


def test_a_step_that_no_example_states_is_found_whole() -> None:
    start = SPEC.index("        more:\n          post: https")
    spec = SPEC[:start] + SPEC[SPEC.index("      rows: [{title: T, url: https://u/, snippet"):]  # fmt: skip

    assert uncovered(spec) == ["W302 post", "W302 safe", "W302 =args.query", "W302 2"]


def test_a_rule_that_decides_in_no_example_is_found_even_when_its_fault_is_swallowed() -> None:
    assert without(
        "replies: {list: {status: 402}}\n    expect: {error: quota_exhausted}",
        "replies: {list: {status: 401}}\n    expect: {error: auth_required}",
    ) == ["W303 {"]
    swallowed = "replies: {list: {json: {items: []}}, more: {status: 402}}\n    expect: {count: 0}"
    assert without("replies: {list: {status: 402}}\n    expect: {error: quota_exhausted}", swallowed) == []


def test_a_rule_that_is_always_forestalled_is_found() -> None:
    assert without(
        "    - {when: body.gone", "    - {when: status == `402`, kind: blocked}\n    - {when: body.gone"
    ) == ["W303 {"]


def test_a_required_field_that_no_item_lacks_is_found() -> None:
    assert without(", {title: none}]", "]") == ["W305 url"]


def test_a_setting_that_nothing_reads_is_found() -> None:
    assert without("service:\n  base", "  SAMPLE_OTHER: {description: Not used.}\nservice:\n  base") == [
        "W307 SAMPLE_OTHER"
    ]


TOOL = """\
hints: {filters: [query], also: [{when: args.query == 'none', action: think, detail: Think.}]}
checks: [{refuse_when: args.query == 'no', message: "'no'"}]
after:
  - drop: row.url == 'b'
  - sort: {by: url, when: args.query == 'sorted'}
"""
PLAN = """\
- name: few
  when: args.query == 'few'
  first_of: {providers: [alpha], operation: find}
- name: the route
  first_of:
    providers: =route.find
    operation: find
    again: {when: length(rows) < `2`, with: {query: "=upper(args.query)"}}
"""
EXAMPLES = """\
examples:
  - name: two
    args: {query: sorted}
    providers: {alpha.find: {rows: [{url: a}, {url: b}]}}
    expect: {answer: {pages: [{link: a}], n: 1}}
  - name: again
    args: {query: few things}
    providers: {alpha.find: {rows: [{url: a}], again: [{url: a}, {url: c}]}}
    expect: {answer: {n: 2}}
  - name: few
    args: {query: few}
    providers: {alpha.find: {rows: [{url: a}]}}
    expect: {answer: {n: 1}}
  - name: none
    args: {query: none}
    providers: {alpha.find: {rows: []}}
    expect: {hints: no_match}
  - name: refused
    args: {query: "no"}
    expect: {error: validation}
"""


def uncovered_tool(old: str = "", new: str = "") -> list[str]:
    tool = (
        a_tool(
            plan=PLAN.replace("[alpha]", "=route.find"),
            more=TOOL,
            answer="pages: {each: rows, map: {link: url}}\nn: =length(rows)",
        )
        + EXAMPLES
    )
    assert old in tool
    return uncovered(tool.replace(old, new) if old else tool)


def test_a_tool_whose_examples_reach_everything_is_covered() -> None:
    assert uncovered_tool() == []


BOUNDED = """
query: {type: string, required: true, max_length: 9, description: What.}
kinds: {type: list, max_items: 3, description: Which.}
near: {type: integer, minimum: 5, maximum: 20, default: 7, description: How near.}
"""
ALL = ["the 9 characters of query", "the 3 items of kinds", "the bound 5 of near", "the bound 20 of near"]


@pytest.mark.parametrize(
    ("more", "lacking"),
    [
        ({}, ALL),
        ({"accept": [{"query": {"characters": 9}}, {"kinds": ["a", "b", "c"], "near": 5}, {"near": 20}]}, []),
        ({"refuse": [{"query": "too long for it"}, {"kinds": {"times": 4, "of": "a"}}, {"near": 4}, {"near": 21}]}, []),
        ({"accept": [{"query": "otters", "kinds": ["a", "b"]}, {"near": 6}, {"near": 19}]}, ALL),
    ],
)
def test_bounds_of_inputs_are_reached_by_what_an_example_gives_refuses_or_accepts(
    more: dict[str, Any], lacking: list[str]
) -> None:
    tool = yaml.safe_load(a_tool()) | {"input": yaml.safe_load(BOUNDED)}
    args = {"query": "otters"}
    tool["examples"] = [{"name": "it is asked", "args": args, "expect": {"count": 0}}]
    tool["examples"] += [{"name": "it has bounds", "args": dict(args), **more}] if more else []
    woven = weave_texts(yaml.safe_dump(tool, sort_keys=False))
    spec, report = woven.library.of("tool")["sample"], Report()

    check_reach(spec, woven.model.tools["sample"], examples_of(spec, Report()), woven.model, report)

    text = "".join(one.message for one in report).removeprefix("no example reaches ")
    assert [one.partition(" (line")[0] for one in text.split("; ") if one] == lacking


def test_strategies_stages_second_tries_and_advice_that_are_not_reached_are_found() -> None:
    start, stop = EXAMPLES.index("  - name: few\n"), EXAMPLES.index("  - name: none\n")
    assert uncovered_tool(EXAMPLES[start:stop]) == ["W304 n"]
    again = EXAMPLES[EXAMPLES.index("  - name: again\n") : start]
    assert uncovered_tool(again) == []  # the empty answer is asked again as well
    assert uncovered_tool("query: none", "query: nothing") == ["W304 args.query == 'none'"]
    assert uncovered_tool("query: sorted", "query: shorted") == ["W304 s"]


def test_a_check_that_refuses_no_example_is_found() -> None:
    assert uncovered_tool('  - name: refused\n    args: {query: "no"}\n    expect: {error: validation}\n') == [
        "W303 args.query == 'no'"
    ]


def test_keys_and_fields_of_the_answer_that_no_example_states_are_found() -> None:
    assert uncovered_tool("pages: [{link: a}], ") == ["W301 rows"]
    assert uncovered_tool("pages: [{link: a}]", "urls: null") == ["W301 rows"]


def test_parts_that_are_not_asked_for_and_their_stages_are_found() -> None:
    tool = (
        a_tool(
            plan=(
                "- name: side by side\n  collect:\n    parts:\n"
                "      first: {operation: find, providers: alpha}\n"
                "      second: {operation: find, providers: alpha, when: args.query == 'two', after: [{take: '`1`'}]}\n"
            )
        )
        + "examples:\n  - name: one\n    args: {query: QUERY}\n"
        + "    providers: {alpha.find: {rows: [{url: u}]}}\n    expect: {answer: {urls: URLS}}\n"
    )

    def missing(query: str, urls: str) -> list[str]:
        woven = weave_texts(tool.replace("QUERY", query).replace("URLS", urls))
        report = Report()
        check_coverage(woven.library, woven.model, report)
        return [one.message for one in report if one.place.file.endswith("sample.yaml")]

    assert missing("two", "[u, u]") == []
    assert missing("one", "[u]") == [
        "no example of sample asks for the part 'second'",
        "no example of sample has rows at the stage `take`",
    ]


def test_no_item_lacks_what_a_required_field_above_it_has_read() -> None:
    mapped = "map: {title: title, url: {at: url, required: true}}"
    same = "map: {url: {at: url, required: true}, title: {at: url, required: true}}"
    other = "map: {url: {at: url, required: true}, title: {at: title, required: true}}"

    assert uncovered(SPEC.replace(mapped, same).replace("title: T", 'title: "https://u/"')) == []
    assert uncovered(SPEC.replace(mapped, other)) == ["W305 title"]


def test_every_entry_has_a_key() -> None:
    spec = SPEC.replace(
        "each: items, map: {title: title, url: {at: url,", "each: entries(items), map: {title: value.a, url: {at: key,"
    )
    spec = spec.replace("{items: [{title: T, url: https://u/}, {title: none}]}", '{items: {"https://u/": {a: T}}}')

    assert uncovered(spec) == []
