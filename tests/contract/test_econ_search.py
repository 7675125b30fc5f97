"""econ_search keeps its contract: inputs, annotations, answers and lifetime."""

from __future__ import annotations

from tests.support.shipped import shipped_model


def test_the_four_providers_are_asked_in_the_order_of_the_contract() -> None:
    model = shipped_model()

    for name in ("series", "observations"):
        assert model.capabilities[name].order == ("fred", "worldbank", "oecd", "eurostat")
        assert set(model.offering(name)) == {"fred", "worldbank", "oecd", "eurostat"}


def test_only_fred_wants_a_key() -> None:
    providers = {name: shipped_model().providers[name] for name in ("fred", "worldbank", "oecd", "eurostat")}
    wanted = {
        name: [one.name for one in provider.settings.values() if one.required] for name, provider in providers.items()
    }

    assert wanted == {"fred": ["FRED_API_KEY"], "worldbank": [], "oecd": [], "eurostat": []}
