"""The store: one PDF and one metadata file an entry, in a layout that other programs read and write too.

```
<root>/<key>.pdf
<root>/.metadata/<key>.toml
<root>/.metadata/<key>.toml.lock
```
The key is made of the reference, and two references may come to the same one (`10.1000/a_b` and `10.1000/a/b`). The
paper that came first has the files of that name, where older programs find it; the other one has those of a longer key,
which they list with all others and look for under the shorter one.

Reading makes no folder and no file. Writing holds the lock of the entry, and the PDF is in place before the metadata
that names it; the metadata are gone before the PDF, which is then in the trash already. So what a crash leaves is at
worst a PDF that nobody mentions: the same call takes it up again, and the next removal deletes what it has a copy of.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import re
import stat
import time
import tomllib
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from datetime import datetime
from functools import lru_cache
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from specloom.core import make_folder
from specloom.domains.text import PaperId
from specloom.storage import FileLock, sync_folder, write_whole

from .config import store_root
from .entries import (
    TABLE,
    authors_of,
    check_version,
    cite_key_of,
    is_newer,
    merge,
    own_of,
    texts_of,
    to_instant,
    write_toml,
)
from .errors import PaperFault
from .search import SearchedEntry, to_searched

if TYPE_CHECKING:
    from specloom.plugins import Context

METADATA = ".metadata"
TRASH = ".trash"
"""What was removed or written over; no program lists it."""
MOST_AUTHORS = 3
"""Authors that a row of a list names."""
LARGEST = 10_000_000
"""Bytes of a metadata file that is read."""

_SAFE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_LONGER = re.compile(r"_[0-9a-f]{8}$")
"""The end of a longer key."""
_NUMBER = re.compile(r"-[0-9]+$")
"""The end of the name of a PDF that is not under that of its entry."""
_STAMP = re.compile(r"\.([0-9]{8}T[0-9]{6}Z)(?:-[0-9]{1,6})?\.(?:toml|pdf)$")
P = ParamSpec("P")
T = TypeVar("T")
Alter = Callable[[Mapping[str, Any]], Mapping[str, Any]]
Rewrite = Callable[[Mapping[str, Any] | None], Mapping[str, Any]]
EntrySummary = tuple[SearchedEntry, dict[str, Any]]
"""What searches know of an entry, and what lists tell of it."""


_log = logging.getLogger("specloom.domains.papers")
_TOLD: set[Path] = set()
"""The entries of a newer schema that the operator was told of."""


class PaperStore:
    """A store at a folder, which need not exist until something is written."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def pdf_path(self, key: str) -> Path:
        """Where the PDF of an entry is or would be."""
        return self.root / f"{check_key(key)}.pdf"

    def metadata_path(self, key: str) -> Path:
        """Where the metadata of an entry are or would be."""
        return self.root / METADATA / f"{check_key(key)}.toml"

    def tell(self, context: Context, path: Path) -> str:
        """A path below the store as a caller is told: from its folder on, where others have the machine."""
        return str(path) if context.is_alone else path.relative_to(self.root).as_posix()

    def find(self, ref: PaperId) -> dict[str, Any] | None:
        """The entry of a paper, or None; STORE_ERROR when its file is broken.

        One that a newer program wrote is read all the same, and the operator is told once.
        """
        key = self.key(ref)
        entry, path = self.read(key), self.metadata_path(key)
        if entry is not None and is_newer(entry) and path not in _TOLD:
            _TOLD.add(path)
            _log.warning("%s was written by a newer program (schema %s)", path, entry["schema_version"])
        return entry

    def key(self, ref: PaperId) -> str:
        """The name of the files of a paper: the longer key where it is stored so, or another paper has the other one.

        Where nothing is stored that is the name that it would have now.
        """
        if self.metadata_path(ref.longer_key).exists():
            return ref.longer_key
        with contextlib.suppress(PaperFault):  # what cannot be read is told by whoever reads it
            entry = self.read(ref.key)
            return ref.key if entry is None or is_of(entry, ref) else ref.longer_key
        return ref.key

    def spelled(self, ref: PaperId) -> PaperId:
        """A DOI in the capitals in which it is stored, since capitals part no two DOIs; any other name as it is."""
        if ref.kind != "doi" or self.metadata_path(self.key(ref)).exists():
            return ref
        wanted = ref.key.lower()
        try:
            with os.scandir(self.root / METADATA) as files:
                names = [file.name[:-5] for file in files if file.name.endswith(".toml")]
        except OSError:
            return ref
        for key in names:
            if key.lower() != wanted and _LONGER.sub("", key.lower()) != wanted:
                continue
            name = (self.read(key) or {}).get("doi")
            if isinstance(name, str) and name.lower() == ref.value.lower():
                stored = PaperId("doi", name)
                if key in (stored.key, stored.longer_key):
                    return stored
        return ref

    def locate(self, ref: PaperId) -> PaperId:
        """The name under which a paper is stored: of a preprint that was named without a version, and is not stored so,
        the newest stored version; else the name itself."""
        if ref.kind == "doi":
            return self.spelled(ref)
        if ref.kind != "arxiv" or ref.base != ref.value or self.metadata_path(self.key(ref)).exists():
            return ref
        stems = (path.stem for path in (self.root / METADATA).glob(f"{ref.key}v*.toml"))
        versions = [stem.rpartition("v")[2] for stem in stems]
        newest = max((int(one) for one in versions if one.isascii() and one.isdigit()), default=0)
        return PaperId("arxiv", f"{ref.value}v{newest}") if newest else ref

    def read(self, key: str) -> dict[str, Any] | None:
        """The metadata under a key, or None when there are none."""
        path = self.metadata_path(key)
        try:
            about = path.stat()
            # A pipe or a device would be read without an end.
            if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
                raise PaperFault("STORE_ERROR", f"{path.name} is no plain file of {LARGEST} bytes or less.")
            return tomllib.loads(path.read_bytes().decode())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise PaperFault("STORE_ERROR", f"{path.name} cannot be read: {error.strerror}.") from None
        except (ValueError, RecursionError) as error:
            raise PaperFault("STORE_ERROR", f"{path.name} is no valid TOML ({error}); repair or remove it.") from None

    def stored_pdf(self, entry: Mapping[str, Any]) -> Path | None:
        """The PDF that an entry names, whether or not it is there; None where it names none inside the store."""
        name = entry.get("pdf_path")
        if not isinstance(name, str) or not name or "\\" in name or "\0" in name:
            return None
        parts = PurePosixPath(name)
        return None if parts.is_absolute() or ".." in parts.parts else self.root / parts

    def has_pdf(self, entry: Mapping[str, Any]) -> bool:
        """Whether the PDF that an entry names is there; a name that no file can have is none."""
        path = self.stored_pdf(entry)
        with contextlib.suppress(OSError):
            return path is not None and path.is_file()
        return False

    async def commit(
        self, ref: PaperId, entry: Mapping[str, Any], pdf: bytes | None = None
    ) -> tuple[dict[str, Any], bool]:
        """Write an entry under its lock: what is then stored, and whether this call put the PDF there.

        A PDF that is there is never replaced, nor is what is known of it; the record around it may still be filled.
        One that lies under the name of the entry and is in none stays as well, and this one gets another name.
        STORE_ERROR, LOCK_TIMEOUT or SCHEMA_TOO_NEW, and then nothing is written.
        """
        self._make_folders()
        for key in dict.fromkeys((self.key(ref), ref.longer_key)):
            async with self._writing(key):
                stored = self.read(key)
                # Somebody else may have put another paper there since its name was chosen.
                if stored is None or is_of(stored, ref):
                    return await self._put(key, stored, entry, pdf)
        raise PaperFault("STORE_ERROR", f"Both names of the files of {ref.value} are those of other papers.")

    async def _put(
        self, key: str, stored: Mapping[str, Any] | None, entry: Mapping[str, Any], pdf: bytes | None
    ) -> tuple[dict[str, Any], bool]:
        merged = merge(stored, entry)
        if stored is not None and pdf is not None and self.has_pdf(stored):
            more = {name: value for name, value in own_of(merged).items() if name != "size_bytes"}
            pdf, merged[TABLE] = None, {**more, **own_of(stored)}
        path, wrote = self.pdf_path(key), False
        if pdf is not None:
            # What lies there without an entry is another paper's, unless it is the same file.
            there = await asyncio.to_thread(self._find_pdf, key, {})
            wrote = await asyncio.to_thread(self._judge_pdf, pdf, there, wins=False) != "same"
            if wrote:
                path = await asyncio.to_thread(self._place_pdf, key)
            # What is known of a PDF that is gone is not so of this one.
            own = {name: value for name, value in own_of(merged).items() if name != "origin"}
            merged |= {"pdf_path": path.name, TABLE: {**own, "size_bytes": len(pdf)}}
        data = _encoded(key, merged)
        if pdf is not None and wrote:
            await _write(path, pdf)
        await _write(self.metadata_path(key), data)
        return merged, wrote

    async def change(self, ref: PaperId, alter: Alter) -> dict[str, Any]:
        """Lay what `alter` makes of the tool's own table over it (None removes a key) and give the table.

        STORE_ERROR for a paper that was never fetched.
        """
        if self.find(ref) is None:
            raise PaperFault("STORE_ERROR", f"{ref.value} is not in the store; fetch it first.")
        key = self.key(ref)
        async with self._writing(key):
            stored = self.find(ref)
            if stored is None or not isinstance(stored.get(TABLE), Mapping):
                raise PaperFault("STORE_ERROR", f"{ref.value} has no [{TABLE}] table; fetch it first.")
            check_version(stored)
            own = own_of(stored)
            table = {name: value for name, value in {**own, **alter(own)}.items() if value is not None}
            await _write(self.metadata_path(key), _encoded(key, {**stored, TABLE: table}))
            return table

    async def rewrite(self, key: str, alter: Rewrite) -> dict[str, Any]:
        """Put what `alter` makes of an entry, None where there is none, in its place, and give it.

        STORE_ERROR, LOCK_TIMEOUT or SCHEMA_TOO_NEW, and then nothing is written; nor is what stays as it is.
        """
        self._make_folders()
        return (await self._rewrite(key, alter, None))[0]

    async def rewrite_keeping(self, key: str, alter: Rewrite, now: float) -> tuple[dict[str, Any], Path | None]:
        """The same, with a copy in the trash of what is written over, which is given too; None where nothing is."""
        return await self._rewrite(key, alter, now)

    async def _rewrite(self, key: str, alter: Rewrite, now: float | None) -> tuple[dict[str, Any], Path | None]:
        self._make_folders()
        async with self._writing(key):
            stored, copy = self.read(key), None
            if stored is not None:
                check_version(stored)
            entry = dict(alter(stored))
            if entry != stored:
                data = _encoded(key, entry)
                if stored is not None and now is not None:
                    copy = await _on_disk(self._keep, self.metadata_path(key), now)
                await _write(self.metadata_path(key), data)
            return entry, copy

    async def put_pdf(
        self,
        key: str,
        pdf: bytes,
        now: float,
        *,
        origin: str = "user-supplied",
        wins: bool = False,
        dry_run: bool = False,
    ) -> tuple[str, Path | None]:
        """Put the PDF that somebody has into an entry: what became of it, and where the one that was there lies.

        `stored`; `same` where it is there by its digest; `kept` for another one, which stays, or where the new one
        `wins` is `replaced` and kept in the trash. A file that another entry names, or none, stays as it is, and this
        one gets another name. `origin` is what is known of it, "" for nothing. STORE_ERROR or LOCK_TIMEOUT, and then
        nothing is written; STORE_ERROR as well where there is no such entry any more.
        """
        if dry_run:
            return await self._foresee(key, self.read(key) or {}, pdf, wins=wins), None
        async with self._writing(key):
            entry = self.read(key)
            if entry is None:
                raise PaperFault("STORE_ERROR", f"The entry {key} is no longer in the store.")
            check_version(entry)
            status, there = await asyncio.to_thread(self._judge, key, entry, pdf, wins=wins)
            if status == "kept" or (status == "same" and self.has_pdf(entry)):
                return status, None
            copy = None
            if status == "replaced" and there is not None:
                copy = await _on_disk(self._keep, there, now)
            if status == "same" and there is not None:
                path = there
            else:
                path = await asyncio.to_thread(self._place_pdf, key, there)
                await _write(path, pdf)
            known = {name: value for name, value in own_of(entry).items() if name != "origin"}
            own = {**known, "size_bytes": len(pdf), **({"origin": origin} if origin else {})}
            await _write(self.metadata_path(key), _encoded(key, {**entry, "pdf_path": path.name, TABLE: own}))
            return status, copy

    async def _foresee(self, key: str, entry: Mapping[str, Any], pdf: bytes, *, wins: bool) -> str:
        """What would become of a PDF; STORE_ERROR where the one that is there cannot be read."""
        try:
            return (await asyncio.to_thread(self._judge, key, entry, pdf, wins=wins))[0]
        except OSError as error:
            raise PaperFault("STORE_ERROR", f"The PDF of {key} cannot be read: {error.strerror or error}.") from None

    def _judge(self, key: str, entry: Mapping[str, Any], pdf: bytes, *, wins: bool) -> tuple[str, Path | None]:
        """What becomes of a PDF of an entry, and the one that is there."""
        there = self._find_pdf(key, entry)
        status = self._judge_pdf(pdf, there, wins=wins)
        # What lies there without an entry is another paper's, unless it is the same file.
        return ("stored", None) if status == "kept" and not self.has_pdf(entry) else (status, there)

    def _find_pdf(self, key: str, entry: Mapping[str, Any]) -> Path | None:
        """The PDF of an entry, or one under its name that no entry mentions."""
        if self.has_pdf(entry):
            return self.stored_pdf(entry)
        path = self.pdf_path(key)
        return path if path.is_file() and not self._is_of_another(path, key) else None

    def _place_pdf(self, key: str, own: Path | None = None) -> Path:
        """Where a PDF of an entry may be written: where its `own` is, else under its name, else under a free one."""
        is_plain = own is not None and own.parent == self.root and own.suffix.lower() == ".pdf"
        if own is not None and is_plain and not self._is_of_another(own, key):
            return own
        more = (self.root / f"{key}-{number}.pdf" for number in count(2))
        return next(path for path in chain((self.pdf_path(key),), more) if not os.path.lexists(path))

    def _is_of_another(self, path: Path, key: str) -> bool:
        """Whether an entry other than that of a key names this file, or would look for its PDF there."""
        wanted = _folded(path)
        for other, stamp in self._files():
            if other != key:
                named = self.stored_pdf({"pdf_path": _named_pdf(self.root, other, stamp)})
                if _folded(named or self.root / f"{other}.pdf") == wanted:
                    return True
        return False

    @staticmethod
    def _judge_pdf(pdf: bytes, there: Path | None, *, wins: bool) -> str:
        if there is None:
            return "stored"
        if hashlib.sha256(there.read_bytes()).digest() == hashlib.sha256(pdf).digest():
            return "same"
        return "replaced" if wins else "kept"

    async def discard(self, key: str, now: float) -> list[Path]:
        """Move the metadata and the PDF of an entry into the trash of the store, and give where they are then.

        A PDF that another entry names as well stays, and only the metadata go. None are given where they are gone.
        """
        self._make_folders()
        async with self._writing(key):
            entry = self.read(key)
            return [] if entry is None else await _on_disk(self._discard, key, entry, now)

    def _discard(self, key: str, entry: Mapping[str, Any], now: float) -> list[Path]:
        """The PDF is in the trash before its metadata go, and goes after them: at no moment is there none."""
        metadata, pdf = self.metadata_path(key), self._find_pdf(key, entry)
        if pdf is not None and self._is_of_another(pdf, key):
            pdf = None
        copies = [] if pdf is None else [self._keep(pdf, now)]
        place = self._trash_path(metadata, now)
        metadata.replace(place)
        sync_folder(place.parent)
        sync_folder(metadata.parent)
        if pdf is not None:
            pdf.unlink(missing_ok=True)
        return [*copies, place]

    async def finish_removals(self) -> int:
        """Delete the PDFs that a process which was ended between two steps of `discard` left beside their copy in the
        trash, and give how many that were."""
        linked = await asyncio.to_thread(self._find_linked)
        count = 0
        for path in await asyncio.to_thread(self._find_left, linked) if linked else ():
            # Who takes up such a file for a paper of that name holds one of these locks; the next call finds it again.
            async with contextlib.AsyncExitStack() as locks:
                locks.enter_context(contextlib.suppress(PaperFault))
                for key in dict.fromkeys((_NUMBER.sub("", path.stem), path.stem)):
                    await locks.enter_async_context(self._writing(key))
                count += await _on_disk(self._delete_left, path, linked)
        return count

    def _find_linked(self) -> set[tuple[int, int]]:
        """The files of PDFs in the trash that are in another place as well."""
        linked = set()
        for path in (self.root / TRASH).glob("*.pdf"):
            with contextlib.suppress(OSError):
                about = path.lstat()
                if about.st_nlink > 1:
                    linked.add((about.st_dev, about.st_ino))
        return linked

    def _find_left(self, linked: Collection[tuple[int, int]]) -> list[Path]:
        """The PDFs of the store that are one of these files and that no entry names."""
        trash = self.root / TRASH
        return [path for path in self.root.rglob("*.pdf") if path.parent != trash and self._is_left(path, linked)]

    def _is_left(self, path: Path, linked: Collection[tuple[int, int]]) -> bool:
        with contextlib.suppress(OSError):
            about = path.lstat()
            return (about.st_dev, about.st_ino) in linked and not self._is_of_another(path, "")
        return False

    def _delete_left(self, path: Path, linked: Collection[tuple[int, int]]) -> bool:
        if not self._is_left(path, linked):
            return False
        path.unlink(missing_ok=True)
        return True

    def empty_trash(self, now: float, days: int) -> int:
        """Delete what was put into the trash more than some days ago, and give how many files that were; 0 keeps all.

        Their age is that in their names, and what has none there is not ours.
        """
        oldest = now - days * 86_400
        count = 0
        for path in (self.root / TRASH).glob("*") if days else ():
            moment = _read_stamp(path.name)
            if moment is not None and moment < oldest:
                with contextlib.suppress(OSError):
                    path.unlink()
                    count += 1
        return count

    def _keep(self, path: Path, now: float) -> Path:
        """A second name in the trash for a file, or a copy where the file system knows none; it is whole or not there.

        OSError where it cannot be read or written.
        """
        # A second name for a link would not keep what it leads to.
        is_copied = path.is_symlink()
        while True:
            place = self._trash_path(path, now)
            try:
                if is_copied:
                    write_whole(place, path.read_bytes())
                else:
                    os.link(path, place)
            except FileExistsError:
                continue
            except OSError:
                if is_copied:
                    raise
                is_copied = True
            else:
                sync_folder(place.parent)
                return place

    def _trash_path(self, path: Path, now: float) -> Path:
        make_folder(self.root / TRASH, tighten=True)
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
        places = (
            self.root / TRASH / f"{path.stem}.{stamp}{more}{path.suffix}"
            for more in chain(("",), map("-{}".format, count(2)))
        )
        return next(place for place in places if not os.path.lexists(place))

    def _make_folders(self) -> None:
        try:
            make_folder(self.root)
            make_folder(self.root / METADATA, tighten=True)
        except OSError as error:
            raise PaperFault("STORE_ERROR", f"The store {self.root} cannot be made: {error.strerror}.") from None

    @contextlib.asynccontextmanager
    async def _writing(self, key: str) -> AsyncIterator[None]:
        """The lock of an entry; LOCK_TIMEOUT, and STORE_ERROR for what the system refuses meanwhile."""
        try:
            async with FileLock(self.root / METADATA / f"{key}.toml.lock"):
                yield
        except TimeoutError as error:
            raise PaperFault("LOCK_TIMEOUT", f"{error}.") from None
        except OSError as error:
            raise PaperFault("STORE_ERROR", f"The entry {key} cannot be written: {error.strerror or error}.") from None

    def summaries(self) -> list[EntrySummary]:
        """Every readable entry, by key; only files that changed since the last time are read again."""
        rows = [_summarise(self.root, key, stamp) for key, stamp in self._files()]
        return [row for row in rows if row is not None]

    def _files(self) -> list[tuple[str, tuple[int, int, int]]]:
        """The keys of all entries in their order, each with the number, time and size of its file."""
        folder = self.root / METADATA
        found = []
        try:
            files = sorted((one for one in os.scandir(folder) if one.name.endswith(".toml")), key=lambda one: one.name)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise PaperFault("STORE_ERROR", f"The store cannot be listed: {error.strerror}.") from None
        for file in files:
            with contextlib.suppress(OSError):
                about = file.stat()
                found.append((file.name[:-5], (about.st_ino, about.st_mtime_ns, about.st_size)))
        return found

    def is_writable(self) -> bool:
        """Whether the nearest folder that exists could take the store; makes nothing."""
        for folder in (self.root, *self.root.parents):
            with contextlib.suppress(OSError):  # what may not be looked at is no folder of ours
                if folder.exists():
                    return folder.is_dir() and os.access(folder, os.W_OK)
        return False

    def check_writable(self) -> None:
        """STORE_ERROR where nothing could be written, so that nobody is asked for what cannot be kept."""
        if not self.is_writable():
            raise PaperFault("STORE_ERROR", f"The store {self.root} cannot be written; see DOIGET_STORE_ROOT.")


async def _write(path: Path, data: bytes) -> None:
    """Write a file off the event loop, with its flush to the disk."""
    await _on_disk(write_whole, path, data)


async def _on_disk(job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What a job that changes files gives, off the event loop.

    Who gives up meanwhile waits for the end of it, since the lock of the entry is given back then.
    """
    work = asyncio.ensure_future(asyncio.to_thread(job, *args, **kwargs))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise


def _read_stamp(name: str) -> float | None:
    """When a file was put into the trash, in seconds since the epoch; None where its name does not say it."""
    stamp = _STAMP.search(name)
    if stamp is None:
        return None
    try:
        return datetime.strptime(f"{stamp[1]}+0000", "%Y%m%dT%H%M%SZ%z").timestamp()
    except ValueError:
        return None


@lru_cache(maxsize=100_000)
def _summarise(root: Path, key: str, stamp: tuple[int, int, int]) -> EntrySummary | None:  # noqa: ARG001
    """What lists and searches know of an entry, for the number, time and size of its file; None for no entry."""
    try:
        entry = PaperStore(root).read(key)
    except PaperFault:
        return None
    if entry is None or not isinstance(entry.get("title"), str):
        return None
    searched, own, arxiv = to_searched(entry), own_of(entry), entry.get("arxiv_id")
    cite_key = cite_key_of(entry)
    more = {
        "ref": entry.get("doi") or (f"arxiv:{arxiv}" if arxiv else f"@{cite_key}" if cite_key else ""),
        "key": cite_key,
        "authors": authors_of(entry)[:MOST_AUTHORS],
        "tags": texts_of(own.get("tags")),
    }
    return searched, {
        "safekey": key,
        "title": entry["title"],
        "year": searched.year,
        "fetched_at": to_instant(own.get("fetched_at")),
        **{name: value for name, value in more.items() if value},
    }


@lru_cache(maxsize=100_000)
def _named_pdf(root: Path, key: str, stamp: tuple[int, int, int]) -> str:  # noqa: ARG001
    """The PDF that an entry names, for the number, time and size of its file; "" where it names none."""
    try:
        return str((PaperStore(root).read(key) or {}).get("pdf_path") or "")
    except PaperFault:
        return ""


def _folded(path: Path) -> str:
    """A path as file systems compare it that do not tell capitals apart."""
    return os.path.normpath(path).casefold()


def is_of(entry: Mapping[str, Any], ref: PaperId) -> bool:
    """Whether an entry is not that of another paper: whatever capitals it is named in, and whichever version."""
    name = entry.get("doi" if ref.kind == "doi" else "arxiv_id")
    return not isinstance(name, str) or name.lower() in {ref.value.lower(), ref.base.lower()}


def check_key(key: str) -> str:
    """The key; STORE_ERROR for one that could leave the folder of the store or hide in it."""
    if not _SAFE.fullmatch(key) or ".." in key:
        raise PaperFault(
            "STORE_ERROR", f"{key[:80]!r} cannot name an entry: it holds dots or signs that a path forbids."
        )
    return key


def open_store(config: Mapping[str, Any]) -> PaperStore:
    """The store that the settings name."""
    return PaperStore(store_root(config))


def preview(key: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry as it is read again once it was written, without writing it; STORE_ERROR where it cannot be."""
    return tomllib.loads(_encoded(key, entry).decode())


def _encoded(key: str, entry: Mapping[str, Any]) -> bytes:
    """The bytes of a metadata file; STORE_ERROR for more than would be read again."""
    data = write_toml(entry).encode()
    if len(data) > LARGEST:
        raise PaperFault(
            "STORE_ERROR", f"The entry {key} would have {len(data)} bytes, and {LARGEST} are kept at most."
        )
    return data
