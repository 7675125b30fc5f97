"""citation_graph keeps its contract."""

from __future__ import annotations

from tests.support.shipped import shipped_model, shipped_tool


def test_lifetime_and_annotations_are_those_of_the_contract() -> None:
    tool = shipped_tool("citation_graph")

    assert tool.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert tool.hints is None
    assert tool.cache is not None
    assert tool.cache.ttl == 86_400
    assert tool.cache.ignore == ("sessionId", "max_tokens")
    assert tool.cache.unless is not None
    assert tool.record == ("sessionId", "academic")


def test_semantic_scholar_is_preferred() -> None:
    assert shipped_model().capabilities["citations"].order == ("semanticscholar", "openalex")
    assert set(shipped_tool("citation_graph").inputs["provider"].choices) == {"semanticscholar", "openalex"}
