"""filing_search keeps its contract: inputs, annotations, answers and lifetime."""

from __future__ import annotations

from tests.support.shipped import shipped_model


def test_the_sec_is_not_asked_without_an_address() -> None:
    model = shipped_model()

    assert model.capabilities["filings"].order == ("edgar", "xbrl_filings")
    assert model.capabilities["facts"].order == ("edgar",)
    assert [one.name for one in model.providers["edgar"].settings.values() if one.required] == ["EDGAR_CONTACT_EMAIL"]
