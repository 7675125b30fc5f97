"""The commands over API keys of callers over HTTP: make one, list them, revoke one."""

from __future__ import annotations

import os
import re
import time
from argparse import Namespace

from specloom.core import VariableError, own_words, parse_duration

from .common import CommandError, answer, record_event, say, tell
from .exits import PROBLEMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from specloom.http.identity import ApiKeyFile, IssuedKey

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
LONGEST = 100 * 365 * 86_400.0
"""Seconds after which a key ends at the latest."""


def add(options: Namespace) -> int:
    """Make a key and show it, this once."""
    from specloom.http.identity import ApiKeyError

    now = time.time()
    expires = _read_end(options.expires, now)
    file = _open_file()
    is_first = not file.path.exists()
    try:
        key, text = file.add(
            options.tenant, user=options.user, scopes=options.scope or ["research"], expires=expires, now=now
        )
    except ApiKeyError as error:
        raise CommandError(str(error)) from None
    except (OSError, TimeoutError) as error:
        raise CommandError(f"the key cannot be kept: {error}", PROBLEMS) from None
    # First of all, because it is lost if it is not shown.
    say(text)
    tell(f"specloom: key {key.id} of tenant {key.tenant!r}, user {key.user!r}, scopes {' '.join(key.scopes)}")
    tell("  it is shown this once and not kept; clients send it as `Authorization: Bearer KEY` or `X-API-Key: KEY`")
    if is_first:
        tell("  it is the first one: servers that run without any ask nobody for it before they are started again")
    _audit("keys.add", key)
    return 0


def list_(options: Namespace) -> int:
    """Whose keys there are; never the keys."""
    from specloom.http.identity import ApiKeyError

    try:
        keys = [key for key in _open_file().read().values() if options.of in (key.tenant, "")]
    except ApiKeyError as error:
        raise CommandError(str(error), PROBLEMS) from None
    keys.sort(key=lambda key: key.created)
    now = time.time()
    return answer(
        lambda: {"keys": [_to_json(key) for key in keys]},
        lambda _paint, width: _to_lines(keys, now, width),
        as_json=options.json,
    )


def revoke(options: Namespace) -> int:
    """Remove a key; running servers refuse it within a second. Exit 1 when there is none of this id."""
    from specloom.http.identity import ApiKeyError

    try:
        key = _open_file().revoke(options.id)
    except ApiKeyError as error:
        raise CommandError(str(error), PROBLEMS) from None
    except (OSError, TimeoutError) as error:
        raise CommandError(f"the key cannot be revoked: {error}", PROBLEMS) from None
    if key is None:
        tell("specloom: there is no key of this id; `specloom keys list` shows the ids")
        return PROBLEMS
    _audit("keys.revoke", key)
    say(f"{key.id} is revoked; running servers refuse it within a second")
    return 0


def revoke_keys(tenant: str, user: str) -> int:
    """Revoke the keys of a user, or of every user of a tenant; how many they were."""
    from specloom.http.identity import ApiKeyError

    try:
        return len(_open_file().revoke_owner(tenant, user))
    except (ApiKeyError, OSError, TimeoutError) as error:
        raise CommandError(f"the API keys cannot be revoked, and nothing is erased yet: {error}", PROBLEMS) from None


def _open_file() -> ApiKeyFile:
    from specloom.http.identity import ApiKeyFile, find_api_keys

    try:
        return ApiKeyFile(find_api_keys(os.environ))
    except VariableError as error:
        raise CommandError(str(error)) from None


def _read_end(text: str, now: float) -> float | None:
    """When a key ends, by a day (its first moment, UTC) or by how long it lasts."""
    if not text:
        return None
    if _DAY.fullmatch(text):
        import datetime as dt

        try:
            ends = dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC).timestamp()
        except ValueError:
            raise CommandError(f"--expires is {text!r}, which is no day; write it as 2030-01-31") from None
    else:
        try:
            ends = now + parse_duration(text)
        except ValueError:
            raise CommandError(f"--expires is {text!r}; write a day such as 2030-01-31, or 90d") from None
    if not now < ends < now + LONGEST:
        raise CommandError(f"--expires is {text!r}, which is {'over already' if ends <= now else 'too far away'}")
    return ends


def _to_day(at: float | None) -> str:
    import datetime as dt

    return "never" if at is None else dt.datetime.fromtimestamp(at, dt.UTC).date().isoformat()


def _to_json(key: IssuedKey) -> Mapping[str, Any]:
    said = {"id": key.id, "tenant": key.tenant, "user": key.user, "scopes": list(key.scopes)}
    return {**said, "created": key.created, "expires": key.expires}


def _to_lines(keys: Sequence[IssuedKey], now: float, width: int) -> list[str]:
    from specloom.core import table

    if not keys:
        return [own_words("there are no API keys; `specloom keys add TENANT` makes one")]
    rows = [
        (
            key.id,
            key.tenant,
            key.user,
            " ".join(key.scopes),
            _to_day(key.created),
            f"{_to_day(key.expires)}{' (over)' if key.expires is not None and key.expires <= now else ''}",
        )
        for key in keys
    ]
    return table([("id", "tenant", "user", "scopes", "made", "ends"), *rows], width)


def _audit(event: str, key: IssuedKey) -> None:
    record_event(event, key.tenant, key.user, {"key_id": key.id, "scopes": " ".join(key.scopes)})
