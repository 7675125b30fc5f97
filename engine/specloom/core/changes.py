"""Files that change while somebody works on them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class ChangeDetector:
    """Says when something is other than it was when that was last said, and at rest.

    It is at rest when two looks have found the same: an editor writes a file in several steps.
    """

    INTERVAL = 0.5
    """Seconds between two looks; one at the files of the engine and of all specs takes some milliseconds."""

    def __init__(self, stamp: Callable[[], object]) -> None:
        """`stamp` gives what differs after a change, such as the names, sizes and times of files."""
        self._stamp = stamp
        self._told = self._seen = stamp()

    def look(self) -> bool:
        """Whether there is a change that was not told yet."""
        before, self._seen = self._seen, self._stamp()
        is_new = self._seen == before != self._told
        if is_new:
            self._told = before
        return is_new

    def wait(self) -> None:
        """Return after the next change."""
        from threading import Event

        while not self.look():
            Event().wait(self.INTERVAL)
