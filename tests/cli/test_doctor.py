"""The doctor: one line each, with the remedy; and it fails only where nothing can work."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from specloom.cli.diagnosis import Diagnosis
from specloom.cli.doctor import Finding, examine, examine_places, finding_lines, reach
from specloom.cli.tool_states import ToolStates, VariableGain, find_tool_states
from specloom.compiler.build import weave_from
from specloom.core.terminal import Paint
from specloom.model import make_setting
from specloom.plugins import load_hooks
from specloom.runtime import Unsent
from specloom.runtime.executor import Executor
from specloom.server import Selection
from tests.support.demo_specs import CAPABILITY, PROVIDER, TOOL, demo_executor, write_demo
from tests.support.loopback import Loopback
from tests.support.redis_server import RedisServer


class Terminal:
    """A stream that says whether it is a terminal."""

    def __init__(self, *, real: bool) -> None:
        self.real = real

    def isatty(self) -> bool:
        return self.real


def executor_of(root: Path, **environ: str) -> Executor:
    return demo_executor(
        write_demo(root), environ.pop("url", "https://demo.example.org"), sender=Unsent(), environ=environ
    )


def about(found: list[Finding], name: str) -> Finding:
    (one,) = [one for one in found if one.about == name]
    return one


def test_a_configured_provider_is_well_and_its_route_is_shown(tmp_path: Path) -> None:
    found = examine(executor_of(tmp_path / "specs"), [], {}, tmp_path / "cache")

    assert about(found, "demo") == Finding("ok", "demo", "demo_pages, with DEMO_URL and DEMO_KEY")
    assert about(found, "tool demo_find").says == "demo"
    assert about(found, "specs").state == "ok"


def test_a_missing_variable_is_named_with_where_to_get_it(tmp_path: Path) -> None:
    executor = executor_of(tmp_path / "specs", DEMO_KEY="")

    found = examine(executor, [], {}, tmp_path / "cache")

    assert about(found, "demo") == Finding("missing", "demo", "demo_pages; not configured", "set DEMO_KEY: The key.")
    assert about(found, "tool demo_find").state == "warning"


def test_who_is_ready_but_in_no_route_is_to_be_named_and_not_configured(tmp_path: Path) -> None:
    root = write_demo(tmp_path / "specs", {CAPABILITY: [("order: [demo]", "order: []")]})
    executor = demo_executor(root, "https://demo.example.org", sender=Unsent())

    assert about(examine(executor, [], {}, tmp_path / "cache"), "tool demo_find") == Finding(
        "warning",
        "tool demo_find",
        "nobody can be asked for demo pages",
        "name demo in the call or in SEARCH_ROUTING",
    )


def test_a_tool_that_nobody_answers_says_which_variable_opens_it(tmp_path: Path) -> None:
    model, everything = executor_of(tmp_path).model, Selection(["all"])

    without = find_tool_states(model, everything, {"DEMO_URL": "https://demo.example.org"})
    with_it = find_tool_states(model, everything, {"DEMO_URL": "https://demo.example.org", "DEMO_KEY": "k"})

    assert (without.working, without.closed) == ((), ("demo_find",))
    assert [(one.variables, one.secret, one.opens) for one in without.gains] == [(("DEMO_KEY",), True, ("demo_find",))]
    assert (with_it.working, with_it.closed, with_it.gains) == (("demo_find",), (), ())


def gain(name: str, *opens: str, leads: int = 0) -> VariableGain:
    return VariableGain((name,), f"Where {name} is.", True, opens, leads)


def states(
    working: str = "a b c", closed: str = "", gains: tuple[VariableGain, ...] = (), off: dict[str, str] | None = None
) -> ToolStates:
    return ToolStates(tuple(working.split()), tuple(closed.split()), off or {}, gains)


BROKEN = Finding("broken", "specs", "one is wrong", "mend it")
NETWORK = Finding("broken", "network", "none of 9 providers can be reached", "look at the network")
BROWSER = Finding("missing", "browser", "no Chromium was found")


@pytest.mark.parametrize(
    ("tools", "findings", "summary", "code"),
    [
        (states(), [], "All 3 tools work.", 0),
        (states(closed="d"), [], "3 of 4 tools work.", 0),
        (states("", "d"), [], "None of 1 tools work.", 1),
        (
            states(closed="d e", gains=(gain("K", "d", "e"), gain("L", "d", leads=9))),
            [BROWSER],
            "3 of 5 tools work; one key, K, turns on 2 more; the browser is missing.",
            0,
        ),
        (states(), [BROKEN], "All 3 tools work; 1 thing is broken.", 1),
        (states(), [NETWORK], "All 3 tools work; there is no network.", 75),
        (states(), [BROKEN, NETWORK], "All 3 tools work; 2 things are broken.", 1),
    ],
)
def test_the_sum_is_one_sentence_and_the_exit_code_says_the_same(
    tools: ToolStates, findings: list[Finding], summary: str, code: int
) -> None:
    found = Diagnosis(tools, findings)

    assert (found.summary(), found.code) == (summary, code)


def test_what_to_do_comes_first_and_details_when_they_are_asked_for() -> None:
    load_hooks()
    tools = states(
        closed="d e f",
        gains=(gain("K", "d", "e"), gain("L", "d", "f", leads=2), gain("M", leads=5)),
        off={"memory": "MEMORY_ENABLED"},
    )
    findings = [
        Finding("ok", "cache", "/here"),
        BROWSER,
        Finding("warning", "settings", "A_KEYY is no variable"),
        Finding("warning", "tool d", "nobody"),
        BROKEN,
    ]
    found, plain = Diagnosis(tools, findings), Paint(Terminal(real=False), {})  # type: ignore[arg-type]

    short = found.lines(plain, 100, details=False)
    whole = found.lines(plain, 100, details=True)

    assert short == [
        "3 of 6 tools work; one key, L, turns on 2 more; the browser is missing; 1 thing is broken.",
        "",
        "What to do:",
        "  - specs: one is wrong — mend it",
        "  - settings: A_KEYY is no variable",
        "  - set L for d, f: Where L is.",
        "  - set K for d, e: Where K is.",
        "  - browser: no Chromium was found",
        "",
        "What could be better:",
        "  - with M its provider is asked first for 5 kinds of search: Where M is.",
        "  - MEMORY_ENABLED=true switches on memory",
        "",
        "`specloom doctor --details` shows every provider, tool and place; `--reach` tries whether providers",
        "can be reached.",
    ]
    assert whole[:13] == short[:13]
    assert whole[13:] == finding_lines(findings, plain, 100)


def test_a_browser_is_looked_for_and_not_only_the_library_that_drives_it(tmp_path: Path) -> None:
    found = examine(executor_of(tmp_path / "specs"), [], {"CHROME_PATH": "/nowhere/chrome"}, tmp_path / "cache")

    one = about(found, "browser")
    assert one.state == "missing"
    assert "CHROME_PATH names '/nowhere/chrome'" in one.says
    assert one.says.endswith("pages that scripts fill are read as they come")


async def test_no_network_is_one_sentence_and_not_one_for_each_provider(tmp_path: Path) -> None:
    with Loopback(lambda _: (200, {}, b"")) as server:
        pass
    second = PROVIDER.replace("demo", "other")
    root = write_demo(tmp_path)
    text = (root / PROVIDER).read_text(encoding="utf-8")
    (root / second).write_text(text.replace("name: demo\n", "name: other\n"), encoding="utf-8")
    executor = demo_executor(root, server.url, sender=Unsent())

    (found,) = await reach(executor)

    assert len(executor.configured) == 2
    assert (found.state, found.about) == ("broken", "network")
    assert found.says.startswith("none of 2 providers can be reached; the first: ")


def test_broken_specs_and_settings_are_said(tmp_path: Path) -> None:
    executor = executor_of(tmp_path / "specs", SEARCH_ROUTING="nobody")

    found = examine(executor, ["a.yaml:1:1: this is wrong", "b.yaml:1:1: that too"], {}, tmp_path / "cache")

    assert about(found, "specs") == Finding(
        "broken", "specs", "a.yaml:1:1: this is wrong and 1 more", "run `specloom check`"
    )
    assert any(one.about == "settings" and "nobody" in one.says for one in found)


def test_a_cache_that_is_not_there_yet_is_well_and_is_not_made(tmp_path: Path) -> None:
    found = examine(executor_of(tmp_path / "specs"), [], {}, tmp_path / "deep" / "cache")

    assert about(found, "cache").state == "ok"
    assert not (tmp_path / "deep").exists()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a directory that cannot be written")
def test_a_cache_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o500)

    assert about(examine(executor_of(tmp_path / "specs"), [], {}, folder), "cache").state == "warning"


def test_a_file_in_the_place_of_the_cache_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("", encoding="utf-8")

    one = about(examine(executor_of(tmp_path / "specs"), [], {}, tmp_path / "cache"), "cache")

    assert (one.state, "SPECLOOM_CACHE_DIR" in one.remedy) == ("warning", True)


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
@pytest.mark.parametrize(("mode", "state"), [(0o600, "ok"), (0o644, "warning")])
def test_a_key_file_that_others_can_read_is_a_warning(tmp_path: Path, mode: int, state: str) -> None:
    key = tmp_path / "cache" / "cache.key"
    key.parent.mkdir()
    key.write_text("00" * 32, encoding="ascii")
    key.chmod(mode)

    assert about(examine(executor_of(tmp_path / "specs"), [], {}, tmp_path / "cache"), "cache key").state == state


@pytest.mark.parametrize(("key", "state"), [("00" * 32, "ok"), ("short", "warning")])
def test_a_key_in_the_environment_is_looked_at_and_not_shown(tmp_path: Path, key: str, state: str) -> None:
    found = examine(executor_of(tmp_path / "specs"), [], {"SPECLOOM_CACHE_KEY": key}, tmp_path / "cache")

    assert about(found, "cache key").state == state
    assert key not in about(found, "cache key").says


def test_a_cache_that_is_switched_off_is_said(tmp_path: Path) -> None:
    found = examine(executor_of(tmp_path / "specs"), [], {"SPECLOOM_CACHE": "off"}, tmp_path / "cache")

    assert about(found, "cache").says == "switched off"


PLACES = {
    "state": ("SPECLOOM_STATE_DIR", "nothing can be remembered"),
    "audit log": ("AUDIT_OUTPUT_PATH", "calls are not audited"),
    "paper store": ("DOIGET_STORE_ROOT", "no paper can be kept"),
    "provenance log": ("DOIGET_LOG_PATH", "no paper can be fetched"),
}
LOGS = ("audit log", "provenance log")


@pytest.mark.parametrize("name", PLACES)
def test_where_things_are_kept_is_told_and_nothing_is_made(tmp_path: Path, name: str) -> None:
    executor, place = executor_of(tmp_path / "specs"), tmp_path / "deep" / "place"
    environ = {"HOME": str(tmp_path), PLACES[name][0]: str(place)}

    found = about(examine(executor, [], environ, tmp_path / "cache"), name)
    assert found == Finding("ok", name, f"{place}, made when it is needed")
    assert not place.parent.exists()

    place.parent.mkdir()
    place.write_text("", encoding="utf-8") if name in LOGS else place.mkdir()
    assert about(examine(executor, [], environ, tmp_path / "cache"), name) == Finding("ok", name, str(place))


@pytest.mark.parametrize("name", PLACES)
def test_a_place_that_is_no_use_is_told_with_what_follows_and_the_variable(tmp_path: Path, name: str) -> None:
    variable, follows = PLACES[name]
    (tmp_path / "place").mkdir() if name in LOGS else (tmp_path / "place").write_text("", encoding="utf-8")
    environ = {"HOME": str(tmp_path), variable: str(tmp_path / "place")}

    found = about(examine(executor_of(tmp_path / "specs"), [], environ, tmp_path / "cache"), name)

    assert found == Finding(
        "warning",
        name,
        f"{tmp_path / 'place'} cannot be written; {follows}",
        f"make it writable, or name another with {variable}",
    )


@pytest.mark.parametrize(
    ("reads", "listed"),
    [((), []), (("DOIGET_STORE_ROOT",), ["paper store"]), (("DOIGET_LOG_PATH",), ["provenance log"])],
)
def test_a_project_has_the_places_that_a_tool_of_it_reads(
    tmp_path: Path, reads: tuple[str, ...], listed: list[str]
) -> None:
    environ = {"HOME": str(tmp_path), "SPECLOOM_PROJECT": str(tmp_path / "specs")}
    model = executor_of(tmp_path / "specs").model
    name, tool = next(iter(model.tools.items()))
    settings = {one: make_setting(one, {"description": "A place."}, tool.place) for one in reads}
    model = replace(model, tools={name: replace(tool, settings=settings)})

    found = [one.about for one in examine_places(environ, tmp_path / "cache", model)]

    assert [one for one in found if one in {"paper store", "provenance log"}] == listed


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a directory that cannot be written")
def test_a_place_below_a_folder_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    environ = {"SPECLOOM_STATE_DIR": str(tmp_path / "closed" / "state")}

    found = examine(executor_of(tmp_path / "specs"), [], environ, tmp_path / "cache")

    assert [about(found, name).state for name in ("state", "audit log")] == ["warning", "warning"]


def test_a_server_on_which_machines_remember_is_asked_whether_it_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    executor = executor_of(tmp_path / "specs")
    kept = ("--appendonly", "yes", "--appendfsync", "always")
    said: list[Finding] = []

    def look(**environ: str) -> None:
        found = examine(executor, [], environ, tmp_path / "cache")
        said.extend(one for one in found if one.about == "shared state")

    with RedisServer(*kept) as server:
        own = {"SPECLOOM_STATE_REDIS_URL": server.url, "SPECLOOM_CACHE_KEY": "ab" * 32}
        look(**own)
        assert said == []
        look(SPECLOOM_STATE="redis", **own)
        server.client.config_set("appendfsync", "everysec")
        look(SPECLOOM_STATE="redis", **own)
        server.client.config_set("appendonly", "no")
        look(SPECLOOM_STATE="redis", **own)
    look(SPECLOOM_STATE="redis")

    assert [one.state for one in said] == ["ok", "warning", "broken", "broken"]
    assert "may lose the last second" in said[1].says
    assert "set `appendonly yes`" in said[2].says
    assert "no server is named" in said[3].says


def test_the_audit_log_lies_with_the_state_and_may_be_off(tmp_path: Path) -> None:
    executor, environ = executor_of(tmp_path / "specs"), {"SPECLOOM_STATE_DIR": str(tmp_path / "state")}

    on = about(examine(executor, [], environ, tmp_path / "cache"), "audit log")
    off = about(examine(executor, [], {**environ, "AUDIT_ENABLED": "off"}, tmp_path / "cache"), "audit log")

    assert on.says == f"{tmp_path / 'state' / 'audit.jsonl'}, made when it is needed"
    assert (off.state, off.says) == ("warning", "switched off")


def test_specs_that_are_not_shipped_are_named_with_their_files(tmp_path: Path, small_catalogue: Path) -> None:
    model = weave_from([small_catalogue, write_demo(tmp_path / "own")], examples=False)[0]
    executor = Executor(model, environ={}, sender=Unsent())

    says = about(examine(executor, [], {}, tmp_path / "cache"), "specs").says

    own = (tmp_path / "own").as_posix()
    assert says.endswith(f" compile; not shipped: demo_find ({own}/{TOOL}), demo ({own}/{PROVIDER})")


def test_optional_parts_come_with_their_install_command(tmp_path: Path) -> None:
    found = examine(executor_of(tmp_path / "specs"), [], {}, tmp_path / "cache")

    extras = [one for one in found if one.about.startswith("extra ")]
    assert {"extra browser", "extra documents"} <= {one.about for one in extras}
    assert "extra dev" not in {one.about for one in extras}
    assert all(one.remedy.startswith("pip install 'specloom[") for one in extras if one.state == "missing")


async def test_a_host_that_takes_connections_is_reached_and_asked_nothing(tmp_path: Path) -> None:
    with Loopback(lambda _: (200, {}, b"")) as server:
        found = await reach(executor_of(tmp_path, url=server.url))

    assert [(one.about, one.state) for one in found] == [("reach demo", "ok")]
    assert server.calls == []


async def test_a_host_that_takes_none_is_said(tmp_path: Path) -> None:
    with Loopback(lambda _: (200, {}, b"")) as server:
        pass

    (found,) = await reach(executor_of(tmp_path, url=server.url))

    assert found.state == "broken"
    assert "127.0.0.1" in found.says


def test_lines_have_colour_only_on_a_terminal() -> None:
    found = [Finding("missing", "x", "y", "do z")]

    plain = finding_lines(found, Paint(Terminal(real=False), {}), 80)  # type: ignore[arg-type]
    tinted = finding_lines(found, Paint(Terminal(real=True), {}), 80)  # type: ignore[arg-type]
    refused = finding_lines(found, Paint(Terminal(real=True), {"NO_COLOR": "1"}), 80)  # type: ignore[arg-type]

    assert plain == refused == ["missing  x  y — do z"]
    assert "\033[" in tinted[0]
