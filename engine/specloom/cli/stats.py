"""What was asked of providers and what it cost, by day, out of the audit log of this installation."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .common import CommandError, answer
from .exits import PROBLEMS
from .storage import find_audit_path

if TYPE_CHECKING:
    from argparse import Namespace

    from specloom.core import Paint

DAY = 86_400.0
MOST_ROWS = 1_000_000
MOST_DAYS = 10_000


def stats(options: Namespace) -> int:
    """Add up the calls of the last days; exit 1 where there is no log."""
    if not options.days.isdecimal() or not 0 < int(options.days[:6]) <= MOST_DAYS:
        raise CommandError(f"--days is {options.days!r}; write a number from 1 to {MOST_DAYS}")
    days = read_days(int(options.days), options.tenant)
    if days is None:
        raise CommandError("no call was recorded here, so there is nothing to add up", code=PROBLEMS)
    return answer(lambda: {"days": days}, lambda paint, _width: _lines(days, paint), as_json=options.json)


def read_days(days: int, tenant: str = "") -> list[dict[str, Any]] | None:
    """What `add_up` gives of so many days of UTC, today included; None where there is no log."""
    from specloom.storage import read_rows

    path = find_audit_path()
    if path is None or not path.is_file():
        return None
    since = (time.time() // DAY - days + 1) * DAY
    try:
        rows = read_rows(path, tenant=tenant or None, since=since, limit=MOST_ROWS)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None
    return add_up(json.loads(row) for row in rows)


def add_up(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One record a day, the oldest first: calls, requests, dollars, and the same by provider."""
    days: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row.get("event_type") != "tool_call":
            continue
        name = str(row.get("timestamp", ""))[:10]
        day = days.setdefault(name, {"day": name, "calls": 0, "requests": 0, "usd": 0.0, "providers": {}})
        day["calls"] += 1
        for provider, line in ((row.get("metadata") or {}).get("cost") or {}).get("by", {}).items():
            sums = day["providers"].setdefault(provider, {"requests": 0, "usd": 0.0})
            for whole in (day, sums):
                whole["requests"] += line.get("requests", 0)
                whole["usd"] = round(whole["usd"] + line.get("usd", 0.0), 6)
    return [days[name] for name in sorted(days)]


def _lines(days: list[dict[str, Any]], paint: Paint) -> list[str]:
    if not days:
        return ["no calls in these days"]
    lines = []
    for day in days:
        lines.append(f"{paint(day['day'], 'bold')}  {_say(day)}, in {_count(day['calls'], 'call')}")
        ranked = sorted(day["providers"].items(), key=lambda one: (-one[1]["usd"], -one[1]["requests"], one[0]))
        size = max((len(name) for name, _ in ranked), default=0)
        lines += [f"  {name:<{size}}  {_say(line)}" for name, line in ranked]
    return lines


def _say(sums: Mapping[str, Any]) -> str:
    return f"{_count(sums['requests'], 'request')}, ${sums['usd']:.4f}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
