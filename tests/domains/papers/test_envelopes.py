"""The words of the language that the toolset brought: `envelope`, and an answer that is a record as it is."""

from __future__ import annotations

import pytest

from specloom.plugins.registry import ENVELOPES
from tests.support.spec_library import weave_texts

TOOL = """\
spec: tool/1
name: sample
title: Sample
description: |
  FIRST:   one
  SECOND: two
annotations: {read_only: true, destructive: false, idempotent: true, open_world: false}
input:
  ref: {type: string, required: true, description: A reference.}
plan:
  - name: show it
    procedure: {name: paper_info, with: {ref: =args.ref}}
answer: =result
envelope: paper
"""


def test_the_answer_has_the_keys_of_the_record_and_those_of_the_envelope() -> None:
    tool = weave_texts(TOOL).tool()

    assert set(tool.output_schema["properties"]) == {"ok", "ref", "safekey", "metadata", "error"}
    assert tool.output_schema["required"] == ["ok"]
    assert tool.envelope == "paper"


def test_a_description_keeps_its_lines() -> None:
    assert weave_texts(TOOL).tool().description == "FIRST: one\nSECOND: two"


@pytest.mark.parametrize(
    ("right", "wrong", "sentence"),
    [
        ("envelope: paper\n", "envelope: papr\n", "E110: no envelope is called 'papr'"),
        ("answer: =result", "answer: =args.ref", "E104: an answer in one piece is the record of a procedure"),
    ],
)
def test_what_is_wrong_is_said(right: str, wrong: str, sentence: str) -> None:
    woven = weave_texts(TOOL.replace(right, wrong))

    assert any(one.startswith(sentence) for one in woven.sentences), woven.sentences


def test_two_envelopes_do_not_share_a_name() -> None:
    with pytest.raises(ValueError, match="is registered already"):
        ENVELOPES.register("paper", gives={})(lambda fault, given: {})

    assert ENVELOPES["paper"].gives["ok"] == {"type": "boolean"}
