"""What a researcher keeps between calls: the trail of a research, notes, shared findings, and watched questions."""

from __future__ import annotations

from . import observers as observers
from . import personal_procedures as personal_procedures
from . import session_procedures as session_procedures
