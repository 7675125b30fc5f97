"""How often something was called, and how that went."""

from __future__ import annotations

from dataclasses import dataclass, field

from .faults import Fault


@dataclass(slots=True)
class Count:
    """How often something was called and how that went; `seconds` is the sum."""

    calls: int = 0
    faults: int = 0
    hits: int = 0
    seconds: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict)

    def add(self, seconds: float, fault: Fault | None = None) -> None:
        """One more call."""
        self.calls += 1
        self.seconds += seconds
        if fault is not None:
            self.faults += 1
            self.kinds[fault.kind] = self.kinds.get(fault.kind, 0) + 1
