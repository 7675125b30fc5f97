"""An issuer of tokens on 127.0.0.1: real keys, metadata and a key set that a test changes, and every request kept.

```python
with TokenIssuer() as issuer:
    token = issuer.sign(sub="ann")
    issuer.replies["/jwks"] = (500, {}, "")
    ...  # then look at issuer.asked
```
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Self

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms

from specloom.http.identity.settings import IdentitySettings
from tests.support.loopback import Call, Handler, Loopback, Reply

AUDIENCE = "https://mcp.example.com/mcp"
JSON = {"Content-Type": "application/json"}
METADATA = "/.well-known/oauth-authorization-server"


@dataclass(frozen=True)
class SigningKey:
    """A private key and what a set says of it."""

    kid: str
    algorithm: str
    private: Any

    @property
    def jwk(self) -> dict[str, Any]:
        public = get_default_algorithms()[self.algorithm].to_jwk(self.private.public_key(), as_dict=True)  # type: ignore[attr-defined]
        kept = {name: value for name, value in public.items() if name != "key_ops"}
        return {**kept, "kid": self.kid, "alg": self.algorithm, "use": "sig"}


@cache
def make_key(kid: str = "k1", algorithm: str = "ES256") -> SigningKey:
    """A key; the same for the same name and algorithm, because RSA keys take their time."""
    if algorithm in ("RS256", "PS256"):
        return SigningKey(kid, algorithm, rsa.generate_private_key(65537, 2048))
    if algorithm == "EdDSA":
        return SigningKey(kid, algorithm, ed25519.Ed25519PrivateKey.generate())
    return SigningKey(kid, algorithm, ec.generate_private_key(ec.SECP256R1()))


def encode(said: Any) -> str:
    """A part of a token: JSON data, or bytes as they are."""
    data = said if isinstance(said, bytes) else json.dumps(said).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@dataclass
class TokenIssuer:
    """A running issuer. `replies` stand in for what it would answer at a path."""

    keys: list[SigningKey] = field(default_factory=lambda: [make_key()])
    path: str = ""
    """What the issuer's address has behind its host."""
    metadata_path: str = METADATA
    replies: dict[str, Reply | Handler] = field(default_factory=dict)
    now: float = field(default_factory=time.time)
    name: str = ""
    """A host name under which it is asked over TLS."""

    def __enter__(self) -> Self:
        self.server = Loopback(
            self._answer, tls=bool(self.name), names=(self.name or "localhost", "127.0.0.1"), any_name=True
        )
        self.server.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.__exit__(*error)

    @property
    def url(self) -> str:
        return self.base + self.path

    @property
    def base(self) -> str:
        """Scheme, host and port."""
        return f"https://{self.name}:{self.server.port}" if self.name else self.server.url

    @property
    def asked(self) -> list[str]:
        """The paths of all requests so far."""
        return [call.path for call in self.server.calls]

    def count(self, path: str = "/jwks") -> int:
        return self.asked.count(path)

    def settings(self, **changes: Any) -> IdentitySettings:
        return IdentitySettings(**{"issuer": self.url, "audience": AUDIENCE, "resource": AUDIENCE, **changes})

    def metadata(self) -> dict[str, Any]:
        return {"issuer": self.url, "jwks_uri": f"{self.base}/jwks"}

    def key_set(self) -> dict[str, Any]:
        return {"keys": [key.jwk for key in self.keys]}

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Claims that hold; a change to None leaves one out."""
        claims = {
            "iss": self.url, "aud": AUDIENCE, "sub": "ann", "tenant_id": "acme", "iat": int(self.now),
            "exp": int(self.now) + 300, "jti": "j1", "scope": "research",
        }  # fmt: skip
        return {name: value for name, value in {**claims, **changes}.items() if value is not None}

    def sign(
        self,
        key: SigningKey | None = None,
        *,
        header: Mapping[str, Any] | None = None,
        algorithm: str = "",
        **changes: Any,
    ) -> str:
        """A token with these claims, and this header beside what belongs there."""
        key = key or self.keys[0]
        return sign_claims(self.claims(**changes), key, header=header, algorithm=algorithm)

    def _answer(self, call: Call) -> Reply:
        reply = self.replies.get(call.path)
        if callable(reply):
            return reply(call)
        if reply is not None:
            return reply
        if call.path == self.metadata_path:
            return 200, JSON, json.dumps(self.metadata())
        if call.path == "/jwks":
            return 200, JSON, json.dumps(self.key_set())
        return 404, {}, ""


def sign_claims(
    claims: Mapping[str, Any] | bytes, key: SigningKey, *, header: Mapping[str, Any] | None = None, algorithm: str = ""
) -> str:
    """A token over any claims, or over bytes that are none."""
    said = {"typ": "at+jwt", "alg": algorithm or key.algorithm, "kid": key.kid, **(header or {})}
    said = {name: value for name, value in said.items() if value is not None}
    signed = f"{encode(said)}.{encode(claims)}"
    signer: Any = get_default_algorithms()[key.algorithm]
    return f"{signed}.{encode(signer.sign(signed.encode(), key.private))}"


__all__ = ["AUDIENCE", "JSON", "METADATA", "SigningKey", "TokenIssuer", "encode", "make_key", "sign_claims"]
