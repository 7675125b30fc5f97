"""What holds for every test: no network but loopback, no settings or files of the person who runs them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.clock import Clock
    from tests.support.paper_store import Turns, World
    from tests.support.redis_server import RedisServer
    from tests.support.shipped import Shipped

LOOPBACK = [r"127\.\d+\.\d+\.\d+", "::1", "localhost", "/.+"]
"""Addresses of this machine, and the paths of local sockets."""
FOREIGN_SETTING = re.compile(r"SPECLOOM_|.*_(API_KEY|TOKEN|SECRET)$")
OLDEST_NODE = (22, 19)

TESTS = Path(__file__).parent
MARKED_ROOMS = {"processes": "process", "corpus": "corpus", "referees": "referee", "faults": "faults"}
"""Rooms whose tests are marked as a whole, so that a run can leave them out."""

PATIENCE = 60.0
MOST_TRIED_AGAIN = 5
"""Tests of a run that may need their second try, which `.ci/run` gives them; more is no accident of a busy machine."""
HOW_TO_GET_IT = (
    "Recorded answers of real upstreams are not ours to publish: they are read from ../shared/fixtures, or from the",
    "folder that SPECLOOM_FIXTURES names. The published contract is read from ../shared/spec/tools-contract.json, or",
    "the file that SPECLOOM_CONTRACT names. CONTRIBUTING.md says how to get them.",
)

# How deep property tests look; `--hypothesis-profile` says which. What a change has to pass is the same each time.
for name, examples in (("quick", 25), ("ci", 200), ("nightly", 2000)):
    settings.register_profile(
        name,
        max_examples=examples,
        deadline=None,
        derandomize=name != "nightly",
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("quick")


def find_node_problem() -> str:
    """Why tests marked `node` cannot run here, or nothing."""
    node = shutil.which("node")
    if node is None:
        return "there is no Node"
    done = subprocess.run([node, "--version"], capture_output=True, encoding="utf-8", check=False)
    version = tuple(int(part) for part in re.findall(r"\d+", done.stdout)[:2])
    wanted = ".".join(map(str, OLDEST_NODE))
    return "" if version >= OLDEST_NODE else f"Node is {done.stdout.strip()}, and {wanted} or newer is needed"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--many", action="store_true", help="try faults, kills and made-up input as often as `make slow` does"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("many"):
        rare = [item for item in items if item.get_closest_marker("many")]
        items[:] = [item for item in items if item not in rare]
        config.hook.pytest_deselected(items=rare)
    for item in items:
        if item.get_closest_marker("block_network") is None:
            item.add_marker(pytest.mark.block_network(allowed_hosts=LOOPBACK))
        room = item.path.relative_to(TESTS).parts[0]
        if room in MARKED_ROOMS:
            item.add_marker(MARKED_ROOMS[room])
    marked = [item for item in items if item.get_closest_marker("node")]
    problem = find_node_problem() if marked else ""
    if problem:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=problem))


# One for the whole run: a fixture per test would be shared by all the examples of a property test.
@pytest.fixture(scope="session", autouse=True)
def a_machine_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home directory and an environment in which nobody has configured anything."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if FOREIGN_SETTING.match(name)]:
            patch.delenv(name)
        for name in ("HOME", "USERPROFILE"):
            patch.setenv(name, str(home))
        for name, folder in (("CONFIG", ".config"), ("DATA", ".local/share"), ("CACHE", ".cache"), ("STATE", ".state")):
            patch.setenv(f"XDG_{name}_HOME", str(home / folder))
        yield home


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[float]:
    """Seconds that what is shared may take to answer, where no test lets it be away: others use the machine too."""
    from specloom.storage import backplane, backplane_redis, redis_store

    with pytest.MonkeyPatch.context() as patch:
        for module in (backplane, backplane_redis, redis_store):
            patch.setattr(module, "PATIENCE", PATIENCE)
        yield PATIENCE


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of Redis may take as long as the product lets them: a test of what is away, which says it of none else."""
    from specloom.storage import backplane_redis, redis_link

    monkeypatch.setattr(backplane_redis, "PATIENCE", redis_link.PATIENCE)


@pytest.fixture
def tries(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """How often: the first number in a whole run (`--many`), else the second."""
    many = bool(request.config.getoption("--many"))
    return lambda whole, short: whole if many else short


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    """The clock of the paper store's turns, which moves when somebody sleeps."""
    from tests.support.paper_store import isolate

    return isolate(monkeypatch)


@pytest.fixture
def world(tmp_path: Path, turns: Turns) -> World:
    """A paper store in a folder of its own behind the real engine."""
    from tests.support.paper_store import World

    return World(tmp_path)


@pytest.fixture
def clock(request: pytest.FixtureRequest) -> Clock:
    """A clock that stands still until the test moves it; it begins at the module's `NOW` where it has one."""
    from tests.support.clock import Clock

    return Clock(getattr(request.module, "NOW", 1_700_000_000.0))


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """A real `redis-server`, one a worker, that stays whole; a test that harms one starts its own."""
    from tests.support.redis_server import RedisServer

    with RedisServer() as server:
        yield server


@pytest.fixture(scope="session")
def shipped() -> Shipped:
    """The shipped specs, compiled once a worker and changed by nobody."""
    from tests.support.shipped import shipped_specs

    return shipped_specs()


@pytest.fixture
def small_catalogue(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library of one spec a kind in place of the shipped one, for commands to which it is all the same."""
    from specloom.core.paths import spec_layers
    from specloom.specs import library

    base = TESTS / "compiler" / "golden" / "base"
    monkeypatch.setattr(library, "spec_layers", lambda environ: [str(base), *spec_layers(environ)[1:]])
    return base


def _tried_again(config: pytest.Config) -> dict[str, str]:
    """The tests of this run that failed at their first try, where there are second ones, and how they failed."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("rerun", ()) if reporter is not None else ()
    return {report.nodeid: report.longreprtext for report in reports}


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if exitstatus == pytest.ExitCode.OK and len(_tried_again(session.config)) > MOST_TRIED_AGAIN:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The fault matrix, what was tried twice, and what did not run for want of the recordings of real upstreams."""
    if tried := _tried_again(config):
        too_many = f", and more than {MOST_TRIED_AGAIN} fail the run" if len(tried) > MOST_TRIED_AGAIN else ""
        terminalreporter.section(f"failed at the first try: {len(tried)}{too_many}")
        for test, failure in sorted(tried.items()):
            terminalreporter.line(f"{test}\n{failure}\n")
    reports = [report for listed in terminalreporter.stats.values() for report in listed]
    noted = [one for report in reports for one in getattr(report, "user_properties", ())]
    cells = {tuple(cell) for name, cell in noted if name == "fault"}
    if cells:
        terminalreporter.section("fault matrix")
        for row in (("fault", "what it hits", "tries", "outcome"), *sorted(cells)):
            terminalreporter.line("{:<22} {:<24} {:>7}  {}".format(*row))
    missing = Counter(
        report.nodeid.partition("::")[0]
        for report in terminalreporter.stats.get("skipped", ())
        if isinstance(report.longrepr, tuple) and "SPECLOOM_" in report.longrepr[2]
    )
    if missing:
        terminalreporter.section("not run: what they are held against is not in the repository")
        for file, count in sorted(missing.items()):
            terminalreporter.line(f"{file}: {count}")
        for line in HOW_TO_GET_IT:
            terminalreporter.line(line)
