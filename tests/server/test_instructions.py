"""What a client is told at the start: the paragraphs of the toolsets that it is served, and no other tools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from specloom.server.catalogue import UNTRUSTED, Selection, make_catalogue
from tests.support.shipped import shipped_model
from tests.support.spec_library import weave_texts

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
TOLD = "spec: toolset/1\nname: {name}\ninstructions: [{paragraph}]\n"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("images")


def told(cache: Path, *selection: str) -> str:
    """The instructions that a client of a server with these options is given."""
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    done = subprocess.run(
        [sys.executable, "-m", "specloom", "serve", *selection],
        input=json.dumps(hello) + "\n",
        env={**os.environ, "SPECLOOM_CACHE_DIR": str(cache)},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=True,
    )
    text: str = json.loads(done.stdout)["result"]["instructions"]
    return text


@pytest.mark.process
def test_a_client_of_the_papers_is_told_of_first_calls_retries_and_dry_runs(cache: Path) -> None:
    for _ in ("compiled", "from the image"):
        text = told(cache, "--toolset", "papers")

        assert "Call doiget_health first" in text
        assert "Decide by error.disposition" in text
        assert "NO_OA_AVAILABLE" in text
        assert "take dry_run: true" in text
        assert text.endswith(UNTRUSTED)
        assert "Research tools" not in text


@pytest.mark.process
def test_two_toolsets_speak_both_and_the_warning_once(cache: Path) -> None:
    text = told(cache, "--toolset", "research,papers")

    assert "Call doiget_health first" in text
    assert "Research tools" in text
    assert text.count(UNTRUSTED) == 1


@pytest.mark.process
def test_the_core_of_a_toolset_is_told_what_the_whole_is(cache: Path) -> None:
    assert told(cache, "--toolset", "core") == told(cache)


@pytest.mark.process
def test_a_paragraph_that_names_a_tool_is_told_only_where_it_is_served(cache: Path) -> None:
    text = told(cache, "--tools", "doiget_info")

    assert "Decide by error.disposition" in text
    assert "doiget_health" not in text
    assert "doiget_fetch_paper" not in text


def test_names_that_no_tool_has_are_reported_at_their_place() -> None:
    unknown = weave_texts(TOLD.format(name="demo", paragraph="'Call {aks} first.'"))
    assert unknown.codes == ["E202"]
    assert "there is no tool 'aks' in the toolset 'demo' (did you mean \"ask\"?)" in unknown.sentences[0]

    nowhere = weave_texts(TOLD.format(name="dmeo", paragraph="Hello."))
    assert "no tool is in the toolset 'dmeo' (did you mean \"demo\"?)" in nowhere.sentences[0]


def test_every_toolset_that_is_shipped_speaks_and_names_its_tools_without_braces() -> None:

    model = shipped_model()

    assert set(model.toolsets) == {name for tool in model.tools.values() for name in tool.toolsets} - {"core"}
    assert "{doiget" not in make_catalogue(model, Selection(["all"])).instructions
