"""Operations as they run: requests, rules, retries, shards and what comes out; driven with replies, nothing is sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Response
from specloom.core.secrets import Secret
from specloom.runtime.operation import drive, perform
from specloom.runtime.response import interleave, nearest
from tests.support.spec_library import a_provider, find, weave_texts

STEP = (
    "- {get: /search, query: {q: =args.query}, json: {each: items, map: {title: "
    "title, url: {at: url, required: true}}}}"
)
PLAIN = f"input: [query]\nsteps:\n  {STEP}\n"


def reply(value: Any = None, status: int = 200, **headers: str) -> Response:
    body = json.dumps(value if value is not None else {"items": []}).encode()
    return Response(
        status,
        {"content-type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}},
        body,
        "https://sample.example/search",
    )


def items(*names: str) -> Response:
    return reply({"items": [{"title": name, "url": f"https://s.example/{name}"} for name in names]})


# --- requests -------------------------------------------------------------------------------------------------------


def test_values_are_sent_the_way_urls_want_them() -> None:
    query = (
        "{q: =args.query, none: null, flag: true, list: [a, null, b], number: 1.0, half: 0.5, gone: =args.num_results}"
    )
    operation = f"input: [query, num_results]\nsteps: [{{get: /s, query: {query}, json: {{map: {{url: url}}}}}}]\n"

    run = find(weave_texts(a_provider(operation)), {"query": "é & ü"}, reply([]))

    pairs = (("q", "é & ü"), ("flag", "true"), ("list", "a"), ("list", "b"), ("number", "1"), ("half", "0.5"))
    assert run.sent[0].query == pairs


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("a/b", "/x/a%2Fb/y"),
        ("é", "/x/%C3%A9/y"),
        ("a b?c#d%", "/x/a%20b%3Fc%23d%25/y"),
        ("...", "/x/.../y"),
        ("..a", "/x/..a/y"),
        ("../..", "/x/..%2F../y"),
    ],
)
def test_a_path_segment_is_escaped(value: str, path: str) -> None:
    operation = "input: [query]\nsteps: [{get: '/x/{args.query}/y', json: {map: {url: url}}}]\n"

    run = find(weave_texts(a_provider(operation)), {"query": value}, reply([]))

    assert run.sent[0].url == "https://sample.example" + path


def test_a_list_in_a_path_makes_several_segments() -> None:
    operation = "input: [sites]\nsteps: [{get: '/x/{args.sites}/y', json: {map: {url: url}}}]\n"

    run = find(weave_texts(a_provider(operation)), {"sites": ["a b", "c/d", "..e"]}, reply([]))

    assert run.sent[0].url == "https://sample.example/x/a%20b/c%2Fd/..e/y"


@pytest.mark.parametrize("value", [["a", ".."], [".", "a"], ["a", "", "b"]])
def test_no_segment_of_a_list_may_change_the_path(value: list[str]) -> None:
    operation = "input: [sites]\nsteps: [{get: '/x/{args.sites}/y', json: {map: {url: url}}}]\n"

    run = find(weave_texts(a_provider(operation)), {"sites": value}, reply([]))

    assert run.sent == []
    assert run.fault is not None
    assert run.fault.kind == "validation"


def test_a_field_can_be_read_from_a_header() -> None:
    field = "{at: \"=capture(headers.link, 'page=([0-9]+)')\"}"
    operation = f"input: [query]\nsteps: [{{get: /x, json: {{each: items, map: {{url: url, title: {field}}}}}}}]\n"

    run = find(
        weave_texts(a_provider(operation)),
        {"query": "a"},
        reply({"items": [{"url": "https://a.example"}]}, link="<x?page=9>"),
    )

    assert run.rows == [{"url": "https://a.example", "title": "9"}]


@pytest.mark.parametrize("value", [".", "..", ""])
def test_a_segment_that_would_change_the_path_is_refused_before_anything_is_sent(value: str) -> None:
    operation = "input: [query]\nsteps: [{get: '/x/{args.query}/y', json: {map: {url: url}}}]\n"

    run = find(weave_texts(a_provider(operation)), {"query": value}, reply([]))

    assert run.sent == []
    assert run.fault is not None
    assert run.fault.kind == "validation"


@pytest.mark.parametrize("path", ["/x/{args.query}.{args.query}", "/x/{args.query}{args.query}"])
def test_dots_of_two_placeholders_do_not_make_a_segment_of_dots(path: str) -> None:
    operation = f"input: [query]\nsteps: [{{get: '{path}', json: {{map: {{url: url}}}}}}]\n"

    run = find(weave_texts(a_provider(operation)), {"query": "."}, reply([]))

    assert run.sent == []
    assert run.fault is not None


def test_bodies_keep_their_types_and_leave_nulls_out() -> None:
    json_body = "{json: {q: =args.query, n: 5, deep: {flag: true, none: =args.num_results}, list: [=args.query]}}"
    operation = f"input: [query, num_results]\nsteps: [{{post: /s, body: {json_body}, json: {{map: {{url: url}}}}}}]\n"

    run = find(weave_texts(a_provider(operation)), {"query": "é"}, reply([]))

    assert json.loads(run.sent[0].body or b"") == {"q": "é", "n": 5, "deep": {"flag": True}, "list": ["é"]}
    assert ("Content-Type", "application/json") in run.sent[0].headers


def test_a_form_is_encoded() -> None:
    operation = (
        "input: [query]\nsteps: [{post: /s, body: {form: {q: =args.query, f: [a, b]}}, json: {map: {url: url}}}]\n"
    )

    run = find(weave_texts(a_provider(operation)), {"query": "a&b"}, reply([]))

    assert run.sent[0].body == b"q=a%26b&f=a&f=b"


def test_a_header_of_a_step_replaces_one_of_the_service_in_any_case() -> None:
    operation = (
        "input: [query]\nsteps: [{get: /s, headers: {ACCEPT: b}, query: {q: =args.query}, json: {map: {url: url}}}]\n"
    )

    run = find(
        weave_texts(a_provider(operation, service="headers: {Accept: a, X-One: '1'}\n")), {"query": "x"}, reply([])
    )

    assert run.sent[0].headers == (("ACCEPT", "b"), ("X-One", "1"))


# --- secrets --------------------------------------------------------------------------------------------------------

KEY = "config:\n  SAMPLE_KEY: {description: The key., secret: true, required: true}\n"


def test_a_secret_is_sent_as_it_is_and_stands_in_no_message() -> None:
    woven = weave_texts(
        a_provider(PLAIN, service="auth: {bearer: config.SAMPLE_KEY}\nquery: {key: =config.SAMPLE_KEY}\n", top=KEY)
    )

    run = find(
        woven, {"query": "x"}, reply({"error": "key s3cret is wrong"}, 401), config={"SAMPLE_KEY": Secret("s3cret")}
    )

    request = run.sent[0]
    assert dict(request.query)["key"] == Secret("s3cret")
    assert dict(request.headers)["Authorization"] == Secret("Bearer s3cret")
    assert "s3cret" not in repr(request)
    assert run.fault is not None
    assert run.fault.message == "Sample refused the request (HTTP 401); check SAMPLE_KEY"
    assert "s3cret" not in json.dumps(run.fault.to_json())


def test_basic_credentials_are_encoded_and_bad_ones_are_told_without_showing_them() -> None:
    top = "config:\n  SAMPLE_LOGIN: {description: The login., type: credentials, required: true}\n"
    woven = weave_texts(a_provider(PLAIN, service="auth: {basic: config.SAMPLE_LOGIN}\n", top=top))

    good = find(woven, {"query": "x"}, reply(), config={"SAMPLE_LOGIN": Secret("me:pass")})
    bad = find(woven, {"query": "x"}, reply(), config={"SAMPLE_LOGIN": Secret("hunter2")})

    assert dict(good.sent[0].headers)["Authorization"] == Secret("Basic bWU6cGFzcw==")
    assert bad.fault is not None
    assert bad.fault.message == "Sample: credentials are written user:password"


def test_a_missing_key_leaves_the_header_out() -> None:
    top = "config:\n  SAMPLE_KEY: {description: The key., secret: true}\n"
    woven = weave_texts(
        a_provider(PLAIN, service="auth: {bearer: config.SAMPLE_KEY}\nheaders: {X-Key: =config.SAMPLE_KEY}\n", top=top)
    )

    run = find(woven, {"query": "x"}, reply())

    assert run.sent[0].headers == ()


# --- failures -------------------------------------------------------------------------------------------------------

RULES = """\
errors:
  - {when: body.error == 'quota', kind: quota_exhausted, message: body.detail}
  - {when: status == `429`, kind: rate_limited, message: "'too fast'"}
  - {when: status == `429`, kind: blocked}
  - {when: status == `404`, kind: empty}
  - {when: "contains(text, 'maintenance')", kind: upstream_unavailable, retry_after: "`90.2`"}
"""


def fault_of(response: Response, **more: Any) -> Fault:
    run = find(weave_texts(a_provider(PLAIN, service=RULES)), {"query": "x"}, response, **more)
    assert run.fault is not None
    return run.fault


def test_the_first_rule_that_holds_decides() -> None:
    fault = fault_of(reply({"error": "quota", "detail": "used up until Monday"}, 429))

    assert (fault.kind, fault.message, fault.provider) == ("quota_exhausted", "used up until Monday", "sample")
    assert fault_of(reply({}, 429)).message == "too fast"


def test_a_rule_may_decide_on_an_answer_that_is_not_json_or_has_status_200() -> None:
    assert fault_of(reply({"error": "quota", "detail": "x"}, 200)).kind == "quota_exhausted"

    fault = fault_of(Response(200, {"content-type": "text/html"}, b"<h1>maintenance</h1>"))
    assert (fault.kind, fault.retry_after) == ("upstream_unavailable", 91)


def test_a_rule_of_kind_empty_is_an_answer_without_rows() -> None:
    run = find(weave_texts(a_provider(PLAIN, service=RULES)), {"query": "x"}, reply({}, 404))

    assert run.rows == []


def test_a_rule_that_cannot_be_worked_out_met_an_answer_of_another_shape() -> None:
    rules = "errors:\n  - {when: body.code >= `500`, kind: upstream_unavailable}\n"

    run = find(weave_texts(a_provider(PLAIN, service=rules)), {"query": "x"}, reply({"code": "later"}))

    assert run.fault is not None
    assert (run.fault.kind, run.fault.provider) == ("layout_changed", "sample")
    assert "compares two numbers" in run.fault.detail


def test_a_rule_that_cannot_be_worked_out_does_not_hide_what_the_status_says() -> None:
    rules = (
        "errors:\n  - {when: body.code >= `500`, kind: blocked}\n"
        "  - {when: status == `429`, kind: rate_limited, message: \"fill('slow down: {why}', body.error)\"}\n"
        '  - {when: status == `403`, kind: rate_limited, retry_after: "subtract(number(headers.reset), now)"}\n'
    )
    woven = weave_texts(a_provider(PLAIN, service=rules))

    def told(status: int, **headers: str) -> tuple[str, str, int | None]:
        fault = find(woven, {"query": "x"}, reply({"code": "later", "error": "x"}, status, **headers)).fault
        assert fault is not None
        return fault.kind, fault.message, fault.said_after

    assert told(503) == ("upstream_unavailable", "Sample failed (HTTP 503)", None)
    assert told(429) == ("rate_limited", "Sample asks to slow down (HTTP 429)", None)
    assert told(403, reset="soon", retry_after="7") == ("rate_limited", "Sample asks to slow down (HTTP 403)", 7)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("used up\nuntil\t Monday ", "used up until Monday"),
        ("used\u200b \u202eup\u202c", "used up"),
        ("a" * 299 + "bcd", "a" * 299 + "…"),
        ("a" * 10_000_000, "a" * 299 + "…"),
        ("a" * 300, "a" * 300),
        (5, "5"),
        ("\u200b", "the allowance at Sample is used up (HTTP 402)"),
        ({"a": 1}, "the allowance at Sample is used up (HTTP 402)"),
        (["a"], "the allowance at Sample is used up (HTTP 402)"),
        (None, "the allowance at Sample is used up (HTTP 402)"),
    ],
)
def test_the_words_of_an_upstream_are_one_short_sentence_that_is_seen(said: Any, told: str) -> None:
    assert fault_of(reply({"error": "quota", "detail": said}, 402)).message == told


def test_a_part_of_a_document_is_not_taken_for_the_whole() -> None:
    run = find(weave_texts(a_provider(PLAIN)), {"query": "x"}, reply({"items": []}, 206))

    assert run.fault is not None
    assert (run.fault.kind, run.fault.message) == ("upstream_unavailable", "Sample failed (HTTP 206)")


WORKED_OUT = """\
input: [query]
steps:
  - as: list
    get: /list/{args.query}
    json: {each: items, map: {url: url, title: "=join(' ', item.names)"}}
"""


def test_what_cannot_be_worked_out_from_an_answer_is_a_changed_layout_that_says_where() -> None:
    woven = weave_texts(a_provider(WORKED_OUT))

    run = find(woven, {"query": "x"}, reply({"items": [{"url": "https://s.example/", "names": 5}]}))

    assert run.fault is not None
    assert (run.fault.kind, run.fault.provider) == ("layout_changed", "sample")
    assert run.fault.message == "Sample answered in a shape that its spec does not know"
    assert "join() takes array of string" in run.fault.detail
    assert "memory/sample.yaml:12:" in run.fault.detail


def test_what_cannot_be_worked_out_before_there_is_an_answer_is_a_defect() -> None:
    query = """/list\n    query: {q: "=word_count(capture(args.query, '[0-9]'))"}"""
    operation = WORKED_OUT.replace("/list/{args.query}", query)

    run = find(weave_texts(a_provider(operation)), {"query": "x"}, reply({"items": []}))

    assert run.fault is not None
    assert run.fault.kind == "internal"


def test_a_mapping_of_an_upstream_is_not_put_into_the_next_request() -> None:
    operation = """\
    input: [query]
    steps:
      - {as: ids, get: /ids, query: {q: =args.query}, json: {each: ids, map: {id: "@"}}}
      - {get: /pages, query: {id: "=steps.ids[].id"}, json: {each: items, map: {url: url}}}
    """

    run = find(weave_texts(a_provider(operation)), {"query": "x"}, reply({"ids": [{"a": 1}]}), items("a"))

    assert run.fault is not None
    assert (run.fault.kind, len(run.sent)) == ("layout_changed", 1)


def test_a_retry_after_that_is_no_number_is_as_good_as_none() -> None:
    model = weave_texts(a_provider(PLAIN))

    odd, without = (find(model, {"query": "x"}, reply({}, 429, **more)).fault for more in ({"retry_after": "2²"}, {}))

    assert odd is not None
    assert without is not None
    assert (odd.kind, odd.retry_after) == (without.kind, without.retry_after)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "bad_request"),
        (401, "auth_required"),
        (402, "quota_exhausted"),
        (403, "blocked"),
        (404, "not_found"),
        (422, "bad_request"),
        (429, "rate_limited"),
        (500, "upstream_unavailable"),
        (503, "upstream_unavailable"),
        (301, "upstream_unavailable"),
        (418, "upstream_unavailable"),
    ],
)
def test_a_status_that_no_rule_names_has_a_default_kind(status: int, kind: str) -> None:
    run = find(weave_texts(a_provider(PLAIN)), {"query": "x"}, reply({}, status))

    assert run.fault is not None
    assert run.fault.kind == kind


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7),
        ("Thu, 01 Jan 2026 00:02:00 GMT", 120),
        ("Wed, 31 Dec 2025 00:00:00 GMT", 0),
        ("999999999999", 86_400),
        ("9" * 5000, 86_400),
        ("1.2", 2),
        ("0", 0),
        ("Thu, 01 Jan 2026 00:02:00 -0000", 120),
        ("Thu, 01 Jan 2026 02:02:00 +0200", 120),
        ("soon", 60),
        ("-5", 60),
        ("", 60),
    ],
)
@pytest.mark.parametrize("service", ["", RULES])
def test_retry_after_is_read_as_seconds_or_as_a_date(text: str, seconds: int, service: str) -> None:
    run = find(weave_texts(a_provider(PLAIN, service=service)), {"query": "x"}, reply({}, 429, retry_after=text))

    assert run.fault is not None
    assert run.fault.retry_after == seconds


def test_a_body_that_cannot_be_read_is_a_changed_layout() -> None:
    run = find(
        weave_texts(a_provider(PLAIN)), {"query": "x"}, Response(200, {"content-type": "application/json"}, b"{oops")
    )

    assert run.fault is not None
    assert run.fault.kind == "layout_changed"
    assert run.fault.message.startswith("Sample: ")


def test_items_that_all_lack_what_is_required_are_a_changed_layout_but_no_items_are_not() -> None:
    woven = weave_texts(a_provider(PLAIN))

    changed = find(woven, {"query": "x"}, reply({"items": [{"title": "a"}, {"title": "b"}]}))
    assert changed.fault is not None
    assert changed.fault.kind == "layout_changed"
    assert find(woven, {"query": "x"}, reply({"items": []})).rows == []


@pytest.mark.parametrize("decoder", ["html", "xml"])
@pytest.mark.parametrize(
    ("told", "kind"),
    [("", "layout_changed"), (", empty_is_ok_when: //none", ""), (", empty_is_ok_when: //p", "layout_changed")],
)
def test_a_page_without_items_is_a_changed_layout_unless_it_says_that_there_are_none(
    decoder: str, told: str, kind: str
) -> None:
    step = f"- {{get: /s, query: {{q: =args.query}}, {decoder}: {{each: //li{told}, map: {{url: a/@href}}}}}}"
    page = Response(200, {"content-type": f"text/{decoder}"}, b"<main><none/></main>", "https://sample.example/s")

    run = find(weave_texts(a_provider(f"input: [query]\nsteps:\n  {step}\n")), {"query": "x"}, page)

    assert (run.fault.kind if run.fault else "") == kind


@pytest.mark.parametrize("body", [{}, {"items": None}, {"results": [{"url": "u"}]}, {"error": "sorry"}, []])
def test_a_missing_list_is_a_changed_layout_and_no_empty_answer(body: Any) -> None:
    run = find(weave_texts(a_provider(PLAIN)), {"query": "x"}, reply(body))

    assert run.fault is not None
    assert (run.fault.kind, run.fault.provider) == ("layout_changed", "sample")
    assert run.fault.message == "Sample answered with neither results nor a sign that there are none"


@pytest.mark.parametrize(
    ("body", "is_empty"),
    [
        ({"total": 0}, True),
        ({"total": 0, "items": []}, True),
        ({"total": 0, "items": None}, True),
        ({"total": 1, "results": [{"url": "u"}]}, False),
        ({"total": 1, "items": []}, False),
        ({}, False),
    ],
)
def test_where_the_spec_knows_the_sign_of_an_empty_answer_only_that_sign_is_believed(
    body: dict[str, Any], is_empty: bool
) -> None:
    sure = PLAIN.replace("each: items,", "each: items, empty_is_ok_when: total == `0`,")

    run = find(weave_texts(a_provider(sure)), {"query": "x"}, reply(body))

    assert (run.fault is None) == is_empty
    assert run.fault is None or run.fault.kind == "layout_changed"


def test_a_document_that_is_itself_the_list_may_be_empty() -> None:
    run = find(weave_texts(a_provider(PLAIN.replace("each: items, ", ""))), {"query": "x"}, reply([]))

    assert run.rows == []


def test_an_item_of_another_type_is_a_changed_layout_and_no_traceback() -> None:
    operation = PLAIN.replace("{title: title,", "{title: \"join('-', names)\",")

    run = find(weave_texts(a_provider(operation)), {"query": "x"}, reply({"items": [{"names": 5, "url": "u"}]}))

    assert run.fault is not None
    assert run.fault.kind == "layout_changed"


# --- retries --------------------------------------------------------------------------------------------------------

RETRY = "retry: {on: [upstream_unavailable, rate_limited, network], times: 2, wait: 500ms}\n"


def test_a_fault_that_is_worth_it_is_tried_again_after_growing_pauses() -> None:
    run = find(
        weave_texts(a_provider(PLAIN, service=RETRY)),
        {"query": "x"},
        reply({}, 500),
        Fault("network", "reset"),
        items("a"),
    )

    assert [row["title"] for row in run.rows] == ["a"]
    assert run.waits == [0.5, 1.0]
    assert len(run.sent) == 3
    assert run.sent[0] == run.sent[2]


def test_retries_end_and_the_last_fault_is_the_answer() -> None:
    run = find(weave_texts(a_provider(PLAIN, service=RETRY)), {"query": "x"}, reply({}, 500))

    assert len(run.sent) == 3
    assert run.fault is not None
    assert run.fault.kind == "upstream_unavailable"


def test_a_fault_that_is_not_listed_is_not_tried_again() -> None:
    run = find(weave_texts(a_provider(PLAIN, service=RETRY)), {"query": "x"}, reply({}, 400))

    assert (len(run.sent), run.waits) == (1, [])


def test_retry_after_is_obeyed_when_it_is_longer() -> None:
    run = find(
        weave_texts(a_provider(PLAIN, service=RETRY)), {"query": "x"}, reply({}, 429, retry_after="4"), items("a")
    )

    assert run.waits == [4.0]


def test_throttling_without_a_delay_is_retried_after_the_pause_of_the_spec() -> None:
    run = find(weave_texts(a_provider(PLAIN, service=RETRY)), {"query": "x"}, reply({}, 429), items("a"))

    assert run.waits == [0.5]
    assert [row["title"] for row in run.rows] == ["a"]


def test_who_is_to_come_back_much_later_is_not_kept_waiting() -> None:
    told = reply({}, 429, retry_after="11")
    run = find(weave_texts(a_provider(PLAIN, service=RETRY)), {"query": "x"}, told, items("a"))

    assert (run.waits, len(run.sent)) == ([], 1)
    assert run.fault is not None
    assert (run.fault.kind, run.fault.retry_after) == ("rate_limited", 11)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("no answer in 30 s", "Sample cannot be reached: no answer in 30 s"),
        (
            "a.example could not be reached: the name does not resolve.",
            "Sample cannot be reached: a.example: the name does not resolve.",
        ),
    ],
)
def test_a_lost_connection_is_the_upstream_being_unavailable(said: str, told: str) -> None:
    run = find(weave_texts(a_provider(PLAIN)), {"query": "x"}, Fault("network", said))

    assert run.fault is not None
    assert (run.fault.kind, run.fault.provider) == ("upstream_unavailable", "sample")
    assert run.fault.message == told


# --- steps, shards, rows --------------------------------------------------------------------------------------------

TWO = """\
input: [query, safe]
steps:
  - {as: list, get: /list, query: {q: =args.query}, json: {each: items, map: {url: url, title: title}}}
  - as: more
    when: "!(args.safe)"
    optional: true
    get: /more
    query: {u: "=steps.list[*].url"}
    json: {each: items, map: {url: url, snippet: text}}
rows: {from: steps.list, join: {with: steps.more, on: url, take: [snippet]}}
"""


def test_later_steps_see_the_rows_of_earlier_ones_and_are_joined() -> None:
    more = reply({"items": [{"url": "https://s.example/b", "text": "B!"}]})

    run = find(weave_texts(a_provider(TWO)), {"query": "x"}, items("a", "b"), more)

    assert run.sent[1].query == (("u", "https://s.example/a"), ("u", "https://s.example/b"))
    assert [row.get("snippet") for row in run.rows] == [None, "B!"]


@pytest.mark.parametrize("url", [None, "", ["a"], {"a": 1}])
def test_rows_without_a_key_are_joined_with_nothing(url: Any) -> None:
    more = reply({"items": [{"url": url, "text": "B!"}]})
    rows = {"items": [{"url": url, "title": "a"}, {"url": "https://s.example/b", "title": "b"}]}

    run = find(weave_texts(a_provider(TWO)), {"query": "x"}, reply(rows), more)

    assert [row.get("snippet") for row in run.rows] == [None] * len(run.rows)


@pytest.mark.parametrize(
    "failure",
    [
        reply({}, 500),
        Fault("network", "reset"),
        Response(200, {}, b"oops"),
        reply({"items": [5]}),
        reply({"other": []}),
    ],
)
def test_an_optional_step_that_fails_leaves_the_rows_undecorated(failure: Response | Fault) -> None:
    run = find(weave_texts(a_provider(TWO)), {"query": "x"}, items("a"), failure)

    assert run.rows == [{"title": "a", "url": "https://s.example/a"}]


def test_a_step_whose_condition_does_not_hold_is_not_sent() -> None:
    run = find(weave_texts(a_provider(TWO)), {"query": "x", "safe": "high"}, items("a"))

    assert len(run.sent) == 1
    assert len(run.rows) == 1


def test_an_operation_says_whether_it_has_sent_anything() -> None:
    step = "{get: /s, query: {q: =args.query}, when: args.query == 'x', json: {each: items, map: {url: url}}}"
    provider = weave_texts(a_provider(f"input: [query]\nsteps: [{step}]\n")).provider()
    operation = provider.operations["find"]

    answers = [drive(perform(provider, operation, {"query": word}, {}, 0.0), lambda _: items("a")) for word in "xy"]

    assert [answer.asked for answer in answers] == [True, False]


SHARD = (
    "input: [query, sites]\nshard: {over: sites, at_most: 2%s}\nsteps:\n  - {get: /s, query: {q: =args.query, s: "
    "=args.sites}, json: {each: items, map: {title: title, url: url}}}\n"
)


def test_a_long_list_is_split_over_several_requests_and_rows_are_interleaved() -> None:
    run = find(
        weave_texts(a_provider(SHARD % "")), {"query": "x", "sites": ["a", "b", "c"]}, items("1", "2", "3"), items("4")
    )

    assert [one.query[1:] for one in run.sent] == [(("s", "a"), ("s", "b")), (("s", "c"),)]
    assert [row["title"] for row in run.rows] == ["1", "4", "2", "3"]


def test_a_part_that_does_not_fit_is_made_smaller() -> None:
    fits = ", fits: \"length(join('', args.sites)) < `4`\""

    run = find(weave_texts(a_provider(SHARD % fits)), {"query": "x", "sites": ["aa", "bb", "c", "toolong"]}, items())

    assert [[value for name, value in one.query if name == "s"] for one in run.sent] == [
        ["aa"],
        ["bb", "c"],
        ["toolong"],
    ]


def test_without_the_list_there_is_one_request() -> None:
    assert len(find(weave_texts(a_provider(SHARD % "")), {"query": "x"}, items("1")).sent) == 1
    assert len(find(weave_texts(a_provider(SHARD % "")), {"query": "x", "sites": []}, items("1")).sent) == 1


def test_values_of_another_type_are_left_out_and_rows_without_a_required_one_too() -> None:
    woven = weave_texts(a_provider(PLAIN.replace("url: {at: url, required: true}", "url: url")))

    run = find(
        woven,
        {"query": "x"},
        reply(
            {
                "items": [
                    {"title": {"a": 1}, "url": "https://u.example/"},
                    {"title": 5, "url": "https://v.example/"},
                    {"title": "t", "url": "mailto:w@example.org"},
                    {"title": "t", "url": ["w"]},
                    {"title": "t"},
                ]
            }
        ),
    )

    assert run.rows == [{"url": "https://u.example/"}, {"title": "5", "url": "https://v.example/"}]


def test_rows_are_kept_and_counted_as_the_spec_says() -> None:
    operation = PLAIN + "rows: {keep: row.title != 'b', take: \"`2`\"}\nmeta: {total: page.total}\n"

    run = find(
        weave_texts(a_provider(operation)),
        {"query": "x"},
        reply({"total": 9, "items": [{"title": t, "url": f"https://{t}.example/"} for t in "abcd"]}),
    )

    assert [row["title"] for row in run.rows] == ["a", "c"]
    assert run.answer is not None
    assert run.answer.meta == {"total": 9}


def test_arguments_that_an_operation_does_not_take_are_left_out() -> None:
    run = find(weave_texts(a_provider(PLAIN)), {"query": "x", "other": 5}, items())

    assert run.sent[0].query == (("q", "x"),)


def test_interleaving_takes_the_first_of_each_then_the_second() -> None:
    assert interleave([[{"n": 1}, {"n": 2}], [], [{"n": 3}]]) == [{"n": 1}, {"n": 3}, {"n": 2}]
    assert interleave([]) == []


def test_rows_are_sorted_by_distance_and_those_without_a_point_come_last() -> None:
    rows: list[dict[str, Any]] = [
        {"n": "none"},
        {"n": "null island", "lat": 0, "lon": 0},
        {"n": "far", "lat": 10, "lon": 10},
        {"n": "near", "lat": 1, "lon": 1},
    ]

    assert [row["n"] for row in nearest(rows, 1.0, 1.0, None)] == ["near", "far", "none", "null island"]
    assert [row["n"] for row in nearest(rows, 1.0, 1.0, 1000.0)] == ["near"]
    # A degree of longitude on the equator has 111.2 km, on either side of the date line.
    assert [row["n"] for row in nearest([{"n": "over the line", "lat": 0, "lon": -179.5}], 0.0, 179.5, 112_000.0)] == [
        "over the line"
    ]


@pytest.mark.parametrize("lat", [10**400, -(10**400), 90.5, -91, float("inf"), float("nan"), "50", None])
def test_a_point_that_is_on_no_globe_is_none(lat: Any) -> None:
    rows = nearest([{"lat": lat, "lon": 1.0}, {"lat": 50.0, "lon": 1.0}], 50.0, 1.0, 10.0)

    assert rows == [{"lat": 50.0, "lon": 1.0}]


def test_a_point_of_an_upstream_that_is_no_number_is_a_changed_layout() -> None:
    first = "{as: first, get: /s, query: {q: =args.query}, json: {map: {title: lat, url: url}}}"
    rows = "rows: {nearest: {lat: 'parsed(steps.first[0].title)', lon: '`1`'}}"
    run = find(
        weave_texts(a_provider(f"input: [query]\nsteps: [{first}]\n{rows}\n")),
        {"query": "x"},
        reply({"lat": "[1]", "url": "https://a.example"}),
    )

    assert run.fault is not None
    assert run.fault.kind == "layout_changed"


def test_a_header_of_several_values_is_one_line() -> None:
    operation = PLAIN.replace("query: {q: =args.query}", "headers: {Accept: [a/b, '=args.query', null], X-None: []}")

    run = find(weave_texts(a_provider(operation)), {"query": "c/d"}, reply())

    assert run.sent[0].headers == (("Accept", "a/b, c/d"),)


def test_a_header_with_a_secret_among_its_values_is_secret_as_a_whole() -> None:
    operation = PLAIN.replace("query: {q: =args.query}", "headers: {X-Keys: [one, =config.SAMPLE_KEY]}")
    woven = weave_texts(a_provider(operation, top="config: {SAMPLE_KEY: {secret: true, description: A key.}}\n"))

    run = find(woven, {"query": "x"}, reply(), config={"SAMPLE_KEY": Secret("k-1")})

    assert run.sent[0].headers == (("X-Keys", Secret("one, k-1")),)
    assert "k-1" not in repr(run.sent[0])


def test_a_setting_of_type_headers_is_added_to_every_request() -> None:
    top = "config:\n  SAMPLE_HEADERS: {description: More headers., type: headers}\n"
    woven = weave_texts(
        a_provider(PLAIN, service="headers: {X-One: own}\nextra_headers: config.SAMPLE_HEADERS\n", top=top)
    )

    run = find(
        woven, {"query": "x"}, items(), config={"SAMPLE_HEADERS": {"X-Gate": Secret("g"), "x-one": Secret("theirs")}}
    )

    assert dict(run.sent[0].headers) == {"x-one": Secret("theirs"), "X-Gate": Secret("g")}
