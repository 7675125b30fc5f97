"""What the page asks for: the tools, what a call would do, and a call with all that is known of it."""

from __future__ import annotations

import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from specloom.authoring.explain import explain
from specloom.core import Fault, secrets_in
from specloom.runtime import show_answer, view_document
from specloom.server import Selection, make_catalogue

from .exchanges import mask_texts

if TYPE_CHECKING:
    from specloom.runtime import Executor, Presenter

    from .exchanges import ExchangeRecorder

MOST_VIEWS = 20
"""Documents of views that are kept, the newest."""


class Actions:
    """Answers the page, from one executor."""

    def __init__(
        self,
        executor: Executor,
        presenter: Presenter,
        recorder: ExchangeRecorder,
        environ: Mapping[str, str],
        *,
        owner: str = "",
        is_replay: bool = False,
    ) -> None:
        """`recorder` is the sender of the executor, and `owner` who calls."""
        self._executor = executor
        self._presenter = presenter
        self._recorder = recorder
        self._environ = environ
        self._owner = owner
        self._is_replay = is_replay
        self._views: OrderedDict[str, str] = OrderedDict()
        self._names: dict[str, Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]] = {
            "api/tools": self._list_tools,
            "api/explain": self._explain,
            "api/call": self._call,
        }
        settings = executor.settings
        recorder.find_secrets = lambda provider: secrets_in(settings.get(provider, {}))

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

    async def _call(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        name, raw = _read_call(given)
        began = time.perf_counter()
        told: dict[str, Any] = {}
        with self._recorder.recording() as exchanges:
            try:
                done = await self._executor.call(name, raw, owner=self._owner)
                presented = await self._presenter.present(name, done, self._owner)
                told = {"text": presented.text, "answer": json.loads(presented.body), "meta": done.meta}
                if not done.fault and done.linked is None and done.arguments is not None:
                    told["view"] = self._keep_view(name, done)
            except Fault as fault:
                told = {"fault": _describe(fault)}
        milliseconds = round((time.perf_counter() - began) * 1000)
        return {**told, "milliseconds": milliseconds, "exchanges": exchanges}

    def _keep_view(self, name: str, done: Any) -> str:
        """Where the view of an answer is read; "" where its tool has none."""
        tool, model = self._executor.tool(name), self._executor.model
        filled = show_answer(tool, model, done.arguments, done.answer) if tool.view is not None else None
        if filled is None:
            return ""
        identifier = secrets.token_urlsafe(8)
        self._views[identifier] = view_document(model.views[filled["template"]], filled)
        if len(self._views) > MOST_VIEWS:
            self._views.popitem(last=False)
        return identifier


def _read_call(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    name, arguments = given.get("tool"), given.get("arguments")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise Fault("validation", "a call is `tool`, a name, and `arguments`, an object")
    return name, arguments


def _describe(fault: Fault) -> dict[str, Any]:
    """A fault as the page shows it."""
    described: dict[str, Any] = {"kind": fault.kind, "message": fault.message}
    for key in ("provider", "detail", "action", "argument", "retry_after"):
        if value := getattr(fault, key):
            described[key] = value
    return described
