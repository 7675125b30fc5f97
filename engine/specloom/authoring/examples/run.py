"""Runs the examples inside specs, offline, through the code that serves, and says where one does not hold."""

from __future__ import annotations

from specloom.core import Report
from specloom.model import Model
from specloom.specs import Library

from .providers import check_provider
from .resources import check_resource
from .tools import check_tool


def check_examples(library: Library, model: Model, report: Report, *, validate: bool = True) -> None:
    """Run every example of every spec that compiled; what is wrong is reported at the example's place."""
    for name, spec in library.of("provider").items():
        if name in model.providers:
            check_provider(spec, model.providers[name], report)
    for name, spec in library.of("resource").items():
        if name in model.resources:
            check_resource(spec, model.resources[name], report)
    for name, spec in library.of("tool").items():
        if name in model.tools:
            check_tool(spec, model.tools[name], model, report, validate=validate)
