"""answer keeps its contract: inputs, annotations, answers and lifetime."""

from __future__ import annotations

from tests.support.shipped import shipped_model, shipped_tool


def test_one_provider_is_asked_and_paid_for() -> None:
    strategies = shipped_tool("answer").plan

    assert [one.kind for one in strategies] == ["call"]
    assert shipped_model().capabilities["answer"].order == ("exa", "tavily", "youcom")
