"""Few tools are listed in place of many: one finds the others by words, one calls them as they would be called."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specloom.cache import AnswerCache
from specloom.core import Fault, count_tokens
from specloom.core.messages import Request, Response
from specloom.runtime.executor import Executor
from specloom.server.backend import ExecutorBackend
from specloom.server.catalogue import Selection, make_catalogue
from specloom.server.protocol import Call
from specloom.server.tool_search import CALL_TOOL, FIND_TOOL, ToolSearch
from tests.support.shipped import shipped_model
from tests.support.spec_library import a_tool, weave_texts

SEARCH = Selection(catalogue="search")
OTHER = a_tool().replace("sample", "reader").replace("title: ", "title: Otters and ")
WANTED = {
    "find papers about otters": "academic_search",
    "check whether this citation is real": "verify_citation",
    "who cites this paper": "citation_graph",
    "court rulings about privacy": "legal_search",
    "company filings 10-K": "filing_search",
    "clinical trials for asthma": "clinical_search",
    "patents on batteries": "patent_search",
    "restaurants near me": "local_search",
    "save a note for later": "memory_save",
    "recall what I saved": "memory_recall",
    "download the pdf of an arXiv paper": "doiget_fetch_paper",
    "bibtex of a paper": "doiget_bibtex_export",
    "news about elections": "news_search",
    "convert references to APA": "format_bibliography",
    "export the research session": "research_export",
    "rare disease gene phenotype": "monarch_search",
    "archive a web page": "archive_source",
    "is this bibliography fabricated": "audit_bibliography",
    "watch a query for new results": "monitor_query_save",
    "brand colours and logo of a company": "brand_research",
    "wikidata facts about a person": "structured_search",
    "lists of awesome python tools": "awesome_list_search",
}


class Items:
    """An upstream with one item."""

    async def send(self, request: Request) -> Response:
        items = [{"url": "https://a.example/", "title": "A"}]
        return Response(200, {"content-type": "application/json"}, json.dumps({"items": items}).encode(), request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


class Quiet(Call):
    """A call that nobody follows."""

    request_id = 1

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Nobody listens."""


def a_backend() -> ExecutorBackend:
    woven = weave_texts(a_tool(more="cache: {ttl: 1h, shape: 1}\n"), OTHER)
    assert woven.report.errors == [], woven.sentences
    tools = frozenset({"sample", "reader", FIND_TOOL, CALL_TOOL})
    executor = Executor(woven.model, environ={}, sender=Items(), cache=AnswerCache(disk=None, key=None, warn=print))
    return ExecutorBackend(executor, tools=tools)


async def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await a_backend().call_tool(name, arguments, Quiet()))
    found.pop("_meta", None)
    return found


def test_the_core_tools_are_listed_with_one_that_finds_and_one_that_calls_all_others() -> None:
    model = shipped_model()

    catalogue = make_catalogue(model, SEARCH)

    tools = json.loads(catalogue.tools)
    core = {tool.name for tool in model.tools.values() if "core" in tool.toolsets}
    assert {tool["name"] for tool in tools} == {*core, FIND_TOOL, CALL_TOOL}
    assert catalogue.tool_names == {*model.tools, FIND_TOOL, CALL_TOOL}
    assert count_tokens(catalogue.tools.decode()) <= 2000
    assert "outputSchema" not in tools[0]


def test_a_call_may_do_whatever_one_of_the_tools_does() -> None:
    model = shipped_model()

    hints = {one["name"]: one["annotations"] for one in json.loads(make_catalogue(model, SEARCH).tools)}
    reader = next(tool.name for tool in model.tools.values() if tool.annotations["read_only"])
    reading = Selection(tools=[reader], catalogue="search")

    assert not hints[CALL_TOOL]["readOnlyHint"]
    assert hints[CALL_TOOL]["openWorldHint"]
    assert hints[FIND_TOOL]["readOnlyHint"]
    assert json.loads(make_catalogue(model, reading).tools)[-1]["annotations"]["readOnlyHint"]


@pytest.mark.parametrize(("query", "tool"), WANTED.items())
def test_a_tool_is_found_by_what_it_does(query: str, tool: str) -> None:
    found = ToolSearch(shipped_model().tools).rank(query)

    assert tool in [one.name for one in found[:3]]


async def test_what_is_found_has_its_arguments_and_the_call() -> None:
    told = await call(FIND_TOOL, {"query": "OTTERS"})

    [tool] = told["structuredContent"]["tools"]
    text = told["content"][0]["text"]
    assert tool["name"] == "reader"
    assert tool["inputSchema"]["required"] == ["query"]
    assert text.startswith("1 of 2 tools have words of 'OTTERS'; the best 1:\n\n### reader: Otters and ")
    assert "- query (string, required): " in text
    assert text.endswith('Call: call_tool {"name": "reader", "arguments": {"query": "…"}}')


async def test_a_search_for_which_there_is_nothing_tells_all_tools() -> None:
    told = await call(FIND_TOOL, {"query": "qwxz"})

    assert told["structuredContent"]["total"] == 0
    assert [tool["name"] for tool in told["structuredContent"]["tools"]] == ["reader", "sample"]
    assert told["content"][0]["text"].startswith("No tool has a word of 'qwxz'. These are all:\n\n- reader: ")


async def test_a_tool_that_is_called_by_the_other_answers_as_it_does_by_itself() -> None:
    own = await call("sample", {"query": "otters"})

    assert await call(CALL_TOOL, {"name": "sample", "arguments": {"query": "otters"}}) == own
    assert await call(CALL_TOOL, {"name": "sample", "arguments": '{"query": "otters"}'}) == own


async def test_a_kept_answer_is_given_at_once_through_the_other_as_well() -> None:
    backend, arguments = a_backend(), {"name": "sample", "arguments": {"query": "otters"}}
    assert not isinstance(backend.call_now(CALL_TOOL, arguments), bytes)

    await backend.call_tool("sample", {"query": "otters"}, Quiet())

    assert isinstance(backend.call_now(CALL_TOOL, arguments), bytes)


@pytest.mark.parametrize(
    ("tool", "arguments", "argument", "sentence"),
    [
        (FIND_TOOL, {}, "query", "query is required: What to do, in a few words."),
        (FIND_TOOL, {"query": "a", "limit": "many"}, "limit", 'limit must be a whole number, not "many"'),
        (FIND_TOOL, {"querry": "a"}, "querry", "find_tool has no argument 'querry'; did you mean \"query\"?"),
        (CALL_TOOL, {}, "name", "name is required: a tool that find_tool found"),
        (CALL_TOOL, {"name": "sampel"}, "name", "there is no tool 'sampel'; did you mean \"sample\"?"),
        (CALL_TOOL, {"name": "find_tool"}, "name", "there is no tool 'find_tool'; known: reader, sample"),
        (CALL_TOOL, {"name": "sample", "arguments": [1]}, "arguments", "arguments must be an object, not [1]"),
        (
            CALL_TOOL,
            {"name": "sample", "arguments": "{"},
            "arguments",
            "arguments must be an object, and this text is none in JSON",
        ),
        (CALL_TOOL, {"name": "sample", "arguments": {}}, "query", "query is required: "),
    ],
)
async def test_a_wrong_argument_is_told_and_how_to_mend_it(
    tool: str, arguments: dict[str, Any], argument: str, sentence: str
) -> None:
    with pytest.raises(Fault) as raised:
        await a_backend().call_tool(tool, arguments, Quiet())

    told = raised.value.to_json()["error"]
    assert raised.value.message.startswith(sentence)
    assert (told["suggestedAction"], told["argument"]) == ("fix_arguments", argument)
    assert a_backend().call_now(tool, arguments) is None, "a slip is no defect of the server"
