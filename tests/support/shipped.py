"""The specs of this checkout, compiled once a process: tests that only read them take them from here."""

from __future__ import annotations

import copy
import functools
from typing import NamedTuple

from specloom.authoring.examples.run import Traces, check_examples
from specloom.compiler.build import weave_from
from specloom.core.diagnostics import Report
from specloom.model.model import Model
from specloom.model.tool import Tool
from specloom.specs.library import Library, shipped_root


class Shipped(NamedTuple):
    """What compiling the shipped specs gives; no test changes any of it."""

    model: Model
    library: Library
    report: Report


@functools.cache
def shipped_specs() -> Shipped:
    """The shipped specs with their examples."""
    return Shipped(*weave_from([shipped_root()]))


@functools.cache
def shipped_examples() -> tuple[Report, Traces]:
    """What is wrong with the shipped specs and their examples, and what each example did."""
    model, library, compiled = shipped_specs()
    report = copy.deepcopy(compiled)
    return report, check_examples(library, model, report)


def shipped_model() -> Model:
    """The model of the shipped specs."""
    return shipped_specs().model


def shipped_tool(name: str) -> Tool:
    """One shipped tool."""
    return shipped_model().tools[name]
