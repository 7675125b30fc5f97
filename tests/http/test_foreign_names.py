"""What is another's and what never was are answered alike: status, headers and every byte but the name itself."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_server import Answer
from tests.support.redis_server import RedisServer
from tests.support.server_process import call, request
from tests.support.shared_server import FIRST, OTHERS, SharedServer


@pytest.fixture(params=["folder", "redis"])
def shared(request: Any, tmp_path: Path) -> Iterator[SharedServer]:
    redis = RedisServer() if request.param == "redis" else None
    made = SharedServer(tmp_path, "tenant", redis)
    with made.running as made.desk:
        yield made
    if redis is not None:
        redis.close()


def another(name: str) -> str:
    """A name of the same form that nobody has."""
    end = secrets.token_hex(3)
    return name[: -len(end)] + (end if re.fullmatch("[0-9a-f]+", name[-len(end) :]) else "tasman")


def list_questions(ids: dict[str, str]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Requests that name something, with the name of it."""
    session, space, memory = ids["session"], ids["space"], ids["memory"]
    return {
        "a session": (session, call(1, "get_research_session", {"sessionId": session})),
        "a step of it": (
            session,
            call(
                1,
                "sequential_search",
                {"searchStep": "x", "stepNumber": 2, "nextStepNeeded": True, "sessionId": session},
            ),
        ),
        "its export": (session, call(1, "research_export", {"sessionId": session})),
        "a search in it": (session, call(1, "web_search", {"query": "otters of the north", "sessionId": session})),
        "its list of sources": (session, call(1, "format_bibliography", {"sessionId": session})),
        "its sources for other programs": (session, call(1, "library_export", {"sessionId": session})),
        "its sources for Zotero": (session, call(1, "zotero_add", {"sessionId": session, "dry_run": True})),
        "its text": (session, call(1, "read_more", {"source": f"research://session/{session}"})),
        "its new name": (session, call(1, "update_research_session", {"sessionId": session, "complete": True})),
        "its resource": (session, request(1, "resources/read", {"uri": f"research://session/{session}"})),
        "an artifact": (ids["artifact"], request(1, "resources/read", {"uri": ids["resource"]})),
        "the text of an artifact": (ids["artifact"], call(1, "read_more", {"source": ids["resource"]})),
        "an artifact's references": (ids["artifact"], call(1, "audit_bibliography", {"source": ids["resource"]})),
        "a workspace": (space, call(1, "workspace_read", {"workspace_id": space})),
        "what goes into it": (space, call(1, "workspace_contribute", {"workspace_id": space, "note": "otters"})),
        "a memory": (memory, call(1, "memory_delete", {"id": memory})),
        "a watched query": (ids["query"], call(1, "monitor_query_check", {"query": ids["query"]})),
        "its new end": (ids["query"], call(1, "monitor_query_change", {"query": ids["query"], "ttl_days": 9})),
        "its end": (ids["query"], call(1, "monitor_query_stop", {"query": ids["query"]})),
        "the end of the session": (session, call(1, "delete_research_session", {"sessionId": session})),
    }


def shape(answer: Answer, name: str) -> tuple[int, list[tuple[str, str]], str]:
    """An answer without the name that was asked for, and without what is each request's own."""
    own = {"x-request-id", "date", "content-length"}
    heads = sorted((one, value) for one, value in answer.headers.items() if one not in own)
    text = answer.body.decode().replace(name, "NAME")
    return answer.status, heads, re.sub(r'"(latency_ms|ageSeconds)":[0-9.]+', r'"\1":0', text)


@pytest.mark.parametrize("other", ["another tenant", "another user of the tenant"])
async def test_what_is_anothers_is_answered_like_what_never_was(shared: SharedServer, other: str) -> None:
    ids = await shared.fill("otters of the north")
    post, owner = shared.desk.server.post, OTHERS[other]

    different, alike = {}, []
    for what, (name, message) in list_questions(ids).items():
        unknown = another(name)
        made_up = json.loads(json.dumps(message).replace(name, unknown))
        # First once unheard, so that both find the same kept answers.
        await asyncio.to_thread(post, made_up, X_Test_Owner=owner)
        foreign = await asyncio.to_thread(post, message, X_Test_Owner=owner)
        never = await asyncio.to_thread(post, made_up, X_Test_Owner=owner)
        if (one := shape(foreign, name)) != (two := shape(never, unknown)):
            different[what] = (one, two)
        own = await asyncio.to_thread(post, message, X_Test_Owner=FIRST)
        if shape(own, name) == one:
            alike.append(what)

    assert different == {}
    assert alike == [], "who has it is answered otherwise, so the question is about it"
