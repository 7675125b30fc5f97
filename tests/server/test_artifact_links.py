"""What an answer keeps beside it for its caller is a `resource_link` of the answer, whichever tool keeps it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import specloom
from specloom.core.messages import Request, Response
from tests.support.research_server import ADA, ENVIRON, Server, Web, begin

_ADDRESS = re.compile(r"research://artifact/[0-9a-f]+")
BIBLIOGRAPHY = "@article{a, title = {How otters swim}, author = {Otter, Ann}, year = 2020}"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
CALLS: Mapping[str, tuple[str, dict[str, Any], list[tuple[str, str]]]] = {
    "a session as a page": ("research_export", {"format": "html"}, [("research session", "text/html")]),
    "a session for word processors": ("research_export", {"format": "docx"}, [("research session", WORD)]),
    "a long bibliography": ("library_export", {"style": "ris"}, [("bibliography in ris", "text/plain")]),
    "a report of one citation": (
        "verify_citation",
        {"citation": "Otter, A. (2020). How otters swim. Rivers.", "report": "markdown"},
        [("citation check", "text/markdown")],
    ),
    "an audit with its report": (
        "audit_bibliography",
        {"bibliography": BIBLIOGRAPHY, "report": "html", "notes": True},
        [
            ("bibliography with notes", "text/plain"),
            ("bibliography audit", "text/html"),
            ("corrected bibliography", "text/plain"),
        ],
    ),
}


class Nobody(Web):
    """A web in which nobody has anything."""

    async def send(self, request: Request) -> Response:
        return Response(404, {"content-type": "application/json"}, b"{}", request.url)


@pytest.fixture
def server(tmp_path: Path) -> Server:
    entries = tmp_path / ".metadata"
    entries.mkdir()
    for at in range(250):
        text = f"schema_version = '1.0'\ntitle = 'What the otters of river number {at} eat in the long winters of it'\n"
        (entries / f"key_{at}.toml").write_text(f"{text}authors = []\n[specloom]\ncitekey = 'k{at}'\n", "utf-8")
    return Server({**ENVIRON, "DOIGET_STORE_ROOT": str(tmp_path)}, web=Nobody())


@pytest.mark.parametrize("name", CALLS)
async def test_what_is_kept_beside_an_answer_is_linked(server: Server, name: str) -> None:
    tool, arguments, kept = CALLS[name]
    async with server.client(ADA) as client:
        if tool == "research_export":
            arguments = {**arguments, "sessionId": await begin(client)}
        result: Any = await client.call_tool(tool, arguments)
        links = [part for part in result.content if part.type == "resource_link"]
        sizes = [len(await _read(client, str(link.uri))) for link in links]

    assert not result.is_error, result.content[0].text
    assert [(link.name, link.mime_type) for link in links] == kept
    assert {str(link.uri) for link in links} == {*_ADDRESS.findall(json.dumps(result.structured_content))}
    assert [link.size for link in links] == sizes


async def _read(client: Any, uri: str) -> bytes:
    content = (await client.read_resource(uri)).contents[0]
    return base64.b64decode(content.blob) if hasattr(content, "blob") else content.text.encode()


def test_nothing_is_kept_but_by_those_who_link_it() -> None:
    root = Path(specloom.__file__).parent
    keeping = re.compile(r"(?:keeper|artifacts)\.keep\(")

    found = {str(path.relative_to(root)) for path in root.rglob("*.py") if keeping.search(path.read_text("utf-8"))}

    assert found == {"runtime/executor.py", "runtime/live_context.py", "runtime/presentation.py"}
