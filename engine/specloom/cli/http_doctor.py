"""How a running server over HTTP looks to its clients: the sum, what to do, and one line for each thing looked at.

It is asked as a stranger asks, and once more with a credential where there is one, over connections of its own. Nothing
is changed by it, no tool is called, and what is found holds for where it is asked from.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from specloom.core import Paint, cut, dataclass

from .doctor import Finding, finding_lines
from .exits import PROBLEMS
from .http_visitor import ENDPOINT, LEGACY, META, MODERN, PATIENCE, TOKEN, Reply, Unanswered, Visitor
from .overview import name_program

NOT_OURS, UNREACHABLE = 3, 75
"""Exit codes: what answers is another program; nothing answers."""
STRANGER = "specloom-doctor.invalid"
"""A host that no server can be, since nobody can have this name (RFC 2606)."""
HEADER_MISMATCH = -32020
SOON = 14 * 86_400.0
"""Seconds before its end in which a certificate is told of."""
_METADATA = re.compile(r'resource_metadata="([^"]+)"')
_PATHS = ("/admin/analytics", "/metrics", "/dashboard")
_PORTS = ("ADMIN_PORT", "METRICS_PORT")


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found out about a server, in the order in which it was looked at."""

    url: str
    findings: Sequence[Finding]
    code: int

    @property
    def sum(self) -> str:
        """What it comes to, in a line."""
        counts = [(state, sum(one.state == state for one in self.findings)) for state in ("broken", "warning")]
        told = [f"{count} {state}{'s' if state == 'warning' and count > 1 else ''}" for state, count in counts if count]
        if self.code in (NOT_OURS, UNREACHABLE):
            return f"{self.url}: {self.findings[-1].says}"
        unseen = sum(one.state == "missing" for one in self.findings)
        looked = f"{len(self.findings) - unseen} things looked at" + (f", {unseen} not" if unseen else "")
        return f"{self.url}: {', '.join(told) or 'all is well'}, {looked}"

    @property
    def remedies(self) -> list[str]:
        """What to do, first what is broken, last what lets it look at the rest."""
        order = [one for state in ("broken", "warning", "missing") for one in self.findings if one.state == state]
        return list(dict.fromkeys(f"{one.about}: {one.remedy}" for one in order if one.remedy))

    def to_json(self) -> dict[str, Any]:
        """The examination as data."""
        told = [one.to_json() for one in self.findings]
        return {"url": self.url, "sum": self.sum, "do": self.remedies, "examined": told, "code": self.code}

    def lines(self, paint: Paint, width: int) -> list[str]:
        """The examination as a person reads it: the sum, what to do, and then each finding."""
        remedies = [f"  {number}. {cut(one, width * 3)}" for number, one in enumerate(self.remedies, 1)]
        told = [Finding(one.state, one.about, one.says) for one in self.findings]
        return [
            paint(self.sum, "bold"),
            *(["do this:", *remedies] if remedies else []),
            "",
            *finding_lines(told, paint, width),
        ]


def examine_server(url: str, environ: Mapping[str, str], *, patience: float = PATIENCE) -> Examination:
    """What a stranger, and who has the credential of the environment, is told by the server at an address."""
    visitor = Visitor(url, environ.get(TOKEN, "").strip(), patience=patience)
    findings: list[Finding] = []
    code = 0
    try:
        findings += _health(visitor)
        first = visitor.post("server/discover", X_Request_Id=(number := f"doctor-{secrets.token_hex(4)}"))
        is_ours, found = _endpoint(visitor, first)
        findings += found
        if not is_ours:
            code = NOT_OURS
        elif found[-1].state != "broken":
            findings += _headers(first, number)
            findings += _callers(visitor, first)
            findings += _strangers(visitor)
            findings += _operation(visitor, environ)
    except Unanswered as problem:
        findings.append(Finding("broken", "connection", problem.says, problem.remedy))
        code = UNREACHABLE
    if not code:
        findings += _transport(visitor, first)
        code = PROBLEMS if any(one.state == "broken" for one in findings) else 0
    return Examination(visitor.url, findings, code)


def _health(visitor: Visitor) -> list[Finding]:
    began = time.perf_counter()
    live = visitor.get("/health/live")
    taken = f"{(time.perf_counter() - began) * 1000:.0f} ms"
    if live.status != 200:
        why = "as behind a proxy that hands on the endpoint alone"
        says = f"/health/live is not told here ({live.status}, {taken}), {why}"
        return [Finding("missing", "health", says)]
    found = [Finding("ok", "alive", f"/health/live, {taken}")]
    ready = visitor.get("/health/ready")
    if ready.status == 200 and ready.message.get("status") == "degraded":
        says = "/health/ready says degraded: what it shares with others is away, or every provider that it asks rests"
        return [*found, Finding("warning", "ready", says, "look at its log, and at the server of REDIS_URL")]
    if ready.status == 200:
        return [*found, Finding("ok", "ready", "/health/ready")]
    remedy = (
        "wait while the engine is loaded; else its log says why: the state may have another key, or the issuer of "
        "tokens be away"
    )
    return [*found, Finding("broken", "ready", f"/health/ready says {ready.status}: it takes no calls", remedy)]


def _endpoint(visitor: Visitor, first: Reply) -> tuple[bool, list[Finding]]:
    """Whether what answers can be this server, and how it receives a stranger."""
    where = visitor.parts.path
    challenge = first.headers.get("www-authenticate", "")
    match first.status:
        case 200 if first.result:
            name = str(_find_info(first).get("name", ""))
            if name != name_program()[0]:
                says = f"it is an MCP server, and its name is {cut(name, 40)!r}"
                return False, [Finding("broken", "endpoint", says, "look at the address")]
            return True, [Finding("ok", "endpoint", f"{where} answers everybody who can reach it")]
        case 401 if challenge:
            return True, [Finding("ok", "endpoint", f"{where} asks for a credential: {cut(challenge, 160)}")]
        case 401:
            says = f"{where} answers 401 without WWW-Authenticate, so no client finds out where to sign in"
            return True, [Finding("broken", "endpoint", says, "let the proxy hand on WWW-Authenticate")]
        case 400 if first.error.get("code") == HEADER_MISMATCH:
            says = f"headers of the protocol do not arrive: {cut(str(first.error.get('message')), 120)}"
            return True, [Finding("broken", "endpoint", says, "let the proxy hand on MCP-Protocol-Version and Mcp-*")]
        case 421:
            says = f"it does not know itself as {visitor.parts.netloc} (421)"
            remedy = f"set PUBLIC_URL or ALLOWED_HOSTS to it, and let the proxy hand on Host ({visitor.parts.netloc})"
            return True, [Finding("broken", "endpoint", says, remedy)]
        case 429 | 503:
            after = first.headers.get("retry-after", "")
            says = f"{where} takes no request now ({first.status}{f', in {cut(after, 12)} s again' if after else ''})"
            return True, [Finding("broken", "endpoint", says, "come back later, or look at its limits and its log")]
        case 301 | 302 | 307 | 308:
            place = cut(first.headers.get("location", "nowhere"), 120)
            return False, [Finding("broken", "endpoint", f"it leads on to {place}", "write that address")]
    program = first.headers.get("server", "")
    says = (
        f"{where} answers {first.status}, as no server of this kind does{f' ({cut(program, 40)})' if program else ''}"
    )
    remedy = "look at the address and the path, and at where the proxy hands it on to"
    return False, [Finding("broken", "endpoint", says, remedy)]


def _find_info(reply: Reply) -> dict[str, Any]:
    """What a server says that it is."""
    meta = reply.result.get("_meta")
    info = reply.result.get("serverInfo") or (meta.get(f"{META}serverInfo") if isinstance(meta, dict) else None)
    return info if isinstance(info, dict) else {}


def _headers(first: Reply, number: str) -> list[Finding]:
    """Whether what stands in headers comes through, there and back."""
    came_back = first.headers.get("x-request-id", "")
    if came_back == number:
        found = [Finding("ok", "headers", "X-Request-Id goes there and comes back")]
    elif came_back:
        says = "X-Request-Id does not arrive, so its log cannot be laid beside that of others"
        found = [Finding("warning", "headers", says, "let the proxy hand on the headers of clients")]
    else:
        says = "X-Request-Id does not come back"
        found = [Finding("warning", "headers", says, "let the proxy hand on the headers of answers")]
    if "no-store" not in first.headers.get("cache-control", ""):
        says = "answers may be kept by caches on the way (no Cache-Control: no-store)"
        found.append(Finding("warning", "caches", says, "let the proxy leave Cache-Control as it is"))
    return found


def _callers(visitor: Visitor, first: Reply) -> list[Finding]:
    """What the metadata says, and what a caller with the credential is told."""
    found = _metadata(visitor, first) if first.status == 401 else []
    if first.status == 401 and not visitor.token:
        says = "not looked at without a credential: eras of the protocol, tools, streams"
        return [*found, Finding("missing", "protocol", says, f"set {TOKEN} to a token or an API key")]
    shown = visitor.post("server/discover", shows=True)
    if first.status == 401:
        found.append(_credential(shown))
    if shown.status != 200:
        return found
    return [*found, *_protocol(visitor, shown)]


def _metadata(visitor: Visitor, first: Reply) -> list[Finding]:
    challenge = first.headers.get("www-authenticate", "")
    named = _METADATA.search(challenge)
    if named is None:
        return [Finding("ok", "metadata", "none, for callers have API keys and no issuer")]
    place = urlsplit(named[1])
    if (place.scheme, place.netloc) != (visitor.parts.scheme, visitor.parts.netloc):
        says = f"the challenge leads to {cut(named[1], 120)}, which is another address than {visitor.parts.netloc}"
        return [Finding("broken", "metadata", says, f"set PUBLIC_URL to {visitor.url.removesuffix(ENDPOINT)}")]
    told = visitor.fetch(place.path)
    if told.status != 200 or not told.message:
        says = f"{place.path} answers {told.status}, so no client finds the issuer"
        return [Finding("broken", "metadata", says, f"let the proxy hand on {place.path}")]
    resource, issuers = told.message.get("resource"), told.message.get("authorization_servers")
    if resource != visitor.url:
        says = f"it is of {cut(str(resource), 120)} and not of {visitor.url}; clients refuse it (RFC 9728)"
        return [Finding("broken", "metadata", says, f"set PUBLIC_URL to {visitor.url.removesuffix(ENDPOINT)}")]
    listed = ", ".join(map(str, issuers)) if isinstance(issuers, list) else "nobody"
    return [Finding("ok", "metadata", f"tokens are given by {cut(listed, 120)}")]


def _credential(shown: Reply) -> Finding:
    challenge = shown.headers.get("www-authenticate", "")
    match shown.status:
        case 200:
            return Finding("ok", "credential", f"that of {TOKEN} is taken")
        case 401 if challenge and "error=" not in challenge:
            says = "a credential is sent and does not arrive"
            return Finding("broken", "credential", says, "let the proxy hand on Authorization")
        case 401:
            says = f"that of {TOKEN} is refused: {cut(challenge, 160)}"
            return Finding("broken", "credential", says, "take a new one; look at its audience, end and issuer")
        case 403:
            says = f"that of {TOKEN} does not suffice: {cut(challenge, 160)}"
            return Finding("broken", "credential", says, "ask the issuer for the scopes that it names")
    return Finding("broken", "credential", f"with that of {TOKEN} it answers {shown.status}", "look at its log")


def _protocol(visitor: Visitor, shown: Reply) -> list[Finding]:
    """Both eras, the tools, and whether a stream comes through as it is written."""
    info = _find_info(shown)
    found = [Finding("ok", "server", f"{cut(str(info.get('name')), 40)} {cut(str(info.get('version')), 20)}")]
    old = visitor.post("initialize", shows=True, modern=False)
    eras = [f"{MODERN} without a handshake"]
    eras += [f"{LEGACY} with one"] if old.result.get("protocolVersion") == LEGACY else []
    if len(eras) == 2:
        found.append(Finding("ok", "protocol", " and ".join(eras)))
    else:
        says = f"only {eras[0]}: `initialize` answers {old.status}"
        found.append(Finding("broken", "protocol", says, "look at its log"))
    listed = visitor.post("tools/list", shows=True).result.get("tools")
    count = len(listed) if isinstance(listed, list) else 0
    if count:
        found.append(Finding("ok", "tools", f"{count} are listed"))
    else:
        remedy = "look at the scopes of the credential, and at SPECLOOM_TOOLSETS"
        found.append(Finding("warning", "tools", "none is listed", remedy))
    return [*found, _stream(visitor)]


def _stream(visitor: Visitor) -> Finding:
    try:
        heard = visitor.post("subscriptions/listen", shows=True)
    except Unanswered:
        says = "a stream does not come through as it is written"
        return Finding("broken", "streams", says, "switch off buffering in the proxy (nginx: proxy_buffering off)")
    if heard.message.get("method") == "notifications/subscriptions/acknowledged":
        return Finding("ok", "streams", "come through as they are written")
    return Finding("warning", "streams", f"of changes are refused ({heard.status})", "look at its limits")


def _strangers(visitor: Visitor) -> list[Finding]:
    """What is refused: requests for another host, and from pages of another origin."""
    found = []
    other = visitor.post("server/discover", Host=STRANGER)
    if other.status in (200, 401):
        says = f"a request for the host {STRANGER} is answered ({other.status}): pages can reach it by rebinding DNS"
        remedy = "name its hosts in ALLOWED_HOSTS, without *, and let the proxy hand on Host as it comes"
        found.append(Finding("warning", "other hosts", says, remedy))
    else:
        found.append(Finding("ok", "other hosts", f"refused ({other.status})"))
    page = visitor.post("server/discover", Origin=f"https://{STRANGER}")
    if page.status == 403:
        found.append(Finding("ok", "other origins", "refused (403)"))
    else:
        says = f"a page of https://{STRANGER} may call it ({page.status})"
        remedy = "name the origins that may in ALLOWED_ORIGINS, leave CORS_STRICT on, and let the proxy hand on Origin"
        found.append(Finding("warning", "other origins", says, remedy))
    return found


def _operation(visitor: Visitor, environ: Mapping[str, str]) -> list[Finding]:
    """What is for operators alone: paths of the endpoint's port, and ports that the environment names."""
    found = []
    answers = {path: visitor.get(path).status for path in _PATHS}
    page = ["/dashboard"] if answers.pop("/dashboard") == 200 else []  # it has no data before a key is typed in
    open_ones = [path for path, status in answers.items() if status == 200]
    asking = [*(path for path, status in answers.items() if status in (401, 429)), *page]
    if open_ones:
        says = f"{' and '.join(open_ones)} answer without a key"
        found.append(Finding("broken", "operators", says, "let the proxy hand on the endpoint and its metadata alone"))
    elif asking and not visitor.is_local:
        says = f"{', '.join(asking)} can be reached from here; only a key is in the way"
        remedy = "set ADMIN_PORT, or let the proxy hand on the endpoint and its metadata alone"
        found.append(Finding("warning", "operators", says, remedy))
    else:
        says = f"{', '.join(asking)} ask for a key" if asking else "nothing of theirs is on this port"
        found.append(Finding("ok", "operators", says))
    for name in _PORTS:
        port = environ.get(name, "").strip().rpartition(":")[2]
        if not port.isdigit() or visitor.is_local:
            continue
        if visitor.is_open(int(port)):
            says = f"{name} {port} takes connections from here"
            found.append(Finding("warning", name, says, "bind it to loopback, or close it in the firewall"))
        else:
            found.append(Finding("ok", name, f"{port} is closed from here"))
    return found


def _transport(visitor: Visitor, first: Reply) -> list[Finding]:
    """Whether what is sent can be read on the way."""
    if not visitor.is_secure:
        if visitor.is_local:
            return [Finding("ok", "transport", "plain HTTP, which does not leave this machine")]
        says = "plain HTTP: credentials and questions can be read on the way"
        return [Finding("warning", "transport", says, "put a proxy with TLS before it, and set PUBLIC_URL to https://")]
    left = visitor.certificate_ends - time.time()
    found = [Finding("ok", "transport", f"TLS, with a certificate for {left / 86_400:.0f} more days")]
    if left < SOON:
        found = [Finding("warning", "transport", f"the certificate ends in {left / 86_400:.0f} days", "renew it")]
    if "strict-transport-security" not in first.headers:
        says = "without Strict-Transport-Security, so a browser may be led to plain HTTP"
        found.append(Finding("warning", "HSTS", says, "let the proxy add it (nginx: add_header, with always)"))
    return found
