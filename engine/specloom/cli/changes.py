"""The command changes: what is new for who uses it, since the version that was looked at here last."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from specloom.core import Paint, columns, dataclass, make_own_folder, shipped_folder, state_folder

from .common import CommandError, answer, tell
from .exits import PROBLEMS

SEEN = "version"
"""The file in the folder of the state that says which version's changes were told last."""
UNRELEASED = "Unreleased"
_VERSION = re.compile(r"## \[(.+?)\]")


@dataclass(frozen=True, slots=True)
class VersionChanges:
    """What a version changed, by kind such as Added; the version of what is not released yet is "Unreleased"."""

    version: str
    kinds: dict[str, list[str]]


def changes(options: Namespace) -> int:
    """Show what is new since a version, the one that was told last unless another is named, and remember this one."""
    from specloom import __version__

    seen = Path(state_folder(os.environ)) / SEEN
    since = options.since or _read_seen(seen)
    path = Path(shipped_folder()) / "CHANGELOG.md"
    try:
        found = list(_since(read_changes(path.read_text(encoding="utf-8")), since))
    except OSError as error:
        raise CommandError(f"the changes cannot be read: {path}: {error.strerror}", PROBLEMS) from None
    if not options.json and not options.since:
        _remember(seen, __version__)
    return answer(
        lambda: {
            "version": __version__,
            "since": since,
            "changes": [{"version": one.version, **one.kinds} for one in found],
        },
        lambda paint, width: list(_lines(found, since, __version__, paint, min(width, columns()))),
        as_json=options.json,
    )


def read_changes(text: str) -> list[VersionChanges]:
    """The versions of a changelog, the newest first."""
    found: list[VersionChanges] = []
    kind = ""
    for line in text.splitlines():
        version = _VERSION.match(line)
        if version:
            found.append(VersionChanges(version[1], {}))
        elif line.startswith("### "):
            kind = line.removeprefix("### ").strip()
        elif line.startswith("- ") and found:
            found[-1].kinds.setdefault(kind, []).append(_plain(line.removeprefix("- ")))
    return found


def parse_version(text: str) -> tuple[int, ...]:
    """A version as numbers that can be compared; what is not released comes after all others."""
    numbers = re.fullmatch(r"v?(\d++(?:\.\d++)*+)\S*+", text.strip())
    return tuple(int(one) for one in numbers[1].split(".")) if numbers else (2**31,)


def _since(found: Sequence[VersionChanges], since: str) -> Iterator[VersionChanges]:
    """The versions after one; of all, where none is named, the newest that has changes."""
    if not since:
        yield from [one for one in found if one.kinds][:1]
        return
    yield from (one for one in found if one.kinds and parse_version(one.version) > parse_version(since))


def _plain(text: str) -> str:
    """Markdown without its links, which lead nowhere on a terminal."""
    return re.sub(r"\[([^\[\]]+)\]\([^()]+\)", r"\1", text)


def _lines(found: Sequence[VersionChanges], since: str, version: str, paint: Paint, width: int) -> Iterator[str]:
    import textwrap

    if not found:
        yield f"specloom {version}: nothing is new since {since}"
        return
    for one in found:
        yield paint(f"specloom {one.version}" if one.version != UNRELEASED else "not released yet", "bold")
        for kind, sentences in one.kinds.items():
            yield f"{kind}:"
            for sentence in sentences:
                yield from textwrap.wrap(
                    sentence, width, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False
                )


def _read_seen(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text if re.fullmatch(r"\d[\w.+-]{0,40}", text) else ""


def _remember(path: Path, version: str) -> None:
    """Keep which version was told; what cannot be kept is told again the next time."""
    from specloom.core import write_whole

    try:
        make_own_folder(str(path.parent), os.environ)
        write_whole(path, f"{version}\n".encode())
    except OSError as error:
        tell(f"specloom: it is not kept that you have seen this: {path}: {error.strerror}")
