"""Makes the image of a model: code for each of its specs, generated, compiled and packed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import CodeType, MappingProxyType
from typing import Any

from specloom.core import Report, find_tables, read_table, shipped_folder
from specloom.model import (
    HEADS,
    KINDS,
    LISTED,
    TABLES,
    Heads,
    Image,
    Model,
    Provider,
    head_of_provider,
    load_model,
    pack_image,
    repack_image,
)
from specloom.specs import Spec

from .codegen import compile_code, generate
from .provider import check_tables, compile_provider

_HEADS_FILE = "heads"
"""What a traceback names where a head cannot be made again; there is no such file."""


def make_image(
    model: Model,
    fingerprint: str,
    prompts: Iterable[Mapping[str, Any]] | None = None,
    listed: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> bytes:
    """The image of a model whose specs have no errors; see `model.image`. `fingerprint` says what it was made of.

    `prompts` are the entries of `prompts/list`, and `listed` those of `tools/list` by name.
    """
    heads = model.heads if prompts is None else replace(model.heads, prompts=tuple(prompts))
    code = _compile_heads(heads)
    names = {kind: list(getattr(model, kind)) for kind in KINDS}
    return pack_image(
        model.digest, fingerprint, code, [*_parts(model), *((LISTED, name, one) for name, one in listed.items())], names
    )


def _compile_heads(heads: Heads) -> CodeType:
    code: CodeType = compile_code(generate(heads, _HEADS_FILE), _HEADS_FILE)
    return code


def remake_image(image: Image, spec: Spec, digest: str, fingerprint: str) -> bytes | None:
    """The image once one of its providers has become another, byte for byte as `make_image` has it.

    None where it is not known to be enough to compile that provider: if it has errors or reads pages, if a page of
    another one asks it, or if it offers or takes something else than before.
    """
    model, report = load_model(image), Report()
    last, provider = model.providers.get(spec.name), compile_provider(spec, model.capabilities, report)
    if provider is None or last is None or last.place.file != provider.place.file:
        return None
    check_tables(spec, provider, model.capabilities, report)
    asked = {ask.operation.provider for page in model.pages for ask in page.asks}
    if report.errors or "pages" in spec.root or last.pages or spec.name in asked or _offer(last) != _offer(provider):
        return None
    found = model.heads.providers.items()
    changed = {name: head_of_provider(provider) if name == spec.name else head for name, head in found}
    heads = _compile_heads(replace(model.heads, providers=MappingProxyType(changed)))
    file = spec.place.file
    code = compile_code(generate(provider, file), file)
    return repack_image(image, digest, fingerprint, [(HEADS, "", heads), ("providers", spec.name, code)])


def _offer(provider: Provider) -> list[tuple[object, ...]]:
    """What other specs read of a provider without pages when they are compiled."""
    return [(one.name, one.capability, one.input, one.arguments_used) for one in provider.operations.values()]


def _parts(model: Model) -> Iterator[tuple[str, str, Any]]:
    for name, path in find_tables(shipped_folder()).items():
        yield TABLES, name, read_table(path)
    for kind in KINDS:
        for name, spec in getattr(model, kind).items():
            place = getattr(spec, "place", None)
            file = place.file if place is not None else spec.file
            yield kind, name, compile_code(generate(spec, file), file)
