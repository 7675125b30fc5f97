"""legal_search keeps its contract: inputs, annotations, answers and lifetime."""

from __future__ import annotations

from tests.support.shipped import shipped_model


def test_courtlistener_answers_without_a_key() -> None:
    model = shipped_model()

    assert model.capabilities["cases"].order == ("courtlistener",)
    assert not [one for one in model.providers["courtlistener"].settings.values() if one.required]
