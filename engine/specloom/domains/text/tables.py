"""Tables of words that are data: in YAML beside the module that reads them, for who adds a word and knows no Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def load_table(module: str, name: str) -> dict[str, Any]:
    """The data of a YAML file that lies beside a module, which is named by its `__file__`."""
    import yaml

    loaded: dict[str, Any] = yaml.load(Path(module).with_name(name).read_text("utf-8"), Loader=yaml.CSafeLoader)
    return loaded


def to_word_set(text: str) -> frozenset[str]:
    """The words of a text that is a list of them."""
    return frozenset(text.split())


def to_alternatives(text: str) -> str:
    """The words of a text, or patterns without blanks, as a pattern for any of them."""
    return "|".join(text.split())


def invert(groups: Mapping[str, str]) -> dict[str, str]:
    """Each word of some lists with the name of its list."""
    return {word: name for name, words in groups.items() for word in words.split()}
