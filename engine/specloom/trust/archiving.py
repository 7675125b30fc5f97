"""Takes a public copy of a page in a web archive, or says honestly why there is no new one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from specloom.faults import Fault
from specloom.guard import check_url
from specloom.trust.folding import strip_markup
from specloom.trust.liveness import Link, find_copy

if TYPE_CHECKING:
    from specloom.desk import Desk

BUDGET = 25.0
"""Seconds that a capture may take (the tool contract's figure)."""
LONGEST_ADDRESS = 2048
"""Bytes of an address that is handed in (the tool contract's figure)."""
LONGEST_REASON = 300
SOURCE = "web.archive.org Save Page Now"
CALENDAR = "https://web.archive.org/web/*/"
# The status of the archive that a kind of fault stands for, where it stands for one.
_STATUS = {"rate_limited": 429, "quota_exhausted": 429, "auth_required": 401, "bad_request": 400}


async def archive(desk: Desk, url: str) -> dict[str, Any]:
    """The record of one capture under the names of the tool contract.

    Raises a `validation` fault for an address that is no public http or https one; everything else is an answer.
    """
    # Private and loopback hosts are nobody else's to keep, whatever this server may read itself.
    target = str(check_url(url.strip()))
    if len(target.encode()) > LONGEST_ADDRESS:
        raise Fault("validation", f"the address is longer than {LONGEST_ADDRESS} bytes, which no archive takes")
    told: dict[str, Any] = {"requestedUrl": url, "captured": False, "source": SOURCE, "provenance": []}
    desk.tell(0, 2, "asking for a capture")
    if not desk.offering("archive"):
        told |= {"status": "unavailable", "reason": "no web archive is configured that takes captures"}
        return told
    row, reason, pending = await _capture(desk, target, told)
    if row is not None and not row.get("existing"):
        told |= {
            "status": "archived",
            "captured": True,
            "snapshotUrl": row["snapshot_url"],
            "archivedAt": row.get("captured_at"),
        }
    elif row is not None:
        told |= {
            "status": "existing",
            "snapshotUrl": row["snapshot_url"],
            "reason": "the archive had taken a copy shortly before and gave that one",
        }
    else:
        desk.tell(1, 2, "looking for an earlier copy")
        copy = await find_copy(desk, Link(target, None))
        told["provenance"].append(f"snapshots: {copy.archived or 'no earlier copy was found'}")
        told["reason"] = reason
        if copy.archived:
            told |= {"status": "existing", "snapshotUrl": copy.archived}
        elif pending:
            told |= {"status": "pending", "pollUrl": f"{CALENDAR}{target}"}
        else:
            told["status"] = "unavailable"
    desk.tell(2, 2, "done")
    return {name: value for name, value in told.items() if value is not None}


async def _capture(desk: Desk, url: str, told: dict[str, Any]) -> tuple[dict[str, Any] | None, str, bool]:
    """The capture, or None with the reason, and whether it may still come."""
    try:
        async with asyncio.timeout(BUDGET):
            answer = await desk.ask("archive", {"url": url})
    except TimeoutError:
        reason, pending = f"the capture had not finished after {BUDGET:g} seconds", True
    except Fault as fault:
        # A refusal for good comes as arguments that are refused; what is slow, throttled or down may still be done.
        reason, pending = _to_line(fault.message), fault.kind != "bad_request"
        told["httpStatus"] = _STATUS.get(fault.kind, 200 if fault.kind == "content_empty" else None)
    else:
        told["httpStatus"] = 200
        row = answer.rows[0] if answer.rows else {}
        if row.get("snapshot_url"):
            told["provenance"].append(f"capture: job {row['job']} is done")
            return row, "", False
        problem = _to_line(str(row.get("problem") or "")) or "it did not say why"
        if row.get("for_good") is False:
            problem = f"{problem.rstrip('.')}; a later try may succeed"
        reason, pending = f"the archive could not take a copy: {problem}", False
    told["provenance"].append(f"capture: {reason}")
    return None, reason, pending


def _to_line(text: str) -> str:
    """What an archive says, as one line without markup: it quotes the pages of strangers."""
    return strip_markup(text)[:LONGEST_REASON]
