"""Texts of stored PDFs by pages: extracted once, kept in a SQLite file outside the store, searched by passage (FTS5).

The file may be deleted at any time: what it has is made again. Texts are kept by the digest of their PDF, so one that
was only moved or touched is not read anew, and one that was replaced is. A PDF that cannot be read is remembered with
the reason until it changes. Nothing is written into the store, which other programs read.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Final, ParamSpec, TypeVar

from specloom.core import EndedFault, Fault, dataclass, make_database, make_folder
from specloom.domains.text.fold import fold
from specloom.domains.text.outline import find_pages
from specloom.domains.text.passages import split_passages
from specloom.domains.text.tokens import is_stop_word, tokens
from specloom.plugins import Context

from .config import texts_path

_log = logging.getLogger("specloom.domains.papers")

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

PDF: Final = "application/pdf"
MOST_READ: Final = 12
"""PDFs that one search reads at most; the next search goes on."""
SECONDS: Final = 20.0
"""After so many, a search begins with no further PDF."""
AT_ONCE: Final = 2
"""PDFs that are read at a time, each in a process of its own."""
LONGEST_PASSAGE: Final = 240
"""Characters of a passage that a hit tells."""
PATIENCE: Final = 10.0
"""Seconds for which another process may hold the file."""

_VERSION: Final = 2
"""Of the tables, and of how texts and words are made: a file of another version is made anew."""
_PREFIX: Final = 5
"""Letters from which on a word is also found as the beginning of a longer one."""
_LASTING: Final = frozenset({"content_empty", "auth_required", "too_large"})
"""Kinds of faults that a file has by itself, and not the moment."""
_FAILED: Final[dict[Path, int]] = {}
"""PDFs that this process began to read and could not, by when that was: searches begin with all others."""
_TURNS: Final = count()
_CUT: Final = "too_large"
"""The kind beside a text that is not the whole of its PDF, and no problem."""
_JOINER: Final = re.compile(r"['’ʼ`\-‐‑]")
_JOINED: Final = re.compile(r"(?<!\w)\w++(?:['’ʼ`\-‐‑]\w++)+")
_TABLES: Final = """
CREATE TABLE pdfs (key TEXT PRIMARY KEY, inode INTEGER, mtime INTEGER, size INTEGER, digest TEXT);
CREATE TABLE texts (digest TEXT PRIMARY KEY, text TEXT, kind TEXT, problem TEXT);
CREATE TABLE passages (id INTEGER PRIMARY KEY, digest TEXT, page INTEGER, first INTEGER, last INTEGER);
CREATE INDEX passages_of ON passages (digest);
CREATE VIRTUAL TABLE words USING fts5 (said, tokenize = "unicode61 remove_diacritics 0");
"""


@dataclass(frozen=True, slots=True)
class PdfText:
    """The text of a PDF, with a line `--- Page n ---` above each page, and whether the PDF has more than that."""

    text: str
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class TextHit:
    """What the text of a stored PDF has of a query: which of its words, and the passage that has most of them."""

    words: frozenset[str]
    relevance: float = 0.0
    """From 0 to 1; BM25 of the passage."""
    page: int = 0
    passage: str = ""
    offset: int = 0
    """Where the passage begins, in characters of the whole text."""


class StoredTexts:
    """The texts of one store; use it as a context manager. Without a path they are held in memory.

    Nothing is opened or made before something is to be read.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._turn = threading.Lock()
        """Who uses the connection: several PDFs are read at a time, and it may be used by one thread at a time."""
        self._is_renewed = False
        self._is_hindered = False
        """Whether the file could not be used, as where another process holds it: nothing more is kept then."""

    async def __aenter__(self) -> StoredTexts:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._connection is not None:
            # A thread of a call that was given up may still be at it.
            await self._try(self._file.close, None)

    async def read(self, context: Context, key: str, path: Path) -> PdfText:
        """The text of the PDF of an entry.

        A fault where it has none that can be read, OSError where the file is gone.
        """
        await self._make_ready()
        stamp = await asyncio.to_thread(_to_stamp, path)
        digest = await self._try(self._find_digest, "", key, stamp)
        kept = await self._try(self._find_text, None, digest) if digest else None
        if kept is None:
            body = await asyncio.to_thread(path.read_bytes)
            digest = hashlib.sha256(body).hexdigest()
            kept = await self._try(self._find_text, None, digest)
            if kept is None:
                kept = await _extract(context, body, path.name)
            if not self._is_hindered:
                await self._try(self._put, None, key, stamp, digest, kept)
        text, kind, problem = kept
        if problem:
            raise Fault(kind, problem, action="inform_user")
        return PdfText(text, is_cut=kind == _CUT)

    async def refresh(self, context: Context, pdfs: Mapping[str, Path], *, most: int = MOST_READ) -> int:
        """Read the PDFs of entries that are new or were changed, at most so many; gives how many are left.

        Texts of entries that are no longer there are forgotten.
        """
        if not pdfs:
            return 0
        await self._make_ready()
        waiting, gone = await self._try(self._find_unread, ([], set()), pdfs)
        if gone:
            await self._try(self._forget_entries, None, gone)
        # Else those that fail for the moment would keep all behind them from being read.
        waiting.sort(key=lambda key: _FAILED.get(pdfs[key], -1))
        turns = asyncio.Semaphore(AT_ONCE)
        done, latest = 0, time.monotonic() + SECONDS

        async def read_one(key: str) -> bool:
            nonlocal done
            async with turns:
                # What cannot be kept is not found either.
                if time.monotonic() > latest or self._is_hindered:
                    return False
                is_read = True
                # A call that is given up meanwhile has failed, too.
                _FAILED[pdfs[key]] = next(_TURNS)
                try:
                    await self.read(context, key, pdfs[key])
                except Fault as fault:
                    is_read = _is_lasting(fault)
                except OSError:
                    is_read = False
            if is_read:
                _FAILED.pop(pdfs[key], None)
            done += 1
            context.tell(done, min(most, len(waiting)), f"reading stored PDFs, {done} of {min(most, len(waiting))}")
            return is_read and not self._is_hindered

        outcomes = await asyncio.gather(*map(read_one, waiting[:most]))
        return len(waiting) - sum(outcomes)

    async def find(self, words: Iterable[str]) -> dict[str, TextHit]:
        """What texts have of the words of a query, by the keys of entries; a phrase is a word with blanks."""
        return await self._ask(self._find, list(words))

    async def locate(self, wanted: Mapping[str, frozenset[str]]) -> dict[str, TextHit]:
        """The passages that have most of some words, by the keys of entries, of which each has words of its own."""
        return await self._ask(self._locate, wanted)

    async def _ask(self, question: Callable[[T], dict[str, TextHit]], argument: T) -> dict[str, TextHit]:
        return {} if self._connection is None else await self._try(question, {}, argument)

    async def _make_ready(self) -> None:
        if self._connection is not None:
            return
        try:
            self._connection = await asyncio.to_thread(self._open, self._path)
        except (sqlite3.Error, OSError) as error:
            # A folder that cannot be written costs time and nothing else.
            _log.warning("texts of stored PDFs are not kept in %s: %s", self._path, error)
            self._connection = await asyncio.to_thread(self._open, None)

    async def _try(self, work: Callable[P, R], otherwise: R, *args: P.args, **named: P.kwargs) -> R:
        """What some work on the file gives; something else where the file cannot be used, which costs only time."""
        try:
            return await self._run(work, *args, **named)
        except sqlite3.Error as error:
            self._is_hindered = True
            _log.warning("texts of stored PDFs cannot be read or kept in %s: %s", self._path, error)
            return otherwise

    async def _run(self, work: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """What some work on the file gives, which is done in a thread when nobody else is at it.

        A file that proves to be damaged is made anew, and where that does not help, texts are held in memory.
        """

        def alone() -> R:
            with self._turn:
                for _ in range(2):
                    try:
                        return work(*args, **named)
                    except sqlite3.OperationalError:
                        raise
                    except sqlite3.DatabaseError as error:
                        self._renew(error)
                return work(*args, **named)

        return await asyncio.to_thread(alone)

    # --- the file; everything below blocks ---

    @property
    def _file(self) -> sqlite3.Connection:
        assert self._connection is not None, "nothing is asked before it is opened"
        return self._connection

    def _open(self, path: Path | None) -> sqlite3.Connection:
        """The file with its tables; one that is broken or of another version is made anew."""
        if path is None:
            return _with_tables(sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None))
        make_folder(path.parent, tighten=True)
        for is_last in (False, True):
            make_database(path)
            connection = sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False, isolation_level=None)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return _with_tables(connection)
            except sqlite3.OperationalError:
                connection.close()
                raise
            except sqlite3.DatabaseError:
                connection.close()
                if is_last:
                    raise
                _remove(path)
        raise AssertionError("unreachable")

    def _renew(self, damage: sqlite3.DatabaseError) -> None:
        """Make the file anew, once; after that, and where it cannot be made, go on in memory."""
        _log.warning("texts of stored PDFs in %s are damaged and made anew: %s", self._path, damage)
        with contextlib.suppress(sqlite3.Error):
            self._file.close()
        path = None if self._is_renewed else self._path
        self._is_renewed = True
        try:
            if path is not None:
                _remove(path)
            self._connection = self._open(path)
        except (sqlite3.Error, OSError) as error:
            _log.warning("texts of stored PDFs are not kept in %s: %s", self._path, error)
            self._connection = self._open(None)

    def _find_digest(self, key: str, stamp: tuple[int, int, int]) -> str:
        query = (
            "SELECT digest FROM pdfs JOIN texts USING (digest) WHERE key = ? AND inode = ? AND mtime = ? AND size = ?"
        )
        row = self._file.execute(query, (key, *stamp)).fetchone()
        return str(row[0]) if row else ""

    def _find_text(self, digest: str) -> tuple[str, str, str] | None:
        row = self._file.execute("SELECT text, kind, problem FROM texts WHERE digest = ?", (digest,)).fetchone()
        return (str(row[0]), str(row[1]), str(row[2])) if row else None

    def _put(self, key: str, stamp: tuple[int, int, int], digest: str, kept: tuple[str, str, str]) -> None:
        with self._writing() as file:
            if file.execute("INSERT OR IGNORE INTO texts VALUES (?, ?, ?, ?)", (digest, *kept)).rowcount:
                for page, first, last in _to_places(kept[0]):
                    place = file.execute(
                        "INSERT INTO passages (digest, page, first, last) VALUES (?, ?, ?, ?)",
                        (digest, page, first, last),
                    )
                    words = (place.lastrowid, " ".join(to_words(kept[0][first:last])))
                    file.execute("INSERT INTO words (rowid, said) VALUES (?, ?)", words)
            file.execute("INSERT OR REPLACE INTO pdfs VALUES (?, ?, ?, ?, ?)", (key, *stamp, digest))
            _forget(file)

    def _find_unread(self, pdfs: Mapping[str, Path]) -> tuple[list[str], set[str]]:
        """The entries whose PDFs have to be looked at, and those that are gone."""
        known = {key: stamp for key, *stamp in self._file.execute("SELECT key, inode, mtime, size FROM pdfs")}
        waiting, there = [], set()
        for key, path in pdfs.items():
            with contextlib.suppress(OSError):
                stamp = _to_stamp(path)
                there.add(key)
                if tuple(known.get(key, ())) != stamp:
                    waiting.append(key)
        return waiting, known.keys() - there

    def _forget_entries(self, gone: Collection[str]) -> None:
        with self._writing() as file:
            file.executemany("DELETE FROM pdfs WHERE key = ?", [(key,) for key in gone])
            _forget(file)

    def _find(self, asked: Sequence[str]) -> dict[str, TextHit]:
        matches = {word: match for word in asked if (match := _to_match(word))}
        # A word that every text has tells nothing, unless nothing else is asked.
        telling = [word for word in matches if not all(map(is_stop_word, to_words(word)))] or [*matches]
        said: dict[str, set[str]] = {}
        query = "SELECT DISTINCT digest FROM words JOIN passages ON passages.id = words.rowid WHERE words MATCH ?"
        for word in telling:
            for (digest,) in self._file.execute(query, (matches[word],)):
                said.setdefault(digest, set()).add(word)
        if not said:
            return {}
        best = self._find_best(" OR ".join(matches[word] for word in telling), said)
        idle = frozenset(matches) - frozenset(telling)
        keys = self._file.execute("SELECT key, digest FROM pdfs").fetchall()
        return {key: TextHit(frozenset(said[digest]) | idle, *best[digest]) for key, digest in keys if digest in best}

    def _locate(self, wanted: Mapping[str, frozenset[str]]) -> dict[str, TextHit]:
        digests = dict(self._file.execute("SELECT key, digest FROM pdfs").fetchall())
        hits: dict[str, TextHit] = {}
        for words in set(wanted.values()):
            keys = {key: digests[key] for key, own in wanted.items() if own == words and key in digests}
            match = " OR ".join(filter(None, map(_to_match, sorted(words))))
            best = self._find_best(match, set(keys.values())) if match else {}
            hits |= {key: TextHit(words, *best[digest]) for key, digest in keys.items() if digest in best}
        return hits

    def _find_best(self, match: str, digests: Collection[str]) -> dict[str, tuple[float, int, str, int]]:
        """The best passage of each text: what it is worth, its page, how it reads, and where it begins."""
        query = (
            "SELECT digest, page, first, last, bm25(words) AS worth FROM words"
            " JOIN passages ON passages.id = words.rowid WHERE words MATCH ? ORDER BY worth"
        )
        places: dict[str, tuple[float, int, int, int]] = {}
        for digest, page, first, last, worth in self._file.execute(query, (match,)):
            if digest in digests and digest not in places:
                places[digest] = (worth / (worth - 1), page, first, last)
        best = {}
        for digest, (worth, page, first, last) in places.items():
            within = (first + 1, last - first, digest)
            row = self._file.execute("SELECT substr(text, ?, ?) FROM texts WHERE digest = ?", within).fetchone()
            # Another process may have forgotten it meanwhile.
            if row is not None:
                best[digest] = (worth, page, str(row[0]), first)
        return best

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._file.execute("BEGIN IMMEDIATE")
        try:
            yield self._file
            self._file.execute("COMMIT")
        except BaseException:
            # SQLite ends some that fail by itself.
            with contextlib.suppress(sqlite3.Error):
                self._file.execute("ROLLBACK")
            raise


def open_texts(context: Context) -> StoredTexts:
    """The texts of the store that the settings name; in memory where a call may not touch this machine."""
    if not context.is_live:
        return StoredTexts(None)
    return StoredTexts(texts_path(context.config))


def to_words(text: str) -> list[str]:
    """A text as searches compare it: stems in small letters without accents, scripts without blanks by pairs.

    What a hyphen or an apostrophe joins is told as one word, too, behind all others.
    """
    folded = fold(text)
    joined = [_JOINER.sub("", word) for word in _JOINED.findall(folded)]
    return [token.casefold() for part in (folded, " ".join(joined)) for token in tokens(part)]


def shorten(passage: str, words: Iterable[str]) -> str:
    """A passage on one line, cut around the first of some words where it is long."""
    line = " ".join(passage.split())
    if len(line) <= LONGEST_PASSAGE:
        return line
    wanted = {token for word in words for token in to_words(word)}
    at = 0
    for word in line.split(" "):
        if wanted.intersection(to_words(word)):
            break
        at += len(word) + 1
    start = max(0, min(at - LONGEST_PASSAGE // 3, len(line) - LONGEST_PASSAGE))
    start = line.find(" ", start - 1) + 1 if start else 0
    end = line.rfind(" ", start, start + LONGEST_PASSAGE) if start + LONGEST_PASSAGE < len(line) else len(line)
    end = end if end > start else start + LONGEST_PASSAGE
    return f"{'… ' if start else ''}{line[start:end]}{' …' if end < len(line) else ''}"


def _with_tables(connection: sqlite3.Connection) -> sqlite3.Connection:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == _VERSION:
        return connection
    connection.execute("BEGIN IMMEDIATE")
    # Another process may have made them meanwhile.
    if connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
        for name in ("pdfs", "texts", "passages", "words"):
            connection.execute(f"DROP TABLE IF EXISTS {name}")
        for statement in filter(str.strip, _TABLES.split(";")):
            try:
                connection.execute(statement)
            except sqlite3.OperationalError as error:
                if "fts5" not in str(error):
                    raise
                # SQLite can be built without it: texts are then kept and not searched.
                connection.execute("CREATE TABLE words (rowid INTEGER PRIMARY KEY, said TEXT)")
        connection.execute(f"PRAGMA user_version = {_VERSION}")
    connection.execute("COMMIT")
    return connection


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _forget(file: sqlite3.Connection) -> None:
    """Drop texts that no entry has any more."""
    digests = file.execute("SELECT digest FROM texts EXCEPT SELECT digest FROM pdfs").fetchall()
    for row in digests:
        file.execute("DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE digest = ?)", row)
        file.execute("DELETE FROM passages WHERE digest = ?", row)
        file.execute("DELETE FROM texts WHERE digest = ?", row)


async def _extract(context: Context, body: bytes, name: str) -> tuple[str, str, str]:
    """The text of a PDF, or "" with the kind and the sentence of what is wrong with it; other faults are raised.

    A text that was cut has the kind alone.
    """
    from specloom.domains.scrape.documents.read import read, read_apart

    try:
        document = await read_apart(body, PDF, name) if context.is_live else read(body, PDF, name)
    except Fault as fault:
        if not _is_lasting(fault):
            raise
        return "", fault.kind, fault.message
    return document.text, _CUT if document.truncated else "", ""


def _is_lasting(fault: Fault) -> bool:
    """Whether a PDF fails by itself: a reader that was ended, or ran out of time, may do better at another moment."""
    return fault.kind in _LASTING and not isinstance(fault, EndedFault)


def _to_places(text: str) -> Iterator[tuple[int, int, int]]:
    """The passages of a text: page, first character, and the one behind the last."""
    for page in find_pages(text):
        begin = text.find("\n", page.start, page.end) + 1 or page.end
        for passage in split_passages(text[begin : page.end]):
            yield page.number, begin + passage.start, begin + passage.end


def _to_match(word: str) -> str:
    """A word or phrase in the language of FTS5; "" for what has no word in it."""
    parts = [token.casefold() for token in tokens(fold(word))]
    if not parts:
        return ""
    is_open = len(parts) == 1 and len(parts[0]) >= _PREFIX and parts[0].isalpha()
    return f'"{" ".join(parts)}"' + ("*" if is_open else "")


def _to_stamp(path: Path) -> tuple[int, int, int]:
    about = path.stat()
    return about.st_ino, about.st_mtime_ns, about.st_size
