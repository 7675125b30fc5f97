"""Bodies beyond a cap: the beginning of an original, and the whole of what a service or a site gives."""

from __future__ import annotations

import json

from specloom.core.messages import Request, Response
from tests.domains.scrape.test_client_sites import Sites
from tests.support.loopback import Call, Loopback, Reply
from tests.support.scrape_client import ask, connected, refused

JSON = {"Content-Type": "application/json"}
ROWS = json.dumps([{"otter": number} for number in range(20_000)]).encode()
CAPS = {"MAX_HTML_BYTES": "100000", "MAX_DOCUMENT_BYTES": "100000"}


class Store:
    """A host of one large file; it gives parts of it when it `parts`."""

    def __init__(self, *, parts: bool) -> None:
        self.parts = parts
        self.asked: list[str] = []

    def answer(self, call: Call) -> Reply:
        wanted = call.headers.get("range", "")
        self.asked.append(wanted)
        if not (self.parts and wanted):
            return 200, JSON, ROWS
        last = int(wanted.removeprefix("bytes=0-"))
        assert call.headers["accept-encoding"] == "identity", "a part of what is packed cannot be unpacked"
        return 206, {**JSON, "Content-Range": f"bytes 0-{last}/{len(ROWS)}"}, ROWS[: last + 1]


async def test_of_a_large_original_the_beginning_is_read() -> None:
    store = Store(parts=True)
    with Loopback(store.answer) as server:
        async with connected(**CAPS) as client:
            said = await ask(client, "scrape_page", url=server.url + "/rows.json", mode="raw", max_length=1000)

    assert (said["content"], said["contentLength"], said["truncated"]) == (ROWS[:1000].decode(), 1000, True)
    assert (said["raw"], said["contentType"], said["extractedBy"]) == (True, "application/json", "raw:html")
    assert store.asked == ["", "bytes=0-1000"]


async def test_of_a_small_original_no_part_is_asked_for() -> None:
    store = Store(parts=True)
    with Loopback(store.answer) as server:
        async with connected() as client:
            await ask(client, "scrape_page", url=server.url + "/rows.json", mode="raw", max_length=1000)

    assert store.asked == [""]


async def test_a_part_is_never_larger_than_the_cap() -> None:
    store = Store(parts=True)
    with Loopback(store.answer) as server:
        async with connected(**CAPS) as client:
            said = await ask(client, "scrape_page", url=server.url + "/rows.json", mode="raw", max_length=5_000_000)

    assert store.asked == ["", "bytes=0-99999"]
    assert (said["contentLength"], said["truncated"]) == (100_000, True)


async def test_a_host_that_gives_no_parts_and_a_text_to_be_read_are_too_large() -> None:
    store = Store(parts=False)
    with Loopback(store.answer) as server:
        async with connected(**CAPS) as client:
            url = server.url + "/rows.json"
            original, _ = await refused(client, "scrape_page", url=url, mode="raw", max_length=1000)
            text, _ = await refused(client, "scrape_page", url=url)

    assert original.startswith("Too large: ")
    assert text.startswith("Too large: ")
    assert store.asked == ["", "bytes=0-1000", ""]


async def test_of_a_large_document_whose_host_gives_no_parts_the_beginning_is_read() -> None:
    body = b"%PDF-1.7 " + b"x" * 150_000
    with Loopback(lambda call: (200, {"Content-Type": "application/pdf"}, body)) as server:
        async with connected(**{**CAPS, "MAX_DOCUMENT_BYTES": "200000"}) as client:
            said = await ask(client, "scrape_page", url=server.url + "/report", mode="raw", max_length=1000)

    assert (said["content"].startswith("%PDF-1.7 x"), said["contentLength"], said["truncated"]) == (True, 1000, True)
    assert [call.method for call in server.calls] == ["GET", "GET", "HEAD", "GET"]


async def test_a_service_is_asked_for_more_than_one_call_wants() -> None:
    text = "Otters eat fish. " * 10_000
    wanted: list[int] = []

    class Service(Sites):
        async def send(self, request: Request) -> Response:
            if request.url == "https://api.exa.ai/contents":
                wanted.append(json.loads(request.body or b"")["text"]["maxCharacters"])
            return await super().send(request)

    refusal = Response(403, {"content-type": "text/html"}, b"", "https://otters.example/")
    answer = {"results": [{"url": "https://otters.example/", "text": text}], "statuses": [{"source": "cached"}]}
    service = Service({"https://otters.example/": refusal, "https://api.exa.ai/contents": answer})
    async with connected(sender=service, EXA_API_KEY="k") as client:
        said = await ask(client, "scrape_page", url="https://otters.example/", max_length=150_000, max_tokens=100_000)

    assert wanted == [1_000_000]
    assert (said["truncated"], said["extractedBy"]) == (True, "exa:cached")
    assert said["contentLength"] > 149_900
