"""clinical_search keeps its contract: inputs, annotations, answers and lifetime."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from specloom.runtime.arguments import parse_arguments
from tests.support.shipped import shipped_model, shipped_tool


def test_one_of_four_inputs_is_needed() -> None:
    with pytest.raises(Fault) as refused:
        parse_arguments(shipped_tool("clinical_search"), {"status": "RECRUITING", "phase": "PHASE3"})

    assert refused.value.kind == "validation"


def test_the_registry_needs_no_key() -> None:
    model = shipped_model()

    assert model.capabilities["trials"].order == ("clinicaltrials",)
    assert not any(one.required for one in model.providers["clinicaltrials"].settings.values())
