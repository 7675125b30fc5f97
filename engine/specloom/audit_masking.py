"""Secrets in texts that are about to be written down, by the forms that secrets have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .vault import MASK

MOST_CHARACTERS = 2000
"""Characters of one text that are written down."""

_SHORTEST = 16
"""Characters that keys have at least; passwords may be shorter, and are no business of a file."""

_NAMED = (
    r"api[_-]?key|apikey|access[_-]?token|refresh[_-]?token|id[_-]?token|consumer[_-]?secret|client[_-]?secret"
    r"|x-api-key|x-subscription-token|authorization|token|secret|password|passwd|pwd|key|signature|sig"
)
_FORMS = (
    # name=value and "name": "value", in addresses, headers and JSON; what names it stays
    (
        re.compile(rf"(?i)(?<![\w-])((?:{_NAMED})[\"']?\s*[=:]\s*[\"']?(?:bearer\s+|basic\s+)?)[^\s\"'&,;}}<>]+"),
        rf"\1{MASK}",
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}"), rf"\1 {MASK}"),
    # user:password@ in an address
    (re.compile(r"(?i)(\b[a-z][a-z0-9+.-]*://)[^\s/@:]*:[^\s/@]*@"), rf"\1{MASK}@"),
    # A key of 32 bytes in hexadecimal digits, which digests look like as well
    (re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{64}(?![0-9A-Fa-f])"), MASK),
)
_ISSUED = (
    # Forms that issuers of keys document, known by how they begin; then JSON web tokens and private keys
    (re.compile(r"AIza[\w-]{30,}"), MASK),
    (re.compile(r"\bsk-[\w-]{16,}"), MASK),
    (re.compile(r"\bBSA[\w-]{20,}"), MASK),
    (re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,})"), MASK),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), MASK),
    (re.compile(r"\bxox[abeoprs]-[\w-]{10,}"), MASK),
    (re.compile(r"\b[rsp]k_(?:live|test)_\w{10,}"), MASK),
    (re.compile(r"\b(?:hf|npm)_[A-Za-z0-9]{20,}"), MASK),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"), MASK),
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"), MASK),
)


def mask(text: str) -> str:
    """The text without whatever looks like a secret, cut where it is too long."""
    # Cut late, so that a secret does not hide by standing half behind the cut.
    text = text[: 4 * MOST_CHARACTERS]
    for form, instead in (*_FORMS, *_ISSUED):
        text = form.sub(instead, text)
    return text[:MOST_CHARACTERS]


def looks_issued(text: str) -> bool:
    """Whether the text holds a key of a form that an issuer documents, so that it is hardly made up."""
    return any(form.search(text) for form, _ in _ISSUED)


def looks_secret(name: str, text: str) -> bool:
    """Whether a text that goes under a name looks like a real secret, and not like a word or a made-up one."""
    if looks_issued(text):
        return True
    last = text.rsplit(maxsplit=1)[-1] if text.strip() else ""
    has_both = any(one.isdigit() for one in last) and any(one.isalpha() for one in last)
    return has_both and len(last) >= _SHORTEST and re.fullmatch(f"(?i){_NAMED}", name) is not None


def mask_values(value: Any) -> Any:
    """JSON data with every text in it masked, and whole what stands under the name of a secret."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {
            str(name): MASK if isinstance(one, str) and re.fullmatch(f"(?i){_NAMED}", str(name)) else mask_values(one)
            for name, one in value.items()
        }
    if isinstance(value, list | tuple):
        return [mask_values(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float) else mask(str(value))
