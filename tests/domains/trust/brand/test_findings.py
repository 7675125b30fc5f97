"""Makeshift colours: what a browser paints stands until a brand page names a colour for the same slot."""

from __future__ import annotations

import pytest

from specloom.domains.trust.brand.findings import Findings, Swatch


def _homepage() -> Findings:
    return Findings(
        colors={"primary": "#cc3300", "background": "#ffffff"},
        palette=[Swatch("#cc3300", role="primary"), Swatch("#ffffff", role="background")],
        makeshift={"primary", "background"},
    )


@pytest.mark.parametrize(
    ("stated", "withdrawn"),
    [
        ({}, []),
        ({"accent": "#00ff88"}, []),
        ({"primary": "#cc3300"}, []),
        ({"primary": "#0055ff", "background": "#ffffff"}, ["primary"]),
        ({"primary": "#0055ff", "background": "#eeeeee"}, ["background", "primary"]),
    ],
)
def test_a_makeshift_colour_gives_way_to_another_that_is_stated(stated: dict[str, str], withdrawn: list[str]) -> None:
    known = Findings()
    known.fill(_homepage())

    assert known.withdraw(stated) == withdrawn
    assert [one.role for one in known.palette] == [
        "" if role in withdrawn else role for role in ("primary", "background")
    ]


def test_a_colour_that_one_page_states_does_not_give_way_to_another_page() -> None:
    known = Findings()
    known.fill(_homepage())
    known.withdraw({"primary": "#0055ff"})
    known.fill(Findings(colors={"primary": "#0055ff"}))

    assert known.withdraw({"primary": "#ff0055"}) == []
    assert known.colors["primary"] == "#0055ff"
