"""Starts the server: the catalogue from its image if nothing changed, the engine behind it at the first call."""

from __future__ import annotations

import os
import sys

from specloom.core import find_other_owner, own_words, project_folder, spec_layers

from .catalogue import (
    CATALOGUES,
    OUTPUT_SCHEMAS,
    OneLook,
    Selection,
    conditions,
    load_image,
    make_catalogue,
    name_server,
    prepare_image,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from specloom.cache import AnswerCache
    from specloom.core import Backplane, Diagnostic, SharedCache
    from specloom.model import ListedModel, Model
    from specloom.runtime import Executor, Presenter, Sender
    from specloom.specs import Prompt

    from .backend import Backends
    from .protocol import Backend, Catalogue
    from .stdio import Replace


LISTING = ("SPECLOOM_OUTPUT_SCHEMAS", "SPECLOOM_CATALOGUE")
"""The variables that say how tools are listed."""
TRACE_PROVIDERS = "SPECLOOM_TRACE_PROVIDERS"
_LONGEST_DRAIN = 3600.0

MOST_NAMED = 5
"""How many files that are not served a client is told by name."""
_answered: set[tuple[str, bool]] = set()
"""The Redis servers that have answered this process, or the one that it was forked from, and whether as the state's."""


class ServeOptions:
    """How to serve: which tools, on which host, whether exchanges are replayed or recorded, whether specs may change.

    Where the server `reloads`, a change of the specs is served without a restart, and clients are told of new lists.
    """

    __slots__ = ("host", "record", "reloads", "replay", "selection")

    def __init__(
        self,
        selection: Selection | None = None,
        *,
        host: str = "own",
        replay: str = "",
        record: str = "",
        reloads: bool = False,
    ) -> None:
        self.selection = selection or default_selection(os.environ)
        self.host = host
        self.replay = replay
        self.record = record
        self.reloads = reloads


def default_selection(environ: Mapping[str, str], *, catalogue: str | None = None, shared: bool = False) -> Selection:
    """What `SPECLOOM_TOOLSETS` names, or the default toolset, listed as two more variables say, or as `catalogue`.

    Of a project that is every toolset.

    `shared` is for a server of several tenants: what keeps things without an owner is left out, as `Selection` says.
    """
    toolsets = [part.strip() for part in environ.get("SPECLOOM_TOOLSETS", "").split(",") if part.strip()]
    if not toolsets and project_folder(environ):
        toolsets = ["all"]
    # Read by hand, because the module of the variables would take its time before the first list; what cannot be read
    # is told when the backend is loaded.
    schemas, listing = (environ.get(name, "").strip().lower() for name in LISTING)
    listing = catalogue or listing
    return Selection(
        toolsets,
        output_schemas=schemas if schemas in OUTPUT_SCHEMAS else "",
        catalogue=listing if listing in CATALOGUES else CATALOGUES[0],
        shared=shared,
    )


def run(options: ServeOptions) -> int:
    """Serve one client over stdio until it leaves; the exit code."""
    environ = os.environ
    later: list[Callable[[], object]] = []
    try:
        catalogue = load_catalogue(environ, options.selection, replay=bool(options.replay), defer=later.append)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        return _serve(options, catalogue, environ, later)
    finally:
        _do(later)


def _do(later: list[Callable[[], object]]) -> None:
    """Do what could wait, each once."""
    while later:
        later.pop()()


def _serve(
    options: ServeOptions, catalogue: Catalogue, environ: Mapping[str, str], later: list[Callable[[], object]]
) -> int:
    """Serve until the client leaves; what is to be done `later` is done when it has its list of tools."""

    def load_backend() -> Backend:
        _do(later)
        return _make_local_backend(options, catalogue, environ)

    watch: Callable[[Replace], object] | None = None
    if options.reloads:
        from .reloader import Reloader

        reloader = Reloader(catalogue, environ, lambda: _compile_again(options, environ), report=report, warn=warn)
        watch = reloader.start
        # Before the first word with a client, whose author may break a file right behind it.
        load_backend = _load_early(load_backend)
    if options.host == "sdk":
        from .sdk_host import serve_sdk

        return serve_sdk(catalogue, load_backend)
    from .stdio import GRACE, serve_stdio

    try:
        # By hand, as in `default_selection`.
        grace = min(max(float(environ.get("SPECLOOM_DRAIN_SECONDS") or GRACE), 0.0), _LONGEST_DRAIN)
    except ValueError:
        grace = GRACE
    return serve_stdio(catalogue, load_backend, grace=grace, report=report, warn=warn, watch=watch)


def _load_early(load_backend: Callable[[], Backend]) -> Callable[[], Backend]:
    """What gives the backend that is loaded now; where that fails, or once it was given, what loads one."""
    from specloom.core import keep

    try:
        loaded = [keep(load_backend)]
    except Exception as error:  # noqa: BLE001 - whoever calls is told, and a change may mend it
        report(error)
        return load_backend
    return lambda: loaded.pop() if loaded else load_backend()


def _compile_again(options: ServeOptions, environ: Mapping[str, str]) -> tuple[Catalogue, Callable[[], Backend]] | None:
    """What the specs are now; None, with a word on stderr, where they have errors."""
    from .served import load_served

    served = load_served(environ)
    errors = [*served.errors, *served.lost]
    if errors:
        from specloom.core import count_errors, render

        for one in errors:
            print(render(one, served.sources), file=sys.stderr)  # noqa: T201 - the way to the person who wrote it
        warn(f"{count_errors(errors)}; what was compiled last is served until this is mended")
        return None
    try:
        catalogue = load_catalogue(environ, options.selection, replay=bool(options.replay))
    except SystemExit:
        return None  # why was told
    return catalogue, lambda: _make_local_backend(options, catalogue, environ)


def _make_local_backend(options: ServeOptions, catalogue: Catalogue, environ: Mapping[str, str]) -> Backend:
    """What answers whoever has started the process."""
    from specloom.storage import local_owner

    backends = make_backends(environ, catalogue, replay=options.replay, record=options.record)
    owner = local_owner(environ, [])
    return _trace(_count_calls(backends.make(owner), owner, environ))


def _trace(backend: Backend) -> Backend:
    """The backend with a span of each call, where an operator traces."""
    from specloom.core import find_tracer

    tracer = find_tracer()
    if tracer is None:
        return backend
    from .traced_backend import TracedBackend

    return TracedBackend(backend, tracer)


def _count_calls(backend: Backend, owner: str, environ: Mapping[str, str]) -> Backend:
    """The backend with the quota of a day that is set, if one is."""
    if not environ.get("MAX_CALLS_PER_DAY", "").strip():
        return backend
    problems: list[str] = []
    count = read_switch(environ, "MAX_CALLS_PER_DAY", problems)
    for problem in problems:
        warn(problem)
    if not count:
        return backend
    from .daily_quota import DailyQuota

    return DailyQuota(backend, count, owner, open_run_folder(environ))


def make_backends(
    environ: Mapping[str, str],
    catalogue: Catalogue,
    *,
    replay: str = "",
    record: str = "",
    shared: bool = False,
    may_share: bool = False,
    backplane: Backplane | None = None,
) -> Backends:
    """The engine with a backend for each owner; what is wrong with the settings is told on stderr.

    `shared` and `may_share` are as for `make_executor`; with a `backplane` the pace of providers is kept with all who
    share it.
    """
    executor = make_executor(
        environ, replay=replay, record=record, shared=shared, may_share=may_share, backplane=backplane
    )
    import functools
    import json

    from specloom.model import LazyMapping

    from .backend import Backends

    for name in (*LISTING, "SPECLOOM_DRAIN_SECONDS"):
        read_switch(environ, name, executor.problems)
    presenter = make_presenter(executor, environ)
    for problem in executor.problems:
        warn(problem)
    shown = tuple(str(one["name"]) for one in json.loads(catalogue.prompts or b"[]"))

    @functools.cache
    def read_prompts() -> Mapping[str, Prompt]:
        from specloom.specs import load_prompts

        return load_prompts(spec_layers(environ))

    prompts = LazyMapping(shown, lambda name: read_prompts()[name])
    return Backends(executor, prompts=prompts, tools=catalogue.tool_names, presenter=presenter)


def check_shared(environ: Mapping[str, str], *, state: bool = False) -> None:
    """Return once what machines share answers, or where nothing is shared; else say why and end the process.

    With `state` it is the server that keeps what is remembered. Once one has answered it is not waited for again, also
    by workers that take the place of others: it may be away by then, and they do without.
    """
    if not environ.get("SPECLOOM_STATE" if state else "REDIS_URL", "").strip():
        return
    from specloom.core import BackplaneError, VariableError
    from specloom.storage import check_redis, read_redis_settings, read_state_settings

    try:
        settings = read_state_settings(environ) if state else read_redis_settings(environ)
        if settings is not None and (settings.url, state) not in _answered:
            check_redis(settings, warn, keeps_state=state)
            _answered.add((settings.url, state))
    except (VariableError, BackplaneError) as error:
        warn(str(error))
        raise SystemExit(2) from None


def open_run_folder(environ: Mapping[str, str]) -> Backplane:
    """What processes share that serve the same callers: limits, paces, leases, messages.

    By the Redis that REDIS_URL names, else in files, among those of this machine that serve from the same state.
    """
    if environ.get("REDIS_URL", "").strip():
        check_shared(environ)
        from specloom.storage import read_redis_settings, redis_backplane

        settings = read_redis_settings(environ)
        assert settings is not None
        return redis_backplane(settings, warn)
    from pathlib import Path

    from specloom.core import make_own_folder, state_folder
    from specloom.storage import RUN_FOLDER, open_backplane

    folder = state_folder(environ)
    try:
        make_own_folder(folder, environ)
    except OSError as error:
        warn(f"{folder} cannot be made: {error.strerror}")
    return open_backplane(Path(folder) / RUN_FOLDER, warn)


def load_catalogue(
    environ: Mapping[str, str],
    selection: Selection,
    *,
    replay: bool = False,
    defer: Callable[[Callable[[], object]], object] = lambda act: act(),
) -> Catalogue:
    """The catalogue from its image, or compiled anew; a replay needs no keys, so all providers count as configured.

    What keeps a new one for the next start is handed to `defer`, which may do it later.

    Shipped specs with errors are shown and end the process. Of folders that a user adds, files with errors are left out
    with what names them, and the client is told. A server of several tenants begins with nothing while what it shares
    with other machines does not answer.
    """
    if selection.shared and not replay:
        check_shared(environ)
    if sentence := find_other_owner(environ):
        print(own_words(f"specloom: {sentence}"), file=sys.stderr)  # noqa: T201
        raise SystemExit(2)
    with OneLook():
        return _load_catalogue(environ, selection, replay=replay, defer=defer)


def _load_catalogue(
    environ: Mapping[str, str],
    selection: Selection,
    *,
    replay: bool,
    defer: Callable[[Callable[[], object]], object],
) -> Catalogue:
    catalogue = None if replay else load_image(environ, selection)
    if catalogue is not None:
        return catalogue
    from .served import open_listing

    try:
        name_server(environ)  # a project without a name is no project, whatever its specs are
        model: Model | ListedModel | None = None if replay else open_listing(environ)
        left_out = ""
        if model is None:
            model, left_out = _load_whole(environ)
        prompts = list_prompts(model, environ)
        catalogue = make_catalogue(
            model, selection, environ, prompts=prompts, always_configured=replay, left_out=left_out
        )
    except ValueError as error:
        from specloom.core import to_plain

        print(own_words(f"specloom: {to_plain(str(error))}"), file=sys.stderr)  # noqa: T201
        raise SystemExit(2) from None
    if not replay:
        defer(prepare_image(catalogue, environ, selection, conditions(model)))
    return catalogue


def _load_whole(environ: Mapping[str, str]) -> tuple[Model, str]:
    """The model, and a sentence on what is left out of it; shipped specs with errors are shown and end the process."""
    from .served import load_served

    served = load_served(environ)
    if served.errors:
        from specloom.core import count_errors, render

        for one in served.errors:
            print(render(one, served.sources), file=sys.stderr)  # noqa: T201 - the way to the person who starts it
        print(own_words(f"specloom: {count_errors(served.errors)}; nothing is served"), file=sys.stderr)  # noqa: T201
        raise SystemExit(1)
    return served.model, tell_lost(served.lost)


def list_prompts(model: Model | ListedModel, environ: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
    """The entries of `prompts/list`: those of the image, else of the files."""
    if model.heads.prompts is not None:
        return model.heads.prompts
    from specloom.specs import listed_prompt, load_prompts

    return [listed_prompt(one) for one in load_prompts(spec_layers(environ)).values()]


def tell_lost(lost: Sequence[Diagnostic]) -> str:
    """One sentence on the files of a user's folders that are not served; "" if all are."""
    names = sorted({_shown_name(one.place.file) for one in lost})
    if not names:
        return ""
    listed = ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
    return own_words(
        f"Tell the user: {len(names)} of their own spec files {'has' if len(names) == 1 else 'have'} errors and "
        f"{'is' if len(names) == 1 else 'are'} not served ({listed}); `specloom check` shows what to mend."
    )


def _shown_name(file: str) -> str:
    """The name of a file as a sentence may hold it: what clients are told is read by models."""
    return "".join(sign for sign in os.path.split(file)[1][:40] if sign.isalnum() or sign in "._-")


def make_executor(
    environ: Mapping[str, str],
    *,
    replay: str = "",
    record: str = "",
    disk_cache: bool = True,
    shared: bool = False,
    may_share: bool = False,
    backplane: Backplane | None = None,
    wrap: Callable[[Sender], Sender] = lambda sender: sender,
) -> Executor:
    """The engine over the layers that the environment names, with the guarded transport, the cache and the breakers.

    `shared` is for a server of several tenants, where what lies on this machine without an owner is nobody's: papers
    that were stored are read where `SPECLOOM_PAPERS_SHARED` says that all tenants share them. One that `may_share`
    remembers where `SPECLOOM_STATE` says, and any other in the folder of the state. The `backplane` is what processes
    share, such as the pace of providers; it is closed with the executor. `wrap` puts something around what sends.
    """
    from .served import load_served

    served = load_served(environ)
    model, lost = served.model, served.lost
    if served.errors:
        from specloom.core import count_errors

        first, count = served.errors[0], count_errors(served.errors)
        raise ValueError(f"{count}, the first at {first.place}: {first.message}; run `specloom check`")
    # What is imported now takes the memory that the trees of the specs have left.
    import asyncio
    import functools
    from pathlib import Path

    from specloom.net import Transport
    from specloom.runtime import Breakers, Executor, RecordingSender, ReplaySender

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
    from specloom.core import find_tracer

    tracer = find_tracer()
    if tracer is not None:
        from specloom.runtime import TracedSender

        sender = TracedSender(sender, tracer, _list_told(environ, model, problems))
    threshold = read_switch(environ, "CIRCUIT_FAILURE_THRESHOLD", problems)
    reset = read_switch(environ, "CIRCUIT_RESET_TIMEOUT_SECONDS", problems)
    from specloom.storage import Artifacts, AuditTrail, StateStores, local_owner

    declared = [one.spec for one in model.collections.values()]
    local = local_owner(environ, problems)
    memory = StateStores(environ, declared, local=local, on_disk=not replay, may_share=may_share, warn=warn)
    if not may_share and read_switch(environ, "SPECLOOM_STATE", problems) == "redis":
        problems.append("SPECLOOM_STATE is for servers over HTTP; this one remembers in the folder of the state")
    audit = None if replay else AuditTrail(environ, warn)
    executor = Executor(
        model,
        environ=environ,
        sender=wrap(sender),
        cache=_make_cache(
            environ,
            disk=disk_cache and not replay,
            problems=problems,
            # Processes of one machine share the directory.
            shared=backplane.cache if backplane is not None and backplane.link is not None else None,
        ),
        drawers=memory,
        artifacts=Artifacts(memory, model.address_artifact),
        audit=audit,
        breakers=Breakers(threshold=threshold, reset=float(reset)),
        allow_private=allow_private,
        is_live=not replay,
        is_personal=not shared or read_switch(environ, "SPECLOOM_PAPERS_SHARED", problems),
        is_alone=not shared,
        validate=read_switch(environ, "SPECLOOM_VALIDATE", problems),
        isolate=read_switch(environ, "CACHE_ISOLATION", problems) == "tenant",
        always_configured=bool(replay),
        most_tokens=read_switch(environ, "SPECLOOM_MAX_TOKENS", problems),
        backplane=backplane,
        by_tenant=shared,
    )
    if lost:
        from specloom.core import render

        problems.insert(0, tell_lost(lost).removeprefix("Tell the user: "))
        for one in lost:
            print(render(one, served.sources), file=sys.stderr)  # noqa: T201 - the way to the person who wrote it
    executor.problems[:0] = problems
    executor.closing.append(memory.aclose)
    if tracer is not None:
        executor.closing.append(functools.partial(asyncio.to_thread, tracer.flush))
    if audit is not None:
        executor.closing.append(functools.partial(asyncio.to_thread, audit.close))
    return executor


def _list_told(environ: Mapping[str, str], model: Model, problems: list[str]) -> list[str]:
    """The providers that are told of which trace a request is; a name that is none of theirs is a problem."""
    named = [part.strip() for part in environ.get(TRACE_PROVIDERS, "").split(",") if part.strip()]
    strange = [name for name in named if name not in model.providers]
    if strange:
        problems.append(f"{TRACE_PROVIDERS} names {', '.join(strange)}, and there is no such provider")
    return [name for name in named if name in model.providers]


def make_presenter(executor: Executor, environ: Mapping[str, str]) -> Presenter:
    """What presents the answers of an executor, as the environment wants them; what cannot be read is a problem."""
    from specloom import runtime

    as_json = read_switch(environ, "SPECLOOM_TEXT", executor.problems) == "json"
    return runtime.Presenter(executor, as_json=as_json)


def _make_cache(
    environ: Mapping[str, str], *, disk: bool, problems: list[str], shared: SharedCache | None = None
) -> AnswerCache | None:
    from pathlib import Path

    from specloom.cache import ERASURES, AnswerCache
    from specloom.core import cache_folder, load_key, make_own_folder, state_folder

    if not read_switch(environ, "SPECLOOM_CACHE", problems):
        return None
    folder = Path(cache_folder(environ))
    key: bytes | None = None
    erasures: Path | None = None
    if disk:
        try:
            make_own_folder(state_folder(environ), environ)
            erasures = Path(state_folder(environ)) / ERASURES
        except OSError as error:
            problems.append(f"an erasure by another process is noticed at the next start only: {error}")
        try:
            make_own_folder(str(folder), environ)
            key = load_key(folder, environ)
        except (ValueError, OSError) as error:
            problems.append(f"answers are kept in memory only: {error}")
    return AnswerCache(disk=folder if key else None, key=key, warn=warn, erasures=erasures, shared=shared)


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
    from specloom.core import to_plain

    print(own_words(f"specloom: {to_plain(sentence)}"), file=sys.stderr, flush=True)  # noqa: T201


def report(error: BaseException) -> None:
    """Tell of a defect on stderr; the whole of it where `SPECLOOM_LOG=debug`."""
    if os.environ.get("SPECLOOM_LOG", "").strip().lower() == "debug":
        import traceback

        traceback.print_exception(error)
    else:
        warn(f"a defect: {type(error).__name__}; set SPECLOOM_LOG=debug for more")
