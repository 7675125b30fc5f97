"""The server starts from specs that are whole or not at all, and says on stderr, and only there, what is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from specloom.server.catalogue import Selection
from specloom.server.start import default_selection, read_switch
from tests.support.demo_specs import (
    LENS,
    PROVIDER,
    SERVE,
    TEXTS,
    TOOL,
    Edits,
    child_environment,
    copy_package,
    write_demo,
)
from tests.support.loopback import Loopback

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
START = [("initialize", HELLO), ("tools/list", {})]
SECOND = TEXTS[TOOL].replace("demo_find", "demo_other").replace("toolsets: [core]", "toolsets: [extra]")
HEAVY = [
    "asyncio",
    "yaml",
    "lxml",
    "jmespath",
    "httptools",
    "jsonschema",
    "cryptography",
    "mcp",
    "dataclasses",
    "typing",
]
CONFIGURED = {"DEMO_URL": "https://demo.example.org", "DEMO_KEY": "k"}


def conversation(messages: list[tuple[str, dict[str, Any]]]) -> bytes:
    lines = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(messages)
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def serve(
    environ: dict[str, str], messages: list[tuple[str, dict[str, Any]]] = START, options: Sequence[str] = ()
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*SERVE, *options], input=conversation(messages), env=environ, capture_output=True, timeout=300, check=False
    )


def by_id(line: bytes) -> int:
    number: int = json.loads(line)["id"]
    return number


def tools_of(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr.decode()
    tools: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[1])["result"]["tools"]
    return tools


def listed(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    return [tool["name"] for tool in tools_of(done)]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installed package that comes with two tools."""
    root = tmp_path_factory.mktemp("serving")
    specs = write_demo(root / "specs")
    (specs / "tools.d" / "annex").mkdir()
    (specs / "tools.d" / "annex" / "demo_other.yaml").write_text(SECOND, encoding="utf-8")
    return copy_package(root / "package", specs)


@pytest.fixture
def environ(package: Path, tmp_path: Path) -> dict[str, str]:
    return child_environment(package, tmp_path / "cache")


def layer(root: Path, edits: Edits) -> str:
    """A folder with only the edited files, to lie over the shipped specs."""
    write_demo(root, edits)
    for path in TEXTS:
        if path not in edits:
            (root / path).unlink()
    return str(root)


# What is served.


def test_the_default_toolset_is_served_without_any_setting(environ: dict[str, str]) -> None:
    done = serve(environ)

    assert listed(done) == ["demo_find"]
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("toolsets", "names"),
    [
        ("all", ["demo_find", "demo_other"]),
        ("core", ["demo_find"]),
        (" annex , core ", ["demo_find", "demo_other"]),
        ("extra,", ["demo_other"]),
        ("", ["demo_find"]),
        (" , ", ["demo_find"]),
    ],
)
def test_toolsets_are_chosen_by_the_environment(environ: dict[str, str], toolsets: str, names: list[str]) -> None:
    assert listed(serve({**environ, "SPECLOOM_TOOLSETS": toolsets})) == names


def test_a_toolset_that_does_not_exist_ends_the_start_with_one_sentence(environ: dict[str, str]) -> None:
    done = serve({**environ, "SPECLOOM_TOOLSETS": "cora"})

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == "specloom: there is no toolset 'cora'; did you mean \"core\"?\n"


def test_the_environment_names_a_selection() -> None:
    assert default_selection({"SPECLOOM_TOOLSETS": "b, a,"}).key() == Selection(["a", "b"]).key()
    assert default_selection({}).key() == Selection().key()


AT_THE_TOP = {
    "count": {"type": "integer"},
    "field": {"type": "string"},
    "pages": {"type": "array"},
    "notices": {"type": "array"},
}


@pytest.mark.parametrize(
    ("said", "schema"), [("", AT_THE_TOP), ("full", "full"), (" Brief ", AT_THE_TOP), ("none", None)]
)
def test_the_environment_says_how_much_of_the_schemas_of_answers_is_listed(
    environ: dict[str, str], said: str, schema: Any
) -> None:
    full = tools_of(serve({**environ, "SPECLOOM_OUTPUT_SCHEMAS": "full"}))[0]

    tool = tools_of(serve({**environ, "SPECLOOM_OUTPUT_SCHEMAS": said}))[0]

    given, whole = tool.pop("outputSchema", None), full.pop("outputSchema")
    assert tool == full
    assert given == (whole if schema == "full" else {**whole, "properties": schema} if schema else None)


def test_a_word_that_says_nothing_about_schemas_is_told_and_all_is_listed(environ: dict[str, str]) -> None:
    call = ("tools/call", {"name": "demo_find", "arguments": {}})

    done = serve({**environ, **CONFIGURED, "SPECLOOM_OUTPUT_SCHEMAS": "short"}, [*START, call])

    assert "outputSchema" in tools_of(done)[0]
    assert done.stderr.decode() == (
        "specloom: SPECLOOM_OUTPUT_SCHEMAS is 'short'; write one of brief, full, none. brief is used\n"
    )


def test_a_list_to_be_searched_has_few_tools_and_the_others_are_called_through_one(environ: dict[str, str]) -> None:
    words = ("tools/call", {"name": "find_tool", "arguments": {"query": "demo"}})
    through = ("tools/call", {"name": "call_tool", "arguments": {"name": "demo_other", "arguments": {"count": "no"}}})
    for _ in ("compiled", "from the image"):
        done = serve({**environ, **CONFIGURED}, [*START, words, through], ["--catalogue", "search"])

        assert listed(done) == ["demo_find", "find_tool", "call_tool"]
        found, refused = (json.loads(line)["result"] for line in sorted(done.stdout.splitlines(), key=by_id)[2:])
        assert "demo_other" in [tool["name"] for tool in found["structuredContent"]["tools"]]
        assert refused["isError"]
        assert "demo_other has no argument 'count'" in refused["content"][0]["text"]


def test_the_list_from_the_image_is_the_list_that_was_compiled(environ: dict[str, str]) -> None:
    first, second = serve(environ), serve(environ)

    assert first.stdout == second.stdout
    assert len(list(Path(environ["SPECLOOM_CACHE_DIR"]).glob("catalogue-*.json"))) == 1


def test_an_edited_spec_is_served_at_the_next_start(environ: dict[str, str], tmp_path: Path) -> None:
    edits = {TOOL: [("description: Find pages for tests.", "description: Find pages anew.")]}
    layered = {**environ, "SPECLOOM_PATH": layer(tmp_path / "layer", {TOOL: []})}
    before = serve(layered)
    layer(tmp_path / "layer", edits)

    after = serve(layered)

    assert b"Find pages for tests." in before.stdout
    assert b"Find pages anew." in after.stdout


def test_a_cache_folder_that_cannot_be_written_does_not_stop_the_start(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("", encoding="utf-8")

    done = serve({**environ, "SPECLOOM_CACHE_DIR": str(tmp_path / "a file" / "cache")})

    assert listed(done) == ["demo_find"]


def test_a_damaged_image_does_not_stop_the_start(environ: dict[str, str]) -> None:
    serve(environ)
    (image,) = Path(environ["SPECLOOM_CACHE_DIR"]).glob("catalogue-*.json")
    image.write_bytes(b"\x00damaged")

    assert listed(serve(environ)) == ["demo_find"]


# What is wrong is said on stderr.


def told(done: subprocess.CompletedProcess[bytes]) -> str:
    text: str = json.loads(done.stdout.splitlines()[0])["result"]["instructions"]
    return text


@pytest.mark.parametrize(
    ("edits", "file"),
    [
        ({PROVIDER: [("q: =args.query", "q: =args.qwery")]}, "demo.yaml"),
        ({TOOL: [("ignore: [session]", "ignore: [lens]")]}, "demo_find.yaml"),
        ({LENS: [("title: Demo field\n", "")]}, "demo_field.yaml"),
    ],
)
def test_a_wrong_file_in_a_users_folder_takes_no_shipped_tool_away(
    environ: dict[str, str], tmp_path: Path, edits: Edits, file: str
) -> None:
    with_own = {**environ, "SPECLOOM_PATH": layer(tmp_path / "layer", edits)}

    for done in (serve(with_own), serve(with_own)):  # compiled, and from the image
        assert listed(done) == ["demo_find"]
        assert f"1 of their own spec files has errors and is not served ({file})" in told(done)
        assert done.stderr == b""


def test_a_layer_that_does_not_exist_is_told_by_name(environ: dict[str, str], tmp_path: Path) -> None:
    done = serve({**environ, "SPECLOOM_PATH": str(tmp_path / "nowhere")})

    assert listed(done) == ["demo_find"]
    assert "(nowhere)" in told(done)


def test_a_wrong_collection_ends_the_start(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "layer" / "collections.d").mkdir(parents=True)
    (tmp_path / "layer" / "collections.d" / "notes.yaml").write_text("spec: collection/1\nname: notes\n")

    done = serve({**environ, "SPECLOOM_PATH": str(tmp_path / "layer")})

    assert (done.returncode, done.stdout) == (1, b"")
    assert re.search(r"\d+ errors? in the specs; nothing is served\n\Z", done.stderr.decode())
    assert list(Path(environ["SPECLOOM_CACHE_DIR"]).glob("*")) == []


@pytest.mark.parametrize(
    ("name", "value", "wanted", "otherwise"),
    [
        ("CIRCUIT_FAILURE_THRESHOLD", "0", "a whole number", 5),
        ("CIRCUIT_FAILURE_THRESHOLD", "many", "a whole number", 5),
        ("CIRCUIT_FAILURE_THRESHOLD", "-3", "a whole number", 5),
        ("CIRCUIT_FAILURE_THRESHOLD", "1.5", "a whole number", 5),
        ("CIRCUIT_RESET_TIMEOUT_SECONDS", "soon", "a number", 60),
        ("CIRCUIT_RESET_TIMEOUT_SECONDS", "99999999", "a number", 60),
    ],
)
def test_a_bad_number_is_one_sentence_on_stderr_and_the_default_is_used(
    environ: dict[str, str], name: str, value: str, wanted: str, otherwise: int
) -> None:
    call = (
        "tools/call",
        {"name": "demo_find", "arguments": {}},
    )  # refused for its arguments, after the engine was loaded

    done = serve({**environ, **CONFIGURED, name: value}, [*START, call])

    lines = done.stderr.decode().splitlines()
    assert lines == [f"specloom: {name} is {value!r}; write {wanted} above 0. {otherwise} is used"]
    assert json.loads(done.stdout.splitlines()[-1])["result"]["isError"] is True


def test_nothing_is_said_before_the_list(environ: dict[str, str]) -> None:
    done = serve({**environ, "CIRCUIT_FAILURE_THRESHOLD": "many"})

    assert listed(done) == ["demo_find"]
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("text", "expected"), [("7", 7), (" 7 ", 7), ("", 5), ("x", 5), ("0", 5), ("1000000", 5), ("²", 5)]
)
def test_numbers_are_read_within_bounds(text: str, expected: int) -> None:
    problems: list[str] = []

    assert read_switch({"CIRCUIT_FAILURE_THRESHOLD": text}, "CIRCUIT_FAILURE_THRESHOLD", problems) == expected
    assert bool(problems) == (text.strip() not in {"", "7"})


def test_a_fraction_of_a_second_is_a_number() -> None:
    assert read_switch({"CIRCUIT_RESET_TIMEOUT_SECONDS": "1.5"}, "CIRCUIT_RESET_TIMEOUT_SECONDS", []) == 1.5


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1", True), ("TRUE", True), (" on ", True), ("yes", True), ("", False), ("0", False), ("maybe", False)],
)
def test_switches_are_on_or_off(text: str, expected: bool) -> None:
    problems: list[str] = []

    assert read_switch({"SPECLOOM_VALIDATE": text}, "SPECLOOM_VALIDATE", problems) is expected
    assert problems == (["SPECLOOM_VALIDATE is 'maybe'; write true or false. false is used"] if text == "maybe" else [])


# What the start does not import.

PROBE = """\
import os, sys
from specloom.server.start import ServeOptions, load_catalogue
from specloom.server import stdio
found = []
class Wire(stdio._Wire):
    def send(self, frame):
        super().send(frame)
        found.append(sorted(set(sys.modules) & set(sys.argv[1].split(","))))
stdio._Wire = Wire
options = ServeOptions()
catalogue = load_catalogue(os.environ, options.selection)
def load_backend():
    raise AssertionError("the list needs no backend")
stdio.serve_stdio(catalogue, load_backend, warm_after=None)
print(len(found), ",".join(found[-1]), file=sys.stderr)
"""


def imported(environ: dict[str, str]) -> tuple[int, list[str]]:
    """How many answers there were, and which of the heavy modules were there after the last."""
    command = [sys.executable, "-c", PROBE, ",".join(HEAVY)]
    done = subprocess.run(command, input=conversation(START), env=environ, capture_output=True, timeout=300, check=True)
    count, _, names = done.stderr.decode().strip().partition(" ")
    return int(count), [name for name in names.split(",") if name]


def test_a_list_from_the_image_imports_nothing_heavy(environ: dict[str, str]) -> None:
    serve(environ)

    assert imported(environ) == (2, [])


def test_the_probe_sees_what_a_first_start_imports(environ: dict[str, str]) -> None:
    assert {"yaml", "jmespath", "dataclasses", "typing"} <= set(imported(environ)[1])


UNUSED = [
    "yaml",
    "html.entities",
    "csv",
    "decimal",
    "calendar",
    "lxml",
    "jinja2",
    "jsonschema",
    "specloom.specs.grammar",
    "specloom.http",
    "uvicorn",
    "jwt",
    "redis",
    "opentelemetry",
]
"""What a search in JSON, a resource and a completion have no use for, and what only a server over HTTP has."""
CALLS_PROBE = """\
import sys
from specloom.server import stdio
from specloom.server.start import ServeOptions, run
class Wire(stdio._Wire):
    def send(self, frame):
        print(",".join(sorted(set(sys.modules) & set(sys.argv[1].split(",")))), file=sys.stderr)
        super().send(frame)
stdio._Wire = Wire
run(ServeOptions())
"""


def test_a_call_imports_only_what_it_uses(environ: dict[str, str]) -> None:
    body = json.dumps({"results": [{"title": "Otters & others", "link": "https://example.org/otters"}]})
    reference = {"type": "ref/resource", "uri": "lenses://{name}"}
    completion = {"ref": reference, "argument": {"name": "name", "value": "d"}}
    messages = [*START, ("tools/call", {"name": "demo_find", "arguments": {"query": "otters"}})]
    messages.append(("completion/complete", completion))
    with Loopback(lambda _: (200, {"Content-Type": "application/json"}, body)) as upstream:
        environ |= {**CONFIGURED, "DEMO_URL": f"http://127.0.0.1:{upstream.port}", "SPECLOOM_DRAIN_SECONDS": "30"}
        serve(environ)
        command = [sys.executable, "-c", CALLS_PROBE, ",".join(UNUSED)]
        given = conversation(messages)
        done = subprocess.run(command, input=given, env=environ, capture_output=True, timeout=300, check=True)

    assert b"Otters" in done.stdout
    assert len(done.stdout.splitlines()) == len(messages)
    assert done.stderr.decode().split("\n") == [""] * (len(messages) + 1)


FIRST_PROBE = """\
import sys
from specloom.model import image
from specloom.server.start import ServeOptions, run
loaded = []
load = image.Image.load
def note(self, kind, name=""):
    loaded.append(f"{kind}/{name}")
    return load(self, kind, name)
image.Image.load = note
run(ServeOptions())
wanted = ("tools/", "providers/", "capabilities/", "lenses/", "collections/", "resources/")
print(*sorted({one for one in loaded if one.startswith(wanted)}), file=sys.stderr)
heavy = ("specloom.compiler", "specloom.authoring")
print(*sorted(one for one in sys.modules if one.startswith(heavy)), file=sys.stderr)
"""


def test_a_call_behind_the_first_line_compiles_nothing_and_loads_the_specs_that_it_uses(
    environ: dict[str, str],
) -> None:
    body = json.dumps({"results": [{"title": "Otters", "link": "https://example.org/otters"}]})
    call = ("tools/call", {"name": "demo_find", "arguments": {"query": "otters"}})
    with Loopback(lambda _: (200, {"Content-Type": "application/json"}, body)) as upstream:
        environ |= {**CONFIGURED, "DEMO_URL": f"http://127.0.0.1:{upstream.port}", "SPECLOOM_DRAIN_SECONDS": "30"}
        serve(environ)
        command = [sys.executable, "-c", FIRST_PROBE]
        given = conversation([START[0], call])
        done = subprocess.run(command, input=given, env=environ, capture_output=True, timeout=300, check=True)

    assert b"Otters" in done.stdout
    loaded, compiled = done.stderr.decode().split("\n")[-3:-1]
    assert set(loaded.split()) == {"tools/demo_find", "providers/demo", "capabilities/demo_pages"}
    assert compiled == ""


@pytest.mark.skipif(os.name != "posix", reason="the entry point has another form elsewhere")
def test_the_installed_entry_point_starts_the_same_server(environ: dict[str, str]) -> None:
    entry = Path(sys.executable).with_name("specloom")
    if not entry.is_file():
        pytest.skip("the package is not installed beside this interpreter")

    done = subprocess.run(
        [str(entry), "serve"], input=conversation(START), env=environ, capture_output=True, timeout=300, check=True
    )

    assert listed(done) == ["demo_find"]
