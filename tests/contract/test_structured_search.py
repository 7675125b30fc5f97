"""structured_search keeps its contract: inputs, annotations, answers, the category check and lifetime."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from specloom.runtime.arguments import parse_arguments
from tests.support.shipped import shipped_model, shipped_tool

CATEGORIES = ["company", "people", "research paper", "news", "pdf", "github", "financial report", "personal site"]


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_category_of_the_contract_is_taken(category: str) -> None:
    taken = parse_arguments(shipped_tool("structured_search"), {"query": "otters", "category": category})

    assert taken.given["category"] == category


def test_another_category_is_refused_with_the_list_of_those_that_are_known() -> None:
    with pytest.raises(Fault) as refused:
        parse_arguments(shipped_tool("structured_search"), {"query": "otters", "category": "weather"})

    assert refused.value.kind == "validation"
    assert refused.value.message.endswith(", ".join(CATEGORIES))


def test_one_search_is_paid_for() -> None:
    """A failure, which costs nothing, leads to the next provider; an answer to nobody, empty or not."""
    strategies = shipped_tool("structured_search").plan

    assert [one.kind for one in strategies] == ["call", "first_of"]
    assert all("empty" not in one.outcomes for one in strategies)
    assert shipped_model().capabilities["structured"].order == ("exa", "linkup", "perplexity", "firecrawl")
