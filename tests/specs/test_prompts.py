"""Prompts: files with what they take and a text, filled so that no argument can become an instruction."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.diagnostics import Report
from specloom.core.faults import Fault
from specloom.specs.library import shipped_root
from specloom.specs.prompts import Prompt, listed_prompt, load_prompts, read_prompt, render_prompt

HEAD = """\
title: Greeting
description: Says
  hello.
arguments:
  who: {required: true, longest: 5, description: Whom.}
  how: {choices: [short, long], default: short, description: At which length.}
  lens: {catalogue: lenses, description: Where.}
"""
TEXT = "Greet {{ args.who | quoted }} {{ args.how }}{% if args.lens %} in {{ args.lens }}{% endif %}.\n"
NAMES = (
    "brand-guidelines",
    "company-recon",
    "competitive-analysis",
    "comprehensive-research",
    "curriculum-research",
    "fact-check",
    "literature-review",
    "rare-disease-research",
    "research-panel-factcheck",
    "research-panel-synthesis",
)
MAY_BE_MISSING = {"brand_research", "research_panel"}
"""Tools that a prompt speaks of where there are any."""
LENSES = {"lenses": ["medical", "osint"]}


def greeting(head: str = HEAD, text: str = TEXT) -> Prompt:
    report = Report()
    found = read_prompt("greeting", "greeting.md.j2", f"---\n{head}---\n{text}".encode(), report)
    assert found is not None, list(report)
    return found.prompt


def shipped() -> dict[str, Prompt]:
    return load_prompts([str(shipped_root())])


def ways(prompt: Prompt) -> list[dict[str, str]]:
    """Every combination of what the arguments of a prompt can be."""
    kinds = []
    for one in prompt.arguments:
        words = list(one.choices) or (["medical"] if one.catalogue else ["otters.example", "two words"])
        kinds.append(words if one.required else [*words, ""])
    return [
        {one.name: word for one, word in zip(prompt.arguments, words, strict=True) if word}
        for words in itertools.product(*kinds)
    ]


def test_a_prompt_is_listed_with_what_it_takes() -> None:
    assert listed_prompt(greeting()) == {
        "name": "greeting",
        "title": "Greeting",
        "description": "Says hello.",
        "arguments": [
            {"name": "who", "description": "Whom.", "required": True},
            {
                "name": "how",
                "description": "At which length. One of short, long. Left out, it is short.",
                "required": False,
            },
            {"name": "lens", "description": "Where.", "required": False},
        ],
    }


def test_a_prompt_is_filled_with_what_is_given_and_defaults() -> None:
    assert render_prompt(greeting(), {"who": "Ada"}, (), LENSES) == 'Greet "Ada" short.\n'
    assert render_prompt(greeting(), {"who": "Ada", "how": "Long", "lens": "OSINT"}, (), LENSES) == (
        'Greet "Ada" long in osint.\n'
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "needs who: Whom."),
        ({"who": " \n "}, "needs who"),
        ({"who": "Ada", "how": "loud"}, "how is 'loud'; it may be short, long."),
        ({"who": "Ada", "lens": "weather"}, "lens is 'weather'; it may be medical, osint."),
        ({"who": "Ada", "when": "now"}, "takes no 'when'; it takes who, how, lens."),
        ({"who": ["Ada"]}, "who of the prompt greeting has to be text."),
    ],
)
def test_an_argument_that_is_not_right_is_told(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Fault, match=re.escape(sentence)) as caught:
        render_prompt(greeting(), arguments, (), LENSES)

    assert caught.value.kind == "validation"


@given(st.text(min_size=1, max_size=40))
def test_an_argument_is_one_quoted_line_of_at_most_its_length(text: str) -> None:
    try:
        filled = render_prompt(greeting(text="{{ args.who | quoted }}"), {"who": text}, (), LENSES)
    except Fault:
        return

    read = json.loads(filled)
    assert len(filled.splitlines()) == 1
    assert 0 < len(read) <= 5
    assert not any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in read)


def test_a_text_that_cannot_be_filled_is_told_and_where_to_look() -> None:
    prompt = greeting(text="{{ {'short': 1}[args.lens] }}")

    with pytest.raises(Fault, match=r"The prompt greeting cannot be filled: .*`specloom check` shows where") as caught:
        render_prompt(prompt, {"who": "Ada"}, (), LENSES)

    assert caught.value.kind == "config"


def test_a_text_reaches_nothing_beyond_what_it_is_given() -> None:
    with pytest.raises(Fault, match="unsafe"):
        render_prompt(greeting(text="{{ ''.__class__.__mro__ }}"), {"who": "Ada"}, (), LENSES)


def test_a_later_layer_replaces_a_prompt_of_the_same_name(tmp_path: Path) -> None:
    for layer, title in (("one", "First"), ("two", "Second")):
        folder = tmp_path / layer / "templates" / "prompts"
        folder.mkdir(parents=True)
        (folder / "greeting.md.j2").write_text(f"---\ntitle: {title}\ndescription: D\n---\nHello\n", encoding="utf-8")

    found = load_prompts([str(tmp_path / "one"), str(tmp_path / "two"), str(tmp_path / "three")])

    assert [one.title for one in found.values()] == ["Second"]


def test_the_shipped_prompts_are_those_of_the_contract() -> None:
    found = shipped()

    assert tuple(found) == NAMES
    assert [(one.name, one.required) for one in found["brand-guidelines"].arguments] == [
        ("company", True),
        ("use_case", False),
        ("depth", False),
    ]
    cases = found["brand-guidelines"].argument("use_case")
    assert cases is not None
    assert cases.choices == (
        "landing_page",
        "email",
        "social_post",
        "video_brief",
        "design_tokens",
        "full_guidelines",
    )
    assert cases.default == "full_guidelines"
    longest = {(one.name, part.name): part.longest for one in found.values() for part in one.arguments}
    assert longest["company-recon", "target"] == 512
    assert longest["curriculum-research", "subject"] == 256
    assert longest["research-panel-factcheck", "claim"] == 4000


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_prompt_speaks_only_of_tools_that_are_there(name: str) -> None:
    prompt = shipped()[name]
    called = set(re.findall(r'has\("(\w+)"\)', prompt.text))
    assert called <= {path.stem for path in (shipped_root() / "tools.d").rglob("*.yaml")} | MAY_BE_MISSING

    for arguments in ways(prompt):
        without = render_prompt(prompt, arguments, (), LENSES)
        everything = render_prompt(prompt, arguments, called, LENSES)
        assert not [tool for tool in called if f"`{tool}`" in without]
        assert "otters.example" not in re.sub(r'"[^"]*"', "", everything)
        assert "\n\n\n" not in everything


@pytest.mark.parametrize("name", ["research-panel-factcheck", "research-panel-synthesis"])
def test_where_there_is_no_panel_nothing_is_asked_of_its_answer(name: str) -> None:
    (arguments, *_) = ways(shipped()[name])
    without = render_prompt(shipped()[name], arguments, ("web_search", "search_and_scrape"), LENSES)
    panel = render_prompt(shipped()[name], arguments, ("research_panel",), LENSES)

    fields = ("confidence`", "consensus_points", "contradictions`", "unique_to_model")
    assert not [one for one in fields if one in without]
    assert [one for one in fields if one in panel]


def numbers(text: str) -> list[list[int]]:
    """The numbers of each numbered list in a text."""
    lists: list[list[int]] = []
    for line in text.splitlines():
        found = re.match(r"(\d+)\. ", line)
        if found and (not lists or int(found[1]) == 1):
            lists.append([])
        if found:
            lists[-1].append(int(found[1]))
    return lists


@pytest.mark.parametrize("name", NAMES)
def test_whatever_tools_are_off_the_steps_of_a_prompt_are_numbered_without_gaps(name: str) -> None:
    prompt = shipped()[name]
    called = sorted(set(re.findall(r'has\("(\w+)"\)', prompt.text)))
    subsets = [
        set(called) - set(off) for size in (0, 1, 2, len(called)) for off in itertools.combinations(called, size)
    ]

    for arguments in ways(prompt)[:4]:
        for tools in subsets:
            found = numbers(render_prompt(prompt, arguments, tools, LENSES))

            assert all(one == list(range(1, len(one) + 1)) for one in found), (tools, found)


def test_lists_are_numbered_each_for_itself() -> None:
    text = """\
1. a
{% if has("nothing") %}
2. b
{% endif %}
   3. is part of what is above
3. c

1. other
{% if has("nothing") %}
1. either
{% else %}
2. or
{% endif %}

## Next

4. begins anew
"""

    assert render_prompt(greeting(text=text), {"who": "x"}, (), LENSES) == (
        "1. a\n   3. is part of what is above\n2. c\n\n1. other\n2. or\n\n## Next\n\n1. begins anew\n"
    )


def test_each_use_of_a_brand_has_a_text_of_its_own() -> None:
    prompt = shipped()["brand-guidelines"]
    cases = prompt.argument("use_case")
    assert cases is not None

    def text_for(case: str) -> str:
        return render_prompt(prompt, {"company": "x", "use_case": case}, ("brand_research",), {})

    texts = {case: text_for(case) for case in cases.choices}

    assert len(set(texts.values())) == 6
    assert [case for case, text in texts.items() if "include_design_tokens" in text] == ["design_tokens"]
