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
    from .reports.markup import to_html
    from .reports.word import expect_library, to_docx
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
        "reports.markup": "to_html",
        "reports.word": "expect_library to_docx",
        "sources.classify": "Classification classify find_self_promotion",
        "sources.links": "check_links",
    },
)
