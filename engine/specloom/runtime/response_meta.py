"""What stands beside an answer in `_meta`: where it comes from and how fresh it is. Never part of the answer itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from specloom.language import build, truthy
from specloom.language.evaluate import evaluate
from specloom.model import Tool
from specloom.plugins import Artifact, ArtifactKeeper

from .plan.effects import ProviderOutcome


def say_freshness(cached: bool, age: int, ttl: float, label: str) -> dict[str, Any]:
    """How old an answer is, in seconds, and how long it is good."""
    return {"cached": cached, "ageSeconds": age, "maxAgeSeconds": int(ttl), "freshness": label}


def say_routing(outcome: ProviderOutcome) -> dict[str, Any]:
    """Who answered, who was asked before, and why; no address and no upstream text."""
    tried = list(dict.fromkeys(outcome.tried))
    attempted = tried[: tried.index(outcome.served_by) + 1] if outcome.served_by in tried else tried
    said: dict[str, Any] = {"provider_used": outcome.served_by, "providers_attempted": attempted}
    if len(attempted) > 1:
        said["fallback"] = True
        if outcome.fallback_reason:
            said["fallback_reason"] = outcome.fallback_reason
    return {**said, "cache_hit": False}


# --- Large answers: kept for a short time under an address, with a small answer in their place ------------------------


MIME_TYPE = "application/json"
NAME = "research-artifact"


def describe_large(tool: Tool, arguments: Mapping[str, Any], body: str) -> dict[str, Any] | None:
    """What is told of an answer that is large enough to be linked: `summary`, and what the spec adds; else None."""
    link = tool.link
    if link is None or len(body.encode("utf-8", "surrogatepass")) < link.above:
        return None
    context = {"args": arguments, "answer": json.loads(body)}
    if link.when is not None and not truthy(evaluate(link.when, context)):
        return None
    return {"summary": evaluate(link.summary, context), **build(link.also, context)}


async def link_large(
    tool: Tool, arguments: Mapping[str, Any], body: str, keeper: ArtifactKeeper, owner: str
) -> tuple[str, Artifact] | None:
    """What stands in place of an answer that is large enough, and where the whole is; None when it stays as it is."""
    described = describe_large(tool, arguments, body)
    if described is None:
        return None
    kept = await keeper.keep(owner, body, name=NAME, mime_type=MIME_TYPE)
    said = {
        "resource": kept.uri,
        "bytes": kept.size,
        "mimeType": kept.mime_type,
        "expiresAt": datetime.fromtimestamp(kept.expires, UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "linked": True,
        **described,
    }
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")), kept
