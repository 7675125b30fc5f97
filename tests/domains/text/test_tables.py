"""Tables of words beside the modules that read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from specloom import domains
from specloom.core import load_table
from specloom.domains.text import invert, to_alternatives

ROOT = Path(domains.__file__).parent
TABLES = sorted(path.relative_to(ROOT) for room in ("text", "trust") for path in (ROOT / room).rglob("*.yaml"))


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_a_table_says_when_it_was_looked_over_and_what_its_parts_are(table: Path) -> None:
    text = (ROOT / table).read_text("utf-8")

    assert text.startswith("# ")
    assert load_table(str(ROOT / table), table.name)["version"]


def test_words_of_lists_are_found_under_the_name_of_their_list() -> None:
    assert invert({"kg": "kg kilo", "g": "g"}) == {"kg": "kg", "kilo": "kg", "g": "g"}


def test_words_and_patterns_become_one_pattern_for_any_of_them() -> None:
    assert to_alternatives("logos? font") == "logos?|font"
