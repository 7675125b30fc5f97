"""International Standard Book Numbers: the form in which they compare, and why some can be nobody's.

The rules are those of the users' manual of the International ISBN Agency: https://www.isbn-international.org/content/isbn-users-manual
"""

from __future__ import annotations

import re


def to_isbn13(text: str) -> str:
    """The ISBN-13 of an ISBN-10 or ISBN-13, "" when the length, the prefix or the check digit is wrong."""
    bare = re.sub(r"[\s-]", "", text).upper()
    if re.fullmatch(r"[0-9]{9}[0-9X]", bare):
        total = sum((10 - at) * (10 if digit == "X" else int(digit)) for at, digit in enumerate(bare))
        if total % 11 or bare == "0" * 10:
            return ""
        bare = f"978{bare[:9]}"
        return bare + _check13(bare)
    # 979-0 is music, which has numbers of its own.
    if not re.fullmatch(r"97[89][0-9]{10}", bare) or bare.startswith("9790"):
        return ""
    return bare if _check13(bare[:12]) == bare[12] else ""


def find_flaw(isbn: str) -> str:
    """Why no book can have an ISBN of ten or thirteen digits, "" when one can: its prefix, or its check digit."""
    if to_isbn13(isbn):
        return ""
    if len(isbn) == 13 and isbn[:3] not in ("978", "979"):
        return f"ISBN {isbn} has {isbn[:3]} in front, where every ISBN of 13 digits has 978 or 979"
    if isbn.startswith("9790"):
        return f"ISBN {isbn} has a prefix that is kept for printed music"
    right = _check13(isbn[:12]) if len(isbn) == 13 else _check10(isbn[:9])
    if isbn[-1] == right:
        return f"ISBN {isbn} is all zeros"
    return f"ISBN {isbn} has a wrong check digit (the others ask for {right}), so no book has this number"


def _check10(digits: str) -> str:
    total = sum((10 - at) * int(digit) for at, digit in enumerate(digits))
    check = -total % 11
    return "X" if check == 10 else str(check)


def _check13(digits: str) -> str:
    total = sum(int(digit) * (3 if at % 2 else 1) for at, digit in enumerate(digits))
    return str(-total % 10)
