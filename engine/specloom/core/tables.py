"""Tables that are data: in YAML beside the module that reads them, for who adds a row and knows no Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def load_table(module: str, name: str) -> dict[str, Any]:
    """The data of a YAML file that lies beside a module, which is named by its `__file__`."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loaded: dict[str, Any] = yaml.load(Path(module).with_name(name).read_text("utf-8"), Loader=loader)  # noqa: S506
    return loaded
