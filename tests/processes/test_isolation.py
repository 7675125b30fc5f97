"""A process that reads strangers' files gets its input and nothing else of us, is bounded, and ends with its call."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from specloom.core import process

Probe = Callable[[str], str]
linux = pytest.mark.skipif(sys.platform != "linux", reason="the system bounds processes in its own way")


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Probe:
    """Makes a module of a text, and gives the name under which a process finds it."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH")))))

    def make(text: str) -> str:
        (tmp_path / "isolated_probe.py").write_text(text, encoding="utf-8")
        return "isolated_probe"

    return make


async def tell(module: str, given: bytes = b"") -> object:
    ended = await process.run(module, given, seconds=60)
    assert (ended.code, ended.is_late) == (0, False)
    return json.loads(ended.output)


async def test_what_goes_in_is_read_and_what_comes_out_is_given_with_the_status(probe: Probe) -> None:
    body = bytes(range(256)) * 10_000
    module = probe("import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])\nraise SystemExit(3)")

    ended = await process.run(module, body, seconds=60)

    assert ended == process.Ended(body[::-1], 3, is_late=False)
    assert ended.how == "status 3"


@linux
async def test_a_process_that_a_signal_ends_is_told_with_the_signal(probe: Probe) -> None:
    module = probe("import os, signal\nprint('so far', flush=True)\nos.kill(os.getpid(), signal.SIGKILL)")

    ended = await process.run(module, b"x" * 1_000_000, seconds=60)

    assert ended == process.Ended(b"so far\n", -signal.SIGKILL, is_late=False)
    assert ended.how == "signal 9"


@linux
async def test_a_process_that_writes_without_end_is_ended(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MOST_OUTPUT", 1_000_000)
    module = probe("import sys\nwhile True:\n    sys.stdout.write('x' * 10_000)")

    ended = await process.run(module, b"", seconds=60)

    assert ended == process.Ended(b"", -signal.SIGKILL, is_late=False)


async def test_a_process_may_close_its_output_before_it_has_ended(probe: Probe) -> None:
    module = probe("import os, sys\nprint('all', flush=True)\nos.close(1)\nsys.stdin.read()\nraise SystemExit(4)")

    ended = await process.run(module, b"x" * 1_000_000, seconds=60)

    assert (ended.output, ended.code) == (b"all\n", 4)


async def test_a_process_that_is_late_is_ended(probe: Probe) -> None:
    module = probe("import threading\nthreading.Event().wait()")

    ended = await process.run(module, b"", seconds=0)

    assert (ended.output, ended.is_late) == (b"", True)
    assert ended.code != 0


@linux
async def test_a_process_whose_call_is_cancelled_is_ended_even_in_the_middle_of_its_answer(
    probe: Probe, tmp_path: Path
) -> None:
    number = tmp_path / "number"
    module = probe(
        "import os, sys\nfrom pathlib import Path\n"
        "sys.stdout.buffer.write(b'x' * 1_000_000)\nsys.stdout.flush()\n"
        f"Path({str(number)!r}).write_text(str(os.getpid()) + '.', encoding='ascii')\n"
        "while True:\n    sys.stdout.buffer.write(b'x')\n"
    )
    call = asyncio.create_task(process.run(module, b"", seconds=600))
    async with asyncio.timeout(60):
        while not (number.exists() and number.read_text(encoding="ascii").endswith(".")):  # noqa: ASYNC110
            await asyncio.sleep(0.02)

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    # It has been waited for, so that its number is free again.
    assert not Path("/proc", number.read_text(encoding="ascii").rstrip(".")).exists()  # noqa: ASYNC240


async def test_a_process_that_cannot_be_started_is_an_error_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "sys", SimpleNamespace(executable="/no/such/interpreter"))

    with pytest.raises(FileNotFoundError):
        await process.run("json.tool", b"{}", seconds=60)


async def test_no_secret_and_no_module_of_the_folder_reaches_the_process(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "json.py").write_text("raise SystemExit(9)", encoding="utf-8")
    monkeypatch.chdir(folder)
    for name in ("DEMO_API_KEY", "HOME", "LD_PRELOAD", "PYTHONSTARTUP", "LANG", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "")

    names = await tell(probe("import json, os\nprint(json.dumps(sorted(os.environ)))"))

    allowed = {"PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT"}
    # The interpreter itself sets LC_CTYPE where no language is given.
    assert set(names) <= allowed | {"TMPDIR", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "LC_CTYPE"}  # type: ignore[call-overload]
    assert {"PATH", "PYTHONPATH"} <= set(names)  # type: ignore[call-overload]


async def test_text_is_utf_8_without_a_language(probe: Probe) -> None:
    module = probe("import json, sys\nfrom pathlib import Path\nprint(json.dumps([sys.stdin.read(), str(Path('Öl'))]))")

    assert await tell(module, "Ötter 窯".encode()) == ["Ötter 窯", "Öl"]


TAKING = """
import errno, json, os, resource, sys
from specloom.core.process import restrict

told = {}
for memory, seconds in json.load(sys.stdin):
    restrict(memory, seconds)
try:
    bytearray(1 << 30)
except MemoryError:
    told["memory"] = "refused"
try:
    with open("written", "w") as file:
        file.write("x")
except OSError as error:
    told["file"] = errno.errorcode[error.errno]
for name in ("AS", "CPU", "FSIZE", "CORE"):
    told[name] = resource.getrlimit(getattr(resource, "RLIMIT_" + name))
print(json.dumps(told))
"""


@linux
@pytest.mark.parametrize(
    ("bounds", "memory", "seconds"),
    [
        ([(500_000_000, 70)], 500_000_000, 70),
        ([(500_000_000, 70), (600_000_000, 80)], 500_000_000, 70),
        ([(600_000_000, 80), (500_000_000, 70)], 500_000_000, 70),
        ([(500_000_000, None)], 500_000_000, -1),
    ],
    ids=["once", "a higher bound", "a lower bound", "no end"],
)
async def test_what_a_process_may_take_is_bounded_and_never_more_than_before(
    bounds: list[tuple[int, int | None]],
    memory: int,
    seconds: int,
    probe: Probe,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)

    told = await tell(probe(TAKING), json.dumps(bounds).encode())

    assert told == {
        "memory": "refused",
        "file": "EFBIG",
        "AS": [memory] * 2,
        "CPU": [seconds] * 2,
        "FSIZE": [0, 0],
        "CORE": [0, 0],
    }


@linux
async def test_a_bound_that_the_process_could_raise_itself_is_kept(probe: Probe) -> None:
    module = probe(
        "import json, resource\nfrom specloom.core.process import restrict\n"
        "resource.setrlimit(resource.RLIMIT_AS, (400_000_000, resource.getrlimit(resource.RLIMIT_AS)[1]))\n"
        "restrict(500_000_000, None)\nprint(json.dumps(resource.getrlimit(resource.RLIMIT_AS)))"
    )

    assert await tell(module) == [400_000_000, 500_000_000]
