"""Weaves all specs into one model: capabilities, lenses, collections, providers, tools; each against the others."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from specloom.core import Diagnostic, Report, did_you_mean
from specloom.language import forget_texts
from specloom.model import Model, Provider, Tool
from specloom.plugins import PROCEDURES, load_hooks
from specloom.specs import Library, Map, Spec, load_library

from .answer import compile_toolset
from .capability import compile_capability, compile_lens
from .collection import check_needs, compile_collection
from .pages import compile_pages
from .provider import check_tables, compile_provider
from .resource import check_addresses, compile_resource
from .symbols import Symbols
from .tool import compile_tool
from .values import scalars_of

T = TypeVar("T")


def weave(library: Library, report: Report, *, release: bool = False) -> Model:
    """Compile every spec of a library. What has problems is reported and left out of the model.

    With `release`, providers and tools leave the library once they are compiled, and their trees leave the memory.
    """
    digest = digest_sources(library.sources)
    report.left_out |= library.unread
    capabilities = {name: compile_capability(spec) for name, spec in library.of("capability").items()}
    lenses = _compiled(((name, compile_lens(spec, report)) for name, spec in library.of("lens").items()), report)

    readers: list[Spec] = []

    def compile_checked(spec: Spec) -> Provider | None:
        provider = compile_provider(spec, capabilities, report)
        if provider:
            check_tables(spec, provider, capabilities, report)
            readers.extend([spec] if "pages" in spec.root else [])
        return provider

    hooks = load_hooks()  # they bring the filters of templates
    each = _each(library, "provider", release=release)
    providers = _compiled(((name, compile_checked(spec)) for name, spec in each), report)
    _check_orders(library, providers, report)
    while readers:
        spec = readers.pop(0)
        pages = compile_pages(spec, providers, capabilities, library.templates, report)
        providers[spec.name] = replace(providers[spec.name], pages=pages)
    collections = _compiled(
        ((name, compile_collection(spec, report)) for name, spec in library.of("collection").items()), report
    )
    check_needs(collections, report)
    around = Symbols(providers, capabilities, lenses, hooks, PROCEDURES, collections)
    tools: dict[str, Tool] = {}
    written = frozenset(library.of("tool"))
    for name, spec in _each(library, "tool", release=release):
        tool = compile_tool(spec, around, report)
        if tool:
            tools[name] = tool
    toolsets = {
        name: compile_toolset(spec, tools, written, library.prompts, report)
        for name, spec in library.of("toolset").items()
    }
    resources = {name: compile_resource(spec, around, report) for name, spec in library.of("resource").items()}
    listed = sorted((one for one in resources.values() if one), key=lambda one: (one.order, one.name))
    check_addresses(listed, report)
    return Model(
        MappingProxyType(providers),
        MappingProxyType(capabilities),
        MappingProxyType(tools),
        MappingProxyType(lenses),
        digest,
        MappingProxyType(collections),
        MappingProxyType(toolsets),
        MappingProxyType({one.name: one for one in listed}),
        MappingProxyType(library.templates),
    )


def _compiled(specs: Iterable[tuple[str, T | None]], report: Report) -> dict[str, T]:
    """What could be compiled, by name; the rest is left out of the model."""
    found = {}
    for name, one in specs:
        if one is None:
            report.left_out.add(name)
        else:
            found[name] = one
    return found


def _each(library: Library, kind: str, *, release: bool) -> Iterator[tuple[str, Spec]]:
    for name in list(library.of(kind)):  # a list of names holds no specs
        yield name, library.specs.pop((kind, name)) if release else library.specs[kind, name]


def _check_orders(library: Library, providers: Mapping[str, Provider], report: Report) -> None:
    """A routing order names providers that offer the capability, each once."""
    for name, spec in library.of("capability").items():
        routing = spec.root.get("routing")
        order = routing.get("order") if isinstance(routing, Map) else None
        offering = [one.name for one in providers.values() if name in one.operations]
        seen: set[str] = set()
        for item in scalars_of(order):
            said = str(item.value)
            if said in seen:
                report.add("E124", item.place, f"{said!r} stands twice in the order of {name!r}", "remove one")
            elif said in providers and said not in offering:
                report.add("E124", item.place, f"{said!r} does not offer {name!r}", did_you_mean(said, offering))
            elif said not in providers and said not in report.left_out:
                hint = did_you_mean(said, offering) or "write its file first, or leave it out of the order"
                report.add("E124", item.place, f"there is no provider {said!r}", hint)
            seen.add(said)


def digest_sources(sources: Mapping[str, str]) -> str:
    """Changes when the text or the name of any spec does."""
    seen = hashlib.sha256()
    for name, text in sorted(sources.items()):
        seen.update(f"{name}\0{text}\0".encode())
    return seen.hexdigest()[:32]


EXAMPLES = frozenset({"examples"})


def weave_served(roots: Sequence[Path]) -> tuple[Model, Library, Report, list[Diagnostic]]:
    """What can be served of the layers under these roots, as `weave_from` gives it, and the errors of what is left out.

    A file of a layer that a user adds takes away itself and what names it; a file that it replaced serves on. Errors of
    the shipped layer that do not go with them stay in the report, as do those of collections: what another declaration
    keeps for a shorter time would be deleted.
    """
    model, library, report = weave_from(roots, examples=False)
    without: set[str] = set()
    lost: list[Diagnostic] = []
    while report.errors and len(roots) > 1:
        # Who adds a layer is shown by the whole path; the shipped one by the place in it.
        own = {one.place.file for one in report.errors if Path(one.place.file).is_absolute()}
        wrong = own - without or {str(root) for root in roots[1:]} - without
        if not wrong or any("collections.d" in Path(file).parts for file in wrong):
            break
        lost += [one for one in report.errors if one.place.file in wrong or not own]
        without |= wrong
        model, library, report = weave_from(roots, examples=False, without=without)
    return model, library, report, lost


def weave_from(
    roots: Sequence[Path], *, examples: bool = True, without: Collection[str] = ()
) -> tuple[Model, Library, Report]:
    """Load and compile the layers under these roots, but for files and folders `without` which to do it.

    Who only serves can do without the examples; the library then comes back without the trees of providers and tools.
    """
    import gc

    report = Report()
    # A compile makes many small objects that all stay; looking through them again and again costs half of the time.
    was_on = gc.isenabled()
    gc.disable()
    try:
        library = load_library(roots, report, skip=frozenset() if examples else EXAMPLES, without=without)
        return weave(library, report, release=not examples), library, report
    finally:
        if not examples:
            forget_texts()
        if was_on:
            gc.enable()
