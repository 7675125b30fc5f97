"""Weaves all specs into one model: capabilities, lenses, collections, providers, tools; each against the others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from specloom.core import Diagnostic, Report, did_you_mean
from specloom.language import forget_texts
from specloom.model import Model, Provider
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
    capabilities = {name: compile_capability(spec, report) for name, spec in library.of("capability").items()}
    lenses = _compiled(library.of("lens").items(), compile_lens, report)

    readers: list[Spec] = []

    def compile_checked(spec: Spec, own: Report) -> Provider | None:
        provider = compile_provider(spec, capabilities, own)
        if provider:
            check_tables(spec, provider, capabilities, own)
            readers.extend([spec] if "pages" in spec.root else [])
        return provider

    hooks = load_hooks()  # they bring the filters of templates
    providers = _compiled(_each(library, "provider", release=release), compile_checked, report)
    for spec in library.of("capability").values():
        check_order(spec, providers, report)
    while readers:
        spec = readers.pop(0)
        own = report.apart()
        pages = compile_pages(spec, providers, capabilities, library.templates, own)
        report.take(own)
        providers[spec.name] = replace(providers[spec.name], pages=pages)
    collections = _compiled(library.of("collection").items(), compile_collection, report)
    check_needs(collections, report)
    around = Symbols(providers, capabilities, lenses, hooks, PROCEDURES, collections, library.views)
    written = frozenset(library.of("tool"))
    tools = _each_apart(
        _each(library, "tool", release=release), lambda spec, own: compile_tool(spec, around, own), report
    )
    toolsets = {
        name: compile_toolset(spec, tools, written, library.prompts, report)
        for name, spec in library.of("toolset").items()
    }
    resources = _each_apart(
        library.of("resource").items(), lambda spec, own: compile_resource(spec, around, own), report
    )
    listed = sorted(resources.values(), key=lambda one: (one.order, one.name))
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
        MappingProxyType(library.views),
    )


def _compiled(
    specs: Iterable[tuple[str, Spec]], compile_: Callable[[Spec, Report], T | None], report: Report
) -> dict[str, T]:
    """What could be compiled, by name; the rest is left out of the model, and known to be once all were tried."""
    lost = set()

    def note(spec: Spec, own: Report) -> T | None:
        one = compile_(spec, own)
        if one is None:
            lost.add(spec.name)
        return one

    found = _each_apart(specs, note, report)
    report.left_out.update(lost)
    return found


def _each_apart(
    specs: Iterable[tuple[str, Spec]], compile_: Callable[[Spec, Report], T | None], report: Report
) -> dict[str, T]:
    """What could be compiled, by name; each with a report of its own, so that none is judged by another's problems."""
    found = {}
    for name, spec in specs:
        own = report.apart()
        one = compile_(spec, own)
        report.take(own)
        if one is not None:
            found[name] = one
    return found


def _each(library: Library, kind: str, *, release: bool) -> Iterator[tuple[str, Spec]]:
    for name in list(library.of(kind)):  # a list of names holds no specs
        yield name, library.specs.pop((kind, name)) if release else library.specs[kind, name]


def check_order(spec: Spec, providers: Mapping[str, Provider], report: Report) -> None:
    """The routing order of a capability names providers that offer it, each once (E124)."""
    routing = spec.root.get("routing")
    order = routing.get("order") if isinstance(routing, Map) else None
    seen: set[str] = set()

    def hint(said: str) -> str:
        return did_you_mean(said, [one.name for one in providers.values() if spec.name in one.operations])

    for item in scalars_of(order):
        said = str(item.value)
        if said in seen:
            report.add("E124", item.place, f"{said!r} stands twice in the order of {spec.name!r}", "remove one")
        elif said in providers and spec.name not in providers[said].operations:
            report.add("E124", item.place, f"{said!r} does not offer {spec.name!r}", hint(said))
        elif said not in providers and said not in report.left_out:
            otherwise = "write its file first, or leave it out of the order"
            report.add("E124", item.place, f"there is no provider {said!r}", hint(said) or otherwise)
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
