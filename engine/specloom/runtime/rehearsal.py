"""A rehearsal: a call that gets an empty answer and is forgotten, so that the first real one finds all of it loaded."""

from __future__ import annotations

from contextlib import suppress

from specloom.core import Answer, Fault, Request, Response

from .arguments import parse_arguments
from .executor import Executor
from .operation import perform
from .plan import Ask
from .strategies import pursue

WORD = "word"
"""What every input is that a call has to have; a tool that takes no text there is only loaded."""
NOTHING = b"{}"


def rehearse(executor: Executor, name: str) -> None:
    """Load what a call of a tool uses: its spec, that of who is asked first, and what all calls run.

    Nothing is sent, read from disk, kept or counted. A call that would not get as far ends where it would.
    """
    tool = executor.tool(name)
    try:
        arguments = parse_arguments(tool, {one: WORD for one, stated in tool.inputs.items() if stated.required})
        executor.cache_key(tool, arguments)
        settings, offer = executor.tool_settings[name], executor.offer()
        plan = pursue(tool, executor.model, arguments, settings, offer, executor.clock())
        wanted = next(plan)
        if isinstance(wanted, Ask):
            _ask(executor, wanted)
        while isinstance(wanted, Ask):
            wanted = plan.send(Answer([]))
    except (Fault, StopIteration):
        return


def _ask(executor: Executor, ask: Ask) -> None:
    """The operation that is asked for, up to a response that has nothing in it."""
    provider = executor.model.providers[ask.provider]
    operation = provider.operations[ask.operation]
    executor.model.capabilities.get(operation.capability)
    running = perform(provider, operation, ask.arguments, executor.settings[ask.provider], executor.clock())
    with suppress(Fault, StopIteration):
        request = next(running)
        if isinstance(request, Request):
            running.send(Response(200, {"content-type": "application/json"}, NOTHING, request.url))
