"""answer keeps its contract: inputs, annotations, answers and lifetime."""

from __future__ import annotations

from tests.support.shipped import shipped_model, shipped_tool


def test_one_answer_is_paid_for() -> None:
    """A failure, which costs nothing, leads to the next provider; an answer to nobody, empty or not."""
    strategies = shipped_tool("answer").plan

    assert [one.kind for one in strategies] == ["call", "first_of"]
    assert all("empty" not in one.outcomes for one in strategies)
    assert shipped_model().capabilities["answer"].order == ("exa", "tavily", "youcom", "linkup")
