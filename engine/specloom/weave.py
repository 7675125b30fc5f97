"""Weaves all specs into one model: capabilities, lenses, collections, providers, tools; each against the others."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from .capability import compile_capability, compile_lens
from .collection import check_needs, compile_collection
from .diagnostics import Report, did_you_mean
from .hooks import PROCEDURES, load_hooks
from .load import Listing, Map, Scalar
from .model import Collection, Lens, Model, Provider, Tool
from .names import Library, load_library
from .plan import compile_tool
from .proofs import check_tables
from .provider import compile_provider
from .surroundings import Surroundings
from .toolset import compile_toolset


def weave(library: Library, report: Report) -> Model:
    """Compile every spec of a library. What has problems is reported and left out of the model."""
    report.left_out |= library.unread
    capabilities = {name: compile_capability(spec) for name, spec in library.of("capability").items()}
    lenses: dict[str, Lens] = {}
    for name, spec in library.of("lens").items():
        lens = compile_lens(spec, report)
        if lens:
            lenses[name] = lens
        else:
            report.left_out.add(name)
    providers: dict[str, Provider] = {}
    for name, spec in library.of("provider").items():
        provider = compile_provider(spec, capabilities, report)
        if provider:
            providers[name] = provider
            check_tables(spec, provider, capabilities, report)
        else:
            report.left_out.add(name)
    _check_orders(library, providers, report)
    hooks = load_hooks()
    collections: dict[str, Collection] = {}
    for name, spec in library.of("collection").items():
        collection = compile_collection(spec, report)
        if collection:
            collections[name] = collection
        else:
            report.left_out.add(name)
    check_needs(collections, report)
    around = Surroundings(providers, capabilities, lenses, hooks, PROCEDURES, collections)
    tools: dict[str, Tool] = {}
    for name, spec in library.of("tool").items():
        tool = compile_tool(spec, around, report)
        if tool:
            tools[name] = tool
    written = library.of("tool")
    toolsets = {
        name: compile_toolset(spec, tools, written, library.prompts, report)
        for name, spec in library.of("toolset").items()
    }
    return Model(
        MappingProxyType(providers),
        MappingProxyType(capabilities),
        MappingProxyType(tools),
        MappingProxyType(lenses),
        digest_sources(library.sources),
        MappingProxyType(collections),
        MappingProxyType(toolsets),
    )


def _check_orders(library: Library, providers: Mapping[str, Provider], report: Report) -> None:
    """A routing order names providers that offer the capability, each once."""
    for name, spec in library.of("capability").items():
        routing = spec.root.get("routing")
        order = routing.get("order") if isinstance(routing, Map) else None
        offering = [one.name for one in providers.values() if name in one.operations]
        seen: set[str] = set()
        for item in order.items if isinstance(order, Listing) else ():
            assert isinstance(item, Scalar)
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


def weave_from(roots: Sequence[Path], *, examples: bool = True) -> tuple[Model, Library, Report]:
    """Load and compile the layers under these roots; who only serves can do without the examples."""
    import gc

    report = Report()
    # A compile makes many small objects that all stay; looking through them again and again costs half of the time.
    was_on = gc.isenabled()
    gc.disable()
    try:
        library = load_library(roots, report, skip=frozenset() if examples else EXAMPLES)
        return weave(library, report), library, report
    finally:
        if was_on:
            gc.enable()
