"""The part of the demonstration that is over HTTP: a server of several tenants, an issuer of tokens, and two callers.

The issuer is a stand-in on this machine with a key made for the occasion: an operator has one, such as Keycloak.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import ec

PATIENCE = 30.0
"""Seconds that the server has to open its port."""
PUBLIC = "https://mcp.example.com"
"""Where clients of this server would reach it, and so what tokens are for."""
TENANTS = ("acme", "globex")
PING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


class Issuer:
    """Says which key signs its tokens, and signs them."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._key = ec.generate_private_key(ec.SECP256R1())
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self._key.public_key()))
        self.documents = {
            "/.well-known/oauth-authorization-server": {"issuer": address, "jwks_uri": f"{address}/keys"},
            "/keys": {"keys": [{**public, "kid": "demo", "alg": "ES256", "use": "sig"}]},
        }

    def sign(self, tenant: str) -> str:
        """A token for a user of a tenant, good for a minute."""
        now = int(time.time())
        claims = {"iss": self.address, "aud": f"{PUBLIC}/mcp", "sub": "ann", "tenant_id": tenant}
        return jwt.encode({**claims, "iat": now, "exp": now + 60}, self._key, "ES256", {"kid": "demo"})


@contextmanager
def issuing() -> Iterator[Issuer]:
    """An issuer on a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            document = issuer.documents.get(self.path)
            self.send_response(200 if document else 404)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(document or {}).encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer = Issuer(f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()


@asynccontextmanager
async def serving(arguments: list[str], environ: dict[str, str]) -> AsyncIterator[tuple[str, list[str]]]:
    """The address of a server over HTTP, and the lines that it says of itself."""
    command = [sys.executable, "-m", "specloom", "serve", "--http", "127.0.0.1:0", *arguments]
    process = await asyncio.create_subprocess_exec(*command, env=environ, stderr=asyncio.subprocess.PIPE)
    lines: list[str] = []
    assert process.stderr is not None
    try:
        async with asyncio.timeout(PATIENCE):
            while not lines or " answers " not in lines[-1]:
                line = (await process.stderr.readline()).decode()
                if not line:
                    raise RuntimeError("\n".join(lines) or "the server over HTTP did not start")
                lines.append(line.strip())
        yield lines[-1], lines
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def show_http(
    arguments: list[str], settings: dict[str, str], call: dict[str, Any], folder: Path
) -> AsyncIterator[str]:
    """Start, be refused, call as two tenants, and stop; a line for each of it."""
    with issuing() as issuer:
        environ = {
            **os.environ,
            **settings,
            "OAUTH_ISSUER_URL": issuer.address,
            "PUBLIC_URL": PUBLIC,
            "ALLOWED_HOSTS": "127.0.0.1",
            "CACHE_ISOLATION": "tenant",
            "SPECLOOM_CACHE_DIR": str(folder / "cache"),
            "SPECLOOM_STATE_DIR": str(folder / "state"),
        }
        async with serving(arguments, environ) as (said, _), httpx.AsyncClient(timeout=PATIENCE) as client:
            yield said.partition(": ")[2]
            found = re.search(r"http://127\.0\.0\.1:\d+/mcp", said)
            assert found is not None, said
            url = found[0]
            refused = await client.post(url, json=PING)
            yield f"  without a token: {refused.status_code}, {refused.headers['www-authenticate']}"
            for tenant in (*TENANTS, TENANTS[0]):
                began = time.perf_counter()
                params = {"name": call["tool"], "arguments": call["arguments"]}
                message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                headers = {"Authorization": f"Bearer {issuer.sign(tenant)}"}
                answer = await client.post(url, json=message, headers=headers)
                result = answer.json()["result"]
                kept = "kept" if (result.get("_meta") or {}).get("cached") else "new"
                spent = (time.perf_counter() - began) * 1000
                what = "failed" if result.get("isError") else f"an answer, {kept}"
                yield f"  {call['tool']} as {tenant}: {answer.status_code}, {what} ({spent:.1f} ms)"
        yield "  and it is gone again"
