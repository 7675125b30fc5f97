"""The switches of what is kept with consent only: off until an operator turns them on."""

from __future__ import annotations

from typing import Any


def _switch(name: str, description: str) -> dict[str, dict[str, Any]]:
    return {name: {"type": "boolean", "default": False, "description": description}}


MEMORY = _switch("MEMORY_ENABLED", "Whether users who agreed can save findings and recall them in later sessions.")
WORKSPACES = _switch("WORKSPACES_ENABLED", "Whether members of a workspace who agreed can share findings.")
USAGE_COUNTS = _switch(
    "USER_ANALYTICS_ENABLED", "Whether calls of users who agreed are counted, for themselves to see."
)
MONITORING = _switch("MONITORING_ENABLED", "Whether users who agreed can watch what is new on a question.")
