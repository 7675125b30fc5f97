"""Who the server of the local page answers: its own page with the cookie, and nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.demo_specs import demo_executor, write_demo
from tests.support.local_page import LocalPage, address_parts, local_page


@pytest.fixture
def page(tmp_path: Path) -> Iterator[LocalPage]:
    root = write_demo(tmp_path / "specs")
    with local_page(lambda sender: demo_executor(root, sender=sender), {}) as opened:
        yield opened


def test_the_address_opens_the_page_once_with_a_cookie_that_is_only_for_it(page: LocalPage) -> None:
    path, _ = address_parts(page.server.address)

    first, second = page.send("GET", path), page.send("GET", path)

    assert (first.status, second.status) == (200, 403)
    cookie = first.headers["set-cookie"]
    assert cookie == f"{page.cookie}; Path={page.server.folder}; HttpOnly; SameSite=Strict"
    assert f"url={page.server.folder}".encode() in first.body
    assert "set-cookie" not in second.headers
    assert page.cookie.encode() not in first.body


def test_a_wrong_token_opens_nothing_and_uses_nothing_up(page: LocalPage) -> None:
    path, token = address_parts(page.server.address)

    refused = [page.send("GET", one).status for one in ("/", "/?token=", f"/?token={token[:-1]}", "/?token=%E2%98%83")]

    assert refused == [403] * 4
    assert page.send("GET", path).status == 200
    assert page.send("GET", "/?token=").status == 403


@pytest.mark.parametrize("name", ["", "page.js", "page.css", "api/tools", "view/x"])
def test_nothing_is_told_without_the_cookie(page: LocalPage, name: str) -> None:
    for cookie in ("", "specloom_ui=", "specloom_ui=guess", page.cookie[:-1], "=;;\x7f"):
        assert page.send("GET", page.server.folder + name, {"Cookie": cookie}).status == 403
    assert page.send("GET", f"/{name}", {"Cookie": page.cookie}).status == 403


@pytest.mark.parametrize(
    "host", ["", "rebound.example", "rebound.example:PORT", "127.0.0.1", "127.0.0.1:1", "[::1]:PORT"]
)
def test_a_name_that_was_made_to_lead_here_is_refused(page: LocalPage, host: str) -> None:
    host = host.replace("PORT", str(page.server.server_port))
    path, _ = address_parts(page.server.address)

    assert page.send("GET", path, {"Host": host}).status == 403
    assert page.send("GET", page.server.folder, {"Host": host, "Cookie": page.cookie}).status == 403
    assert page.ask("tools", host=host, origin=f"http://{host}").status == 403
    assert page.send("GET", path).status == 200


@pytest.mark.parametrize("origin", ["", "null", "http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1:PORT"])
def test_another_origin_calls_no_tool(page: LocalPage, origin: str) -> None:
    origin = origin.replace("PORT", str(page.server.server_port))

    assert page.ask("tools", origin=origin).status == 403
    assert page.ask("tools").status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_another_site_or_port_is_refused_also_with_the_cookie(page: LocalPage, site: str) -> None:
    assert page.send("GET", page.server.folder, {"Cookie": page.cookie, "Sec-Fetch-Site": site}).status == 403
    assert page.ask("tools", sec_fetch_site=site).status == 403
    assert page.send("GET", page.server.folder, {"Cookie": page.cookie, "Sec-Fetch-Site": "none"}).status == 200


@pytest.mark.parametrize("headers", [{"Transfer-Encoding": "chunked"}, {"Content-Length": "5"}])
def test_a_body_that_no_browser_sends_is_refused_and_ends_the_connection(
    page: LocalPage, headers: dict[str, str]
) -> None:
    reply = page.send("GET", page.server.folder, {"Cookie": page.cookie} | headers, b"GET /")

    assert reply.status == 403
    assert reply.headers["connection"] == "close"


def test_what_is_no_question_of_the_page_is_said_to_be_none(page: LocalPage) -> None:
    usual = {"Cookie": page.cookie, "Origin": f"http://{page.host}", "Content-Type": "application/json"}
    path = f"{page.server.folder}api/tools"

    assert page.send("POST", path, usual, b"[]").status == 400
    assert page.send("POST", path, usual, b"{").status == 400
    assert page.send("POST", path, usual | {"Content-Type": "text/plain"}, b"{}").status == 415
    assert page.send("POST", path, usual, b" " * (8 << 20)).status == 413  # more than the sockets hold
    assert page.send("POST", path, usual | {"Content-Length": f"{5:09}{0:09}"}).status == 413
    assert page.send("POST", path, usual | {"Content-Length": "9" * 5000}).status == 413
    assert page.ask("nothing").status == 404
    assert page.send("GET", f"{page.server.folder}nothing", {"Cookie": page.cookie}).status == 404
    assert page.send("GET", f"{page.server.folder}..%2f..%2fetc/passwd", {"Cookie": page.cookie}).status == 404
    assert page.send("DELETE", path, usual).status == 501
    assert page.ask("call", {"tool": "demo_find"}).json["fault"]["kind"] == "validation"
    assert page.ask("call", {"tool": "nothing", "arguments": {}}).json["fault"]["kind"] == "config"


def test_the_page_may_load_nothing_from_elsewhere_and_is_framed_by_nobody(page: LocalPage) -> None:
    sizes = 0
    for name in ("", "page.js", "page.css"):
        reply = page.send("GET", page.server.folder + name, {"Cookie": page.cookie})
        policy = reply.headers["content-security-policy"]

        assert reply.status == 200
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "trusted-types 'none'" in policy
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in reply.headers
        assert not [word for word in (b"http:", b"https:", b"innerHTML", b"eval(", b"VERSION") if word in reply.body]
        sizes += len(reply.body)
    assert sizes < 60_000


def test_it_listens_on_loopback_alone(page: LocalPage) -> None:
    assert page.server.socket.getsockname()[0] == "127.0.0.1"
