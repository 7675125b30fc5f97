"""The product over HTTP, as an operator starts it: the clients that exist, keys, and the tools that find and read."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.processes.test_product import NEWS, OTTERS, record
from tests.support import http_server
from tests.support.loopback import Call, Loopback, Reply
from tests.support.redis_server import RedisServer
from tests.support.server_process import call, request

pytestmark = pytest.mark.process
ROOT = Path(__file__).parents[2]
ERAS = ("2026-07-28", "legacy")
TYPED = "web_researcher_mcp"
"""The typed client of another server with the same tools, which people have; it is installed where it is wanted."""


@contextmanager
def serving(
    folder: Path, *options: str, live: bool = False, **environ: str
) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """The port of `specloom serve --http`, at home in the folder, answering from recordings unless it is `live`."""
    record(folder / "recordings", "web.main", OTTERS)
    record(folder / "recordings", "news.main", NEWS)
    replay = [] if live else ["--replay", "recordings"]
    command = [sys.executable, "-m", "specloom", "serve", "--http", "127.0.0.1:0", *replay, *options]
    with subprocess.Popen(
        command, cwd=folder, env=make_environ(folder, environ), stderr=subprocess.PIPE, text=True
    ) as process:
        alarm = threading.Timer(300, process.kill)
        alarm.start()
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.search(r"127\.0\.0\.1:(\d+)/mcp", line)
            assert found is not None, line + process.stderr.read()
            yield int(found[1]), process
        finally:
            alarm.cancel()
            process.terminate()
            process.communicate(timeout=120)
            assert process.returncode == 0


def make_key(folder: Path, tenant: str, **more: str) -> str:
    """A new API key of a tenant."""
    command = [sys.executable, "-m", "specloom", "keys", "add", tenant, "--user", "ann"]
    environ = make_environ(folder, more)
    made = subprocess.run(command, env=environ, cwd=folder, capture_output=True, text=True, check=True)
    found = re.search(r"slk_\S+", made.stdout)
    assert found is not None, made
    return found[0]


def make_environ(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    base = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "SPECLOOM_"))}
    return {**base, "HOME": str(folder), "SEARCH_PROVIDER": "brave", "PYTHONPATH": str(ROOT), **more}


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with serving(tmp_path_factory.mktemp("open")) as (found, _):
        yield found


def post(port: int, message: Any, **headers: str) -> http_server.Answer:
    """The answer to one message over a connection of its own."""
    with http_server.Client(port) as client:
        return client.post(message, **headers)


@pytest.mark.parametrize("era", ERAS)
async def test_the_official_client_finds_tools_and_calls_them(port: int, era: str) -> None:
    async with Client(f"http://127.0.0.1:{port}/mcp", mode=era) as client:
        tools = (await client.list_tools()).tools
        assert {"web_search", "scrape_page", "read_more"} <= {tool.name for tool in tools}
        answer = await client.call_tool("web_search", {"query": "otters"})
        assert answer.structured_content is not None
        assert [one["url"] for one in answer.structured_content["results"]] == [
            "https://otters.example.org/sea",
            "https://otters.example.org/river",
        ]
        assert (await client.call_tool("web_search", {"query": "otters"})).structured_content is not None
        refused = await client.call_tool("web_search", {"query": ""})
        assert refused.is_error
        health = await client.read_resource("diagnostics://health")
        assert health.contents
        assert (await client.list_prompts()).prompts


def test_the_list_is_that_of_stdio(port: int, tmp_path: Path) -> None:
    listed = post(port, request(1, "tools/list")).json["result"]["tools"]
    said = subprocess.run(
        [sys.executable, "-m", "specloom", "serve", "--replay", "."],
        input=json.dumps(request(0, "tools/list", modern=True)) + "\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=tmp_path,
        env=make_environ(tmp_path, {}),
    ).stdout
    assert json.loads(said.splitlines()[0])["result"]["tools"] == listed


def test_an_answer_that_is_kept_is_the_same_for_every_worker(tmp_path: Path) -> None:
    """A worker reads what another has kept from the disk, where it comes a moment after the answer."""
    answers: list[Any] = []
    kept_in_turn = 0
    with serving(tmp_path, "--workers", "2") as (port, process):
        while kept_in_turn < 16:
            assert process.poll() is None, "the server was ended: an answer is not kept for each worker"
            answers.append(post(port, call(len(answers), "web_search", {"query": "otters"})).json["result"])
            kept_in_turn = kept_in_turn + 1 if answers[-1]["_meta"]["cached"] else 0
    assert answers[0]["_meta"]["cached"] is False
    assert len({json.dumps(one["structuredContent"]["results"]) for one in answers}) == 1


def test_a_caller_and_an_operator_are_told_the_limits_that_hold(tmp_path: Path) -> None:
    key, admin = make_key(tmp_path, "acme"), "the admin key of this test"
    with serving(tmp_path, ADMIN_API_KEY=admin, DAILY_QUOTA_PER_TENANT="7") as (port, _):
        held = {"Authorization": f"Bearer {key}"}
        post(port, call(1, "web_search", {"query": "otters"}), **held)
        told = post(port, request(2, "resources/read", {"uri": "stats://rate-limits"}), **held).json["result"]
        with http_server.Client(port) as client:
            shown = json.loads(client.get("/dashboard/data", X_Admin_Key=admin).body)["rateLimit"]

    limits = json.loads(told["contents"][0]["text"])
    assert limits["config"] == {"perMinutePerTenant": 120, "globalPerSecond": 1000, "dailyPerTenant": 7}
    own = limits["defaultTenant"]
    assert (own["perMinuteLimit"], own["dailyLimit"], own["dailyUsed"], own["dailyRemaining"]) == (120, 7, 1, 6)
    assert shown == {**limits["config"], "defaultTenant": "default"}


def test_what_a_tenant_has_used_is_told_over_all_workers(tmp_path: Path) -> None:
    key, admin = make_key(tmp_path, "acme"), "the admin key of this test"
    held = {"Authorization": f"Bearer {key}"}
    with serving(tmp_path, "--workers", "2", ADMIN_API_KEY=admin, SPECLOOM_CACHE="off") as (port, _):
        for number in range(6):
            post(port, call(number, "web_search", {"query": "otters"}), **held)
        told = [
            json.loads(
                post(port, request(2, "resources/read", {"uri": "stats://rate-limits"}), **held).json["result"][
                    "contents"
                ][0]["text"]
            )["defaultTenant"]["dailyUsed"]
            for _ in range(6)
        ]

        def count() -> int:
            with http_server.Client(port) as client:
                return int(client.get("/admin/analytics", X_Admin_Key=admin).json["tenants"]["acme"]["totalCalls"])

        until, counts = time.monotonic() + 60, {0}
        while counts != {6} and time.monotonic() < until:  # each worker tells the other one when its turn comes
            time.sleep(0.2)
            counts = {count() for _ in range(6)}

    assert told == [6] * 6
    assert counts == {6}


def test_a_server_for_oneself_tells_of_no_limit(tmp_path: Path) -> None:
    with serving(tmp_path) as (port, _):
        told = post(port, request(1, "resources/read", {"uri": "stats://rate-limits"})).json["result"]

    limits = json.loads(told["contents"][0]["text"])
    assert limits["config"] == {"perMinutePerTenant": 0, "globalPerSecond": 0, "dailyPerTenant": 0}


def test_a_key_names_the_tenant_and_nobody_else_comes_in(tmp_path: Path) -> None:
    keys = [make_key(tmp_path, tenant) for tenant in ("acme", "globex")]
    with serving(tmp_path) as (port, _):
        refused = post(port, request(1, "tools/list"))
        assert refused.status == 401
        assert refused.headers["www-authenticate"].startswith("Bearer")

        def ask(key: str, message: Any) -> Any:
            answer = post(port, message, Authorization=f"Bearer {key}")
            assert answer.status == 200, answer
            return answer.json["result"]

        step = {"searchStep": "otters", "stepNumber": 1, "nextStepNeeded": True}
        begun = ask(keys[0], call(1, "sequential_search", step))["structuredContent"]
        session = {"sessionId": begun["sessionId"]}
        assert ask(keys[0], call(2, "get_research_session", session))["structuredContent"]
        foreign = ask(keys[1], call(3, "get_research_session", session))
        unknown = ask(keys[1], call(3, "get_research_session", {"sessionId": "0" * len(begun["sessionId"])}))
        assert foreign["isError"] is unknown["isError"] is True
        assert json.dumps(foreign).replace(begun["sessionId"], "") == json.dumps(unknown).replace(
            "0" * len(begun["sessionId"]), ""
        )


@pytest.mark.parametrize(
    ("name", "value"), [("LOG_FORMAT", "xml"), ("RATE_LIMIT_PER_TENANT", "lots"), ("TRUST_PROXY", "perhaps")]
)
def test_a_setting_that_is_not_understood_ends_the_start_with_one_line(tmp_path: Path, name: str, value: str) -> None:
    command = [sys.executable, "-m", "specloom", "serve", "--http", "127.0.0.1:0"]
    environ = make_environ(tmp_path, {name: value})
    ended = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"specloom: {name} is '{value}'; write ")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({}, "tools of the toolset papers ("),
        ({"SPECLOOM_PAPERS_SHARED": "true"}, "callers who do not say who they are may change what all tenants share ("),
    ],
    ids=["left out", "open to strangers"],
)
def test_a_start_tells_of_what_has_no_owner_below_its_address(
    tmp_path: Path, environ: dict[str, str], sentence: str
) -> None:
    shown = {"SPECLOOM_TOOLSETS": "papers", "ALLOW_ANONYMOUS_HTTP": "true"}
    with serving(tmp_path, **shown, **environ) as (port, process):
        assert post(port, request(1, "tools/list")).status == 200
        assert process.stderr is not None
        assert process.stderr.readline().startswith(f"specloom: {sentence}")


def refuse(folder: Path, **environ: str) -> list[str]:
    """What a server says that does not start with these variables."""
    command = [sys.executable, "-m", "specloom", "serve", "--http", "127.0.0.1:0"]
    ended = subprocess.run(
        command,
        env=make_environ(folder, environ),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    return [line.removeprefix("specloom: ") for line in ended.stderr.splitlines()]


def test_all_that_is_wrong_with_the_variables_is_told_in_one_start(tmp_path: Path) -> None:
    told = refuse(
        tmp_path,
        SPECLOOM_MAX_USD_PRE_DAY="5",
        AUDIT_RETENTION_DAYS="30",
        SPECLOOM_STATE_MAX_MB="2GB",
        SPECLOOM_WORKERS="many",
        BRAVE_RATE="quick",
        REDIS_URL="localhost:6379",
        ADMIN_PORT="9090",
        ALLOWED_ORIGINS="app.example",
        REQUIRED_SCOPES="research",
        RATE_LIMIT_TOOL_WEB_SAERCH="4",
        SPECLOOM_TENANTS=str(tmp_path / "absent.yaml"),
    )

    first = sorted(line.split()[0].rstrip(":") for line in told)
    assert first == [
        "ADMIN_PORT",
        "ALLOWED_ORIGINS",
        "AUDIT_RETENTION_DAYS",
        "BRAVE_RATE",
        "RATE_LIMIT_TOOL_WEB_SAERCH",
        "REDIS_URL",
        "REQUIRED_SCOPES",
        "SPECLOOM_MAX_USD_PRE_DAY",
        "SPECLOOM_STATE_MAX_MB",
        "SPECLOOM_TENANTS",
        "SPECLOOM_WORKERS",
    ]


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"SPECLOOM_STATE_REDIS_URL": "redis://localhost"}, "SPECLOOM_STATE_REDIS_URL is set, but what is remembered"),
        ({"REDIS_PREFIX": "ours:"}, "REDIS_PREFIX is set, but no server is named"),
        ({"ENFORCE_SCOPES": "true"}, "ENFORCE_SCOPES is set, but everybody on this machine may call"),
        ({"OAUTH_REQUIRE_TENANT": "true"}, "OAUTH_REQUIRE_TENANT is set but nothing asks for it"),
    ],
)
def test_a_variable_that_nothing_would_look_at_is_told(tmp_path: Path, environ: dict[str, str], sentence: str) -> None:
    told = refuse(tmp_path, **environ)

    assert len(told) == 1
    assert told[0].startswith(sentence)


def test_one_open_worker_uses_the_redis_that_it_is_given(tmp_path: Path) -> None:
    with (
        RedisServer() as redis,
        serving(tmp_path, live=True, REDIS_URL=redis.url, SPECLOOM_CACHE_KEY="ab" * 32) as (port, _),
    ):
        answer = post(port, call(1, "web_search", {"query": ""}))
        connected = redis.client.client_list()
    told = refuse(tmp_path, REDIS_URL="unix:///absent", SPECLOOM_CACHE_KEY="ab" * 32)

    assert answer.json["result"]["isError"]
    assert len(connected) > 1
    assert told[0].startswith("Redis at /absent gave no answer within 5 seconds")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_parent_of_workers_holds_nothing_of_what_the_first_start_compiles(tmp_path: Path) -> None:
    def weigh() -> int:
        with serving(tmp_path, "--workers", "2", live=True) as (port, process), http_server.Client(port) as client:
            assert client.get("/health/live").status == 200
            status = Path(f"/proc/{process.pid}/status").read_text("ascii")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon:"))

    first, later = weigh(), weigh()

    assert first < later * 1.5


def test_nothing_of_a_question_a_page_or_a_key_is_in_what_an_operator_reads(tmp_path: Path) -> None:
    """Log, metrics, audit log, what is on the disk, and what is said on stderr: planted values are in none of them."""
    question, text, secret = "Pl4ntedQuestion", "Pl4ntedText", "Pl4ntedSecret"
    page = f"<html><head><title>{text}</title></head><body><article>{f'<p>{text} floats.</p>' * 60}</article></body>"

    def answer(asked: Call) -> Reply:
        if asked.path == "/search":
            rows = [{"title": text, "url": f"https://example.org/{text}", "content": text}]
            return 200, {"Content-Type": "application/json"}, json.dumps({"results": rows})
        if "fails" in asked.path:
            return 500, {}, f"{text} {secret}"
        return (404, {}, "") if asked.path == "/robots.txt" else (200, {"Content-Type": "text/html"}, page)

    said = tmp_path / "said.txt"
    with Loopback(answer) as upstream:
        settings = {
            "SEARXNG_URL": upstream.url,
            "SEARXNG_BASIC_AUTH": f"ann:{secret}",
            "SEARCH_ROUTING": "searxng",
            "SEARCH_PROVIDER": "",
            "SPECLOOM_ALLOW_PRIVATE": "true",
            "CHROME_PATH": "disabled",
            "LOG_FORMAT": "json",
            "ADMIN_API_KEY": "the admin key of this test",
        }
        key = make_key(tmp_path, "acme")
        command = [sys.executable, "-m", "specloom", "serve", "--http", "127.0.0.1:0"]
        with (
            said.open("w") as errors,
            subprocess.Popen(
                command, cwd=tmp_path, env=make_environ(tmp_path, settings), stderr=errors, text=True
            ) as process,
        ):
            try:
                while (found := re.search(r"127\.0\.0\.1:(\d+)/mcp", said.read_text())) is None:
                    assert process.poll() is None, said.read_text()
                    time.sleep(0.05)
                port = int(found[1])
                held = {"Authorization": f"Bearer {key}"}
                arguments: list[tuple[str, dict[str, Any]]] = [
                    ("web_search", {"query": question}),
                    ("web_search", {"query": question, question: secret}),
                    ("scrape_page", {"url": f"{upstream.url}/{question}"}),
                    ("scrape_page", {"url": f"{upstream.url}/fails/{question}"}),
                    ("memory_save", {"note": f"{question} {text}", "topic": question}),
                    ("sequential_search", {"searchStep": question, "stepNumber": 1, "nextStepNeeded": True}),
                ]
                for name, asked in arguments:
                    assert post(port, call(1, name, asked), **held).status == 200
                assert post(port, call(1, question, {}), **held).status == 200
                assert post(port, call(1, "web_search", {"query": "a"}), Authorization=f"Bearer {secret}").status == 401
                assert post(port, request(1, question), X_Request_Id=f"{question} {secret}", **held).status == 200
                with http_server.Client(port) as client:
                    client.get(f"/{question}", X_Api_Key=secret)
                    metrics = client.get("/metrics", X_Admin_Key="the admin key of this test").body
                    data = client.get("/dashboard/data", X_Admin_Key="the admin key of this test").body
            finally:
                process.terminate()
                assert process.wait(60) == 0

    assert upstream.calls
    told = {"stderr": said.read_bytes(), "/metrics": metrics, "/dashboard/data": data}
    told |= {str(path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert any(name.endswith(".jsonl") for name in told)
    for name, content in told.items():
        for planted in (question, text, secret, key):
            assert planted.encode() not in content, (name, planted)


def test_a_tenant_has_settings_of_its_own_and_answers_that_are_apart(tmp_path: Path) -> None:
    keys = {tenant: make_key(tmp_path, tenant) for tenant in ("acme", "globex")}
    file = tmp_path / "tenants.yaml"

    def answer(name: str) -> Any:
        rows = [{"title": name, "url": f"https://{name}.example.org/", "content": "Otters."}]
        body = json.dumps({"query": "", "results": rows})
        return Loopback(lambda _: (200, {"Content-Type": "application/json"}, body))

    def ask(port: int, tenant: str) -> str:
        found = post(port, call(1, "web_search", {"query": "otters"}), Authorization=f"Bearer {keys[tenant]}").json
        return str(found["result"]["structuredContent"]["results"][0]["title"])

    with answer("server") as server, answer("own") as own, answer("new") as new:
        urls = {name: f"http://127.0.0.1:{one.port}" for name, one in (("own", own), ("new", new), ("server", server))}
        file.write_text(f"acme: {{SEARXNG_URL: '{urls['own']}'}}\n", "utf-8")
        with serving(
            tmp_path, live=True, SEARXNG_URL=urls["server"], SEARCH_PROVIDER="searxng", SPECLOOM_TENANTS=str(file)
        ) as (port, process):
            assert [ask(port, tenant) for tenant in ("globex", "acme", "globex")] == ["server", "own", "server"]
            file.write_text(f"acme: {{SEARXNG_URL: '{urls['new']}'}}\n", "utf-8")
            process.send_signal(signal.SIGHUP)
            while ask(port, "acme") != "new":
                pass
            file.write_text("acme: {SEARXNG_URLS: x}\n", "utf-8")
            process.send_signal(signal.SIGHUP)
            assert process.stderr is not None
            assert any("SEARXNG_URLS" in line for line in process.stderr), "what is wrong with the file is not told"
            assert ask(port, "acme") == "new"


def test_an_argument_that_is_wrong_only_once_somebody_was_asked_costs_a_day_s_quota(tmp_path: Path) -> None:
    held = {"Authorization": f"Bearer {make_key(tmp_path, 'acme')}"}
    body = f"<html><body><article><h1>Otters</h1><p>{'They eat fish and crabs. ' * 60}</p></article></body></html>"

    with Loopback(lambda _: (200, {"Content-Type": "text/html"}, body)) as site:
        allowed = {"SPECLOOM_ALLOW_PRIVATE": "true", "CHROME_PATH": "disabled", "DAILY_QUOTA_PER_TENANT": "2"}
        with serving(tmp_path, live=True, SPECLOOM_TOOLSETS="all", **allowed) as (port, _):

            def read(page: str, **more: str) -> str:
                asked = call(1, "read_more", {"source": f"http://127.0.0.1:{site.port}/{page}", **more})
                return str(post(port, asked, **held).json["result"]["content"][0]["text"])

            free = [read("a", links="all") for _ in range(3)]
            told = [read(page, section="nowhere") for page in "abcd"]

    assert all("links" in one for one in free)
    assert [one.startswith("no section 'nowhere'") for one in told] == [True, True, False, False]
    assert "DAILY_QUOTA_PER_TENANT" in told[-1]
    assert {one.path for one in site.calls} <= {"/a", "/b", "/robots.txt"}


def test_a_tool_that_a_tenant_has_switched_off_is_not_there_for_it(tmp_path: Path) -> None:
    keys = {tenant: make_key(tmp_path, tenant) for tenant in ("acme", "globex")}
    file = tmp_path / "tenants.yaml"
    file.write_text("acme: {ZOTERO_WRITE: 'false', MEMORY_ENABLED: ''}\n", "utf-8")
    shown = {"SPECLOOM_TOOLSETS": "all", "SPECLOOM_PAPERS_SHARED": "true", "SPECLOOM_TENANTS": str(file)}
    switched = {"ZOTERO_WRITE": "true", "MEMORY_ENABLED": "true"}

    def list_tools(port: int, tenant: str) -> set[str]:
        listed = post(port, request(1, "tools/list"), Authorization=f"Bearer {keys[tenant]}").json
        return {tool["name"] for tool in listed["result"]["tools"]}

    def say(port: int, tenant: str, *asked: Any) -> str:
        return post(port, call(1, *asked), Authorization=f"Bearer {keys[tenant]}").body.decode()

    adding = "zotero_add", {"bibliography": "@book{otters, title={Otters}}", "format": "bibtex", "dry_run": True}
    with serving(tmp_path, **shown, **switched) as (port, process):
        missing = list_tools(port, "globex") - list_tools(port, "acme")
        told = [say(port, "acme", *one) for one in (adding, ("call_tool", {"name": adding[0], "arguments": adding[1]}))]
        others = say(port, "globex", *adding)
        file.write_text("acme: {ZOTERO_WRITE: 'true'}\n", "utf-8")
        process.send_signal(signal.SIGHUP)
        while "zotero_add" not in list_tools(port, "acme"):
            assert process.poll() is None

    assert missing == {"zotero_add", "zotero_label", "memory_save", "memory_recall", "memory_delete"}
    assert all("Unknown tool" in one for one in told)
    assert "Unknown tool" not in others


@pytest.mark.skipif(importlib.util.find_spec(TYPED) is None, reason=f"{TYPED} is not installed")
async def test_the_typed_client_of_another_server_is_served(tmp_path: Path) -> None:
    typed = importlib.import_module(f"{TYPED}.client")
    with serving(tmp_path, SPECLOOM_TEXT="json") as (port, _):
        client = typed.WebResearcherClient(port=port)
        client._started = True
        await client._initialize()
        assert "web_search" in {one["name"] for one in await client.list_tools()}
        found = await client.web_search("otters")
        assert [one.url for one in found.results][:1] == ["https://otters.example.org/sea"]
