"""What h11 makes of the bytes of an answer, and what the reader of the transport makes of the same bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import h11

from specloom.core.faults import Fault
from specloom.net.http1 import HEAD_BYTES, TWO_LENGTHS, BrokenAnswer, ResponseReader


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer with its parts; a fault; or `open`, where the answer would go on."""

    kind: Literal["answer", "fault", "open"]
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    reusable: bool = False
    why: str = field(default="", compare=False)


def referee(method: str, pieces: Iterable[bytes], *, ended: bool) -> Verdict:
    """h11's verdict; with `ended` the server closes behind the last piece."""
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
    connection.send(h11.Request(method=method, target="/", headers=[("Host", "example.org")]))
    connection.send(h11.EndOfMessage())
    response: h11.Response | None = None
    body = b""
    complete = False
    try:
        for piece in [*filter(None, pieces), *([b""] if ended else [])]:
            connection.receive_data(piece)
            while not complete and (event := connection.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
                if isinstance(event, h11.InformationalResponse) and event.status_code == 101:
                    return Verdict("fault", why="another protocol")
                if isinstance(event, h11.Response):
                    response = event
                elif isinstance(event, h11.Data):
                    body += bytes(event.data)
                elif isinstance(event, h11.EndOfMessage):
                    complete = True
                elif isinstance(event, h11.ConnectionClosed):
                    return Verdict("fault", why="closed")
    except h11.RemoteProtocolError as error:
        return Verdict("fault", why=str(error))
    if not complete:
        return Verdict("open")
    done = connection.our_state is connection.their_state is h11.DONE
    return _to_verdict(response, body, reusable=done and connection.trailing_data == (b"", False))


def _to_verdict(response: h11.Response | None, body: bytes, *, reusable: bool) -> Verdict:
    assert response is not None
    headers: dict[str, str] = {}
    for raw_name, raw_value in response.headers:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Verdict("answer", response.status_code, headers, body, reusable)


def reader(method: str, pieces: Iterable[bytes], *, ended: bool) -> Verdict:
    """The verdict of the transport's own reader."""
    answer = ResponseReader(method, "example.org")
    try:
        for piece in pieces:
            answer.feed(piece)
        if ended:
            answer.feed_end()
    except (BrokenAnswer, Fault) as error:
        return Verdict("fault", why=str(error))
    if answer.two_lengths:
        return Verdict("fault", why=TWO_LENGTHS)
    if not answer.complete:
        return Verdict("open")
    headers = dict(answer.headers)
    if "transfer-encoding" in headers:  # h11 writes it in lower case
        headers["transfer-encoding"] = headers["transfer-encoding"].lower()
    return Verdict("answer", answer.status, headers, b"".join(answer.parts), answer.clean)


def is_as_strict(ours: Verdict, theirs: Verdict) -> bool:
    """Whether we took nothing that h11 refuses, and read what both take in the same way; we may refuse more."""
    if ours.kind == "fault":
        return True
    if ours.kind == theirs.kind == "answer":
        same = (ours.status, ours.headers, ours.body) == (theirs.status, theirs.headers, theirs.body)
        return same and (theirs.reusable or not ours.reusable)
    return ours.kind == theirs.kind
