"""What a researcher keeps between calls: the trail of a research, notes, shared findings, and watched questions."""

from __future__ import annotations

from . import collections as collections
from . import procedures as procedures
