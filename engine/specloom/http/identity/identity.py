"""Who is calling (`Identity`), or why that could not be found out (`Refusal`) with its challenge (RFC 6750, RFC 9728).

Neither shows what a caller sent: not in its text, not in its `repr`, not in a header.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from specloom.core import dataclass
from specloom.plugins import join_owner

ANONYMOUS = "anonymous"
"""Tenant and user of callers who show nothing. No token and no key may carry either name."""
OPERATOR = "operator"
"""The scope of who looks after the server: sees what concerns all tenants."""
LONGEST_NAME = 255
"""Characters of a tenant or a user."""

_UNWANTED = frozenset({"Cc", "Cs", "Zl", "Zp"})

Kind = Literal["token", "key", "anonymous"]


def say_nothing(_: str) -> None:
    """Where nobody wants to be told."""


def is_name(text: object) -> bool:
    """Whether a value may be a tenant or a user: 1 to 255 characters, no control character, not the reserved name."""
    return (
        isinstance(text, str)
        and 1 <= len(text) <= LONGEST_NAME
        and text != ANONYMOUS
        and (text.isprintable() or not any(unicodedata.category(sign) in _UNWANTED for sign in text))
    )


@dataclass(frozen=True, slots=True, repr=False)
class Identity:
    """A caller whose credential was verified, or an anonymous one where those are admitted."""

    tenant: str
    user: str
    scopes: frozenset[str] = frozenset()
    token_id: str = ""
    """The `jti` of a token or the id of a key, by which it is revoked; "" where it has none."""
    expires: float = math.inf
    """When the credential ends, in seconds since the epoch, without any leeway."""
    issued: float | None = None
    """When it was made, where it says so."""
    scoped: bool = True
    """Whether the credential speaks of scopes at all."""
    kind: Kind = "token"

    @property
    def owner(self) -> str:
        """What every store knows the caller by; no two pairs of tenant and user have the same."""
        return join_owner(self.tenant, self.user)

    @property
    def is_operator(self) -> bool:
        """Whether the caller may see what concerns all tenants."""
        return OPERATOR in self.scopes

    @property
    def is_anonymous(self) -> bool:
        """Whether nobody in particular is calling: then nothing is kept for later and nothing kept is shown."""
        return self.kind == "anonymous"

    def __repr__(self) -> str:
        return f"<Identity of {'nobody' if self.is_anonymous else f'a {self.kind}'}>"


NOBODY = Identity(ANONYMOUS, ANONYMOUS, kind="anonymous")
"""Every caller without a credential, where they are admitted."""


Reason = Literal[
    "no_credential", "two_credentials", "credential_in_query", "other_scheme", "malformed", "too_large", "opaque",
    "token_kind", "algorithm", "unknown_key", "signature", "issuer", "audience", "expired", "not_yet_valid", "claims",
    "no_tenant", "revoked", "api_key", "insufficient_scope", "keys_unavailable",
]  # fmt: skip
REFUSAL_REASONS: tuple[Reason, ...] = get_args(Reason)
"""Every reason of a refusal, for the label of a counter."""


class _Wording(NamedTuple):
    """What a caller is told for a reason: status, error code of RFC 6750, and at most six fixed words."""

    status: int
    error: str
    description: str


_INVALID = "invalid_token"
_WORDINGS: Mapping[Reason, _Wording] = MappingProxyType(
    {
        "no_credential": _Wording(401, "", ""),
        "other_scheme": _Wording(401, "", ""),
        "two_credentials": _Wording(400, "invalid_request", "More than one credential was sent"),
        "credential_in_query": _Wording(400, "invalid_request", "Credentials belong in a header"),
        "malformed": _Wording(401, _INVALID, "The token is malformed"),
        "too_large": _Wording(401, _INVALID, "The token is too long"),
        "opaque": _Wording(401, _INVALID, "Opaque tokens are not supported"),
        "token_kind": _Wording(401, _INVALID, "This is no access token"),
        "algorithm": _Wording(401, _INVALID, "The token could not be verified"),
        "unknown_key": _Wording(401, _INVALID, "The token could not be verified"),
        "signature": _Wording(401, _INVALID, "The token could not be verified"),
        "issuer": _Wording(401, _INVALID, "The token is from another issuer"),
        "audience": _Wording(401, _INVALID, "The token is for another audience"),
        "expired": _Wording(401, _INVALID, "The token has expired"),
        "not_yet_valid": _Wording(401, _INVALID, "The token is not yet valid"),
        "claims": _Wording(401, _INVALID, "A needed claim is not usable"),
        "no_tenant": _Wording(401, _INVALID, "The token names no tenant"),
        "revoked": _Wording(401, _INVALID, "The token was revoked"),
        "api_key": _Wording(401, _INVALID, "The API key is not valid"),
        "insufficient_scope": _Wording(403, "insufficient_scope", "More scopes are needed"),
        "keys_unavailable": _Wording(503, "", "Credentials cannot be verified now"),
    }
)


class Refusal(Exception):  # noqa: N818 - an answer to the caller, not an error of the program
    """Why a caller is not let in, from a fixed set; it repeats nothing of what was sent.

    `scopes` are all that the operation needs; `retry_after` is in seconds, and 0 where waiting does not help.
    """

    def __init__(self, reason: Reason, *, scopes: tuple[str, ...] = (), retry_after: int = 0) -> None:
        self.reason = reason
        self.status, self.error, self.description = _WORDINGS[reason]
        self.scopes = scopes
        self.retry_after = retry_after
        super().__init__(self.description or "No credential was sent")

    @property
    def is_failed_attempt(self) -> bool:
        """Whether a credential was shown and did not hold, which nobody may try too often."""
        return self.status in (400, 401) and self.reason != "no_credential"


_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,128}")  # RFC 6749, 3.3


def is_scope(text: str) -> bool:
    """Whether a text is one scope: visible ASCII without quotes and backslashes, 128 characters at most."""
    return _SCOPE.fullmatch(text) is not None


def make_challenge(refusal: Refusal, metadata_url: str = "") -> str | None:
    """The `WWW-Authenticate` value of a refusal; None for 503, which no credential mends.

    `metadata_url` is where the metadata of the resource is, "" where no issuer is set.
    """
    if refusal.status == 503:
        return None
    scopes = " ".join(scope for scope in refusal.scopes if is_scope(scope))
    parts = {
        "resource_metadata": metadata_url,
        "error": refusal.error,
        "error_description": refusal.description if refusal.error else "",
        "scope": scopes,
    }
    written = ", ".join(f'{name}="{value}"' for name, value in parts.items() if value)
    return f"Bearer {written}" if written else 'Bearer realm="specloom"'
