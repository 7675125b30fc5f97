"""Trust checks: evidence about sources and claims, never a verdict. An import registers hooks and procedures."""

from specloom.trust import claims, procedures, reputation
from specloom.trust.brand import procedures as brand

__all__ = ["brand", "claims", "procedures", "reputation"]
