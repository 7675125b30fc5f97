"""awesome_list_search keeps its contract: inputs, annotations, answers and lifetime."""

from __future__ import annotations

from tests.support.shipped import shipped_model


def test_nobody_needs_a_key_and_github_comes_second() -> None:
    model = shipped_model()

    assert model.capabilities["awesome_lists"].order == ("ecosystems", "github")
    for name in ("ecosystems", "github"):
        assert not [one for one in model.providers[name].settings.values() if one.required]
