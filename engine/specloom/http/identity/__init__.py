"""Who calls over HTTP: tokens of an issuer, API keys, scopes, and what a tenant has of its own.

Knows no web framework and no server: functions over the values of headers.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .api_keys import ApiKeyError, ApiKeyFile, IssuedKey, find_api_keys
    from .authenticator import Authenticator
    from .identity import (
        ANONYMOUS,
        LONGEST_NAME,
        NOBODY,
        OPERATOR,
        REFUSAL_REASONS,
        Identity,
        Refusal,
        is_name,
        make_challenge,
    )
    from .metadata import ResourceMetadata
    from .revocations import MemoryRevocations, RevocationFile, Revocations, RevocationsError, RevocationsFullError
    from .scopes import ScopePolicy
    from .settings import IdentitySettings, read_identity_settings
    from .shared_revocations import SharedRevocations
    from .tenants import Tenants, load_tenants

__getattr__ = exports(
    __name__,
    {
        "api_keys": "ApiKeyError ApiKeyFile IssuedKey find_api_keys",
        "authenticator": "Authenticator",
        "identity": "ANONYMOUS LONGEST_NAME NOBODY OPERATOR REFUSAL_REASONS Identity Refusal is_name make_challenge",
        "metadata": "ResourceMetadata",
        "revocations": "MemoryRevocations RevocationFile Revocations RevocationsError RevocationsFullError",
        "scopes": "ScopePolicy",
        "settings": "IdentitySettings read_identity_settings",
        "shared_revocations": "SharedRevocations",
        "tenants": "Tenants load_tenants",
    },
)
