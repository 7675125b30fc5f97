"""The command line: exit codes, what goes where, and that every command does what its help says."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specloom import server
from specloom.cli import parser
from specloom.cli.common import CommandError
from specloom.cli.main import main
from specloom.cli.parser import make_parser
from specloom.cli.run import _save_linked
from specloom.core import load_table
from specloom.core.messages import Request, Response
from specloom.core.terminal import Paint, SafeStream, answer_lines, row_lines
from specloom.runtime.recordings import to_recording, write_whole
from tests.support.audited import desk
from tests.support.demo_specs import PROVIDER, write_demo
from tests.support.loopback import Call, Loopback

PAGE = {"results": [{"title": "Otters\x1b[31m", "link": "https://example.org/a", "rank": 1}]}
COMMANDS = [
    "serve",
    "dev",
    "ui",
    "install",
    "uninstall",
    "check",
    "call",
    "explain",
    "try",
    "record",
    "new",
    "list",
    "doctor",
    "docs",
    "schema",
]
COMMANDS += ["mutate", "data", "backup", "restore", "stats", "audit", "keys", "changes", "completion"]


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_catalogue: Path) -> Path:
    """The demo specs as the user's own layer over a small catalogue, in an environment where they are configured."""
    root = write_demo(tmp_path / "specs")
    monkeypatch.setenv("SPECLOOM_PATH", str(root))
    monkeypatch.setenv("SPECLOOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DEMO_URL", "https://demo.example.org")
    monkeypatch.setenv("DEMO_KEY", "s3cr3t-demo-key")
    monkeypatch.chdir(tmp_path)
    return root


@pytest.fixture
def upstream(specs: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A provider that answers on loopback."""

    def answer(call: Call) -> tuple[int, dict[str, str], str]:
        if ("q", "refused") in call.query:
            return 401, {}, "{}"
        return 200, {"Content-Type": "application/json"}, json.dumps({**PAGE, "echo": "s3cr3t-demo-key"})

    with Loopback(answer) as server:
        monkeypatch.setenv("DEMO_URL", server.url)
        yield server


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    said = capsys.readouterr()
    return code, said.out, said.err


# --- help and usage -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, out, err = run(capsys, command, "--help")

    assert (code, err) == (0, "")
    assert f"example:\n  specloom {command}" in out


def test_the_commands_tested_here_are_all_there_are() -> None:
    (commands,) = [one.choices for one in make_parser()._actions if one.choices and "serve" in one.choices]

    assert list(commands) == COMMANDS


def test_the_overview_says_of_every_command_what_it_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    commands = {name: one for name, one in load_table(parser.__file__, "commands.yaml").items() if name != "shared"}

    code, out, err = run(capsys, "--help")
    shown = {line.split()[0] for line in out.splitlines() if line.startswith("  ") and not line.startswith("   ")}

    assert (code, err) == (0, "")
    assert shown >= set(commands) == set(COMMANDS)
    assert all(" ".join(one["help"].split()) in " ".join(out.split()) for one in commands.values())
    assert max(map(len, out.splitlines())) <= 72
    assert make_parser().format_help() == out
    # What everybody needs stands first, and what only authors do behind it.
    assert out.index("  install ") < out.index("write specs:") < out.index("  mutate ") < out.index("run a server")


def test_an_example_in_the_help_can_be_parsed() -> None:
    (commands,) = [one.choices for one in make_parser()._actions if one.choices and "serve" in one.choices]

    for one in commands.values():
        words = one.epilog.splitlines()[1].replace("'", "").split()[1:]
        assert make_parser().parse_args([word for word in words if word != "otters" or "=" in word])


@pytest.mark.parametrize(
    "words", [["frob"], ["call"], ["check", "--frob"], ["check", "/nowhere/at/all"], ["call", "demo_find", "query"]]
)
def test_what_is_not_understood_exits_with_2(specs: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    code, out, err = run(capsys, *words)

    assert (code, out) == (2, "")
    assert err


def test_without_a_word_it_helps(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys)

    assert (code, out, err) == (0, run(capsys, "--help")[1], "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["serv"], "specloom: there is no command 'serv'; did you mean \"serve\"?\n"),
        (["data", "erse"], "specloom: there is no command 'data erse'; did you mean \"erase\"?\n"),
        (["xyzzy"], "specloom: there is no command 'xyzzy'; `specloom --help` lists what there is\n"),
        (["keys", "xyzzy"], "specloom: there is no command 'keys xyzzy'; known: add, list, revoke\n"),
    ],
)
def test_a_word_that_is_no_command_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    assert run(capsys, *words) == (2, "", told)


def test_what_a_host_has_not_filled_in_counts_as_not_set(
    specs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEMO_KEY", "${user_config.demo_key}")

    _, out, err = run(capsys, "doctor", "--details")

    assert "specloom: DEMO_KEY is '${user_config.demo_key}', which its host has not filled in" in err
    assert "set DEMO_KEY: The key." in out


def test_only_what_is_needed_is_called_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "call")[2].splitlines()[-1].endswith("required: TOOL")


def test_a_host_that_cannot_be_reached_comes_with_what_to_look_at(
    specs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Loopback(lambda _: (200, {}, b"")) as server:
        monkeypatch.setenv("DEMO_URL", server.url)

    code, _, err = run(capsys, "call", "demo_find", "query=otters")

    assert code == 75  # try again later
    assert err.count("be reached") == 2  # once for the provider, once for the remedy
    assert "specloom doctor --reach" in err


def test_options_of_serve_are_lists_and_paths() -> None:
    said = make_parser().parse_args(
        ["serve", "--toolset", "core,research", "--exclude", "a", "--tools", "b", "--replay", "x", "--host", "sdk"]
    )

    assert (said.toolset, said.exclude, said.tools) == (["core,research"], ["a"], ["b"])
    assert (said.replay, said.record, said.host, said.budget) == ("x", "", "sdk", False)


def test_the_budget_of_a_selection_is_shown_without_serving(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "serve", "--tools", "demo_find", "--budget")

    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["demo_find", "instructions", "all"]


@pytest.mark.parametrize("words", [["--toolset", "nope", "--budget"], ["--replay", "/nowhere/at/all"]])
def test_a_selection_or_a_replay_that_does_not_exist_is_a_usage_error(
    specs: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert run(capsys, "serve", *words)[0] == 2


@pytest.mark.usefixtures("small_catalogue")
def test_an_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(server, "version_line", interrupted)

    assert main(["--version"]) == 130


# --- check ----------------------------------------------------------------------------------------------------------


def check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code, out, _ = run(capsys, "check", "--json", *words)
    return code, json.loads(out)


def of_file(said: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [one for one in said["diagnostics"] if one["file"].endswith(name)]


def test_a_problem_is_shown_with_its_line_and_exits_with_1(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_demo(
        specs, {PROVIDER: [("since: =lookup('since', args.time_range)", "since: =lookup('sinec', args.time_range)")]}
    )

    code, out, err = run(capsys, "check")

    assert (code, err) == (1, "")
    place = f"--> {(specs / PROVIDER).absolute().as_posix()}:"
    assert place in out, "a spec of the user's own is shown by its whole path, unlike one that is shipped"
    assert "since: =lookup('sinec', args.time_range)" in out
    assert out.splitlines()[-1].count("examples") == 1
    assert run(capsys, "check")[1].splitlines()[:-1] == out.splitlines()[:-1], "remembered, it looks the same"


def test_counts_and_diagnostics_come_as_data(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, said = check(capsys)

    assert said["counts"]["tools"] >= 1
    assert not [one for one in of_file(said, "demo.yaml") if one["severity"] == "error"]


def test_a_repeated_check_remembers_until_a_spec_changes(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, first = check(capsys)
    _, second = check(capsys)
    write_demo(specs, {PROVIDER: [("title: Demo\n", "title: Changed\n")]})

    _, third = check(capsys)

    assert [one["remembered"] for one in (first, second, third)] == [False, True, False]
    assert second["diagnostics"] == first["diagnostics"]
    assert check(capsys, "--no-cache")[1]["remembered"] is False


@pytest.mark.parametrize("damage", [b"", b"not json", b"[]", b'{"digest": 3}', b'{"digest": "x", "found": [[1]]}'])
def test_a_damaged_memory_is_looked_past(
    specs: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, damage: bytes
) -> None:
    _, first = check(capsys)
    (stamp,) = (tmp_path / "cache").glob("check-*.json")
    stamp.write_bytes(damage)

    _, second = check(capsys)

    assert (second["remembered"], second["diagnostics"]) == (False, first["diagnostics"])


def test_a_cache_that_cannot_be_written_does_not_keep_a_check_from_working(
    specs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("SPECLOOM_CACHE_DIR", str(tmp_path / "file"))

    assert check(capsys)[1]["remembered"] is False


def test_further_files_and_folders_are_laid_on_top(
    specs: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    loose = tmp_path / "loose"
    loose.mkdir()
    (loose / "broken.yaml").write_text("spec: provider/1\nname: broken\nttle: x\n", encoding="utf-8")

    for path in (loose, loose / "broken.yaml"):
        code, said = check(capsys, str(path))
        assert code == 1
        assert {one["code"] for one in of_file(said, "broken.yaml")} >= {"E101", "E102"}
    assert of_file(check(capsys, str(specs / "providers.d"))[1], "broken.yaml") == []


def test_warnings_can_be_errors(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, said = check(capsys)

    code, _ = check(capsys, "--warnings-as-errors")

    assert code == (1 if said["errors"] or said["warnings"] else 0)


# --- call and explain -----------------------------------------------------------------------------------------------


def test_a_call_prints_its_answer_as_data_when_nobody_watches(
    upstream: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "call", "demo_find", "query=otters", "num_results=3")

    said = json.loads(out)
    assert code == 0
    assert said["answer"]["pages"] == [{"title": "Otters[31m", "url": "https://example.org/a", "rank": 1}]
    assert dict(upstream.last.query) == {"q": "otters", "count": "3"}


HARM = "\x1b[2J\x9b31m\x9d0;t\x9c\x7f\u202e\u2066\U000e0041\ufeff\rz"


@pytest.mark.parametrize("words", [(), ("--raw",), ("--json",)])
def test_no_control_of_another_reaches_a_terminal(
    upstream: Loopback, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    _, out, _ = run(capsys, "call", "demo_find", f"query=otters{HARM}", *words)
    _, _, err = run(capsys, "call", f"demo_find{HARM}", "query=otters")
    _, shown, said = run(capsys, "explain", "demo_find", f"query=otters{HARM}")
    _, _, usage = run(capsys, "list", f"--nothing{HARM}")

    assert "otters" in shown
    controls = {one for one in HARM if not one.isascii() or not one.isprintable()}
    assert not controls & set(out + err + shown + said + usage)
    json.loads(out)


class WrittenScreen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_only_colours_are_obeyed() -> None:
    screen = WrittenScreen()

    SafeStream(screen).write(f"{Paint(screen, {})('a', 'red')}{HARM}می‌خواهم\tb\r\n")

    assert screen.getvalue() == (
        "\x1b[31ma\x1b[0m\\u001b[2J\\u009b31m\\u009d0;t\\u009c\\u007f\\u202e\\u2066\\udb40\\udc41\\ufeff\\rzمی‌خواهم\tb\r\n"
    )


def test_the_answer_alone_can_be_had(upstream: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "call", "demo_find", "query=otters", "--raw")

    assert json.loads(out).keys() == {"count", "field", "pages"}


def test_a_fault_is_a_sentence_on_stderr(upstream: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "call", "demo_find", "query=refused", "--json")

    assert (code, out) == (3, "")
    assert "specloom: Demo refused the key" in err


def test_text_stays_text_and_other_kinds_are_read(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "explain", "demo_find", 'query="007"', "num_results=3", "--json")

    assert json.loads(out)["arguments"] == {"query": '"007"', "num_results": 3}


@pytest.mark.parametrize(("words", "sentence"), [(["query=a", "query=b"], "given twice"), (["=x"], "KEY=VALUE")])
def test_arguments_that_make_no_sense_are_usage_errors(
    specs: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    code, _, err = run(capsys, "explain", "demo_find", *words)

    assert code == 2
    assert sentence in err


def test_an_unknown_tool_or_argument_is_said_with_what_there_is(
    specs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "demo_find" in run(capsys, "call", "demo_fnd", "query=x")[2]
    assert 'did you mean "query"' in run(capsys, "call", "demo_find", "qeury=x")[2]


def test_a_replayed_call_sends_nothing_and_needs_no_key(
    upstream: Loopback, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DEMO_KEY")
    request = Request("GET", "https://x.example/", provider="demo", operation="demo_pages", step="main")
    said = to_recording(request, Response(200, {"content-type": "application/json"}, json.dumps(PAGE).encode()))
    write_whole(tmp_path / "kept" / "demo" / "demo_pages.main.x.json", json.dumps(said).encode())

    code, out, _ = run(capsys, "call", "demo_find", "query=otters", "--replay", str(tmp_path / "kept"))

    assert code == 0
    assert json.loads(out)["answer"]["count"] == 1
    assert upstream.calls == []


def test_an_answer_is_kept_on_disk_only_when_asked(
    upstream: Loopback, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run(capsys, "call", "demo_find", "query=otters")
    left = (tmp_path / "cache" / "answers").exists()
    for _ in range(2):
        _, out, _ = run(capsys, "call", "demo_find", "query=otters", "--cache")

    assert not left
    assert json.loads(out)["_meta"]["cached"] is True
    assert len(upstream.calls) == 2


def test_specs_with_errors_stop_a_call_and_say_what_to_run(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_demo(specs, {PROVIDER: [("title: Demo\n", "ttle: Demo\n")]})

    code, out, err = run(capsys, "call", "demo_find", "query=x")

    assert (code, out) == (1, "")
    assert "specloom check" in err


# --- try and record -------------------------------------------------------------------------------------------------


def test_try_shows_requests_masked_and_what_the_map_found(
    upstream: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "try", "demo", "query=otters", "num_results=2")

    assert (code, err) == (0, "")
    assert f"GET {upstream.url}/search?q=otters&count=2" in out
    assert "X-Key: •••" in out
    assert "s3cr3t" not in out
    assert "\x1b" not in out
    assert "1 rows: title 1/1, url 1/1, rank 1/1" in out


def test_try_as_data_has_the_fault_and_exits_with_1(upstream: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "try", "demo.demo_pages", "query=refused", "--json")

    said = json.loads(out)
    assert code == 1
    assert said["fault"]["kind"] == "auth_required"
    assert said["exchanges"][0]["status"] == 401


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["dmo", "query=x"], 'did you mean "demo"'),
        (["demo.pages", "query=x"], "demo_pages"),
        (["demo", "qery=x"], 'did you mean "query"'),
        (["demo", "query=x", "num_results=many"], "num_results is 'many'"),
    ],
)
def test_a_wrong_operation_or_argument_is_said(
    specs: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    code, out, err = run(capsys, "try", *words)

    assert (code, out) == (1, "")
    assert sentence in err


def test_a_provider_without_its_key_is_not_tried(
    specs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEMO_KEY")

    assert "set DEMO_KEY" in run(capsys, "try", "demo", "query=x")[2]


def test_a_recording_replays_and_its_example_holds(
    upstream: Loopback, specs: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, err = run(capsys, "record", "demo", "query=otters", "--to", str(tmp_path / "kept"))
    (file,) = (tmp_path / "kept").rglob("*.json")
    text = (specs / PROVIDER).read_text(encoding="utf-8")
    example = out.replace("say in a sentence what this shows", "recorded")

    (specs / PROVIDER).write_text(
        f"{text}{''.join(f'  {line}' for line in example.splitlines(keepends=True))}", encoding="utf-8"
    )
    _, said = check(capsys)
    _, replayed, _ = run(capsys, "call", "demo_find", "query=otters", "--replay", str(tmp_path / "kept"))

    assert code == 0
    assert "s3cr3t" not in out + file.read_text(encoding="utf-8")
    assert str(file) in err
    assert not [one for one in of_file(said, "providers.d/demo.yaml") if one["severity"] == "error"]
    assert json.loads(replayed)["answer"]["count"] == 1


def test_a_failure_is_recorded_too_with_the_fault_as_expectation(
    upstream: Loopback, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, err = run(capsys, "record", "demo", "query=refused", "--to", str(tmp_path / "kept"))

    assert code == 0
    assert "status: 401" in out
    assert "error: auth_required" in out
    assert "Demo refused the key" in err


def test_a_row_without_a_title_or_an_address_is_shown_whole() -> None:
    plain = Paint(io.StringIO(), {})

    assert row_lines(1, {"id": "7", "species": "Bubo bubo", "year": 2026}, plain, 80) == [
        '  1  {"id": "7", "species": "Bubo bubo", "year": 2026}',
        "     2026",
    ]
    assert row_lines(2, {"id": "7", "name": "Owl"}, plain, 80) == ["  2  Owl", "     7"]


# --- new, list, doctor, schema --------------------------------------------------------------------------------------


def test_a_new_provider_is_written_once_and_says_what_is_next(
    specs: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sample = tmp_path / "sample.json"
    sample.write_text(json.dumps(PAGE), encoding="utf-8")
    words = ["new", "provider", "beta", "--capability", "demo_pages", "--from", str(sample)]

    code, out, err = run(capsys, *words)
    written = Path(out.strip()).read_text(encoding="utf-8")
    again, _, refused = run(capsys, *words)

    assert code == 0
    assert Path(out.strip()) == specs / "providers.d" / "beta.yaml"
    assert "decide.invalid" in err
    assert "specloom check" in err
    assert again == 2
    assert "beta" in refused
    assert (specs / "providers.d" / "beta.yaml").read_text(encoding="utf-8") == written


@pytest.mark.usefixtures("specs")
def test_what_a_new_file_asks_its_author_to_decide_is_no_error_besides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = tmp_path / "sample.json"
    sample.write_text('{"items": [{"a": "x", "n": 3}, {"a": "y", "n": 4}]}', encoding="utf-8")
    words = ["--capability", "demo_pages", "--from", str(sample), "--base", "https://beta.example/find?q=otter"]

    code, out, err = run(capsys, "new", "provider", "beta", *words, "--to", str(tmp_path))

    assert code == 0
    assert "# decide: " in Path(out.strip()).read_text(encoding="utf-8")
    assert "E401" not in err
    assert "settle what is marked `decide`" in err


def test_a_file_in_the_way_is_never_overwritten(
    specs: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "providers.d" / "beta.yaml"
    file.parent.mkdir()
    file.write_text("mine", encoding="utf-8")

    code, _, err = run(capsys, "new", "provider", "beta", "--capability", "demo_pages", "--to", str(tmp_path))

    assert code == 2
    assert "not overwritten" in err
    assert file.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("below", ["", "providers.d", "providers.d/mine"])
def test_a_folder_that_is_named_is_one_that_is_read(
    specs: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    layer = tmp_path / "layer"
    words = ("new", "provider", "beta", "--capability", "demo_pages", "--to", str(layer / below))

    code, out, err = run(capsys, *words)
    monkeypatch.setenv("SPECLOOM_PATH", f"{specs}{os.pathsep}{layer}")
    _, listed, _ = run(capsys, "list", "providers")

    assert code == 0
    assert Path(out.strip()) == layer / (below or "providers.d") / "beta.yaml"
    assert f"it is read with SPECLOOM_PATH={layer}" in err
    assert "beta" in listed


@pytest.mark.parametrize(
    "words", [["9x"], ["beta", "--capability", "nope"], ["beta", "--from", "/nowhere/at/all"], ["beta", "--base", "x"]]
)
def test_a_provider_that_cannot_be_started_is_a_usage_error(
    specs: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert run(capsys, "new", "provider", *words)[0] == 2


def test_what_there_is_is_listed(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, everything, _ = run(capsys, "list")
    _, out, _ = run(capsys, "list", "providers", "--json")

    words = ("tools:", "demo_find", "providers:", "lenses:", "demo_field", "collections:", "sessions")
    assert all(word in everything for word in words)
    assert {"name": "demo", "says": "Demo: demo_pages"} in json.loads(out)["providers"]


def test_the_version_comes_with_a_digest_that_follows_the_specs(
    specs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, before, _ = run(capsys, "--version")
    write_demo(specs, {PROVIDER: [("title: Demo\n", "title: Changed\n")]})

    code, after, _ = run(capsys, "--version")

    assert code == 0
    assert before.startswith("specloom ")
    assert before != after


def test_the_doctor_speaks_and_finds_something_that_works(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "doctor", "--details")
    short_code, short, _ = run(capsys, "doctor")
    _, data, _ = run(capsys, "doctor", "--json")

    assert (code, short_code) == (0, 0)
    assert "demo_pages, with DEMO_URL and DEMO_KEY" in out
    assert "demo_pages" not in short
    assert len(short.splitlines()) < 40
    found = json.loads(data)
    assert {"state": "ok", "about": "tool demo_find", "says": "demo"} in found["examined"]
    assert found["summary"] == short.splitlines()[0] == out.splitlines()[0]
    assert "s3cr3t" not in out + data


def test_an_answer_is_written_to_the_file_that_is_named(
    upstream: Loopback, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page, data = tmp_path / "page.md", tmp_path / "page.json"

    told = [run(capsys, "call", "demo_find", "query=otters", "-o", str(one)) for one in (page, data)]
    shown = run(capsys, "call", "demo_find", "query=otters")[1]
    nowhere = run(capsys, "call", "demo_find", "query=otters", "-o", str(tmp_path / "none" / "page.md"))

    assert told == [(0, "", ""), (0, "", "")]
    assert "Otters" in page.read_text(encoding="utf-8")
    assert json.loads(data.read_text(encoding="utf-8"))["answer"] == json.loads(shown)["answer"]
    assert not page.read_text(encoding="utf-8").startswith("{")
    assert nowhere[0] == 2
    assert "there is no folder" in nowhere[2]
    assert len(upstream.calls) == 3


def test_a_file_that_cannot_be_written_is_told_before_anything_is_asked(
    upstream: Loopback, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, err = run(capsys, "call", "demo_find", "query=otters", "-o", str(tmp_path))

    assert (code, out) == (2, "")
    assert err == f"specloom: {tmp_path} is a folder; name a file in it\n"
    assert upstream.calls == []


@pytest.mark.parametrize(("words", "same"), [(("help",), ("--help",)), (("help", "call"), ("call", "--help"))])
def test_help_is_a_command_as_well(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], same: tuple[str, ...]
) -> None:
    assert run(capsys, *words) == run(capsys, *same)


def test_version_is_a_command_as_well(specs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "version") == run(capsys, "--version")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("list", "tool"), "specloom list: error: there is no 'tool' here; did you mean \"tools\"?\n"),
        (("completion", "bsh"), "specloom completion: error: there is no 'bsh' here; did you mean \"bash\"?\n"),
        (("completion", "x"), "there is no 'x' here; known: bash, fish, powershell, zsh\n"),
    ],
)
def test_a_misspelt_choice_is_told_with_the_one_that_is_meant(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], says: str
) -> None:
    code, out, err = run(capsys, *words)

    assert (code, out) == (2, "")
    assert err.endswith(says)


def test_a_strange_option_is_told_with_options_alone(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "call", "demo_find", "--zzz")

    assert code == 2
    assert "--zzz; known: --cache, " in err
    assert "pairs" not in err


@pytest.mark.parametrize("command", ["call", "explain"])
def test_a_misspelt_tool_is_a_wrong_word_of_the_command_line(
    specs: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert run(capsys, command, "demo_fnd", "query=x") == (
        2,
        "",
        "specloom: there is no tool 'demo_fnd'; did you mean \"demo_find\"?\n",
    )


def test_an_argument_that_is_missing_is_a_wrong_command_line_to_explain_too(
    specs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [run(capsys, command, "demo_find")[0] for command in ("call", "explain")] == [2, 2]


def test_schemas_are_written_for_every_kind(specs: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = run(capsys, "schema", "--to", str(tmp_path / "schema"))
    _, everything, _ = run(capsys, "schema")

    assert code == 0
    assert {Path(line).name for line in out.splitlines()} == {
        "provider.json",
        "capability.json",
        "tool.json",
        "lens.json",
        "toolset.json",
        "collection.json",
        "resource.json",
    }
    kinds = {"provider", "capability", "tool", "lens", "toolset", "collection", "resource"}
    assert json.loads(everything).keys() == kinds


# --- as a process ---------------------------------------------------------------------------------------------------


def process(*words: str, **options: Any) -> subprocess.Popen[bytes]:
    environ = {**os.environ, "PYTHONWARNINGS": "error"}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([sys.executable, "-m", "specloom", *words], env=environ, **pipes)


@pytest.mark.process
def test_a_reader_that_leaves_is_no_error_to_speak_of(specs: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with process("list", stdout=writing) as child:
        os.close(writing)
        _, err = child.communicate(timeout=300)

    assert (child.returncode, err) == (141, b"")


@pytest.mark.process
def test_half_a_surrogate_in_an_answer_does_not_end_the_command(specs: Path) -> None:
    with process("explain", "demo_find", b"query=\xff".decode("utf-8", "surrogateescape")) as child:
        out, err = child.communicate(timeout=300)

    assert b"Traceback" not in err
    assert child.returncode in {0, 2}
    assert out or err


@pytest.mark.process
def test_the_demonstration_runs_offline_from_the_examples_of_the_specs(tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "scripts" / "demo.py"
    environ = {**os.environ, "SPECLOOM_FIXTURES": str(tmp_path), "SPECLOOM_PATH": "", "SEARCH_ROUTING": ""}
    words = [sys.executable, str(script), "--offline"]

    done = subprocess.run(words, env=environ, capture_output=True, encoding="utf-8", timeout=120, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "replies from the specs' own examples" in done.stdout
    assert '"cached": true' in done.stdout
    assert "there is no provider" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


# --- what a person sees ---------------------------------------------------------------------------------------------


class Screen:
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


HOSTILE = "\x1b]0;owned\x07\x9b31m\u202eotters"


def test_what_others_wrote_cannot_steer_the_terminal() -> None:
    row = {"title": HOSTILE, "url": f"https://example.org/{HOSTILE}", "publishedAt": HOSTILE, "snippet": HOSTILE}

    lines = answer_lines({"results": [row], HOSTILE: HOSTILE}, Paint(Screen(), {"NO_COLOR": "1"}), 80)  # type: ignore[arg-type]

    assert not [line for line in lines for one in line if one in "\x1b\x07\x9b\u202e"]


def test_an_answer_is_a_list_with_title_address_date_and_excerpt() -> None:
    row = {
        "title": "Otters",
        "url": "https://example.org/a",
        "publishedAt": "2026-01-02",
        "snippet": "They " + "swim " * 60,
    }
    answer = {"urls": ["https://example.org/a"], "query": "otters", "results": [row]}

    lines = answer_lines(answer, Paint(Screen(), {"NO_COLOR": "1"}), 60)  # type: ignore[arg-type]

    assert lines[:3] == ["  1  Otters", "     https://example.org/a", "     2026-01-02"]
    assert lines[3].count("\n") == 1
    assert lines[-1] == "query: otters"
    assert all(len(part) <= 60 for line in lines for part in line.splitlines())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["doctor", "--reech"], 'specloom doctor: error: unrecognized arguments: --reech; did you mean "--reach"?'),
        (["mutate", "--floor", "2"], "'2' is not a share; write a number from 0 to 1"),
        (["mutate", "--floor", "half"], "'half' is not a share; write a number from 0 to 1"),
        (["mutate", "demo_fnid"], "is called 'demo_fnid'; did you mean \"demo"),
    ],
)
def test_what_is_not_understood_is_told_in_the_words_of_the_command(
    specs: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    code, out, err = run(capsys, *words)

    assert (code, out) == (2, "")
    assert told in err


# --- files in, files out ---


def test_an_argument_may_be_the_text_of_a_file(
    specs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a=b.txt").write_text("\ufeffotters @ sea", encoding="utf-8")
    _, out, _ = run(capsys, "explain", "demo_find", f"query@{tmp_path / 'a=b.txt'}", "--json")
    assert json.loads(out)["arguments"]["query"] == "otters @ sea"

    _, out, _ = run(capsys, "explain", "demo_find", "query=a@b", "--json")
    assert json.loads(out)["arguments"]["query"] == "a@b"

    monkeypatch.setattr("sys.stdin", io.StringIO("piped in"))
    _, out, _ = run(capsys, "explain", "demo_find", "query@-", "--json")
    assert json.loads(out)["arguments"]["query"] == "piped in"

    code, _, err = run(capsys, "explain", "demo_find", f"query@{tmp_path / 'none.txt'}")
    assert (code, "none.txt cannot be read: No such file" in err) == (2, True)


async def test_what_an_answer_links_is_written_to_files_and_none_is_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with desk() as audits:
        answer = await audits.audit(entries=[{"doi": "10.1234/fly"}], report="html", notes=True)
        kept = (await audits.read(answer["reportResource"])).content

        await _save_linked(audits.executor, "", answer, str(tmp_path / "out"))

        assert (tmp_path / "out" / "bibliography-audit.html").read_text(encoding="utf-8") == kept
        assert "audit of" in (tmp_path / "out" / "bibliography-with-notes.txt").read_text(encoding="utf-8")
        assert (tmp_path / "out" / "corrected-bibliography.txt").exists()
        assert capsys.readouterr().err.count("wrote ") == 3
        with pytest.raises(CommandError, match="exists and is not overwritten"):
            await _save_linked(audits.executor, "", answer, str(tmp_path / "out"))


@pytest.mark.parametrize("port", ["http", "-1", "65536"])
def test_a_port_of_the_local_page_that_is_none_is_told(capsys: pytest.CaptureFixture[str], port: str) -> None:
    code, out, err = run(capsys, "ui", f"--port={port}")

    assert (code, out) == (2, "")
    assert f"--port is {port!r}" in err


def test_what_is_kept_for_a_user_of_standard_input_is_found_by_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("STDIO_USER_ID", "ann")
    code, _, err = run(
        capsys,
        "call",
        "sequential_search",
        "searchStep=otters",
        "stepNumber=1",
        "nextStepNeeded=true",
        "researchGoal=dams",
    )
    assert code == 0, err
    _, mine, _ = run(capsys, "call", "list_research_sessions")
    monkeypatch.setenv("STDIO_USER_ID", "bob")
    _, other, _ = run(capsys, "call", "list_research_sessions")

    assert json.loads(mine)["answer"]["count"] == 1
    assert json.loads(other)["answer"]["count"] == 0
