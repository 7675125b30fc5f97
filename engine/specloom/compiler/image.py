"""Makes the image of a model: code for each of its specs, generated, compiled and packed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import CodeType
from typing import Any

from specloom.core import find_tables, read_table, shipped_folder
from specloom.model import KINDS, TABLES, Model, pack_image

from .codegen import compile_code, generate

_HEADS_FILE = "heads"
"""What a traceback names where a head cannot be made again; there is no such file."""


def make_image(model: Model, fingerprint: str, prompts: Iterable[Mapping[str, Any]] | None = None) -> bytes:
    """The image of a model whose specs have no errors; see `model.image`. `fingerprint` says what it was made of.

    `prompts` are the entries of `prompts/list`.
    """
    heads = model.heads if prompts is None else replace(model.heads, prompts=tuple(prompts))
    code = compile_code(generate(heads, _HEADS_FILE), _HEADS_FILE)
    names = {kind: list(getattr(model, kind)) for kind in KINDS}
    return pack_image(model.digest, fingerprint, code, _parts(model), names)


def _parts(model: Model) -> Iterator[tuple[str, str, CodeType | dict[str, Any]]]:
    for name, path in find_tables(shipped_folder()).items():
        yield TABLES, name, read_table(path)
    for kind in KINDS:
        for name, spec in getattr(model, kind).items():
            place = getattr(spec, "place", None)
            file = place.file if place is not None else spec.file
            yield kind, name, compile_code(generate(spec, file), file)
