"""The engine's tables of data: one format, and read by one function."""

from __future__ import annotations

from pathlib import Path

import pytest

import specloom
from specloom.core import load_table

ENGINE = Path(specloom.__file__).parent
TABLES = sorted(path for path in ENGINE.rglob("*.yaml") if ENGINE / "shipped" not in path.parents)


@pytest.mark.parametrize("table", TABLES, ids=[str(path.relative_to(ENGINE)) for path in TABLES])
def test_a_table_is_read_as_a_mapping_under_texts(table: Path) -> None:
    loaded = load_table(str(table.with_name("module.py")), table.name)

    assert loaded
    assert [key for key in loaded if not isinstance(key, str)] == []


def test_no_table_of_the_engine_is_in_another_language_than_the_specs() -> None:
    assert list(ENGINE.rglob("*.toml")) == []
