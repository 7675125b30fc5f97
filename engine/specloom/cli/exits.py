"""What commands exit with; `common.EXITS` has the codes of faults."""

from __future__ import annotations

PROBLEMS, USAGE, INTERRUPTED, READER_LEFT = 1, 2, 130, 141
