"""What the procedures of this package take and give; schemas and published keys follow from it.

Hosts show schemas to models, which pay for every word: what lies deeper is a `JsonObject`, told on the tool's page.
"""

from __future__ import annotations

from collections.abc import Sequence

from specloom.domains.text import Onward
from specloom.domains.trust import Retraction
from specloom.plugins import JsonObject, key
from specloom.plugins.records import record


@record(naming="same")
class SourcesRequest:
    """Rows with `url` and, where known, `title` and `published_at`, and what is wanted of them; lengths are bytes."""

    found: Sequence[JsonObject] = ()
    query: str = ""
    claim: str = ""
    deduplicate: bool
    filter_by_query: bool
    """Whether sources with little of the query are left out. Only where it is asked for, as the tool contract has it: a
    claim alone leaves nothing out, because a page may speak against it in other words."""
    named: bool
    """Whether the joined text says before each source which it is and of when: for answers that tell them nowhere else.
    """
    max_length_per_source: int
    total_max_length: int
    format: str = "passages"
    """`passages` quotes of each source what speaks to the query, and joins nothing that is told with its source;
    `combined` tells the texts of the sources, and all of them as one text."""
    max_tokens: int = 0
    """How many tokens all that is told may have; 0 for no bound. Passages are chosen by it."""


@record
class CitedPage:
    """What is known of a page for citing it."""

    title: str | None = None
    author: str | None = None
    site: str | None = None
    date: str | None = None


@record
class Formatted:
    """A citation in two styles and as an entry of a bibliography."""

    apa: str | None = None
    mla: str | None = None
    bibtex: str | None = None


@record
class PageCitation:
    """The citation of a page."""

    url: str | None = None
    accessed_date: str | None = None
    metadata: CitedPage | None = None
    formatted: Formatted | None = None


@record
class PageResult:
    """What reading one address gives; what is not known is left out."""

    url: str
    content: str
    content_type: str
    content_length: int
    truncated: bool
    total_characters: int | None = None
    """Characters of the whole text."""
    outline: Sequence[str] | None = None
    """Of a text that was cut: the number, the heading and the tokens of each section."""
    read_on: Onward | None = None
    """The arguments that read on where the content ends."""
    estimated_tokens: int
    size_category: str
    word_count: int | None = None
    sparsity_warning: str | None = None
    citation: PageCitation
    raw: bool | None = None
    extracted_by: str | None = None
    extraction_quality: str | None = None
    metadata: JsonObject | None = None
    structured_data: JsonObject | None = None
    forum_signals: JsonObject | None = None
    repository_signals: JsonObject | None = key("githubTrustSignals", default=None)
    highlights: Sequence[JsonObject] | None = None
    source_type: str
    authority_tier: str
    domain_category: str
    domain_reputation: JsonObject | None = None
    self_promotion: JsonObject | None = key("selfPromotionSignal", default=None)
    detected_doi: str | None = None
    retraction_status: Retraction | None = None
    stripped: JsonObject | None = None


@record
class MarkupResult:
    """The title and the content of HTML that was fetched already, whole and by sections."""

    title: str
    content: str
    heading: str
    sections: Sequence[JsonObject]
    """Each `heading` with its `text`."""


@record
class Scores:
    """Figures from 0 to 1 with two decimals; `overall` weighs the others 35, 20, 25 and 20 in a hundred."""

    overall: float
    relevance: float
    freshness: float
    authority: float
    content_quality: float


@record
class SourceResult:
    """One source that was read."""

    url: str
    title: str | None = None
    content: str
    content_type: str
    trust: str
    source_type: str | None = None
    authority_tier: str | None = None
    domain_category: str | None = None
    claim_signal: str | None = None
    published_at: str | None = None
    extraction_quality: str | None = None
    author: str | None = None
    site: str | None = None
    detected_doi: str | None = None
    scores: Scores
    key_sentences: Sequence[str] | None = None
    word_count: int | None = None
    total_characters: int | None = None
    """Characters of the whole text, where passages of it are quoted; each begins with a line of `@` and its place."""
    truncated: bool | None = None
    """More is there than `content` has; left out where nothing is."""
    lack: str | None = None
    """What could not be read of it, in a sentence."""


@record
class SourceFailure:
    """An address that could not be read."""

    url: str
    kind: str | None = None
    reason: str
    suggested_action: str | None = None
    retryable: bool | None = None


@record
class SourcesSummary:
    """How many addresses were looked for and read, and how long that took."""

    urls_searched: int
    urls_scraped: int
    urls_failed: int
    processing_time_ms: int
    sparse_sources: int


@record
class TextSize:
    """The size of the joined text."""

    content_length: int
    estimated_tokens: int
    size_category: str
    truncated: bool


@record
class SourceAdvice:
    """One of the best of the sources, and why."""

    url: str
    title: str | None = None
    reason: str
    score: float


@record
class SourcesResult:
    """What reading several addresses gives."""

    status: str
    sources: Sequence[SourceResult]
    combined_content: str
    failures: Sequence[SourceFailure] | None = key("scrapeFailures", default=None)
    note: str | None = None
    summary: SourcesSummary
    size: TextSize = key("sizeMetadata")
    recommendations: Sequence[SourceAdvice] | None = None
    components: Sequence[JsonObject] | None = None
    whole: str | None = None
    """The address under which the texts are kept whole for a while, where they are not told so."""
