"""What a procedure has before it: the questions it may ask, the one way out, and what it may keep.

A procedure is registered domain Python that needs more than the rows of a plan: it reads pages, asks operations as it
goes along, or keeps state. It is given a context by whoever drives it, a live call or an example, and does no I/O but
through it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from specloom.core import Answer, Fault, Request, Response, dataclass, field

from .collections import Collection
from .reading import WholeText


@dataclass(frozen=True, slots=True)
class Kept:
    """A value from the cache or just made: JSON data, and its age in seconds (0 when it was just made)."""

    value: Any
    age: float = 0.0
    ttl: float = 0.0
    """For how many seconds it is kept in all; 0 when it was just made."""


@dataclass(frozen=True, slots=True)
class SiteRoute:
    """A page that a provider reads in place of whoever was asked for its address."""

    provider: str
    kind: str
    name: str
    """Under which name its failures are told."""
    url: str
    fallback: str = ""
    """An address that can be read like any page where the provider fails; empty where that would give nothing."""


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page as its site's API tells it; `content` is Markdown, and what is not known is empty."""

    content: str
    title: str
    content_type: str
    extracted_by: str
    site: str
    url: str = ""
    """The page's own address where it is another than the one asked for."""
    authors: tuple[str, ...] = ()
    published: str = ""
    """RFC 3339 in UTC."""
    truncated: bool = False
    """More comments, stories or text are there than `content` has."""
    extent: str = ""
    """How much of what is there `content` has, such as `10 of 340 comments`; empty where it has all."""
    is_markdown: bool = False
    """Whether the content was written in Markdown by its author, so that HTML in it is HTML."""
    forum: Mapping[str, Any] | None = None
    """How a discussion went: platform, votes, answers, author, published, comments."""
    repository: Mapping[str, Any] | None = None
    """What speaks for or against a repository."""
    transcript: tuple[Mapping[str, Any], ...] = ()
    """The lines of what is said, each with `clock` and `text`."""


class Context(Protocol):
    """What a procedure may do. Everything raises `specloom.core.faults.Fault` and nothing else."""

    @property
    def owner(self) -> str:
        """Whose call this is: an opaque text from the authenticated identity; empty over stdio."""

    @property
    def config(self) -> Mapping[str, Any]:
        """The settings that the tool declares, by name; what is not set and has no default is absent."""

    @property
    def allow_private(self) -> bool:
        """Whether the operator lets requests go to private and loopback addresses."""

    @property
    def is_live(self) -> bool:
        """Whether anything but `send` may be reached: where it is not, nothing connects or starts a process."""

    @property
    def is_personal(self) -> bool:
        """Whether what lies on this machine without an owner may be read, as where one person runs the server."""

    @property
    def is_alone(self) -> bool:
        """Whether one person runs the server, and nobody else can call it."""

    def now(self) -> float:
        """Seconds since the epoch."""

    def tell(self, done: float, total: float | None, message: str) -> None:
        """Report progress to the caller; costs nothing where nobody listens."""

    def offering(self, operation: str) -> tuple[str, ...]:
        """The configured providers of a capability, in the order in which they are asked."""

    async def ask(
        self, operation: str, arguments: Mapping[str, Any], *, provider: str = "", resumes: bool = False
    ) -> Answer:
        """The answer of one provider, or of the first in the route that gives one.

        Goes through breaker, limits, key rotation and retries. Arguments that the provider does not take are left out.
        Without `provider`, faults lead to the next one; the last fault is raised when nobody answers. With `resumes` it
        is the one question of its procedure's `pages`: where the caller goes on, whoever gave the rows before is asked
        for the next ones, and the rows of the record are all that came, since the next answer begins behind them.
        """

    def notice(self, sentence: str) -> None:
        """Say what the reader has to know before the answer; it stands at its head, in the words of the procedure."""

    def lack(self, operation: str, fault: Fault, *, instead: str = "") -> None:
        """Say at the head of the answer that a fault is why what the operation would have told is missing.

        With `instead`, that this provider answered in the place of the one that failed.
        Nothing is said where nobody is configured for it, or where there is nothing to be had.
        """

    async def run(self, procedure: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The record of another procedure, run at this context; it is among those that this one declares as `runs`."""

    def find_site(self, url: str) -> SiteRoute | None:
        """The page of a site that a configured provider reads at an address; None for every other address."""

    async def read_site(self, route: SiteRoute) -> SitePage:
        """The page of a route, made of what its provider answers; a fault where it is not to be had."""

    async def send(self, request: Request) -> Response:
        """The answer to one request over the guarded transport, whatever its status."""

    async def remember(self, key: str, ttl: float, make: Callable[[], Awaitable[Any]]) -> Kept:
        """The JSON value kept under `key` for this owner's calls, else what `make` gives, kept for `ttl` seconds.

        Several calls for one key at a time share one `make`. A fault is not kept.
        """

    async def recall(self, key: str) -> Kept | None:
        """What `keep` put under a key for this owner's calls, or None when it was never there or is too old."""

    async def keep(self, key: str, value: Any, ttl: float) -> None:
        """Keep a JSON value under a key for `ttl` seconds; does nothing where nothing is kept."""

    def new_id(self) -> str:
        """An identifier that nobody can guess; in an example, the next of a fixed row of them."""

    def state(self, collection: str, *, space: str = "") -> Collection:
        """A declared collection as this owner sees it; `space` names the place of one that is shared."""

    async def keep_artifact(self, content: str | bytes, *, name: str, mime_type: str) -> str:
        """Keep a text or a file for this owner for a short time; gives its address, or "" where nothing is kept."""

    async def read_artifact(self, address: str) -> WholeText | None:
        """The text that was kept for this owner under an address; None for an address of anything else.

        A `not_found` fault for one that is gone, was never there, or is somebody else's, and a `validation` fault for
        one that is no text.
        """


@dataclass(frozen=True, slots=True)
class Artifact:
    """What is kept: its address, name and size in bytes, and until when (epoch seconds)."""

    uri: str
    name: str
    mime_type: str
    size: int
    expires: float


@dataclass(frozen=True, slots=True)
class ArtifactContent:
    """What was kept: a text, or the bytes of a file that is none, and what it is called."""

    content: str | bytes
    name: str
    mime_type: str


class ArtifactKeeper(Protocol):
    """Where long texts and files are kept for their owner for a short time."""

    async def keep(self, owner: str, content: str | bytes, *, name: str, mime_type: str) -> Artifact:
        """Keep a text or a file; the same of the same owner has the same address."""

    async def read(self, owner: str, identifier: str) -> ArtifactContent | None:
        """What was kept, or None when it is gone, was never there, or is somebody else's."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call that has ended, for the record: `error` is the kind of its fault as clients know it, or empty."""

    owner: str
    tool: str
    session: str
    seconds: float
    error: str
    arguments: Mapping[str, Any]
    request: str = ""
    """The id of the request, as its client knows it."""
    routing: Mapping[str, Any] = field(default_factory=dict)
    """Who was asked and who answered, as `_meta.routing` says it; empty where there was nothing to route."""
    cost: Mapping[str, Any] = field(default_factory=dict)
    """What was asked of whom and what it cost, as `_meta.cost` says it; empty where nobody was asked."""
