"""Recorded exchanges as files: a recording driver writes them without any secret, a replaying one answers from them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from specloom.core import Fault, Request, Response, Secret, redact_body, write_whole

from .request import STEP as TOKEN_STEP
from .request import secrets_of

KEPT_HEADERS = ("content-type", "retry-after", "link", "date")
"""Response headers that a spec may read; the rest tells about the caller and is not written."""
TOKEN_REPLY = b'{"access_token": "REDACTED", "expires_in": 600}'
"""What stands in a recording for the answer to a request for a token."""


class Sender(Protocol):
    """Anything that answers requests: the guarded transport, a replay, a recorder around either."""

    async def send(self, request: Request) -> Response:
        """The response, or a Fault."""
        ...

    async def aclose(self) -> None:
        """Lets go of what is open."""
        ...


def public_request(request: Request) -> dict[str, Any]:
    """A request without its secrets: what identifies a recording and what people may see."""
    said: dict[str, Any] = {
        "provider": request.provider,
        "operation": request.operation,
        "step": request.step,
        "method": request.method,
        "url": request.url,
        "query": [[name, value] for name, value in request.query if not isinstance(value, Secret)],
    }
    if request.body is not None:
        said["body"] = _masked(request.body, request.hidden).decode("utf-8", "replace")
    return said


def request_id(request: Request) -> str:
    """A short digest of a request without its secrets."""
    return hashlib.sha256(json.dumps(public_request(request), sort_keys=True).encode()).hexdigest()[:16]


def to_recording(request: Request, response: Response) -> dict[str, Any]:
    """The exchange as it is written: no secrets, and a body as JSON or text where it is that."""
    secrets = secrets_of(request)
    kept = {name: value.encode() for name, value in response.headers.items() if name in KEPT_HEADERS}
    headers = {name: _masked(value, secrets).decode() for name, value in kept.items()}
    said: dict[str, Any] = {"status": response.status, "headers": headers}
    # The whole answer to a request for a token is a secret.
    body = TOKEN_REPLY if request.step == TOKEN_STEP else _masked(response.body, secrets)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        said["base64"] = base64.b64encode(body).decode()
        return {"request": public_request(request), "response": said}
    try:
        said["json"] = json.loads(text) if text[:1] in {"{", "["} else None
    except ValueError:
        said["json"] = None
    if said["json"] is None:
        del said["json"]
        said["text"] = text
    return {"request": public_request(request), "response": said}


def _masked(text: bytes, secrets: Iterable[Secret]) -> bytes:
    return redact_body(text, secrets, b"REDACTED")


def from_recording(said: Mapping[str, Any], url: str) -> Response:
    """The response of a written exchange."""
    if "json" in said:
        body = json.dumps(said["json"], ensure_ascii=False).encode()
    elif "base64" in said:
        body = base64.b64decode(said["base64"])
    else:
        body = str(said.get("text", "")).encode()
    headers = {str(name).lower(): str(value) for name, value in (said.get("headers") or {}).items()}
    if "json" in said:
        headers.setdefault("content-type", "application/json")
    return Response(int(said.get("status", 200)), headers, body, url)


class Unsent:
    """A way out that is closed: a dry run that tried to send would fail loudly."""

    async def send(self, request: Request) -> Response:
        """Never the response."""
        raise Fault("internal", f"a dry run sends nothing, and {request.method} {request.url} was about to be sent")

    async def aclose(self) -> None:
        """Nothing is open."""


class RecordingSender:
    """Passes requests on and writes each exchange under FOLDER/PROVIDER/OPERATION.STEP.DIGEST.json."""

    def __init__(self, inner: Sender, folder: Path) -> None:
        self._inner = inner
        self._folder = folder
        self.written: list[Path] = []

    async def send(self, request: Request) -> Response:
        response = await self._inner.send(request)
        path = self._folder / request.provider / f"{request.operation}.{request.step}.{request_id(request)}.json"
        write_whole(path, (json.dumps(to_recording(request, response), ensure_ascii=False, indent=1) + "\n").encode())
        self.written.append(path)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class ReplaySender:
    """Answers from recordings: the same request if there is one, else any recording of the same step."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def send(self, request: Request) -> Response:
        folder = self._folder / request.provider
        exact = folder / f"{request.operation}.{request.step}.{request_id(request)}.json"
        near = sorted(folder.glob(f"{request.operation}.{request.step}*.json"))
        found = exact if exact.is_file() else next(iter(near), None)
        if found is None:
            step = f"{request.provider}.{request.operation}, step {request.step}"
            message = f"there is no recording of {step if request.provider else request.url}"
            where = f"looked under {self._folder.name}"
            raise Fault("upstream_unavailable", message, provider=request.provider, detail=where)
        try:
            said = json.loads(found.read_bytes())["response"]
            return from_recording(said, request.url)
        except (OSError, ValueError, KeyError, TypeError):
            message = f"the recording {found.name} cannot be read"
            raise Fault("upstream_unavailable", message, provider=request.provider) from None

    async def aclose(self) -> None:
        """Nothing is open."""
