"""What a prompt names exists: tools, their arguments and the words those take, and fields of what they answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from specloom.domains.trust.bibliography.formatting import STYLES
from specloom.specs.library import shipped_root
from specloom.specs.prompts import Prompt, load_prompts, render_prompt
from tests.support.shipped import shipped_model

PROMPTS = load_prompts([str(shipped_root())])
NOT_HERE = {"research_panel": {"query", "consensus_points", "contradictions", "unique_to_model", "confidence"}}
"""A tool that another layer may bring, with what prompts say of it."""


def texts(prompt: Prompt) -> Iterator[str]:
    """The prompt with every tool, for each word that may be chosen; and as a client sees it that has no pages read."""
    tools = {*shipped_model().tools, *NOT_HERE}
    lenses = {"lenses": tuple(shipped_model().lenses)}
    least = {one.name: (one.choices or ("otters.example",))[0] for one in prompt.arguments if one.required}
    every = {one.name: (one.choices or (lenses.get(one.catalogue, ("2020",))[0],))[-1] for one in prompt.arguments}
    choices = [{**least, one.name: word} for one in prompt.arguments for word in one.choices]
    for given in (least, every, *choices):
        for seen in (tools, tools - {"search_and_scrape"}):
            yield render_prompt(prompt, given, seen, lenses)


def find_fields(schema: Any) -> Iterator[str]:
    """The name of every property in a schema, at any depth."""
    if isinstance(schema, Mapping):
        yield from schema.get("properties", ())
        schema = list(schema.values())
    for one in schema if isinstance(schema, list) else ():
        yield from find_fields(one)


@pytest.mark.parametrize("name", PROMPTS)
def test_every_name_in_a_prompt_is_of_a_tool_that_it_names(name: str) -> None:
    model = shipped_model()
    for text in texts(PROMPTS[name]):
        words = set(re.findall(r"`([^`]+)`", text))
        tools = words & (model.tools.keys() | NOT_HERE)
        known = {*tools, *(word for tool in tools for word in NOT_HERE.get(tool, ()))}
        for tool in tools & model.tools.keys():
            known |= model.tools[tool].inputs.keys() | set(find_fields(model.tools[tool].output_schema))

        assert words <= known, text


@pytest.mark.parametrize("name", PROMPTS)
def test_every_word_that_a_prompt_gives_an_argument_is_one_that_it_takes(name: str) -> None:
    model = shipped_model()
    inputs = [one for tool in model.tools.values() for one in tool.inputs.items()]
    for text in texts(PROMPTS[name]):
        for argument, word in re.findall(r'`(\w+)`(?: =|,? in the| of)? "(\w+)"', text):
            taken = {choice for known, one in inputs if known == argument for choice in one.choices}
            if argument == "lens":
                assert word in model.lenses, text
            else:
                assert not taken or word in taken, (argument, word)


def test_a_list_of_references_is_made_in_a_form_that_can_be_audited() -> None:
    (text, *_) = texts(PROMPTS["literature-review"])
    formats = shipped_model().tools["audit_bibliography"].inputs["format"].choices

    (style,) = re.findall(r'`style` "([\w-]+)"', text)

    assert style in formats
    assert style in STYLES
