"""crt.sh as recorded on 2020-01-12."""

from __future__ import annotations

from tests.support.recordings import recorded, replay


def test_certificates_come_last_logged_first_with_their_names_apart() -> None:
    body = recorded("crtsh/identity-exclude-expired.json")
    rows, requests = replay("crtsh", "certificates", {"domain": "crt.sh"}, body)

    assert requests[0]["get"] == "https://crt.sh/"
    assert requests[0]["query"] == {"q": "%.crt.sh", "output": "json"}
    assert len(rows) == 12
    assert rows[0] == {
        "domains": ["*.crt.sh", "crt.sh"],
        "issuer": (
            "C=GB, ST=Greater Manchester, L=Salford, O=COMODO CA Limited, "
            "CN=COMODO ECC Domain Validation Secure Server CA 2"
        ),
        "not_before": "2019-12-07T00:00:00Z",
        "not_after": "2020-06-14T23:59:59Z",
        "logged_at": "2019-12-07T03:55:53Z",
    }
    assert [row["logged_at"] for row in rows] == sorted((row["logged_at"] for row in rows), reverse=True)
    assert rows[-1]["logged_at"] == "2018-10-01T09:42:31Z"


def test_no_more_than_asked_for() -> None:
    body = recorded("crtsh/identity-exclude-expired.json")
    rows, _ = replay("crtsh", "certificates", {"domain": "crt.sh", "num_results": 3}, body)

    assert len(rows) == 3
