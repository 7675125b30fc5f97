"""What the processes of one machine share with no other program: fixed slots of a file, file locks, local datagrams.

Slots are read and written at their place, never mapped: a file that is cut short by somebody is then an error and not
the end of the process. A slot belongs to a bucket of few, and who looks into a bucket locks it, for some microseconds;
a process that ends gives its locks back.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import socket
import struct
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from specloom.core import MOST_STARTS, Backplane, BackplaneError, make_folder, open_private

from .backplane_local import LocalBus, Subscription, advance, begin, check_payload, local_backplane

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from specloom.core import Lease

PATIENCE = 0.25
"""Seconds for which a bucket is waited for that somebody else holds."""
POLL = 0.001
RUN_FOLDER = "run"
"""The folder in that of the state."""


def open_backplane(folder: Path, warn: Callable[[str], None], *, clock: Callable[[], float] = time.time) -> Backplane:
    """What the processes share that name this folder; where a system cannot, each has its own, and `warn` is told."""
    with contextlib.ExitStack() as opened:
        try:
            make_folder(folder, tighten=True)
            counters = SharedCounters(folder, clock)
            opened.callback(counters.close)
            leases = SharedLeases(folder, clock)
            opened.callback(leases.close)
            bus = SharedBus(folder)
        except BackplaneError as error:
            why = str(error)
        except OSError as error:
            why = f"{folder} cannot be used ({error.strerror})"
        else:
            opened.pop_all()
            return Backplane(counters, leases, bus)
    warn(f"limits and paces hold for each process by itself: {why}")
    return local_backplane(clock)


# --- Slots in a file --------------------------------------------------------------------------------------------------


class Layout(NamedTuple):
    """How a file of slots is laid out: how many buckets of how many slots of how many bytes."""

    buckets: int
    slots: int
    size: int


TAG = 16
_UNCHANGED = -1.0
_HEAD = struct.Struct("<16sd")
"""What a slot begins with: the tag of its key, and when it ends, in seconds since the epoch."""
# No two instances of a process may hold one lock, since the system would give it to both.
_TURN = threading.Lock()


class Slots:
    """Records by key in a file of fixed size; of a bucket that is full, what ends first gives way."""

    def __init__(self, path: Path, layout: Layout) -> None:
        try:
            import fcntl
        except ImportError:
            raise BackplaneError("this system has no locks on parts of a file") from None
        self._fcntl = fcntl
        self._layout = layout
        self._handle = open_private(path, os.O_RDWR | os.O_CREAT)
        whole = layout.buckets * layout.slots * layout.size
        if os.fstat(self._handle).st_size < whole:
            os.ftruncate(self._handle, whole)

    async def change(self, key: str, now: float, work: Callable[[bytes, int], tuple[bytes, float]]) -> int:
        """Put what `work` makes of the record of a key and its slot, and when that ends, in its place; the slot.

        A record that has ended, or never was, is empty; one that ends at `_UNCHANGED` stays as it is.
        """
        tag = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=TAG).digest()
        bucket = int.from_bytes(tag[:4], "little") % self._layout.buckets
        _, slots, size = self._layout
        place = bucket * slots * size
        until = time.monotonic() + PATIENCE
        while not self._lock(bucket):
            if time.monotonic() > until:
                raise BackplaneError("another process holds the shared counters and does not go on")
            await asyncio.sleep(POLL)
        try:
            data = os.pread(self._handle, slots * size, place)
            if len(data) < slots * size:
                raise BackplaneError("the file of the shared counters was cut short")
            at, record = self._find(data, tag, now)
            record, ends = work(record, bucket * slots + at)
            if ends != _UNCHANGED:
                os.pwrite(self._handle, _HEAD.pack(tag, ends) + record, place + at * size)
        except OSError as error:
            raise BackplaneError(f"the shared counters cannot be written ({error.strerror})") from None
        finally:
            self._unlock(bucket)
        return bucket * slots + at

    def close(self) -> None:
        """Let go of the file."""
        with _TURN:
            handle, self._handle = self._handle, -1
            if handle >= 0:
                os.close(handle)

    def _find(self, data: bytes, tag: bytes, now: float) -> tuple[int, bytes]:
        """Which slot of a bucket is a key's, or may become so, and its record."""
        _, slots, size = self._layout
        oldest, ends_first = 0, float("inf")
        for at in range(slots):
            found, ends = _HEAD.unpack_from(data, at * size)
            if found == tag:
                record = data[at * size + _HEAD.size : (at + 1) * size]
                return at, record if ends > now else b""
            if ends < ends_first:
                oldest, ends_first = at, ends
        return oldest, b""

    def _lock(self, bucket: int) -> bool:
        if not _TURN.acquire(blocking=False):
            return False
        try:
            self._fcntl.lockf(self._handle, self._fcntl.LOCK_EX | self._fcntl.LOCK_NB, 1, bucket)
        except BlockingIOError:
            _TURN.release()
            return False
        except OSError as error:
            _TURN.release()
            raise BackplaneError(f"the shared counters cannot be locked ({error.strerror})") from None
        return True

    def _unlock(self, bucket: int) -> None:
        try:
            self._fcntl.lockf(self._handle, self._fcntl.LOCK_UN, 1, bucket)
        finally:
            _TURN.release()


# --- Counters ---------------------------------------------------------------------------------------------------------


NUMBERS = Layout(512, 32, 64)
"""16,384 limits and sums in a mebibyte."""
_ARRIVAL = struct.Struct("<d")
_SUM = struct.Struct("<qd")
_COUNT = struct.Struct("<q")
STARTS = Layout(64, 8, _HEAD.size + _COUNT.size + MOST_STARTS * 8)
"""512 paces in half a mebibyte."""


class SharedCounters:
    """Counters of all processes that name one folder. They outlive the processes, and so the start of another."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._numbers = Slots(folder / "numbers.1", NUMBERS)
        self._starts = Slots(folder / "starts.1", STARTS)

    async def take(self, key: str, *, per: float, burst: int, cost: int = 1) -> float:
        wait, now = 0.0, self._clock()

        def work(record: bytes, _: int) -> tuple[bytes, float]:
            nonlocal wait
            before = _ARRIVAL.unpack_from(record)[0] if record else 0.0
            arrival, wait = advance(before, now, per=per, burst=burst, cost=cost)
            return _ARRIVAL.pack(arrival), arrival

        await self._numbers.change(f"take\0{key}", now, work)
        return wait

    async def start(self, key: str, *, count: int, per: float) -> float:
        wait, now = 0.0, self._clock()

        def work(record: bytes, _: int) -> tuple[bytes, float]:
            nonlocal wait
            held = _COUNT.unpack_from(record)[0] if record else 0
            before = struct.unpack_from(f"<{held}d", record, _COUNT.size) if 0 < held <= MOST_STARTS else ()
            starts, wait = begin(before, now, count=count, per=per)
            return _COUNT.pack(len(starts)) + struct.pack(f"<{len(starts)}d", *starts), now + per

        await self._starts.change(key, now, work)
        return wait

    async def add(self, key: str, amount: int, *, until: float) -> int:
        value, now = 0, self._clock()

        def work(record: bytes, _: int) -> tuple[bytes, float]:
            nonlocal value
            before, ends = _SUM.unpack_from(record) if record else (0, until)
            value = before + amount
            return _SUM.pack(value, ends), ends

        await self._numbers.change(f"add\0{key}", now, work)
        return value

    def close(self) -> None:
        """Let go of the files."""
        self._numbers.close()
        self._starts.close()


# --- Leases -----------------------------------------------------------------------------------------------------------


LEASES = Layout(256, 16, 64)
"""4,096 leases in a quarter of a mebibyte."""
_NUMBER = struct.Struct("<q")
_LAST = "\0the number of the last lease"
_FOR_EVER = 4e18
_HELD: dict[tuple[str, int], int] = {}
"""The leases of this process with a lock, over all instances: no system tells a process of locks of its own."""


class SharedLeases:
    """Leases of all processes that name one folder. Whoever holds one has a lock too, which ends with the process."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._slots = Slots(folder / "leases.1", LEASES)
        self._path = os.path.realpath(folder / "holders.1")
        self._holders = open_private(self._path, os.O_RDWR | os.O_CREAT)
        import fcntl

        self._fcntl = fcntl

    async def acquire(self, name: str, ttl: float) -> Lease | None:
        now, number, taken = self._clock(), await self._next_number(), False

        def work(record: bytes, place: int) -> tuple[bytes, float]:
            nonlocal taken
            if record and self._is_alive(place):
                # Ends as it did.
                return record, _UNCHANGED
            taken = True
            self._hold(place, number)
            return _NUMBER.pack(number), now + ttl

        place = await self._slots.change(name, now, work)
        return SharedLease(self, name, place, number) if taken else None

    async def extend(self, name: str, place: int, number: int, ttl: float) -> bool:
        """Whether that lease was held; it now ends in so many seconds, and at once gives its lock back."""
        now, was_held = self._clock(), False

        def work(record: bytes, at: int) -> tuple[bytes, float]:
            nonlocal was_held
            was_held = at == place and bool(record) and _NUMBER.unpack_from(record)[0] == number
            return record, now + ttl if was_held else _UNCHANGED

        await self._slots.change(name, now, work)
        if ttl <= 0 and _HELD.get((self._path, place)) == number:
            del _HELD[self._path, place]
            self._fcntl.lockf(self._holders, self._fcntl.LOCK_UN, 1, place)
        return was_held

    async def _next_number(self) -> int:
        number = 0

        def work(record: bytes, _: int) -> tuple[bytes, float]:
            nonlocal number
            number = (_NUMBER.unpack_from(record)[0] if record else 0) + 1
            return _NUMBER.pack(number), _FOR_EVER

        await self._slots.change(_LAST, self._clock(), work)
        return number

    def _is_alive(self, place: int) -> bool:
        """Whether the process that has the lease of a slot is still there, as far as can be told."""
        if (self._path, place) in _HELD:
            return True
        try:
            self._fcntl.lockf(self._holders, self._fcntl.LOCK_EX | self._fcntl.LOCK_NB, 1, place)
        except BlockingIOError:
            return True
        self._fcntl.lockf(self._holders, self._fcntl.LOCK_UN, 1, place)
        return False

    def _hold(self, place: int, number: int) -> None:
        # Whoever held it before may be late and still have the lock; then this lease ends with its time alone.
        with contextlib.suppress(BlockingIOError):
            self._fcntl.lockf(self._holders, self._fcntl.LOCK_EX | self._fcntl.LOCK_NB, 1, place)
            _HELD[self._path, place] = number

    def close(self) -> None:
        """Let go of the files, and so of all leases."""
        for key in [one for one in _HELD if one[0] == self._path]:
            del _HELD[key]
        holders, self._holders = self._holders, -1
        if holders >= 0:
            os.close(holders)
        self._slots.close()


class SharedLease:
    """A lease of `SharedLeases`."""

    def __init__(self, leases: SharedLeases, name: str, place: int, number: int) -> None:
        self._leases, self._name, self._place, self._number = leases, name, place, number

    @property
    def number(self) -> int:
        return self._number

    async def renew(self, ttl: float) -> bool:
        return await self._leases.extend(self._name, self._place, self._number, ttl)

    async def release(self) -> None:
        await self._leases.extend(self._name, self._place, self._number, 0.0)


# --- The bus ----------------------------------------------------------------------------------------------------------


SOCKETS = "bus"
SUFFIX = ".sock"
LONGEST_PATH = 100
"""Bytes of the address of a local socket; the least that systems allow is 104."""
_TOPIC = struct.Struct("<H")


class SharedBus:
    """A bus of all processes that name one folder: each has a datagram socket there, and sends to all others."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / SOCKETS
        make_folder(self._folder, tighten=True)
        self._local = LocalBus()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._name = f"{os.getpid()}-{os.urandom(4).hex()}{SUFFIX}"
        self._place = os.open(self._folder, os.O_RDONLY)
        if not self._address(self._name):
            raise BackplaneError(f"the path of {self._folder} is too long for a local socket")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(self._address(self._name))

    async def tell(self, topic: str, payload: bytes) -> None:
        check_payload(payload)
        encoded = topic.encode()
        message = _TOPIC.pack(len(encoded)) + encoded + payload
        for name in self._others():
            try:
                self._socket.sendto(message, self._address(name))
            except (ConnectionRefusedError, FileNotFoundError):
                # Nobody is there any more; the name of a socket outlives its process.
                with contextlib.suppress(OSError):
                    (self._folder / name).unlink()
            except OSError:
                continue  # one that reads too slowly misses it
        self._local.deliver(topic, payload)

    def listen(self, topic: str) -> Subscription:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._socket.fileno(), self._receive)
        return self._local.listen(topic)

    def _receive(self) -> None:
        for message in self._messages():
            (size,) = _TOPIC.unpack_from(message)
            topic, payload = message[_TOPIC.size : _TOPIC.size + size], message[_TOPIC.size + size :]
            self._local.deliver(topic.decode("utf-8", "replace"), payload)

    def _messages(self) -> Iterator[bytes]:
        for _ in range(64):
            try:
                message = self._socket.recv(64 * 1024)
            except OSError:
                return
            if len(message) >= _TOPIC.size:
                yield message

    def _others(self) -> list[str]:
        return [one.name for one in os.scandir(self._folder) if one.name.endswith(SUFFIX) and one.name != self._name]

    def _address(self, name: str) -> str:
        """The address of a socket, short enough; empty where there is none."""
        path = str(self._folder / name)
        if len(os.fsencode(path)) <= LONGEST_PATH:
            return path
        short = f"/proc/self/fd/{self._place}"
        return f"{short}/{name}" if Path(short).is_dir() else ""

    def close(self) -> None:
        """Leave; listeners come to their end."""
        if self._socket.fileno() < 0:
            return
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._socket.fileno())
        self._local.close()
        self._socket.close()
        os.close(self._place)
        with contextlib.suppress(OSError):
            (self._folder / self._name).unlink()
