"""Credentials are exchanged for a token, which is kept while it is good and renewed when it is refused."""

from __future__ import annotations

import base64
import json

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Response
from specloom.core.secrets import Secret
from specloom.runtime.operation import perform
from specloom.runtime.request import Tokens
from tests.support.spec_library import Run, a_provider, drive, weave_texts

TOP = """
config:
  SAMPLE_ID: {required: true, description: The id.}
  SAMPLE_SECRET: {required: true, secret: true, description: The secret.}
"""
SERVICE = """
auth:
  client_credentials:
    url: https://sample.example/token
    id: config.SAMPLE_ID
    secret: config.SAMPLE_SECRET
    scope: read
"""
OPERATION = """
input: [query]
steps:
  - get: /search
    query: {q: =args.query}
    json: {each: items, map: {url: {at: url, required: true}}}
"""
CONFIG = {"SAMPLE_ID": "me", "SAMPLE_SECRET": Secret("s3cret")}
EMPTY = Response(200, {}, b'{"items": []}')
REFUSED = Response(401, {}, b"{}")


def token(name: str, life: int = 600) -> Response:
    return Response(200, {}, json.dumps({"access_token": name, "expires_in": life}).encode())


def run(tokens: Tokens, now: float, *replies: Response | Fault) -> Run:
    provider = weave_texts(a_provider(OPERATION, service=SERVICE, top=TOP)).provider()
    return drive(perform(provider, provider.operations["find"], {"query": "x"}, CONFIG, now, tokens), list(replies))


def authorization(run: Run, at: int) -> str:
    value = next(value for name, value in run.sent[at].headers if name == "Authorization")
    assert isinstance(value, Secret)
    return value.reveal()


def test_a_token_may_be_asked_for_under_a_base_that_the_operator_sets() -> None:
    top = TOP + "  SAMPLE_URL: {type: url, required: true, description: Where it listens.}\n"
    service = SERVICE.replace("https://sample.example/token", "/oauth/token") + "private: true\n"
    text = a_provider(OPERATION, service=service, top=top).replace("https://sample.example", "=config.SAMPLE_URL")
    provider = weave_texts(text).provider()
    settings = {**CONFIG, "SAMPLE_URL": "http://localhost:8080/api/"}

    running = perform(provider, provider.operations["find"], {"query": "x"}, settings, 0.0, {})
    done = drive(running, [token("t1"), EMPTY])

    assert [one.url for one in done.sent] == [
        "http://localhost:8080/api/oauth/token",
        "http://localhost:8080/api/search",
    ]
    assert done.sent[0].policy.allow_private


@pytest.mark.parametrize(
    "url", ["http://sample.example/token", "//sample.example/token", "token", "/token?x=1", "/t#x"]
)
def test_a_token_is_asked_for_at_an_https_address_or_under_the_base(url: str) -> None:
    service = SERVICE.replace("https://sample.example/token", f'"{url}"')

    (found,) = weave_texts(a_provider(OPERATION, service=service, top=TOP)).sentences

    assert found.startswith(f"E104: `url` cannot be '{url}'")


def test_a_token_is_asked_for_with_the_credentials_and_sent_with_the_request() -> None:
    done = run({}, 0.0, token("t1"), EMPTY)

    assert [one.url for one in done.sent] == ["https://sample.example/token", "https://sample.example/search"]
    assert authorization(done, 0) == "Basic " + base64.b64encode(b"me:s3cret").decode()
    assert done.sent[0].body == b"grant_type=client_credentials&scope=read"
    assert authorization(done, 1) == "Bearer t1"


def test_a_token_is_kept_until_shortly_before_its_end() -> None:
    tokens: Tokens = {}
    run(tokens, 0.0, token("t1", life=100), EMPTY)

    kept = run(tokens, 60.0, EMPTY)
    late = run(tokens, 80.0, token("t2"), EMPTY)

    assert len(kept.sent) == 1
    assert authorization(late, 1) == "Bearer t2"


def test_a_token_that_is_refused_is_renewed_once() -> None:
    tokens: Tokens = {"sample": (Secret("old"), 1e9)}

    done = run(tokens, 0.0, REFUSED, token("new"), EMPTY)

    assert [authorization(done, at) for at in (0, 2)] == ["Bearer old", "Bearer new"]
    assert done.rows == []


def test_refused_credentials_are_a_fault_that_names_what_to_check_and_shows_no_secret() -> None:
    done = run({}, 0.0, REFUSED)

    assert done.fault is not None
    assert done.fault.kind == "auth_required"
    assert "SAMPLE_SECRET" in done.fault.message
    assert "s3cret" not in done.fault.message


def test_a_token_server_that_fails_is_an_upstream_that_fails() -> None:
    done = run({}, 0.0, Response(503, {}, b""))

    assert done.fault is not None
    assert done.fault.kind == "upstream_unavailable"


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, b"<!doctype html><title>Log in"), (200, b"{}"), (200, b"[1]"), (200, b'{"access_token": 5}'), (302, b""),
     (200, b"[" * 100_000)],
)  # fmt: skip
def test_what_gives_no_token_is_no_word_about_the_credentials(status: int, body: bytes) -> None:
    done = run({}, 0.0, Response(status, {}, body))

    assert done.fault is not None
    assert (done.fault.kind, done.fault.message) == ("upstream_unavailable", f"Sample gave no token (HTTP {status})")


@pytest.mark.parametrize("life", ["soon", None, [], 10**400, -5])
def test_a_life_that_is_none_is_a_short_one(life: object) -> None:
    tokens: Tokens = {}

    run(tokens, 0.0, Response(200, {}, json.dumps({"access_token": "t1", "expires_in": life}).encode()), EMPTY)

    assert 0 <= tokens["sample"][1] <= 600
