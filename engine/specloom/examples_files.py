"""The files that are there when an example begins: in a folder of its own, which goes with it."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FOLDER, NUMBER = "{folder}", "{number}"


@contextlib.contextmanager
def placed(said: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """An example with its files on disk and the path of their folder for `{folder}` in `args` and `config`."""
    files = said.get("files")
    if not files:
        yield said
        return
    with tempfile.TemporaryDirectory(prefix="specloom-example-") as folder:
        for name, text in files.items():
            many = text if isinstance(text, Mapping) else {"times": 1, "of": text}
            for number in range(many["times"]):
                path = Path(folder, name.replace(NUMBER, str(number)))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(many["of"].replace(NUMBER, str(number)), encoding="utf-8")
        yield {**said, **{part: _put(said[part], folder) for part in ("args", "config") if part in said}}


def _put(value: Any, folder: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _put(one, folder) for name, one in value.items()}
    return value.replace(FOLDER, folder) if isinstance(value, str) else value
