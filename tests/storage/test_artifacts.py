"""A long text is kept for its owner for half an hour, within bounds, under a name that is made of it."""

import pytest

from specloom.compiler.collection import load_collections
from specloom.core.faults import Fault
from specloom.plugins import ArtifactContent
from specloom.specs.library import shipped_root
from specloom.storage.state import Artifacts
from specloom.storage.store import open_memory

NOW = 1_700_000_000.0
LIFETIME = 1800.0
"""Half an hour, as the contract has it."""


@pytest.fixture
def keeper(clock):
    store = open_memory(load_collections([shipped_root()]).values(), clock=clock)
    yield Artifacts(store, "research://artifact/{}".format)
    store.close()


def id_of(artifact):
    return artifact.uri.removeprefix("research://artifact/")


async def test_a_text_is_read_back_by_its_owner_and_by_nobody_else(keeper):
    kept = await keeper.keep("acme:ann", "página \ud800", name="page.md", mime_type="text/markdown")

    assert (kept.size, kept.name, kept.expires) == (11, "page.md", NOW + LIFETIME)
    assert await keeper.read("acme:ann", id_of(kept)) == ArtifactContent("página \ud800", "page.md", "text/markdown")
    for other in ("acme:bob", "other:ann", "", "ann"):
        assert await keeper.read(other, id_of(kept)) is None


async def test_the_same_text_has_the_same_address_and_lives_on(keeper, clock):
    first = await keeper.keep("", "text", name="a", mime_type="text/plain")
    clock.now += LIFETIME - 1
    second = await keeper.keep("", "text", name="a", mime_type="text/plain")
    clock.now += LIFETIME - 1

    assert first.uri == second.uri
    assert second.expires == first.expires + LIFETIME - 1
    assert await keeper.read("", id_of(first)) == ArtifactContent("text", "a", "text/plain")
    assert (await keeper.keep("", "text", name="a", mime_type="text/html")).uri != first.uri


async def test_a_file_that_is_no_text_comes_back_byte_for_byte(keeper):
    body = b"PK\x03\x04\xff\x00 a file of an office"

    kept = await keeper.keep("", body, name="report", mime_type="application/zip")

    assert kept.size == len(body)
    assert await keeper.read("", id_of(kept)) == ArtifactContent(body, "report", "application/zip")


async def test_a_text_is_gone_after_half_an_hour(keeper, clock):
    kept = await keeper.keep("", "text", name="a", mime_type="text/plain")

    clock.now += LIFETIME

    assert await keeper.read("", id_of(kept)) is None


@pytest.mark.parametrize("id_", ["", "x", "0" * 64, "A" * 64, "../" * 21 + "x", "0" * 63 + "\n"])
async def test_a_guessed_name_finds_nothing(keeper, id_):
    await keeper.keep("", "text", name="a", mime_type="text/plain")

    assert await keeper.read("", id_) is None


async def test_the_oldest_text_makes_room_and_a_huge_one_is_refused(keeper, clock):
    kept = []
    for at in range(201):
        clock.now += 1
        kept.append(await keeper.keep("", f"text {at}", name="a", mime_type="text/plain"))

    assert await keeper.read("", id_of(kept[0])) is None
    assert await keeper.read("", id_of(kept[1])) == ArtifactContent("text 1", "a", "text/plain")
    with pytest.raises(Fault, match="shorten it"):
        await keeper.keep("", "x" * (25 * 1024 * 1024), name="a", mime_type="text/plain")
