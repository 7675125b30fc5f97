"""Which rows are about the same thing, and in which order rows come."""

from __future__ import annotations

from typing import Any

from .model import Row


def dedupe(rows: list[Row], by: tuple[str, ...]) -> list[Row]:
    """One row for each thing: rows that share one of the fields are one, and the first stays."""
    seen: dict[str, set[Any]] = {name: set() for name in by}
    kept = []
    for row in rows:
        keys = {name: same_thing(row[name]) for name in by if isinstance(row.get(name), (str, int))}
        if any(key in seen[name] for name, key in keys.items()):
            continue
        for name, key in keys.items():
            seen[name].add(key)
        kept.append(row)
    return kept


def same_thing(value: Any) -> Any:
    """The value as it counts for "the same": text without case and blanks, an address without what changes nothing."""
    if not isinstance(value, str):
        return value
    if value.startswith(("http://", "https://")):
        return canonical_url(value)
    return " ".join(value.casefold().split())


def canonical_url(url: str) -> str:
    """An address for comparison: no scheme, `www.`, default port, fragment, trailing slash or tracking parameter."""
    from urllib.parse import parse_qsl, urlencode, urlsplit

    try:
        parts = urlsplit(url)
        number = parts.port
    except ValueError:
        return url
    port = f":{number}" if number and number not in {80, 443} else ""
    host = (parts.hostname or "").removeprefix("www.")
    if not parts.query:
        return f"{host}{port}{parts.path.rstrip('/')}"
    query = urlencode(
        sorted(pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not _is_tracking(pair[0]))
    )
    return f"{host}{port}{parts.path.rstrip('/')}" + (f"?{query}" if query else "")


def _is_tracking(name: str) -> bool:
    return name.lower().startswith("utm_") or name.lower() in {
        "gclid",
        "fbclid",
        "msclkid",
        "dclid",
        "igshid",
        "mc_cid",
        "mc_eid",
    }


def sort(rows: list[Row], by: str, descending: bool) -> list[Row]:
    """A stable sort; rows without the field come last in either direction."""
    have = [row for row in rows if row.get(by) is not None]
    return sorted(have, key=lambda row: row[by], reverse=descending) + [row for row in rows if row.get(by) is None]
