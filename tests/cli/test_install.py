"""This server is put into the configuration of a host, tried as the host starts it, and taken out again."""

from __future__ import annotations

import os
import pty
import shlex
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from specloom.cli import install
from specloom.cli.host_file import find_entry
from specloom.cli.hosts import HostCommand, load_hosts
from specloom.cli.main import main

# A server of three tools, which is there as quickly as Python, and that says what it was started with.
SERVER = """
import json, os, sys
if os.environ.get("FAILS"):
    sys.exit("no key of that name is known")
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "tools/list":
        tools = [{"name": name} for name in ("one", "two", "three")]
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": tools}}), flush=True)
    elif "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}), flush=True)
"""

# Files as hosts and their people write them, cut down by hand: other servers, comments, settings of other things.
SAMPLES = {
    "claude-desktop": '{\n  "globalShortcut": "",\n  "mcpServers": {\n    "files": {\n      "command": "npx",\n'
    '      "args": ["-y", "some-server", "/tmp"]\n    }\n  }\n}',
    "claude-code": '{\n  "numStartups": 12,\n  "projects": {\n    "/home/ann": {"allowedTools": [], "mcpServers": {}}\n'
    '  },\n  "userID": "0000"\n}\n',
    "cursor": '{"mcpServers":{"db":{"url":"http://localhost:3000/sse"}}}',
    "vscode": '{\n\t// what the team uses\n\t"inputs": [\n\t\t{"type": "promptString", "id": "k"}\n\t],\n'
    '\t"servers": {\n\t\t"github": {\n\t\t\t"type": "http",\n\t\t\t"url": "https://host.example/mcp/"\n\t\t},\n\t}\n}\n',
    "windsurf": '{\r\n  "mcpServers": {}\r\n}\r\n',
    "codex": '# mine\nmodel = "gpt-x"\n\n[mcp_servers.docs]\ncommand = "docs" # keep\nargs = []\n\n# trusted\n'
    '[projects."/home/ann/work"]\ntrust_level = "trusted"\n',
    "gemini": '{\n  "theme": "Default", // dark\n  "selectedAuthType": "oauth-personal"\n}\n',
    "antigravity": "{}\n",
    "copilot": '{\n  "mcpServers": {\n    "a": {"type": "local", "command": "a", "args": [], "tools": ["*"]}\n  }\n}\n',
    "zed": '// Zed settings\n//\n// For information, see the documentation\n{\n  "theme": {\n    "mode": "system",\n'
    '    "dark": "One Dark",\n  },\n  /* servers */\n  "context_servers": {\n'
    '    "x": {"source": "custom", "command": "x", "args": []},\n'
    "  },\n}\n",
    "opencode": '{\n  "$schema": "https://opencode.ai/config.json",\n  "model": "a/b",\n  // tools\n  "mcp": {\n'
    '    "remote": {"type": "remote", "url": "https://host.example", "enabled": false}\n  }\n}\n',
    "lm-studio": '\ufeff{\n    "mcpServers": {\n        "a": {\n            "command": "a"\n        }\n    }\n}',
    "junie": "",
    "cline": '{\n  "mcpServers": {\n    "a": {"command": "a", "disabled": false, "autoApprove": ["read"]}\n  }\n}\n',
    "kiro": '{"mcpServers": {"a": {"command": "a", "args": [], "env": {"T": "t"}, "disabled": true}}, "powers": {}}\n',
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of somebody who has no host yet."""
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "APPDATA", "BRAVE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def command(tmp_path: Path) -> str:
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    return shlex.join([sys.executable, str(tmp_path / "server.py")])


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], command: str) -> Callable[..., tuple[int, str, str]]:
    def run(*words: str) -> tuple[int, str, str]:
        code = main([*words, "--command", command] if words[0] == "install" and len(words) > 1 else list(words))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def place(host: str, text: str | None = None) -> Path:
    path = load_hosts()[host].find_file(os.environ)
    if text is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return path


def entry_of(host: str, path: Path, name: str = "specloom") -> dict[str, object] | None:
    row = load_hosts()[host]
    return find_entry(path.read_bytes().decode().removeprefix("\ufeff"), row.format, [*row.at, name])


def test_there_is_a_sample_of_every_host() -> None:
    assert SAMPLES.keys() == load_hosts().keys()


@pytest.mark.parametrize("host", SAMPLES)
def test_a_host_gets_the_server_once_and_loses_it_without_a_trace(host: str, home: Path, run, monkeypatch) -> None:
    path = place(host, SAMPLES[host])
    path.chmod(0o640)
    monkeypatch.setenv("BRAVE_API_KEY", "a-key-of-ann")

    code, out, _ = run("install", host, "--key", "BRAVE_API_KEY")

    assert code == 0
    assert "lists 3 tools" in out
    assert "next: " in out
    assert "a-key-of-ann" not in out
    entry = entry_of(host, path)
    assert entry is not None
    assert load_hosts()[host].read_command(entry) == HostCommand(
        (sys.executable, str(home / "server.py")), {"BRAVE_API_KEY": "a-key-of-ann"}
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    written = path.read_bytes()

    code, out, _ = run("install", host)

    assert (code, path.read_bytes()) == (0, written)
    assert "already" in out

    code, out, _ = run("uninstall", host)

    assert (code, path.read_bytes().decode()) == (0, SAMPLES[host])
    (advice,) = [line for line in out.splitlines() if line.startswith("next: ")]
    assert advice.endswith(", so that it lets go of the server")
    assert not any(
        words in advice for words in ("switch it on", "start it there", "look at it", "it starts the server")
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [one.name for one in path.parent.iterdir() if "before" in one.name] == []


@pytest.mark.parametrize("host", SAMPLES)
def test_a_host_without_a_file_gets_one_that_others_cannot_read_and_loses_it(host: str, home: Path, run) -> None:
    path = place(host)

    assert run("install", host)[0] == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert run("uninstall", host)[0] == 0
    assert not path.exists()


@pytest.mark.parametrize("host", ["claude-desktop", "vscode", "codex", "zed", "lm-studio"])
def test_what_was_added_since_stays_when_the_server_is_taken_out(host: str, home: Path, run) -> None:
    row = load_hosts()[host]
    path = place(host, SAMPLES[host])
    run("install", host)
    run("install", host, "--name", "second")

    assert run("uninstall", host)[0] == 0

    assert entry_of(host, path) is None
    assert entry_of(host, path, "second") is not None
    before = find_entry(SAMPLES[host].removeprefix("\ufeff"), row.format, row.at) or {}
    after = find_entry(path.read_bytes().decode().removeprefix("\ufeff"), row.format, row.at) or {}
    after.pop("second")
    assert after == before


def test_a_second_installation_keeps_the_keys_and_what_a_person_added(home: Path, run, monkeypatch) -> None:
    path = place("claude-desktop", SAMPLES["claude-desktop"])
    monkeypatch.setenv("BRAVE_API_KEY", "secret")
    run("install", "claude-desktop", "--key", "BRAVE_API_KEY")
    path.write_text(path.read_text().replace('"args": ["', '"note": "mine",\n      "args": ["'), encoding="utf-8")

    code, _, _ = run("install", "claude-desktop", "--set", "SPECLOOM_TOOLSETS=core")

    entry = entry_of("claude-desktop", path)
    assert code == 0
    assert entry is not None
    assert entry["note"] == "mine"
    assert entry["env"] == {"BRAVE_API_KEY": "secret", "SPECLOOM_TOOLSETS": "core"}


def test_a_dry_run_shows_the_entry_without_the_key_and_writes_nothing(home: Path, run, monkeypatch) -> None:
    path = place("zed", SAMPLES["zed"])
    monkeypatch.setenv("BRAVE_API_KEY", "a-key-of-ann")

    code, out, _ = run("install", "zed", "--dry-run", "--key", "BRAVE_API_KEY")

    assert code == 0
    assert (
        '+       "BRAVE_API_KEY": "…"' in out.replace("    ", "  ").replace("    ", "  ")
        or '"BRAVE_API_KEY": "…"' in out
    )
    assert "a-key-of-ann" not in out
    assert path.read_text() == SAMPLES["zed"]
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("host", ["claude-desktop", "zed", "codex"])
def test_a_file_that_is_not_valid_is_left_alone_with_its_place(host: str, home: Path, run) -> None:
    broken = SAMPLES[host] + "}"
    path = place(host, broken)

    for command in ("install", "uninstall"):
        code, _, err = run(command, host)

        assert code == 1
        assert f"{path} is left alone" in err
        assert "line " in err
    assert path.read_text() == broken
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_file_that_is_no_utf8_is_left_alone(home: Path, run) -> None:
    path = place("cursor", "{}")
    path.write_bytes(b'{"a": "\xff"}')

    code, _, err = run("install", "cursor")

    assert (code, "byte 7 of it is no UTF-8" in err) == (1, True)


def test_a_link_to_a_file_stays_a_link(home: Path, run) -> None:
    real = home / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text(SAMPLES["claude-desktop"], encoding="utf-8")
    path = place("claude-desktop")
    path.parent.mkdir(parents=True)
    path.symlink_to(real)

    run("install", "claude-desktop")

    assert path.is_symlink()
    assert "specloom" in real.read_text()
    assert [one.name for one in real.parent.iterdir()] == [real.name]

    run("uninstall", "claude-desktop")

    assert path.is_symlink()
    assert real.read_text() == SAMPLES["claude-desktop"]


def test_a_server_that_does_not_answer_is_told_with_its_last_words(home: Path, run) -> None:
    code, _, err = run("install", "cursor", "--set", "FAILS=1")

    assert code == 1
    assert "it ended with 1: no key of that name is known" in err
    assert "specloom uninstall cursor" in err


def test_the_server_gets_the_variables_of_the_entry_and_not_those_of_the_shell(home: Path, run, monkeypatch) -> None:
    monkeypatch.setenv("FAILS", "1")

    assert run("install", "cursor")[0] == 0


def test_the_file_of_a_project_is_in_its_folder_and_takes_no_key(home: Path, run, monkeypatch) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "secret")

    assert run("install", "vscode", "--project")[0] == 0
    assert find_entry((home / ".vscode" / "mcp.json").read_text(), "jsonc", ["servers", "specloom"])
    assert run("install", "vscode", "--project", "--key", "BRAVE_API_KEY")[0] == 2
    assert run("install", "windsurf", "--project")[0] == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["install", "curser"], 'did you mean "cursor"?'),
        (["install", "cursor", "--key", "NOT_SET_KEY"], "NOT_SET_KEY is not set"),
        (["install", "cursor", "--set", "BRAVE_API_KEY=x"], "BRAVE_API_KEY is a secret"),
        (["install", "cursor", "--set", "x"], "write NAME=VALUE"),
        (["install", "cursor", "--name", "a/b"], "no name of a server"),
    ],
)
def test_what_is_asked_for_in_the_wrong_way_is_said(words: list[str], says: str, home: Path, run) -> None:
    code, _, err = run(*words)

    assert (code, says in err) == (2, True), err
    assert not place("cursor").exists()


def test_a_misspelt_variable_is_told(home: Path, run) -> None:
    code, _, err = run("install", "cursor", "--set", "SPECLOOM_TOOLSET=core")

    assert code == 0
    assert 'nothing here reads SPECLOOM_TOOLSET; did you mean "SPECLOOM_TOOLSETS"?' in err


def test_without_a_host_all_are_listed_with_how_they_are(home: Path, run) -> None:
    place("cursor", "{}")
    place("zed", "{")
    run("install", "gemini")

    code, out, _ = run("install")

    states = {line.split()[0]: line for line in out.splitlines()}
    assert code == 0
    assert states.keys() == load_hosts().keys()
    assert "  not installed  " in states["cursor"]
    assert "  its file is not valid" in states["zed"]
    assert "  installed  " in states["gemini"]
    assert "  not found here" in states["kiro"]


@pytest.mark.parametrize(
    ("host", "system", "environ", "place"),
    [
        ("claude-desktop", "linux", {"HOME": "/h", "XDG_CONFIG_HOME": "/c"}, "/c/Claude/claude_desktop_config.json"),
        (
            "claude-desktop",
            "darwin",
            {"HOME": "/h"},
            "/h/Library/Application Support/Claude/claude_desktop_config.json",
        ),
        ("vscode", "win32", {"USERPROFILE": "/u", "APPDATA": "/u/A"}, "/u/A/Code/User/mcp.json"),
        ("codex", "linux", {"HOME": "/h", "CODEX_HOME": "/x"}, "/x/config.toml"),
        ("codex", "win32", {"USERPROFILE": "/u"}, "/u/.codex/config.toml"),
        ("zed", "darwin", {"HOME": "/h"}, "/h/.config/zed/settings.json"),
        ("zed", "win32", {"USERPROFILE": "/u"}, "/u/AppData/Roaming/Zed/settings.json"),
    ],
)
def test_a_host_has_its_file_where_its_system_has_it(
    host: str, system: str, environ: dict[str, str], place: str
) -> None:
    assert load_hosts(system)[host].find_file(environ, system) == Path(place)


@pytest.mark.skipif(os.name == "nt", reason="programs have another form there")
def test_the_program_that_runs_is_the_one_that_is_written(tmp_path: Path, monkeypatch) -> None:
    def program(*parts: str) -> str:
        path = tmp_path.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    mine, other = program("mine", "specloom"), program("other", "specloom")
    python, runner = program("mine", "python"), program("tools", "uvx")
    alone, fetched = program("alone", "python"), program("uv", "archive-v0", "x", "bin", "specloom")
    monkeypatch.setenv("PATH", str(Path(other).parent))
    monkeypatch.setattr(sys, "executable", python)

    monkeypatch.setattr(sys, "argv", [other])
    assert install._find_argv("") == (other, "serve")
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "specloom" / "__main__.py")])
    assert install._find_argv("") == (mine, "serve")
    monkeypatch.setattr(sys, "executable", alone)
    assert install._find_argv("") == (alone, "-m", "specloom", "serve")
    monkeypatch.setattr(sys, "argv", [fetched])
    assert install._find_argv("") == (fetched, "serve")
    monkeypatch.setenv("PATH", str(Path(runner).parent))
    assert install._find_argv("") == (runner, "specloom", "serve")


@pytest.mark.skipif(os.name == "nt", reason="terminals are those of POSIX")
def test_a_person_is_asked_for_three_keys_at_most_and_they_are_not_shown(home: Path, command: str) -> None:
    parent, child = pty.openpty()
    words = [sys.executable, "-m", "specloom", "install", "cursor", "--command", command]
    process = subprocess.Popen(
        words, stdin=child, stdout=subprocess.PIPE, stderr=child, start_new_session=True, env={**os.environ}
    )
    os.close(child)
    shown, answers = b"", iter([b"\n", b"key-of-ann\n", b"\n"])
    while True:
        try:
            part = os.read(parent, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        shown += part
        if shown.endswith(b"key: "):
            os.write(parent, next(answers))
    out, _ = process.communicate(timeout=300)
    os.close(parent)

    entry = entry_of("cursor", place("cursor"))
    assert process.returncode == 0, shown
    assert shown.count(b"key: ") == 3
    assert entry is not None
    assert list(entry["env"].values()) == ["key-of-ann"]  # type: ignore[attr-defined]
    assert b"key-of-ann" not in out
    assert b"key-of-ann" not in shown.partition(b"press Enter")[2]


def test_no_two_hosts_write_one_file() -> None:
    files = [(file, row.at) for row in load_hosts("linux").values() for file in row.files]

    assert len(files) == len(set(files))
