"""patent_search keeps its contract."""

from __future__ import annotations

from tests.support.shipped import shipped_model, shipped_tool

ORDER = ["searchapi", "epo", "lens", "uspto"]


def test_hints_and_lifetime_are_those_of_the_contract() -> None:
    tool = shipped_tool("patent_search")

    assert tool.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert tool.hints is not None
    assert tool.cache is not None
    assert tool.cache.ttl == 86_400
    assert tool.cache.ignore == ("sessionId", "max_tokens")
    assert tool.cache.unless is not None
    assert tool.record == ("sessionId", "patent")


def test_every_patent_and_every_web_provider_can_be_asked_for_by_name() -> None:
    model = shipped_model()

    choices = shipped_tool("patent_search").inputs["provider"].choices

    assert list(model.offering("patents")) == ORDER
    assert set(choices) == set(ORDER) | set(model.offering("web"))
    assert len(choices) == len(set(choices))
