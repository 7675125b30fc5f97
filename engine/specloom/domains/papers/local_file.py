"""A file of this machine for the tools of papers: a regular one, below the folders that the operator allows."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import stat
import threading
from collections.abc import Sequence
from pathlib import Path

from specloom.core import Fault, run_apart
from specloom.plugins import Context

from .config import file_roots, named_roots
from .errors import PaperFault

LARGEST = 1_000_000
"""Bytes of a file, which is some thousand entries."""
SECONDS = 10.0
"""Time for the file, the start of the process that reads it included."""
MEMORY = 512 * 1024**2
"""Bytes of address space that this process may have."""


async def read_local_file(context: Context, path: str) -> str:
    """The text of a file below a folder that the operator allows; INVALID_REF for any other.

    CAPABILITY_DENIED where several tenants share the server and its operator names no folder. It is opened and read in
    a process of its own: a network folder that does not answer keeps it alone.
    """
    check_shared(context, "reads no files of its machine")
    if not Path(path).is_absolute():
        raise _refuse(f"{path[:200]!r} is no absolute path.")
    roots = file_roots(context.config)
    try:
        if not context.is_live:
            return read_file(b"", path, roots)
        text: str = await run_apart(read_file, b"", path, roots, what="file", seconds=SECONDS, memory=MEMORY)
    except Fault as fault:
        if fault.kind == "internal":
            raise PaperFault("INTERNAL_ERROR", fault.message) from None
        raise _refuse(fault.message) from None
    return text


def check_shared(context: Context, what: str, instead: str = "") -> None:
    """CAPABILITY_DENIED where several tenants share the server and its operator names no folder that all may read.

    What is usual for one person, the home folder above all, is the operator's own. `what` says what such a server does
    not do, and `instead` what a caller may do.
    """
    if not context.is_alone and not named_roots(context.config):
        how = "its operator sets DOIGET_FILE_ROOTS to the folders that all may read"
        fault = PaperFault("CAPABILITY_DENIED", f"A server of several tenants {what}: {how}{instead}.")
        fault.action = "inform_user"
        raise fault


async def read_bytes(path: str, roots: Sequence[str], most: int) -> bytes:
    """What `read_below` gives, within SECONDS; where no folder answers that is a late `validation` fault.

    A thread of its own reads it, which keeps nobody waiting, and which the end of the program does not wait for.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[bytes] = loop.create_future()

    def settle(data: bytes, error: Exception | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(data)
        else:
            done.set_exception(error)

    def work() -> None:
        data, failed = b"", None
        try:
            data = read_below(path, roots, most)
        except Exception as error:  # noqa: BLE001  told to who waits
            failed = error
        with contextlib.suppress(RuntimeError):  # nobody waits any more, and the loop is closed
            loop.call_soon_threadsafe(settle, data, failed)

    threading.Thread(target=work, name="specloom-file", daemon=True).start()
    try:
        return await asyncio.wait_for(done, SECONDS)
    except TimeoutError:
        message = f"{path[:200]!r} could not be read within {SECONDS:g} seconds; look at its disk or network folder."
        raise Fault("validation", message, late=True) from None


def _refuse(message: str) -> PaperFault:
    """INVALID_REF for a path, which a caller can mend."""
    fault = PaperFault("INVALID_REF", message)
    fault.action = "fix_arguments"
    return fault


def read_file(_: bytes, path: str, roots: Sequence[str]) -> str:
    """The text of a regular file below one of some folders, links followed; a `validation` fault for any other.

    Nothing waits for a pipe or a device, and no name below the folder may begin with a dot.
    """
    name = Path(path).name[:200]
    data = read_below(path, roots, LARGEST)
    if len(data) > LARGEST:
        raise Fault("validation", f"{name} is larger than {LARGEST} bytes; split it.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Fault("validation", f"{name} is no text in UTF-8.") from None


def read_below(path: str, roots: Sequence[str], most: int) -> bytes:
    """The bytes of a regular file below one of some folders, one more than `most` at most.

    A `validation` fault for any other.
    """
    try:
        # Whether there is such a file is told of none that may not be read.
        real = os.path.realpath(path)
        if not any(_is_below(real, os.path.realpath(root)) for root in roots):
            raise Fault(
                "validation",
                "The file is not below a folder that may be read, or its path has a name that begins with a dot; the "
                "operator names such folders in DOIGET_FILE_ROOTS.",
            )
        data = _read_regular(real, most)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise Fault("validation", f"{path[:200]!r} is no file.") from None
        why = error.strerror if isinstance(error, OSError) else "the path is none"
        raise Fault("validation", f"{path[:200]!r} cannot be read: {why}.") from None
    if data is None:
        raise Fault("validation", f"{path[:200]!r} is no file.")
    return data


def _is_below(real: str, root: str) -> bool:
    try:
        inner = Path(real).relative_to(root)
    except ValueError:
        return False
    return not any(part.startswith(".") for part in inner.parts)


def _read_regular(real: str, most: int) -> bytes | None:
    """The bytes of a regular file, one more than are taken at most; None for anything else."""
    # Not through a link that was put there since the path was looked at.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(real, flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(most + 1)
    finally:
        os.close(descriptor)
