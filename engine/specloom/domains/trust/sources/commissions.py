"""Affiliate disclosures: the sentence by which a page says that it is paid for sales of what it recommends."""

from __future__ import annotations

import re

from specloom.core import load_table
from specloom.domains.text import to_alternatives

_TABLE = load_table(__file__, "commissions.yaml")
_SIGNS = [re.compile(sign, re.IGNORECASE) for signs in _TABLE["signs"].values() for sign in signs]
_DENIED = re.compile(to_alternatives(_TABLE["denied"]), re.IGNORECASE)
_FREE = re.compile(to_alternatives(_TABLE["free"]), re.IGNORECASE)
_SENTENCE = re.compile(r"[^\n.!?。！？]+(?:[.!?](?!\s|$)[^\n.!?。！？]*)*[.!?。！？]*")
# A quotation that is still open: what it holds is said by somebody else.
_QUOTED = re.compile(r"[“«„「][^”»“」]*$")
_MARKS = re.compile(r"[*_`#>|]+|!?\[([^\[\]]*)\]\([^()\s]*\)")
_LONGEST_SENTENCE = 600


def find_commission(text: str) -> str:
    """The first sentence by which a page says that it earns by what readers buy, "" where it says no such thing.

    Only what it says of itself counts; a denial and what somebody else is quoted with do not.
    """
    for line in text.splitlines():
        plain = " ".join(_MARKS.sub(r"\1", line).split())
        for sentence in _SENTENCE.findall(plain):
            if _says(sentence[:_LONGEST_SENTENCE]):
                return str(sentence[:_LONGEST_SENTENCE].strip())
    return ""


def _says(sentence: str) -> bool:
    for sign in _SIGNS:
        match = sign.search(sentence)
        if match is None:
            continue
        before = sentence[: match.start()]
        is_quoted = before.count('"') % 2 == 1 or _QUOTED.search(before)
        # A language without blanks denies behind the verb.
        whole = sentence if not sentence.isascii() and match[0][-1] > "\u3000" else sentence[: match.end()]
        if not is_quoted and not _DENIED.search(_FREE.sub("", whole)):
            return True
    return False
