"""The languages inside specs: types, expressions (JMESPath), XPath, functions, converters and decoders.

Imports `core`.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .backtracking import ADVICE, find_slow_part
    from .converters import CONVERTERS, ConverterProblem, Moment, absolute_http, compile_converter
    from .decoders.registry import DECODERS, decode
    from .evaluation import MISSING, Bindings, Layer, RunBindings, Unworkable, as_list, build, evaluate, how_many
    from .expressions.api import EXPRESSION, ExpressionSource, compile_expression, compile_selector, forget_texts
    from .expressions.emit import emit_expression
    from .expressions.failures import CAUGHT, EvaluationError, name_expression
    from .expressions.parser import ExpressionProblem, parse
    from .expressions.support import (
        Applied, check_function, check_lookup, equals, flatten, get, is_false, item_at, items_of, order, path,
        slice_of, values_of,
    )
    from .expressions.typecheck import share
    from .functions.data import MAX_CAPTURED, find_pattern_problem, to_pattern
    from .functions.registry import FUNCTIONS
    from .makers import (
        MAKERS, address_below, conformer, constantly, converted, credentials, every_from_context, every_selected,
        first_hit, from_context, holds, list_of, made_by, object_of, of_each, only_item, selected, selection,
        whole_document, xpath_every, xpath_first, xpath_nodes, xpath_selection,
    )
    from .signatures import truthy
    from .types import (
        ANY, BOOLEAN, INTEGER, NUMBER, OPEN, SECRET, TEXT, Any_, Choice, ListOf, Maybe, RecordType, Scalar, Shape,
        describe, from_schema, holds_secret, join, join_all, may_be_null, maybe, strip, to_schema,
    )
    from .xpath import XPathProblem, compile_xpath, defer_xpath

__getattr__ = exports(
    __name__,
    {
        "backtracking": "ADVICE find_slow_part",
        "converters": "CONVERTERS ConverterProblem Moment absolute_http compile_converter",
        "decoders.registry": "DECODERS decode",
        "evaluation": "MISSING Bindings Layer RunBindings Unworkable as_list build evaluate how_many",
        "expressions.api": "EXPRESSION ExpressionSource compile_expression compile_selector forget_texts",
        "expressions.emit": "emit_expression",
        "expressions.failures": "CAUGHT EvaluationError name_expression",
        "expressions.parser": "ExpressionProblem parse",
        "expressions.support": (
            "Applied check_function check_lookup equals flatten get is_false item_at items_of order path "
            "slice_of values_of"
        ),
        "expressions.typecheck": "share",
        "functions.data": "MAX_CAPTURED find_pattern_problem to_pattern",
        "functions.registry": "FUNCTIONS",
        "makers": (
            "MAKERS address_below conformer constantly converted credentials every_from_context every_selected "
            "first_hit from_context holds list_of made_by object_of of_each only_item selected selection "
            "whole_document xpath_every xpath_first xpath_nodes xpath_selection"
        ),
        "signatures": "truthy",
        "types": (
            "ANY BOOLEAN INTEGER NUMBER OPEN SECRET TEXT Any_ Choice ListOf Maybe RecordType Scalar Shape "
            "describe from_schema holds_secret join join_all may_be_null maybe strip to_schema"
        ),
        "xpath": "XPathProblem compile_xpath defer_xpath",
    },
)
