"""Somebody else's server: made by one command, built as a wheel, installed, and spoken to by a host."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.hosted import CLEAN, PATIENCE, Hosted
from tests.support.loopback import Call, Loopback, Reply
from tests.support.server_process import call, initialize, notification, request

pytestmark = pytest.mark.process
ROOT = Path(__file__).parents[2]


def run(*command: str | Path, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """The finished process of a command."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**CLEAN, "HOME": str(cwd), **environ},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )


def run_well(*command: str | Path, cwd: Path, **environ: str) -> str:
    """What a command says that must succeed."""
    done = run(*command, cwd=cwd, **environ)
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project as the command makes it."""
    folder = tmp_path_factory.mktemp("made")
    run_well(sys.executable, "-m", "specloom", "new", "project", "bird-songs", cwd=folder)
    return folder / "bird-songs"


@pytest.fixture(scope="module")
def program(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of the project, installed from its wheel in a fresh environment; nothing is fetched."""
    home = tmp_path_factory.mktemp("installed")
    run_well(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", home / "dist", cwd=project)
    (wheel,) = (home / "dist").glob("*.whl")
    venv.create(home / "venv", with_pip=False, symlinks=os.name != "nt")
    scripts = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    install: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-input"]
    if shutil.which("uv"):
        install = ["uv", "pip", "install", "--python", python, "--offline"]
    run_well(*install, "--no-deps", "--no-index", wheel, cwd=home)
    site = Path(run_well(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home).strip())
    folders = dict.fromkeys([str(ROOT / "engine"), *(sysconfig.get_path(name) for name in ("purelib", "platlib"))])
    (site / "zz_dependencies.pth").write_text("".join(f"{folder}\n" for folder in folders), encoding="utf-8")
    return scripts / ("bird-songs.exe" if os.name == "nt" else "bird-songs")


@pytest.fixture
def upstream() -> Iterator[Loopback]:
    def answer(asked: Call) -> Reply:
        rows = [{"title": dict(asked.query)["q"], "url": "https://example.org/a", "summary": "A call at dusk."}]
        return 200, {"Content-Type": "application/json"}, json.dumps({"results": rows})

    with Loopback(answer) as loopback:
        yield loopback


def test_the_server_has_its_own_name_instructions_and_tools_alone(
    program: Path, tmp_path: Path, upstream: Loopback
) -> None:
    address = {"BIRD_SONGS_URL": upstream.url, "SPECLOOM_ALLOW_PRIVATE": "true"}
    # The second start is served from the image that the first has left.
    for _ in range(2):
        with Hosted([program, "serve"], tmp_path, **address) as host:
            hello = host.ask(initialize(1))
            host.send(notification("notifications/initialized"))
            tools = host.ask(request(2, "tools/list"))["tools"]
            answer = host.ask(call(3, "bird_songs_search", {"query": "otters"}))
            prompts = host.ask(request(4, "prompts/list"))["prompts"]
            resources = host.ask(request(5, "resources/list"))["resources"]

        assert hello["serverInfo"] == {"name": "bird-songs", "version": "0.1.0", "title": "Bird songs"}
        assert hello["instructions"].startswith("Bird songs: ")
        assert "Research tools" not in hello["instructions"]
        assert [one["name"] for one in tools] == ["bird_songs_search"]
        assert ([one["name"] for one in prompts], resources) == (["bird-songs-briefing"], [])
        row = {"title": "otters", "url": "https://example.org/a", "summary": "A call at dusk."}
        assert answer["structuredContent"]["results"] == [row]

    assert [one.path.partition("?")[0] for one in upstream.calls] == ["/search"]


def test_it_has_a_view_a_prompt_and_a_link_of_its_own(program: Path, tmp_path: Path) -> None:
    def answer(asked: Call) -> Reply:
        rows = [{"title": f"Wren {n}", "url": f"https://example.org/{n}", "summary": "Dusk. " * 400} for n in range(20)]
        return 200, {"Content-Type": "application/json"}, json.dumps({"results": rows})

    shows = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
    with Loopback(answer) as upstream:
        address = {"BIRD_SONGS_URL": upstream.url, "SPECLOOM_ALLOW_PRIVATE": "true"}
        with Hosted([program, "serve"], tmp_path, **address) as host:
            host.ask(initialize(1, capabilities=shows))
            host.send(notification("notifications/initialized"))
            (tool,) = host.ask(request(2, "tools/list"))["tools"]
            view = host.ask(request(3, "resources/read", {"uri": tool["_meta"]["ui"]["resourceUri"]}))["contents"][0]
            given = {"name": "bird-songs-briefing", "arguments": {"subject": "wrens"}}
            prompt = host.ask(request(4, "prompts/get", given))["messages"][0]["content"]["text"]
            linked = host.ask(call(5, "bird_songs_search", {"query": "wren", "num_results": 20}))["structuredContent"]
            whole = host.ask(request(6, "resources/read", {"uri": linked["resource"]}))["contents"][0]
        shown = run(program, "call", "bird_songs_search", "query=wren", "--html", "a.html", cwd=tmp_path, **address)

    assert view["mimeType"] == "text/html;profile=mcp-app"
    assert "Call `bird_songs_search` with a few words" in prompt
    assert linked["summary"] == "20 entries; read the resource for all of them"
    assert linked["resource"].startswith("bird-songs://answer/")
    assert len(json.loads(whole["text"])["results"]) == 20
    assert shown.returncode == 0, shown.stderr
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "Wren 3" in page
    assert "Made by bird-songs." in page


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_shells_complete_its_own_command(program: Path, tmp_path: Path, shell: str) -> None:
    done = run(program, "completion", shell, cwd=tmp_path)

    assert "bird-songs __complete" in done.stdout
    assert "specloom" not in done.stdout + done.stderr


def test_sentences_of_the_doctor_and_of_slips_name_it(program: Path, tmp_path: Path) -> None:
    doctor = run_well(program, "doctor", cwd=tmp_path)
    details = run_well(program, "doctor", "--details", cwd=tmp_path)
    stats = run(program, "stats", cwd=tmp_path)

    assert doctor.startswith("The one tool works.")
    assert "`bird-songs doctor --details`" in doctor
    assert "specloom" not in doctor
    assert "1 tool and 1 provider compile, all of them those of bird-songs" in details
    assert stats.stderr.startswith("bird-songs: ")


def test_what_its_users_may_set_is_told_in_its_own_words(project: Path) -> None:
    said = (project / ".env.example").read_text(encoding="utf-8")

    assert "specloom" not in said
    assert "SPECLOOM_PROJECT" not in said
    assert 'REDIS_PREFIX="bird-songs-' in said
    assert "`bird-songs keys`" in said


def test_what_it_keeps_lies_in_folders_of_its_own(program: Path, tmp_path: Path) -> None:
    run_well(program, "check", cwd=tmp_path)
    run_well(program, "list", cwd=tmp_path)

    (own,) = (tmp_path / ".cache").iterdir()
    assert re.fullmatch(r"bird-songs-[0-9a-f]{6}", own.name)


def test_its_specs_hold_without_a_warning(program: Path, tmp_path: Path) -> None:
    said = run_well(program, "check", "--warnings-as-errors", cwd=tmp_path)

    assert "1 tool, 1 provider, 1 capability, 0 lenses" in said
    assert "0 errors, 0 warnings" in said


def test_its_command_speaks_of_itself(program: Path, tmp_path: Path) -> None:
    whole = run_well(program, "--help", cwd=tmp_path)
    of_one = run_well(program, "serve", "--help", cwd=tmp_path)
    slip = run(program, "serv", cwd=tmp_path)

    assert whole.startswith("usage: bird-songs [-h]")
    assert "Bird songs: tools for models" in whole
    assert "bird-songs serve --toolset core" in of_one
    assert "specloom" not in whole + of_one
    assert slip.returncode == 2
    assert 'did you mean "serve"' in slip.stderr


def test_a_further_tool_goes_into_the_project_that_one_stands_in(program: Path, project: Path, tmp_path: Path) -> None:
    specs = tmp_path / "bird_songs"
    shutil.copytree(project / "src/bird_songs", specs)

    words = ("new", "tool", "song_find", "--toolset", "bird-songs", "--capability", "bird_songs")
    done = run(program, *words, cwd=specs, HOME=str(tmp_path))
    checked = run(sys.executable, "-m", "specloom", "check", cwd=tmp_path, SPECLOOM_PROJECT=str(specs))

    assert done.returncode == 0, done.stderr
    assert (specs / "tools.d/bird-songs/song_find.yaml").is_file()
    assert done.stderr.endswith("then run `bird-songs check`, and serve it: `bird-songs serve`\n")
    assert "2 tools, 1 provider" in checked.stdout
    assert "0 errors" in checked.stdout


def test_it_is_written_into_a_host_under_its_own_name(program: Path, tmp_path: Path) -> None:
    (tmp_path / ".cursor").mkdir()

    said = run_well(program, "install", "cursor", "--no-keys", cwd=tmp_path)

    entry = json.loads((tmp_path / ".cursor/mcp.json").read_text(encoding="utf-8"))["mcpServers"]
    assert entry.keys() == {"bird-songs"}
    assert entry["bird-songs"]["command"] == str(program)
    assert entry["bird-songs"]["args"] == ["serve"]
    assert "it lists 1 tool\n" in said
    run_well(program, "uninstall", "cursor", cwd=tmp_path)
    assert not (tmp_path / ".cursor/mcp.json").exists()


def test_its_pages_are_made_of_its_specs(project: Path, program: Path, tmp_path: Path) -> None:
    command, environ = (sys.executable, "-m", "bird_songs", "docs"), {"PYTHONPATH": str(project / "src")}
    page = project / "docs/reference/tools.md"
    made = page.read_text(encoding="utf-8")

    up_to_date = run(*command, "--check", cwd=tmp_path, **environ)
    page.write_text("edited\n", encoding="utf-8")
    drifted = run(*command, "--check", cwd=tmp_path, **environ)
    again = run(*command, cwd=tmp_path, **environ)
    elsewhere = run(program, "docs", cwd=tmp_path)

    assert made.startswith("<!-- Generated by `bird-songs docs` from tools.d")
    assert "](../../src/bird_songs/tools.d/bird-songs/bird_songs_search.yaml)" in made
    assert (project / "src/bird_songs/tools.d/bird-songs/bird_songs_search.yaml").is_file()
    assert up_to_date.returncode == 0, up_to_date.stdout
    assert drifted.returncode == 1
    assert "run `bird-songs docs` and commit the result" in drifted.stdout
    assert again.stdout == "wrote docs/reference/tools.md\n"
    assert page.read_text(encoding="utf-8") == made
    assert elsewhere.returncode == 1
    assert "not in the checkout of a project" in elsewhere.stdout


def test_its_own_test_passes(program: Path, project: Path) -> None:
    python = program.with_name("python.exe" if os.name == "nt" else "python")

    run_well(python, "-m", "pytest", "-p", "no:cacheprovider", "-q", cwd=project)


def test_a_changed_version_is_told_by_the_next_start(project: Path, tmp_path: Path) -> None:
    command = (sys.executable, "-m", "bird_songs")
    file = project / "src/bird_songs/project.yaml"
    before = run_well(*command, "--version", cwd=tmp_path, PYTHONPATH=str(project / "src"))
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("0.1.0", "0.2.0rc1"), encoding="utf-8")
    try:
        after = run_well(*command, "--version", cwd=tmp_path, PYTHONPATH=str(project / "src"))
    finally:
        file.write_text(text, encoding="utf-8")

    assert before.startswith("bird-songs 0.1.0, specloom ")
    assert after.startswith("bird-songs 0.2.0rc1, specloom ")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("name: bird-songs", "name: Bird Songs", "`name` is 'Bird Songs'"),
        ('"0.1.0"', "0.1", "`version` is 0.1; write it as a text"),
        ("title:", "titel:", "a project has no key 'titel'; did you mean"),
        ("spec: project/1", "spec: project/2", "the first line of a project is `spec: project/1`"),
        ("title: Bird songs", "title: [", "project.yaml:"),
    ],
)
def test_a_wrong_file_of_the_project_is_told_in_a_sentence(
    project: Path, tmp_path: Path, old: str, new: str, says: str
) -> None:
    folder = tmp_path / "bird_songs"
    folder.mkdir()
    text = (project / "src/bird_songs/project.yaml").read_text(encoding="utf-8")
    assert text.count(old) == 1
    (folder / "project.yaml").write_text(text.replace(old, new), encoding="utf-8")

    for words in (["serve"], ["check"], ["--version"], ["--help"]):
        done = run(sys.executable, "-m", "specloom", *words, cwd=tmp_path, SPECLOOM_PROJECT=str(folder))

        assert done.returncode == 2, words
        assert says in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


def test_a_folder_without_the_file_of_a_project_is_told_in_a_sentence(tmp_path: Path) -> None:
    done = run(sys.executable, "-m", "specloom", "serve", cwd=tmp_path, SPECLOOM_PROJECT=str(tmp_path / "none"))

    assert done.returncode == 2
    assert "project.yaml cannot be read" in done.stderr


def test_a_folder_that_has_something_in_it_is_left_alone(project: Path) -> None:
    done = run(sys.executable, "-m", "specloom", "new", "project", "bird-songs", cwd=project.parent)

    assert done.returncode == 2
    assert (
        done.stderr
        == "specloom: bird-songs exists and is not overwritten; choose another name, or --to another folder\n"
    )


@pytest.mark.parametrize("name", ["Bird", "bird_songs", "9birds", "bird-", "a" * 33, "", "../x", "bird--songs"])
def test_a_name_that_cannot_be_one_is_told_in_a_sentence(tmp_path: Path, name: str) -> None:
    done = run(sys.executable, "-m", "specloom", "new", "project", name, cwd=tmp_path)

    assert done.returncode == 2
    assert done.stderr.startswith(f"specloom: {name!r} is not a name of a project; use lower case, digits and hyphens")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["specloom", "json", "class", "test"])
def test_a_name_that_is_taken_is_told_in_a_sentence(tmp_path: Path, name: str) -> None:
    done = run(sys.executable, "-m", "specloom", "new", "project", name, cwd=tmp_path)

    assert done.returncode == 2
    assert "choose another name" in done.stderr
    assert not (tmp_path / name).exists()
