"""Trust checks: evidence about sources and claims, never a verdict. Importing this registers its hooks and procedures."""

from specloom.trust import claims, procedures, reputation

__all__ = ["claims", "procedures", "reputation"]
