"""What a researcher keeps between calls (trail, notes, shared findings, watched questions), and reading a paper."""

from __future__ import annotations

from . import observers as observers
from . import paper_procedures as paper_procedures
from . import personal_procedures as personal_procedures
from . import session_procedures as session_procedures
