"""local_search keeps its contract: inputs, annotations, answers, hints and lifetime."""

from __future__ import annotations

from tests.support.shipped import shipped_model


def test_brave_answers_with_its_key() -> None:
    model = shipped_model()

    assert model.capabilities["places"].order == ("brave", "nominatim", "photon")
    assert "BRAVE_API_KEY" in model.providers["brave"].settings
