"""The admin interface: what an operator does from the command line as well, over HTTP and behind a key of its own."""

from __future__ import annotations

import asyncio
import functools
import json
import math
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from specloom.cache import forget_answers
from specloom.core import Fault, load_table, to_json
from specloom.plugins import CONSENTS, MEMBERS, delete_derived, find_decision, join_owner, say_remaining
from specloom.storage import StateStores, add_member, check_space, decide, read_rows, remove_member

from .headers import Headers
from .identity import LONGEST_NAME, ApiKeyError, ApiKeyFile, RevocationsFullError, find_api_keys, is_name

if TYPE_CHECKING:
    from specloom.plugins import CollectionStore
    from specloom.runtime import Executor
    from specloom.storage import AuditTrail

    from .admin_keys import AdminKeys
    from .app import HttpRequest, Route
    from .identity import Revocations

BODY_BYTES = 64 * 1024
NAMES: Mapping[str, Mapping[str, str]] = load_table(__file__, "admin.yaml")
"""Names by which programs of operators know what is kept."""
MOST_PARAMETERS = 20
MOST_ROWS, USUAL_ROWS = 100_000, 1000
JSON: Headers = ((b"content-type", b"application/json"),)
TEXT: Headers = ((b"content-type", b"text/plain; charset=utf-8"),)
LINES: Headers = ((b"content-type", b"application/x-ndjson"),)
SUBJECT = ("tenant_id", "user_id")


class AdminError(Exception):
    """A request of an operator that cannot be done: its status, and one sentence with what to write."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


Handler = Callable[["HttpRequest", Mapping[str, str]], Awaitable[None]]


class Admin:
    """The calls of the admin interface.

    `engine` gives the engine once it is loaded; `revocations` are None where callers show nothing that could be
    revoked, and `analytics` gives the calls of each tenant in all workers, by tenant.
    """

    def __init__(
        self,
        keys: AdminKeys,
        trail: AuditTrail,
        engine: Callable[[], Awaitable[Executor]],
        environ: Mapping[str, str],
        *,
        revocations: Revocations | None,
        analytics: Callable[[], Awaitable[Mapping[str, Any]]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._keys = keys
        self._trail = trail
        self._engine = engine
        self._environ = environ
        self._revocations = revocations
        self._analytics = analytics
        self._clock = clock

    def routes(self) -> dict[str, Route]:
        """What answers each path."""
        calls: dict[str, dict[str, tuple[Handler, Sequence[str]]]] = {
            "/admin/cache": {"DELETE": (self._clear_cache, ("tenant_id",))},
            "/admin/sessions": {"DELETE": (self._delete_sessions, (*SUBJECT, "all"))},
            "/admin/analytics": {"GET": (self._tell_analytics, ("tenant_id",))},
            "/admin/data": {"GET": (self._export, SUBJECT), "DELETE": (self._erase, SUBJECT)},
            "/admin/consent": {
                "GET": (self._find_consent, (*SUBJECT, "purpose")),
                "POST": (self._decide, (*SUBJECT, "purpose", "granted", "terms_version")),
            },
            "/admin/workspace/members": {
                "POST": (self._add_member, ("workspace_id", *SUBJECT)),
                "DELETE": (self._remove_member, ("workspace_id", *SUBJECT)),
            },
            "/admin/audit": {"GET": (self._tell_audit, ("tenant_id", "since", "until", "limit"))},
        }
        if self._revocations is not None:
            calls["/admin/revoke"] = {"POST": (self._revoke, ("jti", "exp", *SUBJECT, "before"))}
        return {path: functools.partial(self._take, methods) for path, methods in calls.items()}

    async def _take(self, methods: Mapping[str, tuple[Handler, Sequence[str]]], request: HttpRequest) -> None:
        """Answer one request: its key first, so that who has none is told nothing else."""
        self._keys.check(request)
        request.only(*methods)
        handler, names = methods[request.method]
        try:
            await handler(request, await read_fields(request, names))
        except AdminError as error:
            await tell_error(request, error.status, str(error))
        except Fault as fault:
            status = 400 if fault.kind in ("validation", "bad_request") else 503
            await tell_error(request, status, fault.message)

    # What is kept of people.

    async def _store(self) -> CollectionStore:
        drawers = (await self._engine()).drawers
        if not isinstance(drawers, StateStores):
            raise AdminError(503, "nothing is kept by this server")
        return drawers.store()

    async def _export(self, request: HttpRequest, fields: Mapping[str, str]) -> None:
        tenant, user = find_subject(fields)
        store = await self._store()
        found = await (store.export(join_owner(tenant, user)) if user else store.export_tenant(tenant))
        self._keys.note(request, "data.export", tenant, user, items=sum(map(len, found.values())))
        who = {"tenantId": tenant, "userId": user} if user else {"tenantId": tenant}
        await tell(request, {**who, "namespaces": _rename(found)})

    async def _erase(self, request: HttpRequest, fields: Mapping[str, str]) -> None:
        tenant, user = find_subject(fields)
        store = await self._store()
        # Before all else, so that who is erased writes nothing new meanwhile.
        keys = await asyncio.to_thread(self._revoke_keys, tenant, user)
        erased = await (store.erase(join_owner(tenant, user)) if user else store.erase_tenant(tenant))
        errors = {}
        try:
            _, is_done = await self._forget()
            if not is_done:
                errors["cache"] = "kept answers could not be removed, because their database is busy; they end alone"
        except OSError as error:
            errors["cache"] = f"running servers cannot be told, so stop them ({error.strerror})"
        remaining = await asyncio.to_thread(say_remaining, self._environ)
        count, undeleted = await asyncio.to_thread(delete_derived, self._environ)
        if count:
            erased.deleted["derived_files"] = count
        if undeleted:
            errors["derived_files"] = f"texts of stored files stay, so delete them: {undeleted}"
        if keys:
            erased.deleted["api_keys"] = keys
        self._keys.note(request, "data.erasure", tenant, user, items=sum(erased.deleted.values()))
        who = {"tenantId": tenant, "userId": user} if user else {"tenantId": tenant}
        more = {name: value for name, value in (("remaining", remaining), ("errors", errors)) if value}
        await tell(request, {**who, "deleted": _rename(erased.deleted), **more})

    def _revoke_keys(self, tenant: str, user: str) -> int:
        """Revoke the API keys of a user, or of every user of a tenant; how many they were."""
        try:
            return len(ApiKeyFile(find_api_keys(self._environ)).revoke_owner(tenant, user))
        except (ApiKeyError, OSError, TimeoutError) as error:
            raise AdminError(503, f"the API keys cannot be revoked, and nothing is erased yet: {error}") from None

    async def _delete_sessions(self, request: HttpRequest, fields: Mapping[str, str]) -> None:
        if fields.get("all") == "true" and len(fields) == 1:
            tenant, user = None, ""
        elif "all" in fields or not fields:
            raise AdminError(400, "say whose: tenant_id, with or without user_id, or all=true alone")
        else:
            tenant, user = find_subject(fields)
        count = await (await self._store()).erase_collection(NAMES["erased"][request.path.rstrip("/")], tenant, user)
        self._keys.note(request, "sessions.delete", tenant or "", user, items=count)
        await request.answer(200, b"%d sessions removed\n" % count, TEXT)

    async def _clear_cache(self, request: HttpRequest, fields: Mapping[str, str]) -> None:
        tenant = find_subject(fields)[0] if fields else ""
        try:
            count, is_done = await self._forget()
        except OSError as error:
            raise AdminError(503, f"running servers cannot be told of it, so stop them ({error.strerror})") from None
        if not is_done:
            raise AdminError(503, "kept answers could not be removed, because their database is busy; try again")
        self._keys.note(request, "cache.clear", tenant, items=count)
        # Kept answers are found by a digest, so those of one tenant go only with all others.
        whose = " of all tenants, because an answer does not say whose it is" if tenant else ""
        await request.answer(200, f"{count} kept answers removed{whose}\n".encode(), TEXT)

    async def _forget(self) -> tuple[int, bool]:
        """How many kept answers there were, and whether they are gone: here, on disk, and in all other servers."""
        cache = (await self._engine()).cache
        held = cache.stats()["entries"] if cache is not None else 0
        count, is_done = await asyncio.to_thread(forget_answers, self._environ)
        if cache is not None:
            cache.notice_erasure()
        return max(count, held), is_done

    # Decisions of operators.

    async def _find_consent(self, request: HttpRequest, fields: Mapping[str, str]) -> None:
        tenant, user = find_subject(fields, needs_user=True)
        purpose = _need(fields, "purpose")
        drawer = (await self._store()).drawer(CONSENTS.name, join_owner(tenant, user))
        record = await find_decision(drawer, purpose)
        if record is None:
            await tell(request, {"found": False}, 404)
        else:
            # A refusal that an erasure left says for itself of nobody.
            await tell(request, {"tenantId": tenant, "userId": user, **record})

    async def _decide(self, request: HttpRequest, fields: Mapping[str, Any]) -> None:
        tenant, user = find_subject(fields, needs_user=True)
        granted, terms = fields.get("granted"), fields.get("terms_version", "")
        if not isinstance(granted, bool) or not isinstance(terms, str):
            raise AdminError(400, "granted has to be true or false, and terms_version a text")
        owner, purpose = join_owner(tenant, user), _need(fields, "purpose")
        drawer = (await self._store()).drawer(CONSENTS.name, owner)
        record = await decide(
            drawer, owner, purpose, granted=granted, now=self._clock(), terms=terms, where="admin interface"
        )
        self._keys.note(request, "consent.grant" if granted else "consent.withdraw", tenant, user, purpose=purpose)
        await tell(request, record)

    async def _add_member(self, request: HttpRequest, fields: Mapping[str, Any]) -> None:
        await self._change_member(request, fields, adds=True)

    async def _remove_member(self, request: HttpRequest, fields: Mapping[str, Any]) -> None:
        await self._change_member(request, fields, adds=False)

    async def _change_member(self, request: HttpRequest, fields: Mapping[str, Any], *, adds: bool) -> None:
        tenant, user = find_subject(fields, needs_user=True)
        owner, space = join_owner(tenant, user), check_space(_need(fields, "workspace_id"))
        members = (await self._store()).drawer(MEMBERS.name, owner, space=space)
        if adds:
            await add_member(members, owner, self._clock())
        elif not await remove_member(members, owner):
            raise AdminError(404, "they are no member of this workspace")
        event = f"workspace.member.{'add' if adds else 'remove'}"
        self._keys.note(request, event, tenant, user, workspace_id=space)
        await tell(request, {"status": "ok"})

    async def _revoke(self, request: HttpRequest, fields: Mapping[str, Any]) -> None:
        assert self._revocations is not None
        try:
            if "jti" in fields:
                if not fields.keys() <= {"jti", "exp"}:
                    raise AdminError(400, "a token is revoked by jti and exp alone")
                number, ends = _need(fields, "jti"), _read_time(fields, "exp", math.nan)
                if math.isnan(ends):
                    raise AdminError(400, "say when the token ends anyway: exp, in seconds since 1970")
                await asyncio.to_thread(self._revocations.revoke_token, number, ends)
                self._keys.note(request, "token.revoke")
            else:
                tenant, user = find_subject({name: fields[name] for name in SUBJECT if name in fields})
                before = _read_time(fields, "before", self._clock())
                await asyncio.to_thread(self._revocations.revoke_user, tenant, user, before)
                self._keys.note(request, "user.revoke", tenant, user)
        except RevocationsFullError:
            raise AdminError(503, "there is no room for another revocation; rotate the issuer's keys") from None
        except OSError as error:
            raise AdminError(
                503, f"it holds for this worker alone, because it cannot be kept: {error.strerror}"
            ) from None
        await tell(request, {"status": "ok"})

    # What went on.

    async def _tell_analytics(self, request: HttpRequest, fields: Mapping[str, str]) -> None:
        await self._engine()
        tenants = await self._analytics()
        if fields:
            tenant, _ = find_subject(fields)
            tenants = {name: row for name, row in tenants.items() if name == tenant}
        await tell(request, {"tenants": tenants})

    async def _tell_audit(self, request: HttpRequest, fields: Mapping[str, str]) -> None:
        tenant = _need(fields, "tenant_id") if "tenant_id" in fields else None
        since, until = _read_time(fields, "since", -math.inf), _read_time(fields, "until", math.inf)
        limit = fields.get("limit", str(USUAL_ROWS))
        if not (limit.isascii() and limit.isdigit() and len(limit) < 8 and 0 < int(limit) <= MOST_ROWS):
            raise AdminError(400, f"limit has to be a number of 1 to {MOST_ROWS}")

        def read() -> bytes:
            log = self._trail.open()
            if log is None:
                raise AdminError(404, "there is no audit log: AUDIT_ENABLED is off, or it cannot be opened")
            log.flush()
            rows = read_rows(log.path, tenant=tenant, since=since, until=until, limit=int(limit))
            verdict = log.verify()
            said = {"rows": verdict.rows, "ok": not verdict.problem, "problem": verdict.problem}
            return b"\n".join([*rows, json.dumps({"verdict": said}).encode(), b""])

        try:
            body = await asyncio.to_thread(read)
        except OSError as error:
            raise AdminError(503, f"the audit log cannot be read ({error.strerror})") from None
        self._keys.note(request, "audit.export", tenant or "")
        await request.answer(200, body, LINES)


async def read_fields(request: HttpRequest, names: Collection[str]) -> Mapping[str, Any]:
    """The parameters of a request, from its query and, but for GET, its body; an AdminError for one that is unknown.

    An unknown name may be a slip in that which says whose data is meant, so nothing is done then.
    """
    try:
        pairs = parse_qsl(
            request.query.decode("latin-1"),
            keep_blank_values=True,
            strict_parsing=bool(request.query),
            max_num_fields=MOST_PARAMETERS,
        )
    except ValueError:
        raise AdminError(400, "the query cannot be read") from None
    fields: dict[str, Any] = dict(pairs)
    if request.method == "GET":
        body: Any = {}
    else:
        request.body_bytes = BODY_BYTES
        request.check_length()
        try:
            body = json.loads(await request.read() or b"{}")
        except (ValueError, RecursionError):
            raise AdminError(400, "the body is no JSON") from None
    if (
        not isinstance(body, dict)
        or len(fields) + len(body) != len({*(name for name, _ in pairs), *body})
        or len(fields) != len(pairs)
    ):
        raise AdminError(400, "every parameter stands once: in the query, or in a JSON object as the body")
    fields |= body
    if not fields.keys() <= set(names):
        raise AdminError(400, f"the parameters of this call are {', '.join(names)}; there is another one")
    return fields


def find_subject(fields: Mapping[str, Any], *, needs_user: bool = False) -> tuple[str, str]:
    """The tenant and the user that are meant, "" for every user; an AdminError where they are not said."""
    tenant, user = fields.get("tenant_id"), fields.get("user_id")
    if not is_name(tenant):
        raise AdminError(400, f"tenant_id has to be a name of 1 to {LONGEST_NAME} characters")
    # A program that has no value to send must not mean every user by it.
    if "user_id" not in fields and not needs_user:
        return str(tenant), ""
    if not is_name(user):
        raise AdminError(400, f"user_id has to be a name of 1 to {LONGEST_NAME} characters")
    return str(tenant), str(user)


def _need(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_NAME:
        raise AdminError(400, f"{name} has to be a text of 1 to {LONGEST_NAME} characters")
    return value


def _read_time(fields: Mapping[str, Any], name: str, otherwise: float) -> float:
    """Seconds since the epoch of a number, or of a date as ISO 8601 writes it."""
    value = fields.get(name)
    if value is None:
        return otherwise
    try:
        if (isinstance(value, int | float) and not isinstance(value, bool)) or str(value).replace(".", "", 1).isdigit():
            seconds = float(value)
        else:
            at = datetime.fromisoformat(str(value))
            seconds = (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        seconds = math.nan
    if not math.isfinite(seconds):
        raise AdminError(400, f"{name} has to be seconds since 1970, or a time such as 2026-01-31T00:00:00Z")
    return seconds


def _rename(by_collection: Mapping[str, Any]) -> dict[str, Any]:
    return {NAMES["exported"].get(name, name): value for name, value in by_collection.items()}


async def tell(request: HttpRequest, value: Mapping[str, Any], status: int = 200) -> None:
    """Answer with JSON."""
    await request.answer(status, to_json(value).encode(), JSON)


async def tell_error(request: HttpRequest, status: int, sentence: str) -> None:
    """Answer with what is wrong."""
    await tell(request, {"error": sentence}, status)
