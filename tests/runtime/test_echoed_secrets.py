"""A service that gives back what it was sent: no credential of any shipped provider comes out again, in any form."""

from __future__ import annotations

import base64
import html
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest

from specloom.authoring.examples.providers import clock, provider_examples, to_response
from specloom.authoring.try_live import attempt, attempt_lines, example_of, to_yaml
from specloom.core.diagnostics import Report
from specloom.core.faults import Fault
from specloom.core.messages import Request, Response
from specloom.core.secrets import MASK
from specloom.core.terminal import Paint
from specloom.model.provider import Provider
from specloom.runtime.circuit_breaker import Breakers
from specloom.runtime.configuration import read_settings
from specloom.runtime.providers import Upstreams
from specloom.runtime.recordings import to_recording
from specloom.runtime.request import STEP, secrets_of
from tests.support.shipped import shipped_model, shipped_specs

PASSWORD = 'pass/w+rd"9 "&ü'
TOKEN = "issued/Tok+en-123456"
SILENT: set[str] = set()
"""Providers whose answers have no text of the service in them."""
KEYED = sorted(
    name
    for name, provider in shipped_model().providers.items()
    if any(one.secret for one in provider.settings.values())
)


def word_of(name: str, kind: str) -> str:
    """A made-up value of a secret setting, with signs that are written in different ways."""
    word = f"echoed/{name.lower()}+9="
    return {"credentials": f"somebody:{PASSWORD}", "headers": f"X-Access: {word}"}.get(kind, word)


def echoes_of(request: Request) -> list[str]:
    """What a service might say of the credentials that came with a request."""
    sent = [value.reveal() for value in secrets_of(request)]
    pairs = [base64.b64decode(value[6:]).decode() for value in sent if value.startswith("Basic ")]
    words = [value.partition(" ")[2] for value in sent]
    plain = [*sent, *words, *(word.partition(":")[2] for word in words), *pairs]
    plain += [pair.partition(":")[2] for pair in pairs]
    plain = [word for word in plain if word]
    forms = [*plain, *map(quote, plain), *(quote(word, safe="") for word in plain), *map(html.escape, plain)]
    forms += [base64.b64encode(f"{before}{word}".encode()).decode() for word in plain for before in ("", "x", "yz")]
    return list(dict.fromkeys(forms))


def fill(value: Any, echo: str) -> Any:
    """A reply in which every text that is more than a word says it as well."""
    if isinstance(value, str):
        if value.startswith("http"):
            return f"{value}{'&' if '?' in value else '?'}echo={quote(echo)}"
        return f"{value} {echo}" if " " in value else value
    if isinstance(value, list):
        return [fill(one, echo) for one in value]
    return {name: fill(one, echo) for name, one in value.items()} if isinstance(value, dict) else value


class Echo:
    """Answers the steps of an example as it states, with the credentials of each request in every text."""

    def __init__(self, replies: Mapping[str, Any]) -> None:
        self.waiting = {step: list(one) if isinstance(one, list) else one for step, one in replies.items()}
        self.exchanges: list[tuple[Request, Response]] = []
        self.echoed: set[str] = set()

    async def send(self, request: Request) -> Response:
        reply = self.waiting.get(request.step)
        if isinstance(reply, list):
            reply = reply.pop(0) if reply else None
        if reply is None:
            raise Fault("upstream_unavailable", "the example has no reply")
        response = to_response(reply, request.url)
        if isinstance(response, Fault):
            raise response
        if request.step == STEP:
            return replace(response, body=json.dumps({"access_token": TOKEN, "expires_in": 600}).encode())
        echoes = echoes_of(request)
        self.echoed |= set(echoes)
        text = " ".join(echoes)
        if "json" in reply:
            body = json.dumps(fill(reply["json"], text), ensure_ascii=False)
        else:
            body = response.body.decode().replace("</", html.escape(text) + "</")
        headers = {**response.headers, "link": f"<https://x.example/?{quote(text)}>; rel=self"}
        response = replace(response, body=body.encode(), headers=headers)
        self.exchanges.append((request, response))
        return response

    async def aclose(self) -> None:
        """Nothing is open."""


def runs_of(name: str) -> Iterator[tuple[Provider, dict[str, Any], dict[str, Any]]]:
    """Every example of a provider, and its settings with made-up secrets."""
    specs = shipped_specs()
    provider = specs.model.providers[name]
    for example in provider_examples(specs.library.of("provider")[name], provider, Report()):
        stated = {key: str(value) for key, value in (example.stated.get("config") or {}).items() if value is not None}
        made_up = {one.name: word_of(one.name, one.kind) for one in provider.settings.values() if one.secret}
        required = {one.name: "https://host.example" for one in provider.settings.values() if one.kind == "url"}
        settings, problems = read_settings(provider.settings, {**required, **stated, **made_up})
        assert not problems
        yield provider, dict(example.stated), settings


def assert_clean(text: str, echo: Echo) -> None:
    for form in echo.echoed:
        assert form not in text
        assert json.dumps(form)[1:-1] not in text


@pytest.mark.parametrize("name", KEYED)
async def test_no_credential_comes_out_of_a_service_that_echoes(name: str) -> None:
    masked = 0
    for provider, stated, settings in runs_of(name):
        now = clock(stated.get("now", "2026-01-01T00:00:00Z"))
        echo = Echo(stated.get("replies") or {})
        upstreams = Upstreams(
            {name: replace(provider, service=replace(provider.service, retry=None))},
            {name: settings},
            sender=echo,
            breakers=Breakers(),
            cache=None,
            clock=lambda: now,  # noqa: B023 - it is asked within this turn
        )
        try:
            answer = await upstreams.ask(name, stated["operation"], stated.get("args") or {})
            text = json.dumps([answer.rows, answer.meta], ensure_ascii=False)
        except Fault as fault:
            text = json.dumps(fault.to_json(), ensure_ascii=False) + fault.message + fault.detail
        masked += MASK in text
        assert_clean(text, echo)
        for request, response in echo.exchanges:
            assert_clean(json.dumps(to_recording(request, response), ensure_ascii=False), echo)
    # What is looked for was really there.
    assert masked or name in SILENT


@pytest.mark.parametrize("name", KEYED)
async def test_neither_an_example_nor_a_trial_shows_what_a_service_gave_back(name: str) -> None:
    executor = SimpleNamespace(settings={}, model=shipped_model(), clock=lambda: 0.0)
    for provider, stated, settings in runs_of(name):
        executor.settings = {name: settings}
        echo = Echo(stated.get("replies") or {})
        operation = provider.operations[stated["operation"]]
        calm = replace(provider, service=replace(provider.service, retry=None))
        done = await attempt(executor, calm, operation, stated.get("args") or {}, echo)  # type: ignore[arg-type]
        shown = json.dumps(done.to_json(), ensure_ascii=False) + "\n".join(
            attempt_lines(done, Paint(io.StringIO(), {}), 500)
        )
        assert_clean(shown + to_yaml(example_of(done)), echo)
        assert TOKEN not in to_yaml(example_of(done))
