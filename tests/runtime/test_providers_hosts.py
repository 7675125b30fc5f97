"""An upstream of several hosts, and keys that travel behind another word than Bearer."""

from __future__ import annotations

from specloom.core.messages import Response
from specloom.core.secrets import Secret
from tests.support.spec_library import a_provider, find, weave_texts

STEPS = """\
input: [query]
steps:
  - as: ids
    base: https://names.sample.example/v2/
    get: /ids
    query: {q: =args.query}
    json: {each: "@", map: {url: url}}
  - get: /pages
    json: {each: "@", map: {url: {at: url, required: true}}}
"""
ONE = """\
input: [query]
steps:
  - get: /find
    query: {q: =args.query}
    json: {each: "@", map: {url: {at: url, required: true}}}
"""
KEY = "config:\n  SAMPLE_KEY: {description: The key., secret: true}\n"


def nothing() -> Response:
    return Response(200, {}, b"[]", "https://sample.example/")


def test_a_step_may_be_under_another_host_of_the_same_upstream() -> None:
    woven = weave_texts(a_provider(STEPS, service="headers: {X-One: a}\n"))

    run = find(woven, {"query": "x"}, nothing())

    assert [one.url for one in run.sent] == ["https://names.sample.example/v2/ids", "https://sample.example/pages"]
    assert {one.headers for one in run.sent} == {(("X-One", "a"),)}


def test_the_other_host_is_reached_over_https_only() -> None:
    woven = weave_texts(a_provider(STEPS.replace("https://names", "http://names")))

    assert "E103" in woven.codes or "E104" in woven.codes


def test_a_key_may_travel_behind_another_word() -> None:
    woven = weave_texts(a_provider(ONE, service="auth: {scheme: {word: Token, key: config.SAMPLE_KEY}}\n", top=KEY))

    with_key = find(woven, {"query": "x"}, nothing(), config={"SAMPLE_KEY": Secret("k")})
    without = find(woven, {"query": "x"}, nothing())

    assert dict(with_key.sent[0].headers)["Authorization"] == Secret("Token k")
    assert without.sent[0].headers == ()


def test_the_word_is_one_word() -> None:
    woven = weave_texts(
        a_provider(ONE, service="auth: {scheme: {word: 'My Token', key: config.SAMPLE_KEY}}\n", top=KEY)
    )

    assert woven.report.errors != []
