"""A process with few file descriptors opens fewer connections; where none is left, that is what is told."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from specloom.core.faults import Fault
from specloom.net.connections import Dialer, build_tls_context, count_room
from tests.support.loopback import Loopback


@contextmanager
def descriptors(most: int) -> Iterator[None]:
    """This process may open no descriptor of that number or above."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_process_with_few_descriptors_has_few_connections() -> None:
    with descriptors(64):
        few = count_room(320)
    with descriptors(1024):
        some = count_room(320)

    assert (few, some, few * 10 <= 64) == (6, 102, True)


async def test_a_lack_of_descriptors_is_told_as_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    async def fail_to_resolve(host: str, port: int) -> list[str]:
        raise OSError(errno.EMFILE, "Too many open files")

    build_tls_context()
    with Loopback(lambda call: (200, {}, b"")) as server, tempfile.NamedTemporaryFile() as list_:
        monkeypatch.delenv("SSL_CERT_DIR", raising=False)
        monkeypatch.setenv("SSL_CERT_FILE", list_.name)
        caught = []
        for resolver in (resolve, fail_to_resolve):
            with descriptors(3), pytest.raises(Fault) as fault:
                await Dialer(resolver, 5).dial("otters.example", server.port, secure=False, allow_private=True)
            caught.append(fault.value.message)
        with descriptors(3), pytest.raises(Fault) as fault:
            build_tls_context()

    why = "this server has no file descriptor left; give it more (ulimit -n)."
    assert caught == [f"otters.example could not be reached: {why}"] * 2
    assert fault.value.message.startswith("no certificate can be checked, for their list ")
    assert fault.value.message.endswith(f"cannot be read: {why}")


def test_a_list_of_certificates_that_is_not_there_is_told_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/list.pem")

    with pytest.raises(Fault, match=r"their list /nowhere/list\.pem cannot be read: no such file"):
        build_tls_context()
