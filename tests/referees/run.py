"""Runs the official conformance suite and the Inspector's lint against servers on stdio and over HTTP.

    python -m tests.referees.run --install                        once: fetch the suite, and Node if there is none
    python -m tests.referees.run                                  the fixture catalogue, both requirement sets
    python -m tests.referees.run --product specloom serve         a real server, what any server must pass
    python -m tests.referees.run --http                           the fixture catalogue over our own HTTP
    python -m tests.referees.run --http --product specloom serve  a real server over its own HTTP
    python -m tests.referees.run --inspector specloom serve       the lint of its tools for portability

Exits 0 if everything that counts has passed, and also, with a sentence, when there is no Node to run it on.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .stdio_bridge import Bridge

HERE = Path(__file__).parent
CACHE = HERE.parent.parent / ".cache" / "node"
SUITE = "@modelcontextprotocol/conformance"
INSPECTOR = "@modelcontextprotocol/inspector"
PINNED = {SUITE: "0.2.0-alpha.12", INSPECTOR: "2.12.0"}
NODE_VERSION = "22.23.3"
OLDEST_NODE = (22, 19)
LEGACY, MODERN = "2025-11-25", "2026-07-28"

PRODUCT = {
    LEGACY: (
        "server-initialize",
        "ping",
        "tools-list",
        "resources-list",
        "prompts-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "server-session-lifecycle",
    ),
    MODERN: (
        "server-stateless",
        "tools-list",
        "resources-list",
        "prompts-list",
        "caching",
        "sep-2164-resource-not-found",
        "dns-rebinding-protection",
        "server-sse-multiple-streams",
        "input-required-result-unsupported-methods",
    ),
}
HTTP_ONLY = {LEGACY: (), MODERN: ("http-header-validation",)}
"""What would judge the bridge where one stands before a server on stdio."""
STARTING = 30.0
"""Seconds that a server has until its port is open."""


def find_node() -> Path | None:
    """A Node that is new enough: from SPECLOOM_NODE, the path, or the cache of this checkout."""
    found = [
        os.environ.get("SPECLOOM_NODE"),
        shutil.which("node"),
        *map(str, CACHE.glob("node_modules/node*/bin/node")),
    ]
    for candidate in found:
        if candidate and is_new_enough(candidate):
            return Path(candidate)
    return None


def is_new_enough(node: str) -> bool:
    """Whether `node` runs and is at least the oldest version that the tools work with."""
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    numbers = re.match(r"v(\d+)\.(\d+)", said)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= OLDEST_NODE


def install() -> None:
    """Fetch the pinned tools into the cache of this checkout, and a Node if none is new enough."""
    npm = shutil.which("npm")
    if npm is None:
        print("npm was not found, so nothing is fetched; Node 22.19 or newer brings it.")
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    (CACHE.parent / ".gitignore").write_text("*\n", encoding="utf-8")
    wanted = [f"{name}@{version}" for name, version in PINNED.items()]
    if find_node() is None:
        wanted.append(f"{node_package()}@{NODE_VERSION}")
    options = ["--prefix", str(CACHE), "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1"]
    options.append("--loglevel=error")
    if subprocess.run([npm, "install", *options, *wanted], check=False).returncode != 0:
        print("npm could not fetch the suite; its message above says why.")


def node_package() -> str:
    """The npm package that holds the Node binary of this system."""
    system = {"Windows": "win"}.get(platform.system(), platform.system().lower())
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine())
    return f"{'node-bin' if (system, machine) == ('darwin', 'arm64') else 'node'}-{system}-{machine}"


def find_script(package: str, path: str) -> Path | None:
    """The script of an installed tool, or `None`."""
    script = CACHE / "node_modules" / package / path
    return script if script.exists() else None


SUMMARY = re.compile(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed$", re.MULTILINE)


class Suite:
    """The conformance suite, pointed at a bridge."""

    def __init__(self, node: Path, script: Path, port: int, out: Path) -> None:
        self._script = [str(node), str(script)]
        self._command = [*self._script, "server", "--url", f"http://127.0.0.1:{port}/mcp"]
        self._out = out

    def scored(self, revision: str) -> set[str]:
        """The server scenarios that count for a revision."""
        command = [*self._script, "list", "--requirements", revision]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        listed = said.partition("Server scenarios")[2].partition("Client scenarios")[0]
        return set(re.findall(r"^  - (\S+)$", listed, re.MULTILINE))

    def run(self, *options: str) -> tuple[bool, str]:
        """Whether the suite is content, and everything that it says."""
        command = [*self._command, "-o", str(self._out), *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=self._out)
        return done.returncode == 0, done.stdout + done.stderr


def run_fixtures(suite: Suite, *, over_http: bool) -> bool:
    """Both requirement sets against the fixture catalogue; over HTTP nothing may fail."""
    good = True
    bridged = () if over_http else ("--expected-failures", str(HERE / "stdio-baseline.yml"))
    for revision, options in ((LEGACY, ()), (MODERN, bridged)):
        passed, said = suite.run("--requirements", revision, *options)
        scored = suite.scored(revision)
        counts = [(name, int(up), int(down)) for name, up, down in SUMMARY.findall(said) if name in scored]
        ups, downs = sum(up for _, up, _ in counts), sum(down for _, _, down in counts)
        print(f"{revision}: {'passed' if passed else 'FAILED'}")
        print(f"    {len(counts)} of {len(scored)} scored scenarios were run: {ups} checks passed, {downs} failed")
        for name, _, down in counts:
            if down:
                print(f"    {name}: {down} failed{', as the baseline says' if passed else ''}")
        if not passed:
            print(said[-4000:])
        good = good and passed and len(counts) == len(scored)
    return good


def run_product(suite: Suite, *, over_http: bool) -> bool:
    """The scenarios that any server must pass, against a real one."""
    good = True
    baseline = "http-product-baseline.yml" if over_http else "product-baseline.yml"
    for revision, scenarios in PRODUCT.items():
        for scenario in (*scenarios, *(HTTP_ONLY[revision] if over_http else ())):
            options = ["--scenario", scenario, "--spec-version", revision]
            if scenario == "server-stateless":
                options += ["--expected-failures", str(HERE / baseline)]
            passed, said = suite.run(*options)
            print(f"{revision} {scenario}: {'passed' if passed else 'FAILED'}")
            if not passed:
                print(said[-4000:])
            good = good and passed
    return good


def run_inspector(node: Path, command: list[str]) -> bool:
    """The Inspector's lint of the list of tools."""
    script = find_script(INSPECTOR, "clients/launcher/build/index.js")
    if script is None:
        print("skipped: the Inspector is not installed; run this with --install.")
        return True
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "MCP_CATALOG_PATH": str(Path(home) / "catalog.json")}
        call = [str(node), str(script), "--cli", "--method", "tools/list", "--strict", command[0], "--", *command[1:]]
        done = subprocess.run(call, capture_output=True, text=True, timeout=120, check=False, env=environment)
    print(f"inspector --strict: {'passed' if done.returncode == 0 else f'FAILED ({done.returncode})'}")
    # The warnings are on stderr, after the list; errors make the exit code 6.
    print(done.stderr[-4000:].strip())
    return done.returncode == 0


def run_suite(node: Path, command: list[str], *, product: bool, over_http: bool) -> bool:
    """Start `command` with a bridge before it, or as an HTTP server, and let the suite judge it."""
    script = find_script(SUITE, "dist/index.js")
    if script is None:
        print("skipped: the conformance suite is not installed; run this with --install.")
        return True
    judge = run_product if product else run_fixtures
    with tempfile.TemporaryDirectory() as out, (serving if over_http else bridging)(command) as port:
        return judge(Suite(node, script, port, Path(out)), over_http=over_http)


@contextmanager
def bridging(command: list[str]) -> Iterator[int]:
    """The port of a bridge before a server on stdio."""
    bridge = Bridge(0, command)
    threading.Thread(target=bridge.serve_forever, daemon=True).start()
    try:
        yield bridge.server_address[1]
    finally:
        bridge.shutdown()
        bridge.shut()


@contextmanager
def serving(command: list[str]) -> Iterator[int]:
    """The port of a server that gets one as its last argument."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = int(found.getsockname()[1])
    server = subprocess.Popen([*command, str(port)])
    try:
        deadline = time.monotonic() + STARTING
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/live", timeout=5):
                    break
            except OSError:
                if server.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        yield port
    finally:
        server.terminate()
        server.wait(timeout=STARTING)


def main() -> int:
    """Do what the command line asks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", action="store_true", help="fetch the pinned tools, and Node if there is none")
    parser.add_argument("--sdk", action="store_true", help="run the fixtures through the official SDK's host")
    parser.add_argument("--http", action="store_true", help="over the server's own HTTP, without a bridge")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--product", nargs=argparse.REMAINDER, metavar="COMMAND", help="a server's command line")
    which.add_argument("--inspector", nargs=argparse.REMAINDER, metavar="COMMAND", help="a server's command line")
    options = parser.parse_args()
    if options.install:
        install()
    node = find_node()
    missing = [name for name in PINNED if not (CACHE / "node_modules" / name).is_dir()]
    if node is None or missing:
        what = "no Node 22.19 or newer" if node is None else " and ".join(missing)
        print(f"skipped: {what} was found; run this with --install, or set SPECLOOM_NODE.")
        return 0
    default = [sys.executable, "-m", "specloom", "serve"]
    if options.inspector is not None:
        return 0 if run_inspector(node, options.inspector or default) else 1
    if options.product is not None:
        command = [*(options.product or default), *(["--http"] if options.http else [])]
        return 0 if run_suite(node, command, product=True, over_http=options.http) else 1
    mode = ["http"] if options.http else ["sdk"] if options.sdk else []
    fixtures = [sys.executable, str(HERE / "fixture_catalogue.py"), *mode]
    return 0 if run_suite(node, fixtures, product=False, over_http=options.http) else 1


if __name__ == "__main__":
    sys.exit(main())
