"""Tools that keep something of a user keep their contracts: inputs, annotations, answers, and who switches them on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.shipped import shipped_tool

TAGS = {"type": "array", "maxItems": 50}
URL = {"type": "string"}
NOTE = {"type": "string", "required": True, "minLength": 1, "maxLength": 65_536}
SPACE = {"type": "string", "required": True, "minLength": 1, "maxLength": 200}
QUERY = {"type": "string", "required": True, "minLength": 1, "maxLength": 500}

INPUTS: dict[str, dict[str, dict[str, Any]]] = {
    "get_my_analytics": {},
    "memory_save": {"note": NOTE, "topic": {"type": "string", "maxLength": 200}, "url": URL, "tags": TAGS},
    # `query` is more than the contract asks for.
    "memory_recall": {
        "topic": {"type": "string", "maxLength": 200},
        "query": {"type": "string", "maxLength": 500},
        "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 20},
    },
    "workspace_contribute": {"workspace_id": SPACE, "note": NOTE, "url": URL, "tags": TAGS},
    "workspace_read": {"workspace_id": SPACE},
    "monitor_query_save": {
        "query": QUERY,
        "provider": {"type": "string"},
        "ttl_days": {"type": "integer", "minimum": 0, "maximum": 90, "default": 30},
    },
    "monitor_query_check": {"query": QUERY, "provider": {"type": "string"}},
}
# Read-only, idempotent, open-world; none is destructive. What is told of a watch counts as seen, so looking writes,
# and saving one looks first.
HINTS = {
    "get_my_analytics": (True, True, False),
    "memory_save": (False, False, False),
    "memory_recall": (True, True, False),
    "workspace_contribute": (False, False, False),
    "workspace_read": (True, True, False),
    "monitor_query_save": (False, False, True),
    "monitor_query_check": (False, False, True),
}
SWITCHES = {
    "get_my_analytics": "USER_ANALYTICS_ENABLED",
    "memory_save": "MEMORY_ENABLED",
    "memory_recall": "MEMORY_ENABLED",
    "workspace_contribute": "WORKSPACES_ENABLED",
    "workspace_read": "WORKSPACES_ENABLED",
    "monitor_query_save": "MONITORING_ENABLED",
    "monitor_query_check": "MONITORING_ENABLED",
}
NAMES = sorted(INPUTS)


def test_what_is_listed_has_every_documented_key() -> None:
    def fields(tool: str, key: str) -> set[str]:
        schema = shipped_tool(tool).output_schema["properties"][key]
        return set(schema.get("items", schema)["properties"])

    note = {"id", "note", "url", "tags", "createdAt"}
    assert fields("memory_recall", "memories") == note | {"tenantId", "userId", "topic"}
    origin = {"workspaceId", "contributorTenant", "contributorUser"}
    assert fields("workspace_read", "contributions") == note | origin
    counted = {"totalCalls", "toolCounts", "firstSeen", "lastSeen", "recentTools"}
    assert fields("get_my_analytics", "analytics") == counted | {"tenantId", "userId"}
    result = {"title", "url", "snippet", "displayLink", "publishedAt"}
    assert fields("monitor_query_check", "newResults") == result


@pytest.mark.parametrize("name", NAMES)
def test_annotations_and_switch_are_those_of_the_contract_and_nothing_is_kept(name: str) -> None:
    one = shipped_tool(name)

    read_only, idempotent, open_world = HINTS[name]
    assert one.annotations == {
        "read_only": read_only,
        "destructive": False,
        "idempotent": idempotent,
        "open_world": open_world,
    }
    assert one.cache is None
    assert one.opt_in == SWITCHES[name]
    assert one.settings[one.opt_in].default is False
