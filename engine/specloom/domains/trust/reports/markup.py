"""A report as one HTML page, which needs no script and loads nothing, and as Markdown (CommonMark with tables)."""

from __future__ import annotations

import re
from urllib.parse import quote as percent_encode

from specloom.core import template_renderer

from .document import Line, ReportBlock, ReportCode, ReportDocument, ReportFacts, ReportOutline, ReportTable, Span

_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~!$&]")
_BEGINNING = re.compile(r"^(\d{0,9})([-+=.)]+)(?=\s|$)")
_TICKS = re.compile(r"`+")


def to_html(report: ReportDocument) -> str:
    """The report as one page that stands alone."""
    facts = {"report": report, "kind_of": lambda block: type(block).__name__}
    return template_renderer("research", {"target": to_target})("audit.html.j2", facts)


def to_markdown(report: ReportDocument) -> str:
    """The report as Markdown; words of others stand in code spans, which nothing in them can end."""
    lines = [f"# {escape(report.title)}", ""]
    for line in report.lead:
        lines += [write_line(line), ""]
    for part in report.parts:
        lines += [f"{'#' * part.level} {escape(part.title)}", ""]
        for block in part.blocks:
            lines += [*_write(block), ""]
    if report.maker:
        lines += ["---", "", escape(report.maker), ""]
    return "\n".join(lines)


def _write(block: ReportBlock) -> list[str]:
    if isinstance(block, ReportFacts):
        written = []
        for label, lines in block.rows:
            if len(lines) == 1:
                written.append(f"- {escape(label)}: {write_line(lines[0])}")
            else:
                written += [f"- {escape(label)}:", *(f"  - {write_line(line)}" for line in lines)]
        return written
    if isinstance(block, ReportTable):
        rows = [[escape(one) for one in block.head], ["---"] * len(block.head)]
        rows += [[write_line(cell, in_table=True) for cell in row] for row in block.rows]
        return [f"{escape(block.caption)}:", "", *(f"| {' | '.join(row)} |" for row in rows)]
    if isinstance(block, ReportOutline):
        return [f"{'  ' * (level - 1)}- {write_line(line)}" for level, line in block.rows]
    if isinstance(block, ReportCode):
        fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(block.text)), default=0))
        return [f"{fence}{block.language}", block.text, fence]
    return [write_line(block)]


def write_line(line: Line, *, in_table: bool = False) -> str:
    """A line of spans as Markdown."""
    return "".join(_write_span(span, in_table=in_table) for span in line) or "–"


def _write_span(span: Span, *, in_table: bool) -> str:
    if span.address:
        return f"<{to_target(span.address)}>"
    if not span.is_foreign:
        return escape(span.text)
    text = span.text or " "
    # A fence longer than every run of ticks within cannot be met by one of them.
    fence = "`" * (max((len(run) for run in _TICKS.findall(text)), default=0) + 1)
    inner = f" {text} " if text[0] in "` " or text[-1] in "` " else text
    return fence + (inner.replace("|", r"\|") if in_table else inner) + fence


def escape(text: str) -> str:
    """Words of one line, as Markdown shows them as they are."""
    return _BEGINNING.sub(r"\1\\\2", _MARKUP.sub(r"\\\g<0>", text))


def to_target(url: str) -> str:
    """An address as it can stand in a link of Markdown or HTML; what is percent-encoded already stays so."""
    return percent_encode(url, safe="!#$%&'()*+,/:;=?@[]~-._")
