"""A library of Zotero on a loopback server, as its service and its program are documented: reading, and the write half.

What is refused is refused in the words of the service; every request is kept in `calls`. `refusals` are answers that
are given, in their order, in the place of the next writes. `meanwhile` is what somebody else does before a write.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl

from specloom.core.messages import Request, Response
from specloom.domains.trust.bibliography import zotero
from specloom.domains.trust.bibliography.csl import to_item
from specloom.net.transport import Transport
from tests.support.loopback import RESET, Call, Reply
from tests.support.research_server import Web

KEY = "made-up-key-of-nobody"
SERVICE = "https://api.zotero.org"
ALPHABET = "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"
LONGEST_TAG = 255
OWN = ("key", "version", "itemType", "creators", "tags", "collections", "relations", "extra", "parentItem", "note")
FILE = ("linkMode", "title", "filename", "contentType", "charset", "md5", "mtime", "accessDate", "url")
Refusal = tuple[int, dict[str, str], str]


@dataclass(frozen=True, slots=True)
class Loss:
    """An answer that does not come: whether its write is done, and the status of a gateway; 0 resets the connection."""

    status: int = 0
    is_done: bool = True


@dataclass
class ZoteroLibrary:
    """The library of one user: items and collections by their keys, each with the version at which it was written."""

    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    collections: dict[str, dict[str, Any]] = field(default_factory=dict)
    version: int = 10
    may_write: bool = True
    quota: int = 10**9
    """Bytes of files that there is room for."""
    files: dict[str, bytes] = field(default_factory=dict)
    """Files by the attachment that has them."""
    refusals: list[Refusal] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    """What stands beside the answers to writes of items."""
    meanwhile: list[Callable[[], None]] = field(default_factory=list)
    losses: dict[int, Loss] = field(default_factory=dict)
    """Of the writes, counted from 0, those whose answer is lost."""
    is_open: bool = True
    """Whether the program lets others read."""
    may_move: bool = True
    """Whether the program puts what it has saved where it should be."""
    calls: list[Call] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    saved: dict[str, dict[str, str]] = field(default_factory=dict)
    """What browsers saved by session: the items by the ids that they had there."""
    _made: int = 0
    _sent: dict[str, tuple[str, bytes]] = field(default_factory=dict)

    # --- what a person does, and sees

    def put(self, **data: Any) -> str:
        """An item that a person has made."""
        key = self._new_key()
        self.version += 1
        self.items[key] = {"tags": [], "collections": [], "creators": [], **data, "key": key, "version": self.version}
        return key

    def collect(self, name: str) -> str:
        """A collection that a person has made."""
        key = self._new_key()
        self.version += 1
        self.collections[key] = {"key": key, "name": name, "parentCollection": False, "version": self.version}
        return key

    def change(self, key: str, **data: Any) -> None:
        """What a person changes of an item."""
        self.version += 1
        self.items[key] |= {**data, "version": self.version}

    def works(self) -> list[dict[str, Any]]:
        """The items that are neither files nor notes."""
        return [item for item in self.items.values() if item["itemType"] not in ("attachment", "note")]

    def writes(self, path: str = "") -> list[Call]:
        """The requests that wrote, or would have."""
        return [call for call in self.calls if call.method == "POST" and path in call.path]

    def _new_key(self) -> str:
        self._made += 1
        number, key = self._made, ""
        for _ in range(8):
            number, at = divmod(number, len(ALPHABET))
            key = ALPHABET[at] + key
        return key

    # --- the service and the program

    def __call__(self, call: Call) -> Reply:
        self.calls.append(call)
        loss = self.losses.get(len(self.writes()) - 1) if call.method == "POST" else None
        if loss is None:
            return self._answer(call)
        if loss.is_done:
            self._answer(call)
        return (loss.status, {"Content-Type": "text/html"}, "<h1>Gateway</h1>") if loss.status else RESET

    def _answer(self, call: Call) -> Reply:
        if call.path.startswith("/connector/"):
            return self._save(call)
        if call.path.startswith("/storage/"):
            self._sent[call.path.removeprefix("/storage/")] = (call.headers["content-type"], call.body)
            return 201, {}, ""
        plain = {"Content-Type": "text/plain", "Zotero-API-Version": "3"}
        is_local = call.path.startswith("/api/")
        if call.headers.get("zotero-api-version") != "3":
            return 501, plain, "API version not implemented"
        if is_local and not self.is_open:
            return 403, plain, "Local API is not enabled"
        if not is_local and call.headers.get("zotero-api-key") != KEY:
            return 403, plain, "Forbidden"
        path = call.path.removeprefix("/api").removeprefix("/users/0")
        if call.method == "GET":
            return self._read(call, path, plain)
        if is_local:
            return 400, plain, "Endpoint does not support method"
        if not self.may_write:
            return 403, plain, "Write access denied"
        if self.refusals:
            status, headers, text = self.refusals.pop(0)
            return status, plain | headers, text
        if self.meanwhile:
            self.meanwhile.pop(0)()
        if file := re.fullmatch(r"/items/([A-Z0-9]{8})/file", path):
            return self._take_file(call, file[1], plain)
        if path in ("/items", "/collections"):
            return self._write(call, path, plain)
        return 404, plain, "Not found"

    def _read(self, call: Call, path: str, plain: dict[str, str]) -> Reply:
        query = dict(call.query)
        headers = {"Content-Type": "application/json", "Last-Modified-Version": str(self.version)}
        if path == "/collections":
            counts = {key: sum(key in item["collections"] for item in self.works()) for key in self.collections}
            rows = [
                {"key": key, "version": data["version"], "data": data, "meta": {"numItems": counts[key]}}
                for key, data in self.collections.items()
            ]
            return self._page(call, headers, rows)
        if parent := re.fullmatch(r"/items/([A-Z0-9]{8})/children", path):
            if parent[1] not in self.items:
                return 404, plain, "Item does not exist"
            return self._page(call, headers, [self._tell_child(item) for item in self._children(parent[1])])
        place = re.fullmatch(r"(?:/collections/([A-Z0-9]{8}))?/items/top", path)
        if place is None:
            return 404, plain, "Not found"
        found = [item for item in self.works() if not place[1] or place[1] in item["collections"]]
        if keys := query.get("itemKey"):
            found = [item for item in found if item["key"] in keys.split(",")]
        ordered = sorted(found, key=lambda item: -int(item["version"]))
        return self._page(
            call,
            headers,
            [
                {"key": item["key"], "version": item["version"], "data": item, "meta": {}, "csljson": _to_csl(item)}
                for item in ordered
            ],
        )

    def _children(self, parent: str) -> list[dict[str, Any]]:
        return [item for item in self.items.values() if item.get("parentItem") == parent]

    def _tell_child(self, item: dict[str, Any]) -> dict[str, Any]:
        file = self.files.get(item["key"])
        told = item if item["itemType"] == "note" else {"md5": file and hashlib.md5(file).hexdigest(), **item}
        return {"key": item["key"], "version": item["version"], "data": told, "meta": {}}

    def _page(self, call: Call, headers: dict[str, str], rows: list[dict[str, Any]]) -> Reply:
        query = dict(call.query)
        start, limit = int(query.get("start", 0)), min(int(query.get("limit", 25)), 100)
        more = {"Total-Results": str(len(rows))}
        if start + limit < len(rows):
            base = f"http://{call.headers['host']}" if call.path.startswith("/api/") else SERVICE
            kept = "&".join(f"{name}={value}" for name, value in query.items() if name not in ("start", "format"))
            more["Link"] = f'<{base}{call.path}?{kept}&start={start + limit}>; rel="next"'
        return 200, headers | more, json.dumps(rows[start : start + limit])

    def _write(self, call: Call, path: str, plain: dict[str, str]) -> Reply:
        token = call.headers.get("zotero-write-token", "")
        if token and not 5 <= len(token) <= 32:
            return 400, plain, "Write token must be 5-32 characters in length"
        if token in self.tokens:
            return 412, plain, "Write token already used"
        based = call.headers.get("if-unmodified-since-version")
        if based is not None and int(based) < self.version:
            return (
                412,
                plain,
                f"Library has been modified since specified version (expected {based}, found {self.version})",
            )
        try:
            objects = json.loads(call.body)
        except ValueError:
            return 400, plain, "Uploaded data must be a JSON array"
        if not isinstance(objects, list):
            return 400, plain, "Uploaded data must be a JSON array"
        if len(objects) > 50:
            return 413, plain, f"Cannot add more than 50 {path[1:]} at a time"
        told: dict[str, dict[str, Any]] = {"successful": {}, "success": {}, "unchanged": {}, "failed": {}}
        after = self.version + 1
        for at, data in enumerate(objects):
            make = self._put_item if path == "/items" else self._put_collection
            outcome = make(data, after)
            if isinstance(outcome, str):
                told["unchanged"][str(at)] = outcome
            elif "code" in outcome:
                told["failed"][str(at)] = outcome
            else:
                told["successful"][str(at)] = {"key": outcome["key"], "version": after, "data": outcome}
                told["success"][str(at)] = outcome["key"]
        if told["successful"]:
            self.version = after
            self.tokens |= {token} if token else set()
        headers = {"Content-Type": "application/json", "Last-Modified-Version": str(self.version), **self.headers}
        return 200, headers, json.dumps(told)

    def _put_collection(self, data: dict[str, Any], version: int) -> dict[str, Any]:
        if not data.get("name"):
            return {"code": 400, "message": "Collection name cannot be empty"}
        if len(data["name"]) > 255:
            return {"code": 413, "message": f"Collection name '{data['name'][:50]}…' is too long"}
        key = self._new_key()
        self.collections[key] = {"parentCollection": False, **data, "key": key, "version": version}
        return self.collections[key]

    def _put_item(self, data: dict[str, Any], version: int) -> dict[str, Any] | str:
        key = data.get("key")
        if key is None:
            problem = self._find_problem(data)
            if problem:
                return problem
            key = self._new_key()
            self.items[key] = {"tags": [], "collections": [], "creators": [], **data, "key": key, "version": version}
            return self.items[key]
        if "version" not in data:
            sentence = "Either If-Unmodified-Since-Version or object version property must be provided"
            return {"key": key, "code": 428, "message": f"{sentence} for key-based writes"}
        stored = self.items.get(key)
        if stored is None:
            return {"key": key, "code": 404, "message": f"Item {key} doesn't exist"}
        if stored["version"] > data["version"]:
            versions = f"expected {data['version']}, found {stored['version']}"
            sentence = f"Item has been modified since specified version ({versions})"
            return {"key": key, "code": 412, "message": sentence}
        after = {**stored, **data}
        problem = self._find_problem(after)
        if problem:
            return {"key": key, **problem}
        if {**after, "version": 0} == {**stored, "version": 0}:
            return str(key)
        self.items[key] = {**after, "version": version}
        return self.items[key]

    def _find_problem(self, data: dict[str, Any]) -> dict[str, Any]:
        kind = data.get("itemType")
        if kind in ("attachment", "note"):
            own = {*OWN, *(FILE if kind == "attachment" else ())}
        elif kind in zotero._FIELDS:
            own = {*OWN, *zotero._FIELDS[kind].values()}
        else:
            return {"code": 400, "message": f"'{kind}' is not a valid itemType"}
        for name in data:
            if name not in own:
                return {"code": 400, "message": f"'{name}' is not a valid field for type '{kind}'"}
        for creator in data.get("creators", ()):
            if creator["creatorType"] not in zotero._CREATORS.get(str(kind), ()):
                return {
                    "code": 400,
                    "message": f"'{creator['creatorType']}' is not a valid creator type for item type '{kind}'",
                }
        for tag in data.get("tags", ()):
            if len(tag["tag"]) > LONGEST_TAG:
                return {
                    "code": 413,
                    "message": f"Tag '{tag['tag'][:77]}…' is too long to sync",
                    "data": {"tag": tag["tag"]},
                }
        for collection in data.get("collections", ()):
            if collection not in self.collections:
                return {"code": 409, "message": f"Collection {collection} doesn't exist"}
        parent = data.get("parentItem")
        if parent and parent not in self.items:
            return {"code": 409, "message": f"Parent item {parent} doesn't exist"}
        return {}

    def _take_file(self, call: Call, key: str, plain: dict[str, str]) -> Reply:
        form = dict(parse_qsl(call.body.decode()))
        if key not in self.items:
            return 404, plain, "Not found"
        if call.headers.get("if-none-match") != "*":
            return 428, plain, "If-Match/If-None-Match header not provided"
        if key in self.files:
            return 412, plain, "If-None-Match: * set but file exists"
        if "upload" in form:
            type_, body = self._sent.pop(form["upload"], ("", b""))
            if type_ != "multipart/form-data; boundary=x":
                return 400, plain, "Upload key not found"
            self.files[key] = body.removeprefix(b"--x\r\n\r\n").removesuffix(b"\r\n--x--")
            return 204, {"Last-Modified-Version": str(self.version)}, ""
        if not {"md5", "filename", "filesize", "mtime"} <= set(form):
            return 400, plain, "MD5 hash not provided"
        used = sum(map(len, self.files.values())) + int(form["filesize"])
        if used > self.quota:
            return 413, plain, f"File would exceed quota ({used} > {self.quota})"
        self._made += 1
        place = f"u{self._made}"
        told = {
            "url": f"{SERVICE}/storage/{place}",
            "contentType": "multipart/form-data; boundary=x",
            "prefix": "--x\r\n\r\n",
            "suffix": "\r\n--x--",
            "uploadKey": place,
        }
        return 200, {"Content-Type": "application/json"}, json.dumps(told)

    def _save(self, call: Call) -> Reply:
        json_type = {"Content-Type": "application/json"}
        if call.headers.get("x-zotero-connector-api-version") != "3":
            return 403, {}, ""
        if call.path == "/connector/saveAttachment":
            told = json.loads(call.headers["x-metadata"])
            if told["sessionID"] not in self.saved:
                return 400, json_type, json.dumps({"error": "SESSION_NOT_FOUND"})
            parent = self.saved[told["sessionID"]][told["parentItemID"]]
            key = self.put(itemType="attachment", parentItem=parent, title=told["title"], url=told["url"])
            self.files[key] = call.body
            return 201, {}, ""
        data = json.loads(call.body)
        if call.path == "/connector/getSelectedCollection":
            targets = [{"id": "L1", "name": "My Library", "filesEditable": True, "level": 0}]
            targets += [
                {"id": f"C{at}", "name": one["name"], "filesEditable": True, "level": 1}
                for at, one in enumerate(self.collections.values(), 1)
            ]
            targets += [{"id": "L2", "name": "Group", "filesEditable": True, "level": 0}]
            told = {
                "libraryID": 1,
                "libraryName": "My Library",
                "libraryEditable": True,
                "id": None,
                "targets": targets,
            }
            return 200, json_type, json.dumps(told)
        if call.path == "/connector/saveItems":
            if data["sessionID"] in self.saved:
                return 409, json_type, json.dumps({"error": "SESSION_EXISTS"})
            self.saved[data["sessionID"]] = {}
            for item in data["items"]:
                own = {name: value for name, value in item.items() if name not in ("id", "notes", "attachments")}
                assert not self._find_problem(own), self._find_problem(own)
                key = self.put(**own, collections=[])
                self.saved[data["sessionID"]][item["id"]] = key
                for note in item["notes"]:
                    self.put(itemType="note", parentItem=key, **note)
            return 201, json_type, ""
        if call.path == "/connector/updateSession":
            if data["sessionID"] not in self.saved:
                return 400, json_type, json.dumps({"error": "SESSION_NOT_FOUND"})
            if not self.may_move:
                return 500, json_type, ""
            keys = [*self.collections]
            for key in self.saved[data["sessionID"]].values():
                target = data["target"]
                self.change(key, collections=[keys[int(target[1:]) - 1]] if target[0] == "C" else [])
            return 200, json_type, "{}"
        return 404, {}, "No endpoint found"


def _to_csl(item: dict[str, Any]) -> dict[str, Any]:
    """An item as Zotero gives it in CSL-JSON."""
    entry = zotero.parse_zotero(item)
    return {} if isinstance(entry, str) else to_item(entry)


class ToLibrary(Web):
    """Sends what is meant for Zotero to the loopback server, and answers searches itself."""

    def __init__(self, server: str) -> None:
        super().__init__()
        self._server, self._transport = server, Transport(allow_private=True)

    async def send(self, request: Request) -> Response:
        if request.url.startswith(SERVICE):
            request = replace(request, url=request.url.replace(SERVICE, self._server, 1))
        is_zotero = request.url.startswith(self._server)
        return await (self._transport.send(request) if is_zotero else super().send(request))

    async def aclose(self) -> None:
        await self._transport.aclose()
