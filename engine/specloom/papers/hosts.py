"""Which hosts a source may lead to, what a refused one is told, and which setting would let it in."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from specloom.faults import Fault
from specloom.guard import check_url

from .codes import Refusal
from .configfile import setting

HOSTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "arxiv": ("arxiv.org", "export.arxiv.org", "*.arxiv.org"),
        "ar5iv": ("ar5iv.labs.arxiv.org",),
        "tdm-aps": ("harvest.aps.org",),
        "oa-publisher": (
            *("*.springer.com", "*.springeropen.com", "*.springernature.com", "*.nature.com", "*.wiley.com"),
            *("*.elsevier.com", "*.sciencedirect.com", "*.frontiersin.org", "*.mdpi.com", "*.plos.org"),
            *("*.biorxiv.org", "*.medrxiv.org", "europepmc.org", "*.europepmc.org", "*.nih.gov"),
            *("*.ncbi.nlm.nih.gov", "*.aps.org", "scipost.org", "*.scipost.org", "*.iop.org"),
            *("doaj.org", "*.doaj.org", "arxiv.org", "*.arxiv.org"),
        ),
    }
)
"""The hosts that documents of a source come from, as its published list has them."""

ADDED_TO = "oa-publisher"
"""The source whose hosts an operator may add to; those of the others are fixed, so no setting is told that adds one."""

ADDRESSING = frozenset({"doi.org", "dx.doi.org", "hdl.handle.net"})
"""Registries that only pass on; the host after them is judged as usual."""

LONGEST_NAME = 253
"""Characters that a host may have (RFC 1035: 255 octets, lengths included)."""

TRUST: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "trust_academic_repos": (
            *("*.ac.uk", "*.ac.jp", "*.jst.go.jp", "*.edu.au", "*.edu.cn", "*.ac.cn", "*.edu.pl", "*.ac.nz"),
            *("*.ac.za", "*.ac.in", "*.edu.br", "*.edu.tw", "*.edu.tr", "*.edu.ar", "*.edu.mx"),
        ),
        "trust_oa_registries": (
            *("scielo.org", "*.scielo.org", "*.scielo.br", "zenodo.org", "*.zenodo.org", "osf.io", "*.osf.io"),
            *("hal.science", "*.hal.science", "core.ac.uk"),
        ),
    }
)
"""Further hosts that the operator may let in by one switch each."""


def allowed_hosts(source: str, config: Mapping[str, Any]) -> tuple[str, ...]:
    """The host patterns of a source: its own, and for open copies those that the operator added."""
    own = HOSTS[source]
    if source != ADDED_TO:
        return own
    added = _listed(config, "DOIGET_ADDITIONAL_HOSTS")
    flags = [name for name in TRUST if setting(config, f"DOIGET_{name.upper()}")]
    return (*own, *added, *(host for name in flags for host in TRUST[name]))


def matches(host: str, patterns: tuple[str, ...]) -> bool:
    """Whether a host is one of the patterns; `*.x` is x and everything below it, and never `notx`."""
    host = host.lower().rstrip(".")
    for pattern in patterns:
        bare = pattern.removeprefix("*.").lower()
        if host == bare or (pattern.startswith("*.") and host.endswith(f".{bare}")):
            return True
    return False


def check_hop(url: str, source: str, config: Mapping[str, Any], hop: int | None) -> str:
    """The URL, when it may be asked as the first request (`hop` None) or at a redirect; else what refuses it."""
    where = {} if hop is None else {"hop_index": hop}
    leads = f"{source} leads" if hop is None else f"{source} leads at hop {hop}"
    try:
        parts = urlsplit(url)
        host, scheme, user = (parts.hostname or "").lower(), parts.scheme.lower(), parts.username
        _check_name(host)
        _check_name(scheme)
    except ValueError:
        raise Refusal("NETWORK_ERROR", f"{source} leads to something that is not a URL.") from None
    if scheme != "https":
        raise Refusal(
            "CAPABILITY_DENIED",
            f"{leads} to {host or 'an address'} over {scheme or 'no scheme'}, and only https is asked.",
            denial={"reason": "insecure_scheme", "source": source, "attempted": scheme, "expected": ["https"], **where},
        )
    if user is not None or not host:
        raise Refusal("NETWORK_ERROR", f"{source} leads to an address with a user name or without a host.")
    blocked = _listed(config, "DOIGET_BLOCKED_HOSTS")
    if matches(host, blocked):
        raise Refusal(
            "CAPABILITY_DENIED",
            f"{leads} to {host}, which is on the list of blocked hosts.",
            denial={"reason": "host_in_block_list", "source": source, "attempted": host, **where},
            remediation=remedies(host, blocked=True),
        )
    patterns = allowed_hosts(source, config)
    if host not in ADDRESSING and not matches(host, patterns):
        raise Refusal(
            "CAPABILITY_DENIED",
            f"{leads} to {host}, which is not among the hosts allowed for it ({', '.join(patterns)}).",
            denial={
                "reason": "redirect_not_in_allowlist",
                "source": source,
                "attempted": host,
                "expected": list(patterns),
                **where,
            },
            remediation=remedies(host) if source == ADDED_TO else (),
        )
    try:
        return str(check_url(url))
    except Fault as fault:
        raise Refusal("NETWORK_ERROR", fault.message) from None


def _check_name(name: str) -> None:
    """ValueError for what can be no host or scheme: it is told to callers, and a server may put any text there."""
    if len(name) > LONGEST_NAME or " " in name or not name.isprintable():
        raise ValueError(name)


def remedies(host: str, *, blocked: bool = False) -> list[dict[str, str]]:
    """What the operator could set so that a host is asked, the narrowest first."""
    if blocked:
        return [
            {
                "kind": "additional_host",
                "value": host,
                "note": "take it out of DOIGET_BLOCKED_HOSTS first; the block wins over every other list",
            }
        ]
    labels = host.split(".")
    found = [{"kind": "additional_host", "value": host, "note": "this host alone"}]
    # Country registries sell names below a second label (ac.uk), so three labels stay where the last two are short.
    kept = 3 if len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3 else 2
    if len(labels) > kept and not labels[-1].isdecimal():
        apex = ".".join(labels[-kept:])
        found.append({"kind": "additional_host", "value": f"*.{apex}", "note": f"{apex} and every host below it"})
    found += [
        {"kind": "trust_flag", "value": name, "note": f"set DOIGET_{name.upper()}=true"}
        for name, patterns in TRUST.items()
        if matches(host, patterns)
    ]
    return found


def _listed(config: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The host patterns of a setting: in a variable they stand between commas, in the file they are a list."""
    said = setting(config, name) or ()
    return tuple(one.strip().lower() for one in (said.split(",") if isinstance(said, str) else said) if one.strip())
