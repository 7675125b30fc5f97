"""Damaged documents end in a document or a fault, never in anything else."""

from __future__ import annotations

import io
import random
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.faults import Fault
from specloom.domains.scrape.documents import read as documents
from specloom.domains.scrape.documents.document import Document, Limits
from tests.support.rich_documents import SEEDS

LIMITS = Limits(pages=50, text=100_000, seconds=5, entries=200, entry_bytes=1_000_000, total_bytes=2_000_000)


def check(body: bytes) -> None:
    try:
        found = documents.read(body, "", "", limits=LIMITS)
    except Fault:
        return
    assert isinstance(found, Document)
    assert len(found.text) <= LIMITS.text
    found.text.encode("utf-8")


def damage(body: bytes, seed: int) -> bytes:
    """The bytes with some of them changed, doubled, cut out or moved."""
    chance = random.Random(seed)
    data = bytearray(body)
    for _ in range(chance.randint(1, 12)):
        at, size = chance.randrange(len(data) + 1), chance.randint(1, 40)
        action = chance.randrange(5)
        if action == 0:
            data[at : at + 1] = bytes([chance.randrange(256)])
        elif action == 1:
            del data[at : at + size]
        elif action == 2:
            data[at:at] = data[at : at + size] * chance.randint(1, 50)
        elif action == 3:
            data[at:at] = chance.choice(
                [b"0", b"-1", b"99999999999", b"<<", b"[", b"(", b"\x00", b"\xff" * 4, b" 0 R "]
            )
        else:
            to = chance.randrange(len(data) + 1)
            data[to : to + size] = data[at : at + size]
    return bytes(data)


@pytest.mark.parametrize("kind", SEEDS)
@given(seed=st.integers(0, 2**32))
def test_damaged_bytes_are_a_document_or_a_fault(kind: str, seed: int) -> None:
    check(damage(SEEDS[kind], seed))


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx"])
@given(seed=st.integers(0, 2**32))
def test_damaged_parts_in_a_sound_archive_are_a_document_or_a_fault(kind: str, seed: int) -> None:
    chance = random.Random(seed)
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(SEEDS[kind])) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, damage(part, chance.randrange(2**32)) if chance.random() < 0.5 else part)

    check(packed.getvalue())


@given(
    st.binary(max_size=400),
    st.sampled_from([b"%PDF-1.7\n", b"PK\x03\x04word/document", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b""]),
)
def test_any_bytes_are_a_fault(body: bytes, start: bytes) -> None:
    check(start + body)
