"""Credentials are exchanged for a token, which is kept while it is good and renewed when it is refused."""

from __future__ import annotations

import base64
import json

from specloom.faults import Fault
from specloom.grant import Tokens
from specloom.perform import perform
from specloom.vault import Secret
from specloom.wire import Response
from weaving import Run, a_provider, drive, weave_texts

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
