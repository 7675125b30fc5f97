"""Comparisons in a thread, one at a time, so that the event loop goes on and with it every other call.

Holding a citation against one record takes up to a fifth of a second where either is made for it, and an audit of two
hundred references does that a thousand times.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from specloom.plugins import Context

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_TURNS: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def run_aside(
    context: Context, function: Callable[_Given, _Result], *arguments: _Given.args, **named: _Given.kwargs
) -> _Result:
    """What the function gives, in a thread; in this one where the call is no live one."""
    if not context.is_live:
        return function(*arguments, **named)
    # Several threads at work would leave the loop a small share of the interpreter.
    async with _TURNS.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
        return await asyncio.to_thread(function, *arguments, **named)
