"""Starts the server: the catalogue from its image if nothing changed, the engine behind it at the first call."""

from __future__ import annotations

import os
import sys

from .image import Selection, load_image, make_catalogue, save_image

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .cache import AnswerCache
    from .executor import Executor
    from .serve.contract import Backend, Catalogue


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
    """What `SPECLOOM_TOOLSETS` names, or the default toolset."""
    return Selection([part.strip() for part in environ.get("SPECLOOM_TOOLSETS", "").split(",") if part.strip()])


def run(options: ServeOptions) -> int:
    """Serve one client over stdio until it leaves; the exit code."""
    environ = os.environ
    try:
        catalogue = load_catalogue(environ, options.selection)
    except SystemExit as stop:
        return int(stop.code or 0)

    def load_backend() -> Backend:
        from .serve.backend import ExecutorBackend

        executor = make_executor(environ, replay=options.replay, record=options.record)
        for problem in executor.problems:
            warn(problem)
        return ExecutorBackend(executor)

    if options.host == "sdk":
        from .serve.sdk import serve_sdk

        return serve_sdk(catalogue, load_backend)
    from .serve.stdio import serve_stdio

    return serve_stdio(catalogue, load_backend, report=_report)


def load_catalogue(environ: Mapping[str, str], selection: Selection) -> Catalogue:
    """The catalogue from its image, or compiled anew.

    Specs with errors are shown and end the process: nothing is served half-compiled.
    """
    catalogue = load_image(environ, selection)
    if catalogue is not None:
        return catalogue
    from .diagnostics import render
    from .names import layer_roots
    from .weave import weave_from

    model, library, report = weave_from(layer_roots(environ), examples=False)
    if report.errors:
        for one in report.errors:
            print(render(one, library.sources), file=sys.stderr)  # noqa: T201 - the way to the person who starts it
        print(f"specloom: {len(report.errors)} errors in the specs; nothing is served", file=sys.stderr)  # noqa: T201
        raise SystemExit(1)
    try:
        catalogue = make_catalogue(model, selection)
    except ValueError as error:
        print(f"specloom: {error}", file=sys.stderr)  # noqa: T201
        raise SystemExit(2) from None
    save_image(catalogue, environ, selection)
    return catalogue


def make_executor(
    environ: Mapping[str, str], *, replay: str = "", record: str = "", disk_cache: bool = True
) -> Executor:
    """The engine over the layers that the environment names, with the guarded transport, the cache and the breakers."""
    from pathlib import Path

    from .breaker import Breakers
    from .executor import Executor
    from .names import layer_roots
    from .recording import RecordingSender, ReplaySender, Sender
    from .transport import Transport
    from .weave import weave_from

    model, _, report = weave_from(layer_roots(environ), examples=False)
    if report.errors:
        first, count = report.errors[0], len(report.errors)
        where = f"the first at {first.place}: {first.message}"
        raise ValueError(f"{count} errors in the specs, {where}; run `specloom check`")
    sender: Sender
    if replay:
        sender = ReplaySender(Path(replay))
    else:
        sender = Transport(allow_private=flag(environ, "SPECLOOM_ALLOW_PRIVATE"))
        if record:
            sender = RecordingSender(sender, Path(record))
    problems: list[str] = []
    threshold = number(environ, "CIRCUIT_FAILURE_THRESHOLD", 5, problems)
    reset = number(environ, "CIRCUIT_RESET_TIMEOUT_SECONDS", 60, problems)
    executor = Executor(
        model,
        environ=environ,
        sender=sender,
        cache=_make_cache(environ, disk=disk_cache and not replay, problems=problems),
        breakers=Breakers(threshold=threshold, reset=float(reset)),
        validate=flag(environ, "SPECLOOM_VALIDATE"),
        isolate=environ.get("CACHE_ISOLATION", "").strip().lower() == "tenant",
        always_configured=bool(replay),
    )
    executor.problems[:0] = problems
    return executor


def _make_cache(environ: Mapping[str, str], *, disk: bool, problems: list[str]) -> AnswerCache | None:
    from pathlib import Path

    from .cache import AnswerCache
    from .folders import cache_folder
    from .vault import load_key

    if environ.get("SPECLOOM_CACHE", "").strip().lower() in {"off", "0", "false", "no"}:
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


def flag(environ: Mapping[str, str], name: str) -> bool:
    """Whether a switch of the engine is on."""
    return environ.get(name, "").strip().lower() in {"1", "true", "yes", "on"}


def number(environ: Mapping[str, str], name: str, otherwise: int, problems: list[str]) -> int:
    """A whole number above zero of the engine; anything else is noted and leaves the default."""
    text = environ.get(name, "").strip()
    if not text:
        return otherwise
    if text.isdecimal() and len(text) < 20 and 0 < int(text) < 1_000_000:
        return int(text)
    problems.append(f"{name} is {text!r}; write a whole number above zero. {otherwise} is used")
    return otherwise


def warn(sentence: str) -> None:
    """One line on stderr; never before the first list, so no client takes it for a failed start."""
    print(f"specloom: {sentence}", file=sys.stderr, flush=True)  # noqa: T201


def _report(error: BaseException) -> None:
    if os.environ.get("SPECLOOM_LOG", "").strip().lower() == "debug":
        import traceback

        traceback.print_exception(error)
    else:
        warn(f"a defect: {type(error).__name__}; set SPECLOOM_LOG=debug for more")
