"""Two owners, every tool, resource, prompt, completion, cursor and kept file: what one keeps never reaches the other.

What is called comes from the catalogue and from what procedures say they keep, so a new tool is swept with the rest.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.crossing import (
    COUNTS,
    PURPOSES,
    SECRET,
    SPACE,
    WRITES_ONLY,
    keeps,
    live,
    sweep,
    without_the_question,
)
from tests.support.research_server import ADA, GRACE, NOW, Server, ask, shipped


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    # Tools that keep files keep them here.
    for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    return Server()


async def test_nothing_of_one_owner_reaches_another_by_any_tool_resource_or_completion(server: Server) -> None:
    from specloom.storage.consent import add_member

    for owner in (ADA, GRACE):
        await server.agree(owner, *PURPOSES)
    await add_member(server.store.drawer("members", ADA, space=SPACE), ADA, NOW)
    async with server.client(ADA) as ada, server.client(GRACE) as grace:
        ids = await live(ada, server.web)
        before = await server.store.export(ADA)
        hers = await sweep(grace, ids)
        after = await server.store.export(ADA)
        server.web.results.append({"title": SECRET, "url": f"https://{SECRET}.example/new", "description": SECRET})
        own = await sweep(ada, ids)

    crossed = [name for name, heard in hers.items() if SECRET in without_the_question(heard, ids)]
    shown = {name for name, heard in own.items() if SECRET in without_the_question(heard, ids)}
    keeping = {tool.name for tool in shipped().tools.values() if keeps(tool)}

    assert crossed == []
    assert after == before, "what Grace asked for changed nothing of Ada's"
    assert keeping - WRITES_ONLY - COUNTS <= shown, "the sweep reaches what every tool that keeps something tells"
    assert {f"research://session/{ids['session']}", ids["resource"], ids["report"], "read_more"} <= shown
    assert {name.split()[0] for name in hers} >= {"complete", "prompt"}
    assert ids["session"] in own["complete research://session/{id}"]
    assert ids["session"] not in hers["complete research://session/{id}"]


def test_every_tool_that_takes_a_session_records_into_it_or_works_on_it() -> None:
    taking = [tool for tool in shipped().tools.values() if "sessionId" in tool.inputs]

    recording = [tool for tool in taking if tool.record and tool.record[0] == "sessionId"]
    forgotten = [tool.name for tool in taking if not keeps(tool) and tool not in recording]

    assert len(recording) >= 15
    assert forgotten == []


async def test_numbers_of_one_owner_do_not_count_calls_of_another(server: Server) -> None:
    for owner in (ADA, GRACE):
        await server.agree(owner, *PURPOSES)
    async with server.client(ADA) as ada, server.client(GRACE) as grace:
        await ask(ada, "memory_save", note="one")
        await ask(ada, "get_my_analytics")
        counted = await ask(grace, "get_my_analytics")

    assert counted["status"] == "empty"
