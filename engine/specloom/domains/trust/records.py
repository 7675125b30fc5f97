"""What the procedures of this package take and give; schemas and published keys follow from it.

Hosts show schemas to models, which pay for every word: what lies deeper is a `JsonObject`, told on the tool's page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from specloom.domains.text import Reputation
from specloom.plugins import JsonObject, inline, key
from specloom.plugins.records import record

InputType = Literal["doi", "url", "reference"]
Status = Literal["confirmed", "not_found", "uncertain", "unchecked"]
Support = Literal["addressed", "partially_addressed", "not_addressed", "source_unavailable"]
TitleMatch = Literal["match", "mismatch", "not_checked"]
Confidence = Literal["high", "medium", "low", "none"]
AuditFlag = Literal["retracted", "dead_link", "mischaracterized", "not_found", "unchecked", "title_mismatch"]
"""The flags of an entry, in the order in which they are told; the last is beside the five of the contract."""
RecommendationFlag = Literal[
    "conflict_of_interest",
    "dead_link",
    "self_promotion",
    "corporate_ownership",
    "low_reputation",
    "unknown_reputation",
    "affiliate_commission",
]
"""The flags of a recommendation; the last is beside those of the contract."""


# --- what is told of one citation ---


@record
class CitedIdentifier:
    """An identifier in its normal form."""

    kind: str
    value: str


@record
class Retraction:
    """The most severe notice about a work.

    `nature` is what the notice is called where that says more than its kind, `replaced_by` the DOI of what took the
    place of the work, and `disagreement` what another source says.
    """

    retracted: bool | None = None
    kind: str | None = None
    nature: str | None = None
    date: str | None = None
    notice_doi: str | None = None
    source: str | None = None
    replaced_by: str | None = None
    disagreement: str | None = None


@record
class Conflict:
    """A stake that an author has in what is cited."""

    detected: bool
    author_affiliation: str | None = None
    cited_entity_name: str | None = None
    evidence: str | None = None
    conflict_type: Literal["employed_by", "funded_by", "owns_equity"] | None = None
    confidence: Literal["high", "medium"] | None = None


@record
class Liveness:
    """Whether an address answers, and where a copy is kept of what does not."""

    link_live: bool | None = None
    http_status: int | None = None
    archived_url: str | None = None
    archived_at: str | None = None


@record
class LinkStatus(Liveness):
    """The same, with why the address counts as dead or was not looked at."""

    link_reason: str | None = None


ClaimBasis = Literal["stored_pdf", "stored_abstract", "record_abstract"]


@record
class ClaimCheck:
    """What a source has of a claim, and what that rests on."""

    claim: str | None = None
    claim_support: Support | None = None
    claim_coverage: float | None = None
    claim_reason: str | None = None
    claim_evidence: Sequence[str] | None = None
    claim_source_url: str | None = None
    claim_basis: ClaimBasis | None = None
    """What was read in place of the page; None where that was read."""
    claim_page: int | None = None
    claim_fetch_error: str | None = None
    contrast_signal: bool | None = None
    contrast_cues: Sequence[JsonObject] | None = None
    contrast_note: str | None = None
    distortion_cues: Sequence[JsonObject] | None = None
    quote_found: bool | None = None


@record
class Citation:
    """What is told of one citation; what is not known is left out.

    `input_digest` is the SHA-256 of what was handed in, beside a report.
    """

    input: str
    input_type: InputType
    identifier: CitedIdentifier | None = None
    exists: bool
    verification_status: Status
    status_reason: str | None = None
    matched_record: JsonObject | None = None
    match_confidence: Confidence | None = None
    possible_match: JsonObject | None = None
    detected_doi: str | None = None
    title_match: TitleMatch | None = None
    comparison: Sequence[JsonObject] | None = None
    authenticity_caveat: str | None = None
    not_checked: Sequence[JsonObject] | None = None
    retraction_status: Retraction | None = None
    conflict_of_interest: Conflict | None = None
    link: Liveness | None = inline(default=None)
    claim_check: ClaimCheck | None = inline(default=None)
    content_words: int | None = None
    sparsity_note: str | None = None
    claim_check_skipped: bool | None = None
    claim_check_skipped_reason: str | None = None
    report_resource: str | None = None
    input_digest: str | None = None
    provenance: Sequence[str]


# --- what is told of a list of references ---


@record
class AuditSummary:
    """How many entries there are, and how many have each flag."""

    total: int
    retracted: int
    dead_link: int
    not_found: int
    unchecked: int
    mischaracterized: int
    title_mismatch: int
    retraction_unchecked: int
    ok: int
    claim_check_skipped_count: int
    thin_content_count: int


@record
class AuditEntry:
    """One reference: what was found of it, and what is flagged.

    `index` counts from 0 all that was handed in, the unreadable among them; `line` and `cite_key` are those of the
    document.
    """

    index: int
    line: int | None = None
    cite_key: str | None = None
    title: str
    doi: str | None = None
    url: str | None = None
    reason: str | None = None
    matched_title: str | None = None
    exists: bool
    verification_status: Status
    not_checked: Sequence[JsonObject] | None = None
    retraction_status: Retraction | None = None
    title_match: TitleMatch | None = None
    match_confidence: Confidence | None = None
    comparison: Sequence[JsonObject] | None = None
    possible_match: JsonObject | None = None
    link: LinkStatus | None = inline(default=None)
    flags: Sequence[AuditFlag]
    claim_check: ClaimCheck | None = inline(default=None)
    claim_content_words: int | None = None
    claim_sparsity_note: str | None = None
    provenance: Sequence[str] | None = None


@record
class Unreadable:
    """An entry that could not be parsed: its place in the document (from 0, as entries count), its line, and why.

    In CSL-JSON that is whole, the line is that of the item in the list.
    """

    index: int
    line: int
    message: str


@record
class ReferenceAudit:
    """What is told of a list of references; `input_digest` is the SHA-256 of what was handed in, beside a report."""

    source: str
    entry_count: int
    summary: AuditSummary
    entries: Sequence[AuditEntry]
    unreadable: Sequence[Unreadable] | None = None
    annotated: str | None = None
    annotated_resource: str | None = None
    report_resource: str | None = None
    corrected_resource: str | None = None
    input_digest: str | None = None
    warning: str | None = None
    checked_at: str
    skipped: int | None = None
    skipped_note: str | None = None
    next_offset: int | None = None


@record(naming="same")
class BibliographyRecord:
    """One record: its line (in CSL-JSON its place in the list), its key, and what it names its work by.

    `identifier` is as it stands there, "" for none; of a line that is none it is the line. `problem` says why a record
    cannot be read. `address` and `is_software` are told of a record without an identifier.
    """

    line: int
    key: str = ""
    identifier: str = ""
    problem: str = ""
    address: str = ""
    is_software: bool = False


@record
class BibliographyRecords:
    """The records of a bibliography and its format."""

    format: str
    records: Sequence[BibliographyRecord]


@record
class Bibliography:
    """What is told of a formatted bibliography."""

    style: str
    entry_count: int
    bibliography: str
    session_id: str | None = None
    skipped: int | None = None
    skipped_note: str | None = None
    unreadable: Sequence[Unreadable] | None = None


# --- what is told of recommendations ---


@record
class SelfPromotion:
    """A ranking that has its own author in front."""

    detected: bool
    brand_domain: str | None = None
    brand_token: str | None = None
    confidence: str | None = None
    item: str | None = None
    rank_position: int | None = None


@record
class Affiliation:
    """A page that says of itself that it is paid for sales, and the sentence."""

    detected: bool
    evidence: str


@record
class Ownership:
    """Who owns what is recommended."""

    detected: bool
    brand_domain: str | None = None
    brand_token: str | None = None
    entity_label: str | None = None
    entity_qid: str | None = key("entityQID", default=None)
    owner_label: str | None = None
    owner_qid: str | None = key("ownerQID", default=None)
    confidence: str | None = None


@record
class Corroboration:
    """One search for what others say."""

    query: str
    lens: str
    result_count: int
    agree_count: int | None = None
    disagree_count: int | None = None
    silent_count: int | None = None
    top_results: Sequence[JsonObject] | None = None
    flags: Sequence[Literal["lens_restriction_unreliable"]] | None = None


@record
class Recommendation:
    """One recommendation: its stakes, its site, its link, and what others say."""

    title: str
    url: str | None = None
    author: str | None = None
    archived_url: str | None = None
    self_promotion_signal: SelfPromotion | None = None
    conflict_of_interest: Conflict | None = None
    affiliate_signal: Affiliation | None = None
    corporate_ownership_signal: Ownership | None = None
    domain_reputation: Reputation | None = None
    link_live: bool | None = None
    http_status: int | None = None
    corroboration_searches: Sequence[Corroboration] | None = None
    flags: Sequence[RecommendationFlag]
    reasons: Sequence[str]


@record
class Recommendations:
    """What is told of a list of recommendations."""

    item_count: int
    recommendations: Sequence[Recommendation]
    aggregate_flags: Sequence[Literal["no_independent_corroboration"]] | None = None


# --- what is told of addresses ---


@record
class Capture:
    """What is told of one capture."""

    requested_url: str
    snapshot_url: str | None = None
    archived_at: str | None = None
    captured: bool
    status: Literal["archived", "existing", "pending", "unavailable"]
    http_status: int | None = None
    reason: str | None = None
    poll_url: str | None = None
    source: str
    provenance: Sequence[str]


@record
class CheckedLink:
    """What became of one address."""

    url: str
    link: LinkStatus | None = inline(default=None)


@record
class CheckedLinks:
    """What became of some addresses, in their order."""

    links: Sequence[CheckedLink]


# --- what is told of a brand, under names that the contract has with underscores ---

Tier = Literal["homepage_meta", "brandfetch_api", "brand_page", "web_search"]
Grade = Literal["full", "partial", "none"]


@record(naming="same")
class Headquarters:
    """Where a company sits."""

    city: str | None = None
    country_code: str | None = None


@record(naming="same")
class BrandIdentity:
    """Who the brand is."""

    name: str | None = None
    domain: str | None = None
    tagline: str | None = None
    description: str | None = None
    industry: str | None = None
    founded: int | None = None
    location: Headquarters | None = None


@record(naming="same")
class PaletteColor:
    """One colour of the palette; its brightness is from 0 to 255."""

    hex: str
    name: str | None = None
    role: str | None = None
    brightness: int


@record(naming="same")
class BrandColors:
    """Hex colours by what they are for."""

    primary: str | None = None
    secondary: str | None = None
    accent: str | None = None
    background: str | None = None
    text: str | None = None
    surface: str | None = None
    text_secondary: str | None = None
    palette: Sequence[PaletteColor] | None = None


@record(naming="same")
class BrandImage:
    """A picture of the brand."""

    url: str
    format: str | None = None
    width: int | None = None
    height: int | None = None


@record(naming="same")
class BrandLogos:
    """The pictures that stand for the brand."""

    primary: BrandImage | None = None
    dark: BrandImage | None = None
    icon: BrandImage | None = None
    favicon: str | None = None
    og_image: str | None = None


@record(naming="same")
class BrandFont:
    """A typeface."""

    family: str
    origin: str | None = None
    origin_id: str | None = None
    weights: Sequence[Any] | None = None


@record(naming="same")
class BrandTypography:
    """The typefaces by what they are for."""

    heading: BrandFont | None = None
    body: BrandFont | None = None
    mono: BrandFont | None = None
    google_fonts_url: str | None = None
    scale: JsonObject | None = None


@record(naming="same")
class VoiceRules:
    """What the brand says that its texts do, and do not."""

    dos: Sequence[str] | None = None
    donts: Sequence[str] | None = None


@record(naming="same")
class BrandVoice:
    """How the brand speaks."""

    summary: str | None = None
    attributes: Sequence[str] | None = None
    dos_and_donts: VoiceRules | None = None


@record(naming="same")
class BrandSocial:
    """The brand's own accounts."""

    twitter: str | None = None
    linkedin: str | None = None
    github: str | None = None
    youtube: str | None = None
    facebook: str | None = None
    instagram: str | None = None


@record(naming="same")
class BrandSource:
    """A place that said something, and which fields it filled."""

    name: Tier
    url: str
    fields: Sequence[str]
    scrape_quality: Literal["thin"] | None = key("scrapeQuality", default=None)


@record(naming="same")
class BrandCoverage:
    """How much is known of each section."""

    colors: Grade
    logos: Grade
    typography: Grade
    tone_of_voice: Literal["found", "none"]
    extraction_blocked: bool | None = None


@record(naming="same")
class TierError:
    """A tier that could not be asked."""

    tier: Tier
    error: str


@record(naming="same")
class BrandResult:
    """What is told of a brand; what was not found is left out."""

    identity: BrandIdentity
    colors: BrandColors
    logos: BrandLogos
    typography: BrandTypography
    tone_of_voice: BrandVoice
    social: BrandSocial
    sources: Sequence[BrandSource]
    guidelines_url: str | None = None
    brand_portal_resource: str | None = None
    suggestion: str | None = None
    design_tokens: JsonObject | None = None
    coverage: BrandCoverage
    tier_errors: Sequence[TierError] | None = None
    cache_age: int


# --- what is told of evidence on statements ---

Reach = Literal["page", "abstract", "excerpt"]
"""How much of a source was at hand: its page, its abstract, or what a search quoted of it."""
GapKind = Literal["nothing_found", "failed", "nothing_bears", "not_read", "left_out"]


@record(naming="same")
class PanelRequest:
    """Statements or questions, and what was found about each: `searches` holds a part of a plan by KIND_NUMBER, where
    KIND is academic, web or news and NUMBER counts the statements from 1."""

    statements: Sequence[str]
    searches: JsonObject
    pages: int
    """How many pages are read."""


@record
class EvidenceSource:
    """A source that speaks of a statement; `group` names those that it is not independent of, `cites` the other sources
    of the table that it leads to, and `best_for` the statements of which it has the surest passage."""

    id: str
    kind: str
    title: str | None = None
    url: str
    doi: str | None = None
    published_at: str | None = None
    publisher: str | None = None
    read: Reach
    group: str | None = None
    cites: Sequence[str] | None = None
    best_for: Sequence[int] | None = None
    source_type: str | None = None
    authority_tier: str | None = None
    retraction_status: Retraction | None = None
    stripped: JsonObject | None = None
    """How much hidden or invisible text was taken out, by kind."""
    lack: str | None = None
    trust: str


@record
class EvidencePassage:
    """What a source has of a statement: `at` is where the passage begins in the text that read_more gives of its
    address, and `cue` what decided, or what has to be looked at."""

    source: str
    stance: Literal["for", "against", "bears_on_it"]
    quote: str
    at: int | None = None
    cue: JsonObject | None = None
    note: str | None = None


@record
class StatementEvidence:
    """The row of a statement: how many sources, and how many that are independent, are for it, against it or bear on
    it; the days of the oldest and the newest; and the passages, the surest first."""

    number: int
    statement: str
    sources: JsonObject
    independent: JsonObject
    oldest: str | None = None
    newest: str | None = None
    passages: Sequence[EvidencePassage]


@record
class EvidenceGroup:
    """Sources that count once, and why."""

    id: str
    sources: Sequence[str]
    why: str


@record
class EvidenceGap:
    """What is missing: for which statements, of which kind of source, and why."""

    statements: Sequence[int] | None = None
    kind: str | None = None
    what: GapKind
    why: str
    url: str | None = None


@record
class EvidenceSummary:
    """How many sources were found, read and left without a word on any statement."""

    found: int
    repeated: int
    """Found for a second statement or by a second search, and read once."""
    read: int
    unread: int
    silent: int
    independent: int


@record
class EvidenceTable:
    """What sources say for and against statements."""

    statements: Sequence[StatementEvidence]
    sources: Sequence[EvidenceSource]
    groups: Sequence[EvidenceGroup]
    gaps: Sequence[EvidenceGap]
    stances: str
    """What for, against and bears_on_it mean here."""
    summary: EvidenceSummary
    checked_at: str
