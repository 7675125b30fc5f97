"""Shows the main job once: a real MCP client starts the server, lists its tools, calls them and prints the answers.

With a network the providers answer. Without one, recordings of their real answers do, or, where there are none either,
the replies in the examples of the specs; which of the three it was is said. `--offline` does not look for a network.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from demo_http import show_http
from mcp import Client, StdioServerParameters

from specloom.cli.common import make_executor
from specloom.compiler.build import weave_from
from specloom.core.messages import Request, Response
from specloom.core.terminal import Paint, answer_lines, columns, cut
from specloom.language import evaluate
from specloom.runtime.recordings import to_recording, write_whole
from specloom.specs.library import shipped_root
from specloom.specs.yaml import to_plain

ROOT = Path(__file__).resolve().parents[1]
PLAN = ROOT / "scripts" / "demo.yaml"
PATIENCE = 3.0
"""Seconds for the one connection that tells whether there is a network."""


@dataclass(frozen=True)
class Source:
    """Where answers come from: what to say about it, how the server is started, which calls are made."""

    says: str
    arguments: tuple[str, ...]
    settings: dict[str, str]
    calls: list[dict[str, Any]]


def main(offline: bool = False) -> int:
    """Run the demonstration; 0 when every step gave what it should."""
    plan = yaml.safe_load(PLAN.read_text(encoding="utf-8"))
    paint = Paint(sys.stdout, os.environ)
    with tempfile.TemporaryDirectory(prefix="specloom-demo-") as folder:
        for source in find_sources(plan, Path(folder), offline):
            say(paint(source.says, "bold"))
            try:
                if asyncio.run(show(source, plan, Path(folder) / "cache", paint)):
                    asyncio.run(show_many(source, Path(folder), paint))
                    return 0
            except KeyboardInterrupt:
                return 130
            except Exception as error:  # noqa: BLE001 - whatever client or server did, a person gets a sentence
                with contextlib.suppress(BrokenPipeError):
                    say(f"The demonstration broke off: {sentence_of(error)}")
                    return 1
                # Nobody reads any more; what is still buffered must go somewhere.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                return 1
            say("The network is there but no provider answered, so recordings do.\n")
    say("Nothing could be shown: no provider answers, and there are no recordings.")
    return 1


def sentence_of(error: BaseException) -> str:
    """The first cause of an error, or of a group of them, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return cut(f"{type(error).__name__}: {error}", 300)


def say(text: str = "") -> None:
    """One paragraph, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


# --- where answers come from ----------------------------------------------------------------------------------------


def find_sources(plan: dict[str, Any], folder: Path, offline: bool) -> list[Source]:
    """The sources to try, best first: live, then recordings of real payloads, else the examples of the specs."""
    found = []
    host = "" if offline else find_reachable()
    if host:
        found.append(Source(f"Live: {host} takes connections.", (), {}, plan["live"]))
    recordings = folder / "recordings"
    settings = {"SEARCH_ROUTING": json.dumps(plan["routing"]), "SEARCH_PROVIDER": ""}
    why = "" if host or offline else "There is no network here. "
    number = record_payloads(plan["payloads"], recordings)
    if number:
        says = f"{why}{number} recorded answers of real providers are replayed; nothing is sent."
    else:
        number = record_examples(recordings)
        says = f"{why}There are no recordings: {number} replies from the specs' own examples answer instead."
    if number:
        found.append(Source(says, ("--replay", str(recordings)), settings, plan["recorded"]))
    return found


def find_reachable() -> str:
    """A host that takes a connection, of those that would be asked; empty when none does."""
    executor, _ = make_executor(os.environ)
    names = dict.fromkeys(name for order in executor.routes.orders.values() for name in order)
    for name in list(names)[:2]:
        base = evaluate(executor.model.providers[name].service.base, {"config": executor.settings[name]})
        parts = urlsplit(str(base))
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            with socket.create_connection((parts.hostname or "", port), PATIENCE):
                return parts.hostname or ""
        except (OSError, UnicodeError):
            continue
    return ""


def record_payloads(payloads: dict[str, dict[str, str]], folder: Path) -> int:
    """Write the payloads that are there as recordings; how many."""
    named = os.environ.get("SPECLOOM_FIXTURES")
    base = Path(named) if named else ROOT.parent / "shared" / "fixtures"
    base = base / "providers" if (base / "providers").is_dir() else base
    number = 0
    for provider, steps in payloads.items():
        for step, path in steps.items():
            try:
                body = (base / path).read_bytes()
            except OSError:
                continue
            kind = "application/json" if path.endswith(".json") else "text/html; charset=utf-8"
            record(folder, provider, step, Response(200, {"content-type": kind}, body))
            number += 1
    return number


def record_examples(folder: Path) -> int:
    """Write the replies of the first example with rows of every operation as recordings; how many."""
    _, library, _ = weave_from([shipped_root()])
    number = 0
    for name, spec in library.of("provider").items():
        shown = set()
        for example in to_plain(spec.root).get("examples") or ():
            if "operation" not in example or example["operation"] in shown or not example["expect"].get("rows"):
                continue
            shown.add(example["operation"])
            for step, replies in (example.get("replies") or {}).items():
                reply = replies[0] if isinstance(replies, list) else replies
                text = json.dumps(reply["json"]) if "json" in reply else str(reply.get("text", ""))
                response = Response(reply.get("status", 200), dict(reply.get("headers") or {}), text.encode())
                record(folder, name, f"{example['operation']}.{step}", response)
                number += 1
    return number


def record(folder: Path, provider: str, step: str, response: Response) -> None:
    """Write one response as the recording that answers for a step."""
    operation, _, name = step.partition(".")
    request = Request("GET", "https://recorded.invalid/", provider=provider, operation=operation, step=name)
    said = json.dumps(to_recording(request, response), ensure_ascii=False)
    write_whole(folder / provider / f"{step}.recorded.json", said.encode())


# --- what is shown --------------------------------------------------------------------------------------------------


async def show(source: Source, plan: dict[str, Any], cache: Path, paint: Paint) -> bool:
    """List, call, call again and call wrongly; False when the first call finds nobody who answers."""
    arguments = ["-m", "specloom", "serve", *source.arguments]
    environ = {**os.environ, **source.settings, "SPECLOOM_CACHE_DIR": str(cache)}
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environ)
    began = time.perf_counter()
    async with Client(server) as client:
        listed = await client.list_tools()
        spent = (time.perf_counter() - began) * 1000
        info = client.server_info
        name = f"{info.name} {info.version}" if info else "the server"
        say(f"\n{name} lists {len(listed.tools)} tools {spent:.0f} ms after its start:")
        size = max((len(tool.name) for tool in listed.tools), default=0)
        for tool in listed.tools:
            say(f"  {paint(f'{tool.name:<{size}}', 'bold')}  {cut(tool.description or '', columns() - size - 4)}")
        published = {tool.name for tool in listed.tools}
        calls = [one for one in source.calls if one["tool"] in published]
        for number, one in enumerate(calls):
            good = await show_call(client, one, paint)
            if not good and number == 0:
                return False
        if calls:
            say(paint("\nThe first call once more:", "bold"))
            await show_call(client, calls[0], paint, rows=0)
        if plan["mistaken"]["tool"] in published:
            say(paint("\nAnd a call that cannot work:", "bold"))
            await show_call(client, plan["mistaken"], paint)
    say()
    return True


async def show_many(source: Source, folder: Path, paint: Paint) -> None:
    """The first call again, over HTTP and by several tenants."""
    say(paint("The same for many, over HTTP, with tokens of an issuer on this machine:", "bold"))
    async for line in show_http(list(source.arguments), source.settings, source.calls[0], folder):
        say(line)
    say()


async def show_call(client: Client, one: dict[str, Any], paint: Paint, rows: int = 3) -> bool:
    """Make one call and print its rows, or its fault; whether it was answered."""
    said = " ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in one["arguments"].items())
    say(f"\n{paint(one['tool'], 'bold')} {said}")
    began = time.perf_counter()
    result = await client.call_tool(one["tool"], one["arguments"])
    spent = (time.perf_counter() - began) * 1000
    if result.is_error:
        text = next((part.text for part in result.content if part.type == "text"), "no reason was given")
        for line in filter(None, text.splitlines()):
            say(f"  {paint(cut(line, columns() * 2), 'red')}")
        return False
    answer = result.structured_content or {}
    for line in answer_lines(answer, paint, columns())[: rows * 6] if rows else ():
        say(line)
    meta = {name: value for name, value in (result.meta or {}).items() if "/" not in name}
    say(f"  {paint('_meta:', 'dim')} {json.dumps(meta, ensure_ascii=False)}  ({spent:.1f} ms)")
    return True


if __name__ == "__main__":
    sys.exit(main(offline="--offline" in sys.argv[1:]))
