"""What an operation asks for and gets back: one request, one response, no I/O."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from .dataclasses import dataclass, field, replace
from .faults import Fault
from .secrets import Secret, redact, redact_body

Header = str | Secret


@dataclass(frozen=True, slots=True)
class Policy:
    """What bounds one request. Times are seconds, sizes are bytes after decompression."""

    timeout: float = 30.0
    max_bytes: int = 5 * 1024 * 1024
    redirects: int = 5
    hosts: tuple[str, ...] = ()
    """Hosts a redirect may lead to, exact or `*.example.org`; empty allows only the host of the request."""
    any_host: bool = False
    """A redirect may lead to any public host (page reading); never set for a provider."""
    allow_private: bool = False
    """The operator named this host in the configuration, so it may be private, loopback or plain http."""
    idle: float | None = None
    """How long nothing may come, where the whole may take longer: a large answer gets time, a silent host does not."""
    truncate: bool = False
    """A body of more than `max_bytes` is cut there instead of refused."""


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request as an operation yields it. `query` and `form` keep order and repetition."""

    method: str
    url: str
    """Scheme, host and path, already percent-encoded, without the query."""
    query: tuple[tuple[str, str | Secret], ...] = ()
    headers: tuple[tuple[str, Header], ...] = ()
    body: bytes | None = None
    policy: Policy = field(default_factory=Policy)
    provider: str = ""
    operation: str = ""
    step: str = ""
    keep_for: float = 0.0
    """Seconds for which the response may be served again to anyone who sends the same request."""
    hidden: tuple[Secret, ...] = ()
    """The secrets that stand in the body, so that they can be masked there too."""


@dataclass(frozen=True, slots=True)
class Response:
    """What came back: `headers` have lower-case names, `body` is decompressed, `url` is where redirects ended."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    url: str = ""


def redact_response(response: Response, secrets: Iterable[Secret]) -> Response:
    """The response without any secret that the upstream gives back in its body or its headers."""
    secrets = list(secrets)
    if not secrets:
        return response
    headers = {name: redact(value, secrets) for name, value in response.headers.items()}
    body = redact_body(response.body, secrets)
    is_same = body is response.body and headers == response.headers
    return response if is_same else replace(response, headers=headers, body=body)


@dataclass(frozen=True, slots=True)
class PagePosition:
    """Where among the pages of an upstream to go on."""

    page: str = ""
    """The page as the upstream names it: a number, or what it gave for the next one; empty for the first."""
    skip: int = 0
    """How many of the rows that come of it were given already."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation gave: its rows and facts about the whole answer."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    asked: bool = True
    """Whether anything was sent; an operation may see from its arguments that there is nothing to ask for."""
    pages: int = 0
    """How many pages were read where its spec reads no more of them and the upstream has more; 0 where it has not."""
    failed: tuple[Fault, ...] = ()
    """How requests failed without which there is an answer all the same."""
    following: PagePosition | None = None
    """Where the next rows begin, where the upstream has pages; None where none are left that can be asked for."""
    has_more: bool | None = None
    """Whether the upstream has further rows, whether or not they can be asked for; None where it does not say."""
    keep: Callable[[], Awaitable[None]] | None = None
    """Keeps for a while what this was made of, so that whoever goes on from its middle asks for none of it again."""
