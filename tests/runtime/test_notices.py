"""What whoever answered did not hold to: told by name, also where other arguments stand for an input."""

from __future__ import annotations

from typing import Any

import pytest

from specloom.core.messages import Answer
from specloom.runtime.arguments import parse_arguments
from specloom.runtime.plan import Offer, ProviderOutcome
from specloom.runtime.strategies import pursue
from tests.support.spec_library import NOW, a_tool, weave_texts

ONE = """
spec: provider/1
name: sample
title: Sample
service: {base: https://sample.example}
operations:
  find:
    input: [query, num_results]
    steps: [{get: /s, query: {q: =args.query, n: =args.num_results}, json: {map: {url: url}}}]
"""
INPUTS = """
num_results: {type: integer, default: 5, description: How many.}
host: {type: string, description: One host.}
scale: {type: string, description: How wide to look.}
whom: {type: string, description: Whom to ask.}
"""
VALUES = """
values:
  hosts: "when(args.host, [args.host], `null`)"
  sites: "when(args.scale == 'far', ['far.example'], values.hosts)"
  most: "when(args.scale == 'far', `null`, when(args.scale == 'wide', `9`, args.num_results))"
"""
PLAN = """
- name: the only one
  call:
    provider: =args.whom || 'sample'
    operation: find
    with: {num_results: =values.most, sites: =values.sites, safe: =args.whom}
"""


def outcome(args: dict[str, Any], **meta: Any) -> ProviderOutcome:
    text = a_tool(plan=PLAN, inputs=INPUTS, more=VALUES, answer="left: =not_applied\nfacts: =meta\n")
    woven = weave_texts(text, ONE)
    tool, offer = woven.tool(), Offer({}, frozenset({"sample"}))
    running = pursue(tool, woven.model, parse_arguments(tool, {"query": "x", **args}), {}, offer, NOW)
    next(running)
    with pytest.raises(StopIteration) as stopped:
        running.send(Answer([{"url": "https://a.example/"}], meta))
    found: ProviderOutcome = stopped.value.value
    return found


@pytest.mark.parametrize(
    ("args", "left"),
    [
        ({}, []),
        ({"host": "a.example"}, ["host"]),
        ({"scale": "wide"}, []),
        ({"scale": "wide", "host": "a.example"}, ["host"]),
        ({"scale": "far"}, ["scale"]),
        ({"whom": "sample"}, []),
    ],
)
def test_an_input_that_reaches_only_arguments_that_nobody_took_is_told(args: dict[str, Any], left: list[str]) -> None:
    assert outcome(args).answer["left"] == left


def test_an_argument_that_was_left_out_for_its_value_is_told_where_the_caller_had_set_it() -> None:
    assert outcome({"num_results": 3}, not_applied=["num_results"]).answer["left"] == ["num_results"]
    assert outcome({}, not_applied=["num_results"]).answer["left"] == []
    assert outcome({"num_results": 3}, not_applied=None).answer["left"] == []


def test_an_input_whose_every_argument_was_left_out_is_told() -> None:
    assert outcome({"scale": "wide"}, not_applied=["num_results"]).answer["left"] == ["scale"]


def test_what_was_left_out_is_told_once_and_not_among_the_facts() -> None:
    found = outcome({"num_results": 3}, not_applied=["num_results"], cost=1)

    assert found.meta == found.answer["facts"] == {"cost": 1}
