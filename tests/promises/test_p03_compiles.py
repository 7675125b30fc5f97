"""P3: "valid" means "compiles": every kind of broken reference is found before anything runs or is sent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from specloom.compiler.build import weave_from
from specloom.specs.library import shipped_root
from tests.support.demo_specs import CAPABILITY, LENS, PROVIDER, TOOL, codes, weave_demo, write_demo

BROKEN = {
    "an argument in a request": (PROVIDER, "q: =args.query", "q: =args.qwery", "E202"),
    "a setting in the address": (PROVIDER, "base: =config.DEMO_URL", "base: =config.DEMO_URI", "E202"),
    "a function": (PROVIDER, "q: =args.query", "q: =uper(args.query)", "E203"),
    "an argument of a function": (PROVIDER, "=lookup('since', args.time_range)", "=lookup('since')", "E204"),
    "a table": (PROVIDER, "=lookup('since', args.time_range)", "=lookup('sinse', args.time_range)", "E208"),
    "a key of a table": (PROVIDER, "since: {day: d, week: w}", "since: {day: d}", "E123"),
    "a converter": (PROVIDER, "[absolute_http]", "[absolut_http]", "E209"),
    "a parameter of a converter": (PROVIDER, "[absolute_http]", "[{truncate: wide}]", "E210"),
    "an expression": (PROVIDER, "status == `401`,", "status == ,", "E201"),
    "a selector": (PROVIDER, "title: title\n", 'title: "title["\n', "E201"),
    "a name in an error rule": (PROVIDER, "when: status == `401`", "when: statis == `401`", "E202"),
    "a secret inside an expression": (PROVIDER, "X-Key: =config.DEMO_KEY", "X-Key: =upper(config.DEMO_KEY)", "E207"),
    "a placeholder in a path": (PROVIDER, "get: /search\n", "get: /search/{args.nothing}\n", "E202"),
    "a fault kind": (PROVIDER, "kind: auth_required,", "kind: auth_requierd,", "E104"),
    "an argument of the capability": (PROVIDER, "[query, num_results, time_range]\n", "[query, num_resultz]\n", "E120"),
    "a field of the row": (PROVIDER, "            rank: rank\n", "            rang: rank\n", "E121"),
    "a field that every row has": (
        PROVIDER,
        "            url: {at: link, required: true, then: [absolute_http]}\n",
        "",
        "E122",
    ),
    "a capability": (PROVIDER, "operations:\n  demo_pages:", "operations:\n  demo_page:", "E110"),
    "a key of the language": (PROVIDER, "  private: true\n", "  privat: true\n", "E101"),
    "a step in an example": (
        PROVIDER,
        "replies: {main: {status: 401, json: {}}}",
        "replies: {man: {status: 401}}",
        "E402",
    ),
    "an operation in an example": (
        PROVIDER,
        "operation: demo_pages\n    args: {query: otters, num",
        "operation: demo\n    args: {query: otters, num",
        "E402",
    ),
    "a provider in a route": (CAPABILITY, "order: [demo]", "order: [demi]", "E124"),
    "an operation of a plan": (TOOL, "operation: demo_pages}", "operation: demo_page}", "E110"),
    "a route": (TOOL, "=route.demo_pages", "=route.demo_page", "E202"),
    "a hook": (TOOL, "after:\n", "after:\n  - enrich: {hook: demo_nobody}\n", "E110"),
    "a field in a stage": (TOOL, "by: [url]", "by: [link]", "E110"),
    "an input in an expression": (TOOL, "take: args.num_results", "take: args.num", "E202"),
    "a table of lenses": (TOOL, "lookup('lenses', args.lens)", "lookup('lences', args.lens)", "E208"),
    "a field in the answer": (TOOL, "url: url, rank: rank}}\nrecord", "url: url, rank: rang}}\nrecord", "E202"),
    "an ignored input": (TOOL, "ignore: [session]", "ignore: [sesion]", "E132"),
    "a recorded input": (TOOL, "record: {session: session,", "record: {session: sesion,", "E110"),
    "a default": (TOOL, "enum: [day, week], description", "enum: [day, week], default: month, description", "E104"),
    "a regular expression": (TOOL, "max_length: 20, description", 'max_length: 20, pattern: "(", description', "E104"),
    "an operation in a tool's example": (TOOL, "providers: {demo.demo_pages:", "providers: {demo.demo_page:", "E402"),
    "a needed key": (LENS, "title: Demo field\n", "", "E102"),
}

WATCHED = """\
import os, socket, sys, tempfile
# An example may begin with files: those and what becomes of them lie in a folder of its own, which goes with it.
own = os.path.join(tempfile.gettempdir(), "specloom-example-")
import specloom.authoring.examples.run, specloom.core.diagnostics, pathlib
from specloom.compiler.build import weave_from
from specloom.plugins.registry import load_hooks
load_hooks()
seen = []
def watch(event, arguments):
    # A loop wakes itself through a pair of sockets that lead nowhere.
    if event == "socket.__new__" and arguments[1] == socket.AF_UNIX:
        return
    if event.startswith(("socket.", "subprocess.", "os.exec", "os.posix_spawn", "urllib.")):
        seen.append(event)
    if event == "open":
        path, mode, flags = arguments
        writes = set(mode) & set("wax+") if isinstance(mode, str) else flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        # A number is a file that was opened before.
        if writes and not isinstance(path, int) and not os.fsdecode(path).startswith(own):
            seen.append(f"{event} {path}")
sys.addaudithook(watch)
model, library, report = weave_from([pathlib.Path(one) for one in sys.argv[2:]])
specloom.authoring.examples.run.check_examples(library, model, report)
if sys.argv[1] == "write":
    open(os.path.join(sys.argv[-1], "left"), "w").close()
if sys.argv[1] == "leak":
    socket.socket().close()
print(len(model.providers), len(seen), seen)
"""


def test_the_specs_without_a_break_compile(tmp_path: Path) -> None:
    _, _, report = weave_demo(write_demo(tmp_path))

    assert list(report) == []


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_reference_is_found_where_it_stands(tmp_path: Path, what: str) -> None:
    path, old, new, code = BROKEN[what]

    _, _, report = weave_demo(write_demo(tmp_path, {path: [(old, new)]}))

    found = [one for one in report.errors if one.code == code]
    assert found, f"{codes(report)} instead of {code}"
    assert found[0].place.file == path
    assert found[0].place.line > 1 or path == LENS


def test_a_provider_with_a_break_is_not_there_to_be_called(tmp_path: Path) -> None:
    path, old, new, _ = BROKEN["a function"]

    model, _, _ = weave_from([write_demo(tmp_path, {path: [(old, new)]})])

    assert "demo" not in model.providers


def watched(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-B", "-c", WATCHED, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_compiling_and_running_examples_opens_no_socket_no_process_and_no_file_but_their_own(tmp_path: Path) -> None:
    providers, seen, events = watched("quiet", str(shipped_root()), str(write_demo(tmp_path))).split(" ", 2)

    assert int(providers) > 1
    assert (seen, events) == ("0", "[]")


def test_the_watch_notices_a_socket(tmp_path: Path) -> None:
    assert watched("leak", str(write_demo(tmp_path))) == "1 1 ['socket.__new__']"


def test_the_watch_notices_a_file_elsewhere(tmp_path: Path) -> None:
    _, seen, events = watched("write", str(write_demo(tmp_path))).split(" ", 2)

    assert seen == "1"
    assert "left" in events
