"""Trust checks: evidence about sources and claims, never a verdict.

Imports `domains.text`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .bibliography.styles import cite_for_bibliography
    from .claims.coverage import Coverage, assess
    from .records import Retraction
    from .reports.document import (
        Line,
        ReportDocument,
        ReportFacts,
        ReportOutline,
        ReportPart,
        ReportTable,
        join,
        link,
        own,
        quote,
        quote_whole,
    )
    from .reports.files import keep_report, write_report
    from .reports.word import expect_library
    from .sources.classify import Classification, classify, find_self_promotion
    from .sources.links import check_links

__getattr__ = exports(
    __name__,
    {
        "bibliography.styles": "cite_for_bibliography",
        "claims.coverage": "Coverage assess",
        "records": "Retraction",
        "reports.document": "Line ReportDocument ReportFacts ReportOutline ReportPart ReportTable "
        "join link own quote quote_whole",
        "reports.files": "keep_report write_report",
        "reports.word": "expect_library",
        "sources.classify": "Classification classify find_self_promotion",
        "sources.links": "check_links",
    },
)
