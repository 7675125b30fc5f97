"""Prompts belong to toolsets: a client sees and gets those of the tools that it is served, and no other."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from mcp import Client, MCPError, StdioServerParameters

from specloom.compiler.build import weave_from
from specloom.model import served_prompts
from specloom.specs.library import shipped_root
from specloom.specs.prompts import load_prompts
from tests.support.shipped import shipped_model
from tests.support.spec_library import weave_texts

SHIPPED = frozenset(load_prompts([str(shipped_root())]))
TOOLSET = "spec: toolset/1\nname: demo\ninstructions: [Hello.]\nprompts: [{name}]\n"
OWN = "---\ntitle: Greeting\ndescription: Says hello.\n---\nSay hello.\n"


@pytest.mark.process
@pytest.mark.parametrize(
    ("selection", "names"),
    [
        (("--toolset", "papers"), frozenset()),
        (("--toolset", "papers,research"), SHIPPED),
        (("--toolset", "core"), SHIPPED),
        (("--tools", "doiget_info"), frozenset()),
        (("--tools", "web_search"), SHIPPED),
        ((), SHIPPED),
    ],
)
async def test_a_client_sees_the_prompts_of_the_tools_that_it_is_served(
    tmp_path: Path, selection: tuple[str, ...], names: frozenset[str]
) -> None:
    own = tmp_path / "own" / "templates" / "prompts"
    own.mkdir(parents=True)
    (own / "greeting.md.j2").write_text(OWN, encoding="utf-8")
    environ = {
        **os.environ,
        "SPECLOOM_PATH": str(tmp_path / "own"),
        "SPECLOOM_CACHE_DIR": str(tmp_path / "cache"),
        "SPECLOOM_STATE_DIR": str(tmp_path / "state"),
    }
    process = StdioServerParameters(
        command=sys.executable, args=["-m", "specloom", "serve", *selection, "--exclude", "memory_save"], env=environ
    )

    for _ in ("compiled", "from the image"):
        async with Client(process) as client:
            listed = {one.name for one in (await client.list_prompts()).prompts}
            told = await client.get_prompt("greeting")
            if not names:
                with pytest.raises(MCPError, match="Unknown prompt"):
                    await client.get_prompt("fact-check", {"claim": "Otters fly"})
                ref = {"type": "ref/prompt", "name": "fact-check"}
                with pytest.raises(MCPError, match="Unknown prompt"):
                    await client.complete(ref=ref, argument={"name": "claim", "value": "o"})

        assert listed == names | {"greeting"}, "a prompt of the user's own that no toolset names is there for everybody"
        assert told.messages[0].content.text == "Say hello.\n"


def test_a_prompt_that_does_not_exist_is_reported_at_its_place() -> None:
    woven = weave_texts(TOOLSET.format(name="greting"))
    assert woven.sentences == ["E202: there is no prompt 'greting'"]

    (problem,) = woven.report
    assert (problem.place.line, problem.place.column) == (4, 11)


def test_a_prompt_of_any_layer_may_be_named_and_a_typo_is_told_with_the_name_that_was_meant(tmp_path: Path) -> None:
    for layer, path, text in (
        ("one", "templates/prompts/greeting.md.j2", OWN),
        ("two", "tools.d/research.yaml", TOOLSET.format(name="greeting, greetin").replace("demo", "research")),
    ):
        file = tmp_path / layer / path
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")

    model, _, report = weave_from([shipped_root(), tmp_path / "one", tmp_path / "two"], examples=False)

    assert [(one.message, one.hint) for one in report] == [("there is no prompt 'greetin'", 'did you mean "greeting"?')]
    assert model.toolsets["research"].prompts == ("greeting", "greetin")


def test_a_prompt_of_two_toolsets_is_there_with_the_tools_of_either() -> None:
    model = shipped_model()
    research, papers = model.toolsets["research"], model.toolsets["papers"]
    both = (research, type(papers)("papers", (), papers.place, ("fact-check",)))

    def shown(*served: str) -> list[str]:
        return served_prompts(both, model.tools, served, ["other", "fact-check", "company-recon"])

    assert shown("doiget_info") == ["other", "fact-check"]
    assert shown("web_search") == ["other", "fact-check", "company-recon"]
    assert shown() == ["other"]


def test_every_prompt_that_is_shipped_belongs_to_a_toolset() -> None:
    model = shipped_model()

    assert {name for one in model.toolsets.values() for name in one.prompts} == SHIPPED
