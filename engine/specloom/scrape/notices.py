"""Pages that ask for consent to cookies instead of saying what they were asked for: told by where they are, or by how
little else they say. A page about cookies explains them, and stays where it was asked for.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from .consent_words import ABOUT

LITTLE: Final = 60
"""Words up to which a page that asks says nothing else."""
MOST: Final = 400
"""Words up to which a page that a reader was led to is one that asks."""

_SPEAKS: Final = re.compile(ABOUT, re.IGNORECASE)
_PLACE: Final = re.compile(
    r"(?:^|\.)(?:consent|guce|cmp|privacygate|cookiewall)\.|/(?:consent|collectconsent|zustimmung|cookie-?(?:wall|consent)"
    r"|privacy-?(?:gate|wall)|gdpr-?consent|cmp)(?:[/.]|$)",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"\b(?:we|our partners|partners|wir|nous|usamos|utilizamos|utilizziamo|usiamo|wij|gebruiken|vi|używamy)\b"
    r"[^.]{0,80}\bcookies?\b|\bcookies?\b[^.]{0,60}(?:consent|accept|zustimm|akzept|aceptar|accettar)",
    re.IGNORECASE,
)


def leads_to_consent(text: str, *, asked: str, url: str) -> bool:
    """Whether a reading was led from `asked` to a place for consent, whose text speaks of it and of little else."""
    if not _is_place(url) or _is_place(asked) or len(text.split()) > MOST:
        return False
    return bool(_SPEAKS.search(text))


def is_notice(text: str) -> bool:
    """Whether a text is no more than the notice of a site that uses cookies."""
    return len(text.split()) <= LITTLE and bool(_ASKS.search(text))


def _is_place(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(_PLACE.search((parts.hostname or "") + parts.path))
