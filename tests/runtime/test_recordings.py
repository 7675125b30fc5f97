"""Recordings: no secret is written, the same request finds its answer again, and a file is whole or not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Request, Response
from specloom.core.secrets import Secret
from specloom.runtime.recordings import (
    RecordingSender,
    ReplaySender,
    from_recording,
    request_id,
    to_recording,
    write_whole,
)

KEY = "k3y/with+odd=signs"


def ask(query: str = "otters", step: str = "main", key: str = KEY) -> Request:
    return Request(
        "GET",
        "https://api.example.org/search",
        query=(("q", query), ("token", Secret(key))),
        headers=(("Authorization", Secret(f"Bearer {key}")),),
        provider="demo",
        operation="pages",
        step=step,
    )


class Fixed:
    """A sender with one answer."""

    def __init__(self, response: Response | Fault) -> None:
        self.response = response
        self.closed = False

    async def send(self, request: Request) -> Response:
        if isinstance(self.response, Fault):
            raise self.response
        return self.response

    async def aclose(self) -> None:
        self.closed = True


@pytest.mark.parametrize("form", [KEY, "k3y%2Fwith%2Bodd%3Dsigns", f"Bearer {KEY}"])
def test_a_secret_that_an_upstream_echoes_is_not_written(form: str) -> None:
    said = to_recording(ask(), Response(200, {"set-cookie": KEY}, f'{{"echo": "{form}"}}'.encode()))

    text = json.dumps(said)

    assert "k3y" not in text
    assert "REDACTED" in text


def test_a_request_is_the_same_whatever_its_secrets() -> None:
    assert request_id(ask(key="one key")) == request_id(ask(key="another"))
    assert request_id(ask("otters")) != request_id(ask("seals"))


@pytest.mark.parametrize(
    "body", [b'{"a": [1, null]}', b"plain text", "süß".encode(), b"\xff\xfe\x00binary", b"", b"[broken"]
)
def test_a_body_comes_back_as_it_was(body: bytes) -> None:
    said = json.loads(json.dumps(to_recording(ask(), Response(201, {"content-type": "x/y"}, body))))

    response = from_recording(said["response"], "https://api.example.org/search")

    assert response.status == 201
    assert response.headers["content-type"] == "x/y"
    assert response.body == body or json.loads(response.body) == json.loads(body)


async def test_what_was_recorded_is_replayed_for_the_same_request(tmp_path: Path) -> None:
    for query in ("otters", "seals"):
        sender = RecordingSender(Fixed(Response(200, {}, json.dumps({"for": query}).encode())), tmp_path)
        await sender.send(ask(query))

    response = await ReplaySender(tmp_path).send(ask("seals", key="another key"))

    assert json.loads(response.body) == {"for": "seals"}


async def test_another_request_of_the_same_step_is_answered_by_any_recording_of_it(tmp_path: Path) -> None:
    sender = RecordingSender(Fixed(Response(200, {}, b"{}")), tmp_path)
    await sender.send(ask("otters"))

    response = await ReplaySender(tmp_path).send(ask("something else"))

    assert response.body == b"{}"


@pytest.mark.parametrize("content", [None, b"not json", b"{}", b'{"response": {"status": "no number"}}'])
async def test_a_recording_that_is_missing_or_broken_is_a_fault(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        write_whole(tmp_path / "demo" / "pages.main.x.json", content)

    with pytest.raises(Fault, match="recording") as caught:
        await ReplaySender(tmp_path).send(ask())

    assert (caught.value.kind, caught.value.provider) == ("upstream_unavailable", "demo")


async def test_a_page_that_was_not_recorded_is_named_by_its_address(tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"^there is no recording of https://otters\.example/diet$"):
        await ReplaySender(tmp_path).send(Request("GET", "https://otters.example/diet"))


async def test_a_fault_is_passed_on_and_not_recorded(tmp_path: Path) -> None:
    inner = Fixed(Fault("network", "no connection"))
    sender = RecordingSender(inner, tmp_path)

    with pytest.raises(Fault, match="no connection"):
        await sender.send(ask())
    await sender.aclose()

    assert sender.written == []
    assert inner.closed


def test_a_file_that_cannot_be_written_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "kept.json"
    write_whole(target, b"old")
    folder = tmp_path / "folder"
    (folder / "inside").mkdir(parents=True)

    with pytest.raises(OSError, match="director"):
        write_whole(folder, b"new")  # a folder cannot be replaced by a file

    assert target.read_bytes() == b"old"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["folder", "kept.json"]
