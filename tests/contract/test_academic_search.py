"""academic_search keeps its contract."""

from __future__ import annotations

from tests.support.shipped import shipped_model, shipped_tool

ORDER = ["openalex", "crossref", "pubmed", "semanticscholar", "arxiv", "europepmc", "core", "doaj", "exa"]
WEB = {"google", "brave", "serper", "searxng", "searchapi", "duckduckgo", "tavily"}


def test_a_retraction_has_a_kind_a_day_and_a_notice() -> None:
    schema = shipped_tool("academic_search").output_schema

    status = schema["properties"]["papers"]["items"]["properties"]["retractionStatus"]

    assert set(status["properties"]) == {"retracted", "kind", "date", "noticeDoi", "source"}


def test_every_scholarly_and_every_web_provider_can_be_asked_for_by_name() -> None:
    model = shipped_model()

    assert [name for name in model.offering("scholarly") if name in ORDER] == ORDER
    assert set(model.offering("web")) >= WEB
