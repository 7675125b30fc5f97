"""Tells those who look at calls, such as sessions and analytics, how a call went."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from specloom.core import Fault, Place
from specloom.language.evaluate import evaluate
from specloom.model import Row, Tool, make_setting
from specloom.plugins import OBSERVERS, Collections, ObservedCall, Observer

from .arguments import Arguments
from .configuration import read_settings

_NOWHERE = Place("<engine>")


class Watch:
    """The observers that are registered, where something can be kept; none where nothing can."""

    def __init__(self, drawers: Collections | None, environ: Mapping[str, str], clock: Callable[[], float]) -> None:
        self.problems: list[str] = []
        """A sentence for each of their settings that could not be read."""
        self._drawers = drawers
        self._clock = clock
        self._watching: list[tuple[Observer, Mapping[str, Any]]] = []
        for one in OBSERVERS.values() if drawers is not None else ():
            declared = {name: make_setting(name, said, _NOWHERE) for name, said in one.settings.items()}
            values, problems = read_settings(declared, environ)
            self.problems += problems
            self._watching.append((one, values))

    def watching(self, tool: Tool, arguments: Arguments) -> list[tuple[Observer, Mapping[str, Any]]]:
        """Who looks at a call, with what is set for them: those for its session, and those who look at every call."""
        session = bool(tool.record and arguments.given.get(tool.record[0]))
        return [one for one in self._watching if session or (one[0].every and one[1].get(one[0].every))]

    async def tell(
        self,
        tool: Tool,
        arguments: Arguments,
        owner: str,
        body: str,
        outcomes: list[Mapping[str, Any]],
        found: Sequence[Row] = (),
    ) -> None:
        """Tell everyone who looks at a call; `body` is its answer as JSON, "" where there is none.

        `found` are the rows behind it, for an answer that was asked to tell them only in its text.
        """
        watching = self.watching(tool, arguments)
        if not watching or self._drawers is None:
            return
        field, kind = tool.record or ("", "")
        answer = json.loads(body) if body and field else {}
        rows = _sources(tool, answer, found) if answer else []
        ended = [*outcomes, *_failures(answer.get(tool.failures))]
        for one, config in watching:
            session = str(arguments.given.get(field) or "")
            seen = ObservedCall(owner, tool.name, session, kind, rows, ended, self._clock(), config)
            # What cannot be remembered keeps no answer from whoever asked.
            with contextlib.suppress(Fault):
                await one.function(self._drawers, seen)


def _failures(failed: Any) -> list[Mapping[str, Any]]:
    """The outcomes of what an answer says it could not read. No provider was asked for these."""
    rows = [one for one in failed if isinstance(one, dict)] if isinstance(failed, list) else []
    return [{"provider": "", "error": one.get("kind", ""), "url": one.get("url", "")} for one in rows]


def _sources(tool: Tool, answer: Mapping[str, Any], found: Sequence[Row]) -> list[Row]:
    """The sources that an answer tells of, which is what a session records: as its spec says, or all that it lists."""
    if tool.recorded is not None:
        rows = evaluate(tool.recorded, {"answer": answer, "rows": list(found)})
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    lists = [answer.get(one.name) for one in tool.answer if one.fields is not None]
    return [row for rows in lists if isinstance(rows, list) for row in rows]
