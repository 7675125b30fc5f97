"""A small server for the tests: run it as a child, with `--host sdk` for the other host."""

from __future__ import annotations

import json
import sys

from specloom.server.protocol import Backend, Catalogue, NotFound, ProtocolError
from specloom.server.stdio import GRACE, serve_stdio

PROPERTIES = {
    "echo": {"text": {"type": "string"}},
    "instant": {"text": {"type": "string"}},
    "steps": {"count": {"type": "integer"}},
    "wait": {"name": {"type": "string"}},
    "nap": {"seconds": {"type": "number"}},
    "block": {"seconds": {"type": "number"}},
    "spin": {"seconds": {"type": "number"}},
    "hold": {"signs": {"type": "integer"}},
    "stalls": {},
    "release": {"name": {"type": "string"}},
    "fault": {"kind": {"type": "string"}},
    "crash": {},
    "flood": {},
    "leave": {},
    "noise": {},
    "ask": {},
}


def tool(name: str, properties: dict) -> dict:
    """One entry of the list of tools."""
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {"name": name, "description": f"The {name} tool.", "inputSchema": schema}


def catalogue() -> Catalogue:
    """The catalogue of the demo server."""
    return Catalogue(
        name="demo",
        version="1.2.3",
        title="Demo",
        instructions="Use echo.",
        tools=json.dumps([tool(*item) for item in PROPERTIES.items()], separators=(",", ":")).encode(),
        tool_names=frozenset(PROPERTIES),
        resources=b'[{"uri":"demo://one","name":"one","mimeType":"text/plain"}]',
        resource_templates=b"[]",
        prompts=b'[{"name":"brief","description":"A brief.","arguments":[{"name":"topic","required":true}]}]',
        completions=True,
        logging=True,
        subscribe=("demo:",),
        list_changed=frozenset({"tools"}),
    )


class Demo(Backend):
    """Tools that do what their names say."""

    def __init__(self) -> None:
        import asyncio

        self.gates: dict[str, asyncio.Event] = {}
        self.stalls: list[dict] = []

    def note_stall(self, seconds, where):
        self.stalls.append({"seconds": seconds, "where": where})

    def call_now(self, name, arguments, request_id):
        from specloom.server.frames import render_text

        body = json.dumps({"text": arguments.get("text", "")}, ensure_ascii=False)
        return render_text(body, {"demo/cached": True}) if name == "instant" else None

    async def call_tool(self, name, arguments, call):
        from specloom.server.frames import success

        if name in {"echo", "instant"}:
            meta = {"demo/cached": True} if name == "instant" else None
            return success({"text": arguments.get("text", "")}, meta)
        return await getattr(self, f"do_{name}")(arguments, call)

    async def do_steps(self, arguments, call):
        from specloom.server.frames import success

        count = arguments.get("count", 3)
        for step in range(1, count + 1):
            call.progress(step, count, f"step {step}")
            call.progress(step, count)
            call.log("warning", f"step {step}", "demo")
        return success({"steps": count})

    async def do_wait(self, arguments, call):
        import asyncio

        from specloom.server.frames import success

        gate = self.gates.setdefault(arguments["name"], asyncio.Event())
        call.progress(1, 2)
        await gate.wait()
        return success({"released": arguments["name"]})

    async def do_release(self, arguments, call):
        import asyncio

        from specloom.server.frames import success

        self.gates.setdefault(arguments["name"], asyncio.Event()).set()
        return success({})

    async def do_nap(self, arguments, call):
        import asyncio

        from specloom.server.frames import success

        call.progress(1, 2)
        await asyncio.sleep(arguments["seconds"])
        return success({"rested": True})

    async def do_block(self, arguments, call):
        import asyncio
        import time

        call.progress(1, 2)
        await asyncio.to_thread(time.sleep, arguments["seconds"])
        raise AssertionError

    async def do_spin(self, arguments, call):
        import time

        from specloom.server.frames import success

        call.progress(1, 2)
        end = time.monotonic() + arguments["seconds"]
        while time.monotonic() < end:
            pass
        return success({})

    async def do_hold(self, arguments, call):
        """Each sign doubles the time for which no other thread has a turn."""
        import re

        from specloom.server.frames import success

        call.progress(1, 2)
        return success({"match": bool(re.match("(a+)+$", "a" * arguments["signs"] + "c"))})

    async def do_stalls(self, arguments, call):
        from specloom.server.frames import success

        return success({"stalls": self.stalls})

    async def do_fault(self, arguments, call):
        from specloom.core.faults import Fault

        raise Fault(arguments.get("kind", "rate_limited"), "The demo asks to slow down.", provider="demo")

    async def do_flood(self, arguments, call):
        from specloom.server.frames import success

        return success({"text": "x" * 1_000_000})

    async def do_crash(self, arguments, call):
        raise RuntimeError("secret-in-an-exception")

    async def do_leave(self, arguments, call):
        raise SystemExit(3)

    async def do_noise(self, arguments, call):
        import os

        from specloom.server.frames import success

        print("a stray print", flush=True)
        os.write(1, b"a stray write\n")
        return success({"quiet": False})

    async def do_ask(self, arguments, call):
        from specloom.server.frames import success
        from specloom.server.protocol import NoChannel

        schema = {"type": "object", "properties": {"a": {"type": "string"}}}
        form = {"mode": "form", "message": "Which?", "requestedSchema": schema}
        if call.era == "modern":
            if call.input_responses:
                return success({"answer": call.input_responses, "state": call.request_state})
            asked = {"which": {"method": "elicitation/create", "params": form}}
            return {"resultType": "input_required", "inputRequests": asked, "requestState": "s"}
        try:
            return success({"answer": await call.request("elicitation/create", form)})
        except NoChannel as error:
            return success({"answer": str(error)})

    async def read_resource(self, uri, call):
        if uri != "demo://one":
            raise NotFound(uri)
        return {
            "contents": [{"uri": uri, "mimeType": "text/plain", "text": "One."}],
            "ttlMs": 5,
            "cacheScope": "public",
        }

    async def get_prompt(self, name, arguments, call):
        if name != "brief" or "topic" not in arguments:
            raise ProtocolError(-32602, "Unknown prompt or missing argument")
        return {"messages": [{"role": "user", "content": {"type": "text", "text": arguments["topic"]}}]}

    async def complete(self, ref, argument, context):
        values = [word for word in ("alpha", "beta") if word.startswith(argument["value"])]
        return {"values": values, "total": len(values), "hasMore": False}


def main(arguments: list[str]) -> int:
    """Serve the demo until the client leaves."""
    grace = float(arguments[arguments.index("--grace") + 1]) if "--grace" in arguments else GRACE
    if "sdk" in arguments:
        from specloom.server.sdk_host import serve_sdk

        return serve_sdk(catalogue(), Demo)

    def warn(sentence: str) -> None:
        print(sentence, file=sys.stderr, flush=True)

    return serve_stdio(catalogue(), Demo, grace=grace, warn=warn)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
