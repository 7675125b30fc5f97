"""The commands over what is remembered: data (export, erase, consent, members, refresh) and audit."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from specloom.core import Fault, to_json

from .common import CommandError, answer, create, record_event, say, tell
from .exits import PROBLEMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from specloom.plugins import CollectionStore


T = TypeVar("T")


def export(options: Namespace) -> int:
    """Print or write everything that a user has here."""
    from specloom.plugins import find_derived

    owner = _owner(options)
    found = _with_store(lambda store: store.export(owner))
    _audit(options, "data.export", {"items": sum(map(len, found.values()))})
    text = to_json({"tenantId": options.tenant, "userId": options.user, "namespaces": found})
    if options.to:
        # For its owner alone: it is what the store keeps sealed.
        create(options.to, text + "\n", 0o600)
    say(str(options.to) if options.to else text)
    for about, path, _ in find_derived(os.environ):
        tell(f"specloom: the {about} is no part of this; it is files of this machine, at {path}")
    return 0


def erase(options: Namespace) -> int:
    """Remove everything that a user, or every user of a tenant, has here; their API keys are revoked."""
    if not options.user and not options.whole_tenant:
        raise CommandError("say whose data: --user NAME, or --whole-tenant for every user of the tenant")
    from specloom.cache import forget_answers
    from specloom.plugins import CONSENTS, delete_derived, say_remaining

    from .keys import revoke_keys

    who = f"user {options.user!r} of tenant {options.tenant!r}" if options.user else f"tenant {options.tenant!r}"
    if not options.yes:
        raise CommandError(f"this removes everything of {who} and cannot be undone; add --yes")

    async def work(store: CollectionStore) -> Any:
        return await (store.erase(_owner(options)) if options.user else store.erase_tenant(options.tenant))

    # Before all else, so that who is erased writes nothing new meanwhile.
    keys = revoke_keys(options.tenant, options.user)
    erased = _with_store(work)
    if keys:
        erased.deleted["api_keys"] = keys
    # Kept answers are nobody's in particular, so what somebody has asked goes only when all of them go.
    try:
        _, forgotten = forget_answers(os.environ)
    except OSError as error:
        raise CommandError(
            f"running servers cannot be told of it, so stop them: {error.filename} cannot be written ({error.strerror})"
        ) from None
    problem = _forget_shared()
    remaining = say_remaining(os.environ)
    count, undeleted = delete_derived(os.environ)
    if count:
        erased.deleted["derived_files"] = count
    _audit(options, "data.erasure", {"items": sum(erased.deleted.values())})
    said: dict[str, Any] = {"tenantId": options.tenant, "deleted": erased.deleted, "compacted": erased.compacted}
    say(to_json({**said, "userId": options.user} if options.user else said))
    if CONSENTS.name in erased.deleted:
        tell(
            "specloom: who had decided about consents now refuses all of them, and that alone is kept; "
            "`specloom data consent --grant` records another decision"
        )
    for sentence in remaining:
        tell(f"specloom: {sentence}")
    if not erased.compacted:
        tell("specloom: the files of the store could not be written anew by now; a server does it in its next round")
    if problem:
        tell(f"specloom: kept answers that machines share were not removed, so run this again: {problem}")
    if undeleted:
        tell(f"specloom: texts of stored files were not removed, so delete them and run this again: {undeleted}")
    if not forgotten:
        tell("specloom: kept answers could not be removed, because their database is busy; they end by themselves")
    return 0


def _forget_shared() -> str:
    """Remove the kept answers that machines share; what kept that from being done, or nothing."""
    import asyncio

    from specloom.cache import SHARED_ANSWERS
    from specloom.core import BackplaneError, VariableError
    from specloom.storage import read_redis_settings, redis_backplane

    async def work() -> None:
        settings = read_redis_settings(os.environ)
        if settings is None:
            return
        plane = redis_backplane(settings, lambda _: None)
        assert plane.cache is not None
        try:
            await plane.cache.clear(SHARED_ANSWERS)
        finally:
            await plane.aclose()

    try:
        asyncio.run(work())
    except (BackplaneError, VariableError) as error:
        return str(error)
    return ""


def refresh(options: Namespace) -> int:
    """Get the public lists anew that are kept as files, each where its variable says."""
    from specloom.plugins import LISTS, load_hooks

    load_hooks()
    if options.name and options.name not in LISTS:
        raise CommandError(f"there is no list {options.name!r}; there are {', '.join(sorted(LISTS))}")
    named = [options.name] if options.name else sorted(LISTS)
    kept = {name: path for name in named if (path := os.environ.get(LISTS[name].variable, "").strip())}
    if not kept:
        variables = " or ".join(LISTS[name].variable for name in named)
        raise CommandError(f"say where the list is to be kept: set {variables} to a file")
    if options.source and len(kept) > 1:
        raise CommandError(f"say which list the file is: {', '.join(kept)}")
    for name, path in kept.items():
        entry = LISTS[name]
        try:
            body = options.source.read_bytes() if options.source else _fetch(entry.address(), entry.most_bytes)
            say(f"{path}: {entry.function(Path(path).expanduser(), body)}")
        except OSError as error:
            raise CommandError(f"{error.filename or path} cannot be read or written: {error.strerror}") from error
        except Fault as fault:
            raise CommandError(fault.message) from fault
    return 0


def _fetch(address: str, most_bytes: int) -> bytes:
    """What stands under an address; raises the fault of what cannot be had."""
    import asyncio

    from specloom.core import Policy, Request
    from specloom.net import Transport

    async def get() -> bytes:
        policy = Policy(timeout=900.0, max_bytes=most_bytes, any_host=True, idle=60.0)
        async with Transport() as transport:
            response = await transport.send(Request("GET", address, policy=policy))
        if response.status != 200:
            raise Fault("upstream_unavailable", f"{address} answers with status {response.status}")
        return response.body

    return asyncio.run(get())


def consent(options: Namespace) -> int:
    """Show or record what a user has agreed to."""
    import time

    from specloom.plugins import CONSENTS, PURPOSES, find_decision
    from specloom.storage import consent as consents

    owner = _owner(options)
    granted: bool | None = options.granted
    if granted is None:

        async def look(store: CollectionStore) -> Any:
            collection = store.drawer(CONSENTS.name, owner)
            purposes = [options.purpose] if options.purpose else PURPOSES
            found = [one for name in purposes if (one := await find_decision(collection, name))]
            # A refusal that an erasure left says for itself of nobody.
            who = {"tenantId": options.tenant, "userId": options.user}
            return [{**who, **one} for one in found]

        say(to_json({"consents": _with_store(look)}))
        return 0
    if not options.purpose:
        raise CommandError(f"say what for: --purpose with one of {', '.join(PURPOSES)}")

    async def decide(store: CollectionStore) -> Any:
        collection = store.drawer(CONSENTS.name, owner)
        return await consents.decide(
            collection,
            owner,
            options.purpose,
            granted=granted,
            now=time.time(),
            terms=options.terms,
            where="command line",
        )

    record = _with_store(decide)
    _audit(options, "consent.grant" if granted else "consent.withdraw", {"purpose": options.purpose})
    say(to_json(record))
    return 0


def members(options: Namespace) -> int:
    """Show who belongs to a workspace, let a user in, or no longer; exit 1 when they were no member."""
    import time

    from specloom.plugins import MEMBERS
    from specloom.storage import add_member, check_space, list_members, remove_member

    owner, space = _owner(options), check_space(options.workspace)
    adds: bool | None = options.adds
    if adds is None:
        listed = _with_store(lambda store: list_members(store.drawer(MEMBERS.name, owner, space=space)))
        say(to_json({"workspaceId": space, "members": listed}))
        return 0
    if not options.user:
        raise CommandError("say who: --user NAME")

    async def change(store: CollectionStore) -> bool:
        collection = store.drawer(MEMBERS.name, owner, space=space)
        if not adds:
            return await remove_member(collection, owner)
        await add_member(collection, owner, time.time())
        return True

    if not _with_store(change):
        tell(f"specloom: user {options.user!r} of tenant {options.tenant!r} is not a member of {space!r}")
        return PROBLEMS
    _audit(options, f"workspace.member.{'add' if adds else 'remove'}", {"workspace_id": space})
    say(to_json({"status": "ok", "workspaceId": space, "tenantId": options.tenant, "userId": options.user}))
    return 0


def verify_audit(options: Namespace) -> int:
    """Look at every row of a log; exit 1 when one does not hold."""
    path, verify = _find_log(options.log) if options.log else _find_audit_log()
    path = Path(options.path) if options.path else path
    if options.path and not path.is_file():
        raise CommandError(f"there is no log {path}")
    try:
        rows, problem = verify(path)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None
    sentence = f"{problem}; {rows} rows before it hold" if problem else f"{rows} rows, and all of them hold"
    return answer(
        lambda: {"path": str(path), "rows": rows, "ok": not problem, "problem": problem},
        lambda _paint, _width: [f"{path}: {sentence}"],
        as_json=options.json,
        code=PROBLEMS if problem else 0,
    )


def _find_audit_log() -> tuple[Path, Callable[[Path], tuple[int, str]]]:
    from specloom.storage import audit_key, load_master_keys, open_audit, verify

    folder = _folder()
    try:
        log = open_audit(folder, os.environ, warn=tell)
        keys = [audit_key(key) for key in load_master_keys(folder, os.environ).all]
    except ValueError as error:
        raise CommandError(str(error)) from None

    def look(path: Path) -> tuple[int, str]:
        verdict = verify(path, keys)
        return verdict.rows, verdict.problem

    return log.path if log else folder / "audit.jsonl", look


def find_audit_path() -> Path | None:
    """Where calls are recorded here; None where that is switched off."""
    from specloom.storage import audit_path

    return audit_path(_folder(), os.environ)


def _find_log(name: str) -> tuple[Path, Callable[[Path], tuple[int, str]]]:
    from specloom.plugins import PLACES, load_hooks

    load_hooks()
    logs = {about.partition(" ")[0]: place for about, place in PLACES.items() if place.verify is not None}
    place = logs.get(name)
    if place is None or place.verify is None:
        raise CommandError(f"there is no log {name!r}; there are audit (left out) and {', '.join(sorted(logs))}")
    return place.function(os.environ), place.verify


def _owner(options: Namespace) -> str:
    from specloom.plugins import join_owner

    return join_owner(options.tenant or "default", options.user)


def _folder() -> Path:
    from specloom.core import state_folder

    return Path(state_folder(os.environ))


def _with_store(work: Callable[[CollectionStore], Awaitable[T]]) -> T:
    """What the work gives over the store of this user, or of the machines that share one; opened and closed for it."""
    import asyncio

    from specloom.compiler import load_collections
    from specloom.specs import layer_roots
    from specloom.storage import open_state

    async def run() -> T:
        store = open_state(os.environ, load_collections(layer_roots(os.environ)).values(), tell)
        try:
            return await work(store)
        finally:
            await store.aclose()

    return asyncio.run(run())


def _audit(options: Namespace, event: str, metadata: dict[str, Any]) -> None:
    record_event(event, options.tenant, options.user or "", metadata)
