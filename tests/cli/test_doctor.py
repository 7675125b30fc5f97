"""The doctor: one line each, with the remedy; and it fails only where nothing can work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from specloom.cli.doctor import Finding, examine, finding_lines, nothing_works, reach
from specloom.compiler.build import weave_from
from specloom.core.terminal import Paint
from specloom.runtime import Unsent
from specloom.runtime.executor import Executor
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
    assert about(found, "route demo_pages").says == "demo"
    assert about(found, "specs").state == "ok"


def test_a_missing_variable_is_named_with_where_to_get_it(tmp_path: Path) -> None:
    executor = executor_of(tmp_path / "specs", DEMO_KEY="")

    found = examine(executor, [], {}, tmp_path / "cache")

    assert about(found, "demo") == Finding("missing", "demo", "demo_pages; not configured", "set DEMO_KEY: The key.")
    assert about(found, "route demo_pages").state == "warning"
    assert nothing_works(executor)


def test_who_is_ready_but_in_no_route_is_to_be_named_and_not_configured(tmp_path: Path) -> None:
    root = write_demo(tmp_path / "specs", {CAPABILITY: [("order: [demo]", "order: []")]})
    executor = demo_executor(root, "https://demo.example.org", sender=Unsent())

    assert about(examine(executor, [], {}, tmp_path / "cache"), "route demo_pages") == Finding(
        "warning",
        "route demo_pages",
        "nobody can be asked for demo pages",
        "name demo in the call or in SEARCH_ROUTING",
    )


def test_one_working_tool_is_enough(tmp_path: Path) -> None:
    assert not nothing_works(executor_of(tmp_path))


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
