"""The start of a collection: other bounds for one that is there, or one for a procedure that is still to be written."""

from __future__ import annotations

from pathlib import Path

from .collection import keepers
from .model import Model
from .names import shipped_root
from .scaffold import ScaffoldError, check_name


def draft_collection(model: Model, name: str) -> str:
    """The text of a collection; of one that is there already, its own text with a note on what may be changed."""
    if name in model.collections:
        return _copied(model, name)
    check_name("collection", name, {})
    title = name.replace("_", " ").capitalize()
    return f"""\
# yaml-language-server: $schema=../schema/collection.json
spec: collection/1
name: {name}
title: {title}
description: {title} of a user.  # decide: what is kept in it, and of whom
scope: user
encryption: author
lifetime: 90d  # decide: how long an item is kept after it was written; without it until it is deleted
limits: {{items: 1000, when_full: refuse, value: 64KiB}}  # decide: how much there may be of one user
# decide: `indexes` are fields by which items are found exactly, `search` those that a search by words reads.
# A procedure writes and reads it: until one says in its `keeps` that it does, nothing is kept here.
"""


def _copied(model: Model, name: str) -> str:
    file = model.collections[name].place.file
    path = Path(file) if Path(file).is_absolute() else shipped_root() / file
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScaffoldError(f"{path} cannot be read: {error.strerror}") from None
    code = ", ".join(keepers(name)) or "the engine"
    note = f"""\
# This replaces the collection of the same name. `lifetime`, `limits` and `config` are yours to change;
# the rest is what the code that keeps things in it ({code}) relies on.
"""
    lines = text.splitlines(keepends=True)
    at = next((at for at, line in enumerate(lines) if line.startswith("spec:")), 0)
    return "".join([*lines[:at], note, *lines[at:]])
