"""Serves changed specs without a restart: looks at their files, and exchanges what is served for what they say now."""

from __future__ import annotations

import json
import threading

from specloom.core import ChangeDetector

from .served import stamp_everything

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .protocol import Catalogue, LoadBackend
    from .stdio import Replace

FAMILIES = frozenset({"tools", "prompts", "resources"})
MOST_NAMED = 5
"""How many tools a line names."""


class Reloader:
    """Exchanges what is served whenever the files of the specs, or those of the engine, have changed.

    `compile_specs` gives None where the files have errors, and tells of them: what was compiled last is served on.
    `report` gets unexpected exceptions and `warn` a line about what is new.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        environ: Mapping[str, str],
        compile_specs: Callable[[], tuple[Catalogue, LoadBackend] | None],
        *,
        report: Callable[[BaseException], object],
        warn: Callable[[str], object],
    ) -> None:
        self._catalogue = _declare(catalogue)
        self._compile_specs = compile_specs
        self._report = report
        self._warn = warn
        self._changes = ChangeDetector(lambda: stamp_everything(environ))

    def start(self, replace: Replace) -> None:
        """Look for as long as the process lives, in a thread of its own; `replace` exchanges what is served."""
        threading.Thread(target=self._watch, args=(replace,), name="specloom-reloader", daemon=True).start()

    def _watch(self, replace: Replace) -> None:
        while True:
            self._changes.wait()
            try:
                self._exchange(replace)
            except Exception as error:  # noqa: BLE001 - the next change is looked at as well
                self._report(error)

    def _exchange(self, replace: Replace) -> None:
        compiled = self._compile_specs()
        if compiled is None:
            return
        before, (self._catalogue, load_backend) = self._catalogue, compiled
        replace(_declare(self._catalogue), load_backend)
        self._warn(f"the specs were compiled anew: {tell_difference(before, self._catalogue)}")


def _declare(catalogue: Catalogue) -> Catalogue:
    """The catalogue, which says that its lists change and that nobody may keep them."""
    catalogue.list_changed = FAMILIES
    catalogue.ttl_ms = 0
    return catalogue


def tell_difference(before: Catalogue, after: Catalogue) -> str:
    """Which tools are new, changed or gone, in words."""
    old, new = ({one["name"]: one for one in json.loads(catalogue.tools)} for catalogue in (before, after))
    kinds = {
        "new": [name for name in new if name not in old],
        "changed": [name for name in new if name in old and new[name] != old[name]],
        "gone": [name for name in old if name not in new],
    }
    told = [f"{kind}: {_list(sorted(names))}" for kind, names in kinds.items() if names]
    return "; ".join(told) or "the list of tools is as before"


def _list(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" (+{more})" if more > 0 else "")
