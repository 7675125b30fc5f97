"""Metadata of the protected resource (RFC 9728): which issuer a client has to ask for a token, and for what.

Made from settings alone: what a request calls this host is not believed.
"""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from specloom.core import NAME, dataclass

WELL_KNOWN = "/.well-known/oauth-protected-resource"
ENDPOINT = "/mcp"


@dataclass(frozen=True, slots=True)
class ResourceMetadata:
    """What clients read before they ask for a token."""

    resource: str
    """The address of the endpoint, without a slash at its end."""
    issuer: str
    url: str
    """Where clients find this document, as challenges say."""
    scopes: tuple[str, ...] = ()
    name: str = NAME
    """What people are told that they sign in to."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the server that answer with the document."""
        return tuple(dict.fromkeys((WELL_KNOWN, WELL_KNOWN + ENDPOINT, urlsplit(self.url).path)))

    def to_json(self) -> bytes:
        """The document."""
        said = {
            "resource": self.resource,
            "authorization_servers": [self.issuer],
            **({"scopes_supported": list(self.scopes)} if self.scopes else {}),
            "bearer_methods_supported": ["header"],
            "resource_name": self.name,
        }
        return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()


def locate_metadata(resource: str, public_url: str = "") -> str:
    """The address of the metadata: below the address that clients use, else where RFC 9728, 3.1 puts it."""
    if public_url:
        return f"{public_url}{WELL_KNOWN}{ENDPOINT}"
    parts = urlsplit(resource)
    return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{parts.path.rstrip('/')}"
