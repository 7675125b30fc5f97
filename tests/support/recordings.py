"""Replays recorded answers of real upstreams through the code that serves; without recordings the tests are skipped."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from specloom.authoring.examples.providers import clock, describe_request
from specloom.core.messages import Request, Response
from specloom.model.values import Row
from specloom.runtime.configuration import read_settings
from specloom.runtime.operation import Wait, perform
from tests.support.shipped import shipped_model

ROOT = Path(__file__).parents[2]
# Read when the tests are collected: while they run, the environment is empty.
FIXTURES = Path(os.environ.get("SPECLOOM_FIXTURES") or ROOT.parent / "shared" / "fixtures")
NOW = "2026-01-01T00:00:00Z"
MOST_REQUESTS = 50


def recorded(name: str) -> bytes:
    """The body of a recorded answer, like `demo/search.json`; the test is skipped where there are no recordings."""
    path = FIXTURES / "providers" / name
    if not path.is_file():
        pytest.skip(f"there is no recording {path}; SPECLOOM_FIXTURES names the folder that holds providers/")
    return path.read_bytes()


def replay(
    provider: str,
    operation: str,
    args: Mapping[str, Any],
    body: Any,
    *,
    config: Mapping[str, str] | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    now: str = NOW,
) -> tuple[list[Row], list[dict[str, Any]]]:
    """The rows that the body makes, and the requests in the words of an example; a fault is raised.

    `config` is the environment. `body` is bytes, text or JSON for every request, a tuple of them for one request after
    another, or a mapping from step to body when its keys are the operation's steps.
    """
    spec = shipped_model().providers[provider]
    wanted = spec.operations[operation]
    settings, problems = read_settings(spec.settings, config or {})
    assert not problems, problems
    steps = {step.name for step in wanted.steps}
    given = {name.lower(): value for name, value in (headers or {}).items()}
    sent: list[Request] = []
    running = perform(spec, wanted, args, settings, clock(now))
    give: Response | None = None
    while True:
        try:
            asked = running.send(give)
        except StopIteration as stop:
            return stop.value.rows, [describe_request(one) for one in sent]
        if isinstance(asked, Wait):
            give = None
            continue
        one = body[len(sent)] if isinstance(body, tuple) else body
        if one and isinstance(one, Mapping) and set(one) <= steps:
            one = one[asked.step]
        sent.append(asked)
        assert len(sent) <= MOST_REQUESTS, f"{provider}.{operation} asks without end"
        give = Response(status, given, _to_bytes(one), asked.url)


def _to_bytes(body: Any) -> bytes:
    if isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()
