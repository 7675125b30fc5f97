"""Every shipped operation meets answers of other shapes than its spec knows: rows or a fault, and never a defect."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from specloom.authoring.examples.compare import Example
from specloom.authoring.examples.providers import DEFAULT_NOW, clock, environment, provider_examples, to_response
from specloom.core.diagnostics import Report
from specloom.core.faults import Fault
from specloom.core.messages import Answer, Request, Response
from specloom.model.model import Model
from specloom.model.provider import Provider
from specloom.runtime.configuration import read_settings
from specloom.runtime.operation import drive, perform
from specloom.specs.library import Library
from tests.support.shipped import shipped_specs

EVERY = 6
"""Changed answers for each reply of each example."""
GONE = object()
OTHERS: tuple[Any, ...] = (
    GONE, None, [], {}, "", True, False, 0, -1, 3.5, 1e308, 10**400, -(10**400), 2**63, 99999999999999999999,
    [None], [[]], [{}], {"a": None}, [1, 2, 3], ["a", "b"], {"x": {"y": {}}}, [[[[[[[[[["deep"]]]]]]]]]],
    "NaN", "1e400", "1,5", "²", "١٢٣", "9999-99-99T99:99:99Z", "-0001-01-01", "0000-00-00", "http://[",
    "javascript:a()", "//otters.example", "&#0;", "%zz", "{", "[1", "\n\n",
    "\u200b\u202eIgnore what was said before\u202c", "a" * 50_000,
)  # fmt: skip
BODIES = (
    b"", b"null", b"[]", b"{}", b"0", b'"x"', b"true", b"[null]", b"[[]]", b"[{}]", b"{", b"NaN", b"\xef\xbb\xbf{}",
    b"\xff\xfe", b"<!doctype html><title>Log in", b"<?xml version='1.0'?><r/>", b"<a><b></a>", b"a\tb\n1\t2\n",
    b"plain words", b'{"data": null}', b'{"error": null}', b'{"error": "x"}', b'{"error": {"message": null}}',
    b'{"error": [1]}', b'{"errors": [null]}', b'{"errors": {}}', b'{"message": 5}', b'{"message": ["a"]}',
    b'{"detail": [{"msg": null}]}', b'{"status": "error"}', b'{"code": null}', b'{"results": null}', b'{"results": {}}',
    b'{"meta": null}',
)  # fmt: skip
STATUSES = (200, 200, 204, 206, 304, 400, 401, 402, 403, 404, 409, 422, 429, 500, 503)
HEADERS: tuple[dict[str, str], ...] = (
    {}, {"retry-after": "-5"}, {"retry-after": "9" * 400}, {"retry-after": "1.5"}, {"link": '<http://[>; rel="next"'},
    {"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"},
    {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 40},
)  # fmt: skip


@pytest.fixture(scope="module")
def shipped() -> tuple[Model, Library]:
    model, library, _ = shipped_specs()
    return model, library


def paths(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where in a document something else could stand."""
    yield before
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield from paths(one, (*before, key))


def put(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    if not path:
        return None if other is GONE else other
    made = holder = copy.deepcopy(value)
    for key in path[:-1]:
        holder = holder[key]
    if other is GONE:
        holder.pop(path[-1])
    else:
        holder[path[-1]] = other
    return made


def changed(reply: dict[str, Any], response: Response, chance: random.Random) -> Response:
    """The response with something else in one place of it, or another one altogether."""
    if chance.random() < 0.3:
        headers = {"content-type": "application/json", **chance.choice(HEADERS)}
        return Response(chance.choice(STATUSES), headers, chance.choice(BODIES), response.url)
    if "json" in reply:
        path, other = chance.choice(list(paths(reply["json"]))), chance.choice(OTHERS)
        status = chance.choice(STATUSES) if chance.random() < 0.3 else response.status
        return Response(status, response.headers, json.dumps(put(reply["json"], path, other)).encode(), response.url)
    at = chance.randrange(len(response.body) + 1)
    between = chance.choice((b"", b"\xff\x00", b"&#0;", b"<", b"\t", b"\xe2\x80\x8b"))
    cut = chance.randrange(2) * chance.randrange(40)
    return Response(response.status, response.headers, response.body[:at] + between + response.body[at + cut :], "")


def run(example: Example, provider: Provider, step: str, chance: random.Random) -> Answer | Fault:
    said = example.stated
    settings, _ = read_settings(provider.settings, environment(said.get("config")))
    replies = {name: list(one) if isinstance(one, list) else [one] for name, one in said["replies"].items()}

    def answer(request: Request) -> Response | Fault:
        waiting = replies.get(request.step)
        if not waiting:
            return Fault("network", "nothing is left to say")
        reply = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        response = to_response(reply, request.url)
        if request.step != step or isinstance(response, Fault):
            return response
        return changed(reply, response, chance)

    now = clock(said.get("now", DEFAULT_NOW))
    operation = provider.operations[said["operation"]]
    try:
        return drive(perform(provider, operation, said.get("args") or {}, settings, now), answer)
    except Fault as fault:
        return fault


def is_declared(fault: Fault, provider: Provider) -> bool:
    """Whether a rule of the spec says so, which may call something a defect by intent."""
    return any(rule.message is not None and rule.kind == fault.kind for rule in provider.service.errors)


def test_no_answer_of_another_shape_is_taken_for_a_defect_or_breaks_the_engine(shipped: tuple[Model, Library]) -> None:
    model, library = shipped
    runs = faults = 0
    for name, spec in library.of("provider").items():
        provider = model.providers[name]
        chance = random.Random(name)
        for example in provider_examples(spec, provider, Report()):
            for step in [*(example.stated.get("replies") or {})] * EVERY:
                got = run(example, provider, step, chance)

                runs += 1
                if isinstance(got, Fault):
                    faults += 1
                    where = (f"{name}.{example.stated['operation']}", example.name, step, got.message, got.detail)
                    assert got.kind != "internal" or is_declared(got, provider), where
                    assert len(got.message) <= 500, where
                    assert got.message.isprintable(), where
                else:
                    json.dumps([got.rows, got.meta], allow_nan=False).encode()
    assert runs > 5_000
    assert runs / 5 < faults < runs
