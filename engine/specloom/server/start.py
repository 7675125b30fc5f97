"""Starts the server: the catalogue from its image if nothing changed, the engine behind it at the first call."""

from __future__ import annotations

import os
import sys

from specloom.core import spec_layers

from .catalogue import OUTPUT_SCHEMAS, Selection, conditions, load_image, make_catalogue, save_image

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from specloom.cache import AnswerCache
    from specloom.runtime import Executor

    from .protocol import Backend, Catalogue


class ServeOptions:
    """How to serve: which tools, on which host, and whether exchanges are replayed or recorded."""

    __slots__ = ("host", "record", "replay", "selection")

    def __init__(
        self, selection: Selection | None = None, *, host: str = "own", replay: str = "", record: str = ""
    ) -> None:
        self.selection = selection or default_selection(os.environ)
        self.host = host
        self.replay = replay
        self.record = record


def default_selection(environ: Mapping[str, str]) -> Selection:
    """What `SPECLOOM_TOOLSETS` names, or the default toolset, listed as `SPECLOOM_OUTPUT_SCHEMAS` says."""
    toolsets = [part.strip() for part in environ.get("SPECLOOM_TOOLSETS", "").split(",") if part.strip()]
    # Read by hand, because the module of the variables would take its time before the first list; what cannot be read
    # is told when the backend is loaded.
    schemas = environ.get("SPECLOOM_OUTPUT_SCHEMAS", "").strip().lower()
    return Selection(toolsets, output_schemas=schemas if schemas in OUTPUT_SCHEMAS else OUTPUT_SCHEMAS[0])


def run(options: ServeOptions) -> int:
    """Serve one client over stdio until it leaves; the exit code."""
    environ = os.environ
    try:
        catalogue = load_catalogue(environ, options.selection, replay=bool(options.replay))
    except SystemExit as stop:
        return int(stop.code or 0)

    def load_backend() -> Backend:
        # There is a catalogue, so the specs have no errors.
        executor = make_executor(environ, replay=options.replay, record=options.record, checked=True)
        from specloom.compiler import served_prompts
        from specloom.specs import load_prompts
        from specloom.storage import local_owner

        from .backend import ExecutorBackend

        read_switch(environ, "SPECLOOM_OUTPUT_SCHEMAS", executor.problems)
        for problem in executor.problems:
            warn(problem)
        prompts = load_prompts(spec_layers(environ))
        shown = served_prompts(executor.model.toolsets.values(), executor.model.tools, catalogue.tool_names, prompts)
        return ExecutorBackend(
            executor,
            owner=local_owner(environ, []),
            prompts={name: prompts[name] for name in shown},
            tools=catalogue.tool_names,
        )

    if options.host == "sdk":
        from .sdk_host import serve_sdk

        return serve_sdk(catalogue, load_backend)
    from .stdio import serve_stdio

    return serve_stdio(catalogue, load_backend, report=_report)


def load_catalogue(environ: Mapping[str, str], selection: Selection, *, replay: bool = False) -> Catalogue:
    """The catalogue from its image, or compiled anew; a replay needs no keys, so all providers count as configured.

    Specs with errors are shown and end the process: nothing is served half-compiled.
    """
    catalogue = None if replay else load_image(environ, selection)
    if catalogue is not None:
        return catalogue
    from specloom.compiler import weave_from
    from specloom.core import count_errors, render
    from specloom.specs import layer_roots, listed_prompt, load_prompts

    model, library, report = weave_from(layer_roots(environ), examples=False)
    if report.errors:
        for one in report.errors:
            print(render(one, library.sources), file=sys.stderr)  # noqa: T201 - the way to the person who starts it
        print(f"specloom: {count_errors(report)}; nothing is served", file=sys.stderr)  # noqa: T201
        raise SystemExit(1)
    try:
        prompts = [listed_prompt(one) for one in load_prompts(spec_layers(environ)).values()]
        catalogue = make_catalogue(model, selection, environ, prompts=prompts, always_configured=replay)
    except ValueError as error:
        print(f"specloom: {error}", file=sys.stderr)  # noqa: T201
        raise SystemExit(2) from None
    if not replay:
        save_image(catalogue, environ, selection, conditions(model))
    return catalogue


def make_executor(
    environ: Mapping[str, str],
    *,
    replay: str = "",
    record: str = "",
    disk_cache: bool = True,
    checked: bool = False,
) -> Executor:
    """The engine over the layers that the environment names, with the guarded transport, the cache and the breakers.

    `checked` says that the specs passed a compile before; see `weave_from`.
    """
    from specloom.compiler import weave_from
    from specloom.core import count_errors
    from specloom.specs import layer_roots

    model, _, report = weave_from(layer_roots(environ), examples=False, checked=checked)
    if report.errors:
        first = report.errors[0]
        raise ValueError(f"{count_errors(report)}, the first at {first.place}: {first.message}; run `specloom check`")
    # What is imported now takes the memory that the trees of the specs have left.
    import asyncio
    import functools
    from pathlib import Path

    from specloom.net import Transport
    from specloom.runtime import Breakers, Executor, RecordingSender, ReplaySender, Sender

    problems: list[str] = []
    allow_private = read_switch(environ, "SPECLOOM_ALLOW_PRIVATE", problems)
    sender: Sender
    if replay:
        sender = ReplaySender(Path(replay))
    else:
        # Readings of pages have bounds of their own, and hosts that hang must not use up what others need.
        sender = Transport(allow_private=allow_private, max_connections=320)
        if record:
            sender = RecordingSender(sender, Path(record))
    threshold = read_switch(environ, "CIRCUIT_FAILURE_THRESHOLD", problems)
    reset = read_switch(environ, "CIRCUIT_RESET_TIMEOUT_SECONDS", problems)
    from specloom.storage import Artifacts, AuditTrail, StateStores, local_owner

    declared = [one.spec for one in model.collections.values()]
    memory = StateStores(environ, declared, local=local_owner(environ, problems), on_disk=not replay)
    audit = None if replay else AuditTrail(environ, warn)
    executor = Executor(
        model,
        environ=environ,
        sender=sender,
        cache=_make_cache(environ, disk=disk_cache and not replay, problems=problems),
        drawers=memory,
        artifacts=Artifacts(memory, model.address_artifact),
        audit=audit,
        breakers=Breakers(threshold=threshold, reset=float(reset)),
        allow_private=allow_private,
        is_live=not replay,
        validate=read_switch(environ, "SPECLOOM_VALIDATE", problems),
        isolate=read_switch(environ, "CACHE_ISOLATION", problems) == "tenant",
        always_configured=bool(replay),
    )
    executor.problems[:0] = problems
    executor.closing.append(memory.aclose)
    if audit is not None:
        executor.closing.append(functools.partial(asyncio.to_thread, audit.close))
    return executor


def _make_cache(environ: Mapping[str, str], *, disk: bool, problems: list[str]) -> AnswerCache | None:
    from pathlib import Path

    from specloom.cache import AnswerCache
    from specloom.core import cache_folder, load_key

    if not read_switch(environ, "SPECLOOM_CACHE", problems):
        return None
    folder = Path(cache_folder(environ))
    key: bytes | None = None
    if disk:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            key = load_key(folder, environ)
        except (ValueError, OSError) as error:
            problems.append(f"answers are kept in memory only: {error}")
    return AnswerCache(disk=folder if key else None, key=key, warn=warn)


def read_switch(environ: Mapping[str, str], name: str, problems: list[str]) -> Any:
    """The value of one of the engine's variables; a text that cannot be read is noted and leaves the default."""
    from specloom.core import VARIABLES, VariableError, read_variable

    try:
        return read_variable(name, environ)
    except VariableError as error:
        default = VARIABLES[name].default
        used = str(default).lower() if isinstance(default, bool) else default
        problems.append(f"{error}. {used} is used")
        return default


def warn(sentence: str) -> None:
    """One line on stderr; never before the first list, so no client takes it for a failed start."""
    print(f"specloom: {sentence}", file=sys.stderr, flush=True)  # noqa: T201


def _report(error: BaseException) -> None:
    if os.environ.get("SPECLOOM_LOG", "").strip().lower() == "debug":
        import traceback

        traceback.print_exception(error)
    else:
        warn(f"a defect: {type(error).__name__}; set SPECLOOM_LOG=debug for more")
