"""What the page asks for: the tools, what a call would do, a call with all that is known of it, providers, and
what works here."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from specloom.authoring import attempt, example_of, to_yaml
from specloom.authoring.explain import explain
from specloom.authoring.preview import ExampleChoice, preview_provider
from specloom.core import Fault, did_you_mean, parse_json, secrets_in
from specloom.runtime import Count, missing_settings, read_settings, show_answer, view_document
from specloom.server import Selection, make_catalogue, make_presenter

from .exchanges import ExchangeRecorder, mask_texts, record_exchanges
from .provider_files import list_provider_files, read_provider_file, save_provider_file

if TYPE_CHECKING:
    from specloom.runtime import Done, Executor, Sender

MOST_VIEWS = 20
"""Documents of views that are kept, the newest."""
MOST_BODY = 500_000
"""Bytes of a reply that may be edited."""
MOST_STEPS = 50
"""Sentences on a running call that are told, the newest."""
STEPS_EVERY = 20.0
"""Seconds for which a question about a running call waits for news, so that a page that is gone is noticed."""
MOST_DAYS = 7
"""Days of which is told what was asked."""

Wrap = Callable[["Sender"], "Sender"]


class PageCall:
    """A call that runs: what it is about to do, and the task that is ended to stop it."""

    task: asyncio.Task[Mapping[str, Any]]

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.told = 0
        """How many steps there were, of which the newest are kept."""
        self.stopped = False
        self._news = asyncio.Event()

    def tell(self, _: float, __: float | None, says: str | None) -> None:
        """Take a step; what runs says it."""
        if says:
            self.told += 1
            self.steps = [*self.steps, says][-MOST_STEPS:]
            self._news.set()

    def end(self) -> None:
        """Let go of who waits for news."""
        self._news.set()

    async def read_after(self, number: int) -> Mapping[str, Any]:
        """The steps after the first `number`, once there are any or the call has ended."""
        if self.told <= number and not self.task.done():
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), STEPS_EVERY)
        new = min(max(0, self.told - number), len(self.steps))
        return {"running": not self.task.done(), "told": self.told, "steps": self.steps[len(self.steps) - new :]}


class Actions:
    """Answers the page, from an executor that is made anew when a spec was saved."""

    def __init__(
        self,
        make: Callable[[Wrap], Executor],
        environ: Mapping[str, str],
        *,
        owner: str = "",
        is_replay: bool = False,
        diagnose: Callable[[bool], Mapping[str, Any]] = lambda _: {},
        read_days: Callable[[int], Sequence[Mapping[str, Any]] | None] = lambda _: None,
    ) -> None:
        """`make` gives an executor with something around its sender, and `owner` is who calls.

        `diagnose` says what works here, with connections if they are to be tried, and `read_days` what was asked in so
        many days; both may take a while.
        """
        self._diagnose = diagnose
        self._read_days = read_days
        self._make = make
        self._environ = environ
        self._owner = owner
        self._is_replay = is_replay
        self._views: OrderedDict[str, str] = OrderedDict()
        self._runs: dict[str, PageCall] = {}
        self._turn = asyncio.Lock()
        self._executors: list[Executor] = []
        self._names: dict[str, Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]] = {
            "api/tools": self._list_tools,
            "api/explain": self._explain,
            "api/call": self._run,
            "api/progress": self._tell_progress,
            "api/stop": self._stop,
            "api/providers": self._list_providers,
            "api/provider": self._read_provider,
            "api/preview": self._preview,
            "api/try": self._try,
            "api/save": self._save,
            "api/operator": self._tell_operator,
        }
        self._load()

    def _load(self) -> None:
        """Compile what is there now. Calls that run go on with what they began with."""
        recorders: list[ExchangeRecorder] = []

        def wrap(sender: Sender) -> Sender:
            recorders.append(ExchangeRecorder(sender))
            return recorders[-1]

        executor = self._make(wrap)
        settings = executor.settings
        for recorder in recorders:
            recorder.find_secrets = lambda provider: secrets_in(settings.get(provider, {}))
        self._executor = executor
        self._presenter = make_presenter(executor, self._environ)
        self._executors.append(executor)

    @property
    def problems(self) -> list[str]:
        """What is wrong with settings, a sentence each."""
        return list(self._executor.problems)

    async def aclose(self) -> None:
        """Let go of what is open."""
        for executor in self._executors:
            await executor.aclose()

    async def act(self, name: str, given: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """What the page gets; a fault as data, None where nothing has this name."""
        if name not in self._names:
            return None
        try:
            return await self._names[name](given)
        except Fault as fault:
            return {"fault": _describe(fault)}

    def find_view(self, identifier: str) -> str | None:
        """The document of a view that an answer named, while it is kept."""
        return self._views.get(identifier)

    async def _list_tools(self, _: Mapping[str, Any]) -> Mapping[str, Any]:
        model = self._executor.model
        selection = Selection(["all"], output_schemas="none")
        catalogue = make_catalogue(model, selection, self._environ, always_configured=self._is_replay)
        tools = json.loads(catalogue.tools)
        for tool in tools:
            tool["toolsets"] = list(model.heads.tools[tool["name"]].toolsets)
        return {"tools": tools, "problems": list(self._executor.problems), "replay": self._is_replay}

    async def _explain(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a call would ask, in the words of `specloom explain`; nothing is sent."""
        explanation = explain(self._executor, *_read_call(given))
        held = [one for prospect in explanation.asked for one in prospect.secrets]
        masked: dict[str, Any] = mask_texts(explanation.to_json(), held)
        return masked

    async def _run(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """A call that can be followed and stopped by the name that the page gave it as `run`."""
        name, identifier = _read_call(given)[0], given.get("run")
        if not isinstance(identifier, str) or not identifier:
            return await self._call(given, None)
        if identifier in self._runs:
            raise Fault("validation", "a call of this name runs; give another one")
        run = self._runs[identifier] = PageCall()
        task = run.task = asyncio.create_task(self._call(given, run))
        try:
            done: Mapping[str, Any] = await task
        except asyncio.CancelledError:
            if not run.stopped:
                raise
            return {"stopped": f"{name} was stopped; what it had asked may still count with whom it asked."}
        else:
            return done
        finally:
            del self._runs[identifier]
            run.end()

    async def _tell_progress(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """The steps of a running call after the first so many, as soon as there are any; that it is over, else."""
        run, after = self._runs.get(_read_text(given, "run")), given.get("after", 0)
        if run is None or isinstance(after, bool) or not isinstance(after, int) or after < 0:
            return {"running": False, "told": 0, "steps": []}
        return await run.read_after(after)

    async def _stop(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """End a running call, and what it waits for with it."""
        run = self._runs.get(_read_text(given, "run"))
        if run is not None:
            run.stopped = True
            run.task.cancel()
        return {"stopped": run is not None}

    async def _call(self, given: Mapping[str, Any], run: PageCall | None) -> Mapping[str, Any]:
        name, raw = _read_call(given)
        began = time.perf_counter()
        told: dict[str, Any] = {}
        executor, presenter = self._executor, self._presenter
        if given.get("anew") is True and executor.cache is not None:
            executor.cache.clear()  # what this page has asked, and nobody else
        with record_exchanges() as exchanges:
            try:
                done = await executor.call(name, raw, owner=self._owner, progress=run.tell if run else None)
                presented = await presenter.present(name, done, self._owner)
                told = {"text": presented.text, "answer": json.loads(presented.body), "meta": done.meta}
                if not done.fault and done.linked is None and done.arguments is not None:
                    told["view"] = self._keep_view(executor, name, done)
            except Fault as fault:
                told = {"fault": _describe(fault)}
        milliseconds = round((time.perf_counter() - began) * 1000)
        return {**told, "milliseconds": milliseconds, "exchanges": exchanges}

    def _keep_view(self, executor: Executor, name: str, done: Done) -> str:
        """Where the view of an answer is read; "" where its tool has none."""
        assert done.arguments is not None
        tool, model = executor.tool(name), executor.model
        filled = show_answer(tool, model, done.arguments, done.answer) if tool.view is not None else None
        if filled is None:
            return ""
        identifier = secrets.token_urlsafe(8)
        self._views[identifier] = view_document(model.views[filled["template"]], filled)
        if len(self._views) > MOST_VIEWS:
            self._views.popitem(last=False)
        return identifier

    # --- Providers while they are written -----------------------------------------------------------------------------

    async def _list_providers(self, _: Mapping[str, Any]) -> Mapping[str, Any]:
        files = await asyncio.to_thread(list_provider_files, self._environ)
        return {"providers": [{"name": name, "own": is_own} for name, (_, is_own) in files.items()]}

    async def _read_provider(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        file = read_provider_file(self._environ, _read_text(given, "name"))
        return {"name": file.name, "text": file.text, "digest": file.digest, "target": file.target}

    async def _preview(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """The verdict on a text, and what one of its examples does, also with another reply."""
        file = read_provider_file(self._environ, _read_text(given, "name"))
        text, body = _read_text(given, "text"), given.get("body")
        numbers = [value if isinstance(value := given.get(key, 0), int) else 0 for key in ("example", "at")]
        step, body = str(given.get("step") or ""), body if isinstance(body, str) else None
        choice = ExampleChoice(numbers[0], step, numbers[1], body)
        # One at a time: a compile takes the processor, and only the newest text matters.
        async with self._turn:
            preview = await asyncio.to_thread(preview_provider, file.shown, text, self._executor.model, choice)
        return preview.to_json()

    async def _try(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run the operation of an example once, live, as a text says it: what was exchanged, and it as an example."""
        file, arguments = read_provider_file(self._environ, _read_text(given, "name")), given.get("arguments")
        text, number = _read_text(given, "text"), given.get("example")
        async with self._turn:
            preview = await asyncio.to_thread(preview_provider, file.shown, text, self._executor.model, ExampleChoice())
        provider = preview.provider
        if provider is None or not isinstance(number, int) or not 0 <= number < len(preview.examples):
            raise Fault("validation", "mend the file first: an operation is tried that compiles and has an example")
        operation = provider.operations[preview.examples[number].stated["operation"]]
        if not isinstance(arguments, dict):
            raise Fault("validation", "the arguments are an object of JSON")
        for name in arguments:
            if name not in operation.input:
                hint = did_you_mean(name, operation.input)
                raise Fault("validation", f"{operation.id} takes no argument {name!r}; {hint}".rstrip("; "))
        settings, problems = read_settings(provider.settings, self._environ)
        missing = [] if self._is_replay else missing_settings(provider, settings)
        if problems or missing:
            raise Fault(
                "config", problems[0] if problems else f"{provider.name} needs {' and '.join(missing)} to be set"
            )
        executor = self._executor
        with record_exchanges() as exchanges:
            done = await attempt(executor, provider, operation, arguments, executor.sender, settings=settings)
        bodies = [
            {"step": one.request.step, "body": _show_body(one.response.body)}
            for one in done.exchanges
            if one.response is not None and len(one.response.body) <= MOST_BODY
        ]
        told: dict[str, Any] = {"exchanges": exchanges, "bodies": bodies}
        if bodies:
            told["yaml"] = to_yaml([example_of(done)])
        return {**told, "fault": _describe(done.fault)} if done.fault is not None else told

    async def _save(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Write a text without errors into the own layer, and answer calls with it from now on."""
        name, text = _read_text(given, "name"), _read_text(given, "text")
        file = read_provider_file(self._environ, name)
        async with self._turn:
            preview = await asyncio.to_thread(preview_provider, file.shown, text, self._executor.model, ExampleChoice())
            if preview.report.errors:
                first = preview.report.errors[0]
                raise Fault("validation", f"it has errors, the first in line {first.place.line}: {first.message}")
            path = save_provider_file(self._environ, name, text, _read_text(given, "digest"))
            try:
                await asyncio.to_thread(self._load)
            except ValueError as error:
                raise Fault("config", f"{path} is saved, and the specs do not compile with it: {error}") from None
        saved = read_provider_file(self._environ, name)
        return {"saved": str(path), "digest": saved.digest, "target": saved.target, "problems": self.problems}

    # --- What an operator looks at ------------------------------------------------------------------------------------

    async def _tell_operator(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """What works here, which variables are set and never to what, and what was asked; by this page, and by day."""
        diagnosis = await asyncio.to_thread(self._diagnose, given.get("reach") is True)
        days = await asyncio.to_thread(self._read_days, MOST_DAYS)
        return {
            "diagnosis": diagnosis,
            "providers": self._describe_providers(),
            "tools": _add_up([one.tool_counts for one in self._executors]),
            "operations": _add_up([one.upstreams.counts for one in self._executors]),
            "days": days,
        }

    def _describe_providers(self) -> list[dict[str, Any]]:
        executor, environ = self._executor, self._environ
        return [
            {
                "name": one.name,
                "title": one.title,
                "offers": list(one.offers),
                "configured": one.name in executor.configured,
                "settings": [
                    {
                        "name": setting.name,
                        "secret": setting.secret,
                        "required": setting.required,
                        "set": any(environ.get(name, "").strip() for name in (setting.name, setting.stand_in) if name),
                    }
                    for setting in one.settings.values()
                ],
            }
            for one in executor.model.heads.providers.values()
        ]


def _add_up(counted: Sequence[Mapping[str, Count]]) -> list[dict[str, Any]]:
    """How often each was called, failed and was answered from what is kept, over all executors; who never was is left
    out.
    """
    sums: dict[str, Count] = {}
    for name, count in (item for counts in counted for item in counts.items()):
        sums.setdefault(name, Count()).merge(count)
    return [
        {
            "name": name,
            "calls": one.calls,
            "faults": one.faults,
            "kept": one.hits,
            "milliseconds": round(one.mean * 1000),
        }
        for name, one in sorted(sums.items())
        if one.calls
    ]


def _read_call(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    name, arguments = given.get("tool"), given.get("arguments")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise Fault("validation", "a call is `tool`, a name, and `arguments`, an object")
    return name, arguments


def _show_body(body: bytes) -> str:
    """A body as a person edits it: JSON on lines of its own."""
    text = body.decode("utf-8", "replace")
    parsed = parse_json(text) if text.lstrip()[:1] in {"{", "["} else None
    return text if parsed is None else json.dumps(parsed, ensure_ascii=False, indent=2)


def _read_text(given: Mapping[str, Any], key: str) -> str:
    text = given.get(key)
    if not isinstance(text, str):
        raise Fault("validation", f"{key} is a text")
    return text


def _describe(fault: Fault) -> dict[str, Any]:
    """A fault as the page shows it."""
    described: dict[str, Any] = {"kind": fault.kind, "message": fault.message}
    for key in ("provider", "detail", "action", "argument", "retry_after"):
        if value := getattr(fault, key):
            described[key] = value
    return described
