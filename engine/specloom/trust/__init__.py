"""Trust checks: evidence about sources and claims, never a verdict. Importing this package registers its hooks."""

from specloom.trust import claims, reputation

__all__ = ["claims", "reputation"]
