"""Large answers are kept and linked; small ones, and all where nothing is kept, are inlined."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft7Validator

from specloom.core.faults import Fault
from specloom.core.messages import Request, Response
from specloom.plugins.context import Artifact, ArtifactContent
from specloom.runtime.executor import Executor, link_large
from specloom.server.backend import ExecutorBackend
from specloom.server.protocol import Call, NotFound
from tests.support.spec_library import Woven, a_tool, weave_texts

LINK = """\
cache: {ttl: 1h, shape: 1}
link:
  above: 400
  when: args.query != 'small'
  summary: join('', ['urls about ', args.query])
  also: {count: =length(answer.urls)}
"""


class Shelf:
    """Keeps texts in a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    async def keep(self, owner: str, text: str, *, name: str, mime_type: str) -> Artifact:
        self.kept[owner, "1"] = text
        return Artifact("research://artifact/1", name, mime_type, len(text.encode()), 1_767_225_600.0)

    async def read(self, owner: str, identifier: str) -> ArtifactContent | None:
        text = self.kept.get((owner, identifier))
        return None if text is None else ArtifactContent(text, "answer", "application/json")


class LostShelf(Shelf):
    """Keeps nothing, because its place is away."""

    async def keep(self, owner: str, text: str, *, name: str, mime_type: str) -> Artifact:
        raise Fault("upstream_unavailable", "What is kept cannot be reached.")


class Pages:
    """An upstream with as many items as the caller asks for."""

    async def send(self, request: Request) -> Response:
        query = dict(request.query)["q"]
        items = [{"url": f"https://{query}.example/{at}", "title": "T"} for at in range(30 if query != "few" else 1)]
        return Response(200, {"content-type": "application/json"}, json.dumps({"items": items}).encode(), request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


class ACall(Call):
    """A call whose progress nobody wants."""

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Nobody listens."""


def weave_linked() -> Woven:
    woven = weave_texts(a_tool(more=LINK))
    assert woven.report.errors == [], woven.sentences
    return woven


async def call(executor: Executor, query: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await ExecutorBackend(executor).call_tool("sample", {"query": query}, ACall()))
    return found


async def test_a_large_answer_is_a_link_and_a_small_answer_in_its_place() -> None:
    woven, shelf = weave_linked(), Shelf()
    executor = Executor(woven.model, environ={}, sender=Pages(), artifacts=shelf)

    result = await call(executor, "many")

    whole = json.loads(shelf.kept["", "1"])
    assert len(whole["urls"]) == 30
    assert result["structuredContent"] == {
        "resource": "research://artifact/1",
        "bytes": len(shelf.kept["", "1"]),
        "mimeType": "application/json",
        "summary": "urls about many",
        "expiresAt": "2026-01-01T00:00:00Z",
        "linked": True,
        "count": 30,
    }
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert result["content"][1] == {
        "type": "resource_link",
        "uri": "research://artifact/1",
        "name": "research-artifact",
        "title": "urls about many",
        "mimeType": "application/json",
        "size": len(shelf.kept["", "1"]),
    }
    Draft7Validator(woven.tool().output_schema).validate(result["structuredContent"])


async def test_an_answer_that_cannot_be_kept_is_whole() -> None:
    executor = Executor(weave_linked().model, environ={}, sender=Pages(), artifacts=LostShelf())

    result = await call(executor, "many")

    assert "isError" not in result
    assert len(result["structuredContent"]["urls"]) == 30


async def test_a_kept_answer_is_linked_again() -> None:
    from specloom.cache.cache import AnswerCache

    cache = AnswerCache(disk=None, key=None, warn=print)
    executor = Executor(weave_linked().model, environ={}, sender=Pages(), artifacts=Shelf(), cache=cache)

    first = await call(executor, "many")
    again = await call(executor, "many")

    assert again["structuredContent"] == first["structuredContent"]
    assert again["_meta"]["cached"] is True
    assert ExecutorBackend(executor).call_now("sample", {"query": "many"}) is None


async def test_small_answers_and_those_that_are_not_meant_are_inlined() -> None:
    executor = Executor(weave_linked().model, environ={}, sender=Pages(), artifacts=Shelf())

    assert len((await call(executor, "few"))["structuredContent"]["urls"]) == 1
    assert len((await call(executor, "small"))["structuredContent"]["urls"]) == 30


async def test_without_a_place_to_keep_it_everything_is_inlined() -> None:
    executor = Executor(weave_linked().model, environ={}, sender=Pages())

    assert len((await call(executor, "many"))["structuredContent"]["urls"]) == 30


async def test_the_whole_answer_is_read_under_its_address_and_nothing_else_is() -> None:
    backend = ExecutorBackend(Executor(weave_linked().model, environ={}, sender=Pages(), artifacts=(shelf := Shelf())))
    await backend.call_tool("sample", {"query": "many"}, ACall())

    read = await backend.read_resource("research://artifact/1", ACall())

    assert read["contents"][0]["text"] == shelf.kept["", "1"]
    for address in ("research://artifact/2", "research://artifact/", "research://artifact/1/2"):
        with pytest.raises(NotFound, match=f"Resource not found: {address}; a large answer is kept for half an hour"):
            await backend.read_resource(address, ACall())


@pytest.mark.parametrize(
    ("address", "hint"),
    [
        ("lenses://natur", 'did you mean "nature"?'),
        ("lenses://", "known: nature"),
        ("research://session/1", ""),
        ("file:///etc/passwd", ""),
    ],
)
async def test_an_address_under_which_nothing_is_says_what_there_is(address: str, hint: str) -> None:
    backend = ExecutorBackend(Executor(weave_linked().model, environ={}, sender=Pages()))

    with pytest.raises(NotFound) as caught:
        await backend.read_resource(address, ACall())

    assert caught.value.message == f"Resource not found: {address}" + (f"; {hint}" if hint else "")
    assert caught.value.data == {"uri": address}


async def test_what_stands_for_a_large_answer_has_its_notices() -> None:
    woven = weave_linked()
    body = json.dumps({"notices": ["One failed; Two answered instead."], "urls": ["https://long.example/" + "x" * 500]})

    made = await link_large(woven.tool(), {"query": "otters"}, body, Shelf(), "")

    assert made is not None
    told = json.loads(made[0])
    assert list(told)[:2] == ["notices", "resource"]
    assert told["notices"] == ["One failed; Two answered instead."]
