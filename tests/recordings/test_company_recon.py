"""A survey of crt.sh from its own recorded certificates: what the parts of a plan make of a real answer."""

from __future__ import annotations

from typing import Any

from specloom.core.faults import Fault
from specloom.core.messages import Answer
from specloom.runtime.arguments import parse_arguments
from specloom.runtime.plan import AskAll, Offer
from specloom.runtime.strategies import pursue
from tests.support.recordings import recorded, replay
from tests.support.shipped import shipped_model


def survey(**args: Any) -> dict[str, Any]:
    """The answer of company_recon, with the recorded certificates and everybody else out of order."""
    body = recorded("crtsh/identity-exclude-expired.json")
    certificates, _ = replay("crtsh", "certificates", {"domain": "crt.sh", "num_results": 1000}, body)
    model = shipped_model()
    tool = model.tools["company_recon"]
    configured = ("crtsh", "wayback_cdx", "duckduckgo")
    orders = {"certificates": ("crtsh",), "captures": ("wayback_cdx",), "web": ("duckduckgo",)}
    running = pursue(tool, model, parse_arguments(tool, args), {}, Offer(orders, frozenset(configured)), 0.0)
    give: Any = None
    while True:
        try:
            wanted = running.send(give)
        except StopIteration as stop:
            answer: dict[str, Any] = stop.value.answer
            return answer
        assert isinstance(wanted, AskAll)
        give = [
            Answer(certificates) if ask.provider == "crtsh" else Fault("upstream_unavailable", "out of order")
            for ask in wanted.asks
        ]


def test_names_of_certificates_stand_apart_each_once_for_its_time() -> None:
    found = survey(target="crt.sh")

    assert found["domain"] == "crt.sh"
    keys = [(one["domain"], one["not_before"]) for one in found["cert_sans"]]
    assert len(keys) == len(set(keys))
    assert found["cert_sans"][0]["domain"] == "*.crt.sh"
    assert found["cert_sans"][0]["logged_at"] == "2019-12-07T03:55:53Z"


def test_host_names_are_the_domain_and_what_is_below_it() -> None:
    found = survey(target="crt.sh")

    names = [one["subdomain"] for one in found["subdomains"]]
    assert "crt.sh" in names
    assert len(names) == len(set(names))
    assert all(name == "crt.sh" or name.endswith(".crt.sh") for name in names)
    assert {one["source"] for one in found["subdomains"]} == {"ct_logs"}


def test_what_is_out_of_order_is_told_beside_what_was_found() -> None:
    found = survey(target="crt.sh")

    assert found["phase_errors"] == [
        {"phase": "profiling", "error": "out of order"},
        {"phase": "archives", "error": "out of order"},
    ]
    assert [one["phase"] for one in found["sources"]] == ["ct_logs"]


def test_no_more_names_than_asked_for() -> None:
    assert len(survey(target="crt.sh", num_results=2)["cert_sans"]) == 2
