"""Numbers as they are meant: a value with its unit, years apart from amounts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from specloom.trust.words import is_number, tokens

# Written forms of a unit, as `tokens` gives them, and the one that stands for them.
_UNITS: dict[str, str] = {
    form: unit
    for unit, forms in {
        "percent": "percent pct prozent procent ciento cento процент процента процентов",
        "kg": "kg kilogram kilo",
        "g": "g gram",
        "mg": "mg milligram milligramm",
        "µg": "μg µg mcg microgram",
        "t": "ton tonne",
        "km": "km kilometer kilomet",
        "m": "m meter met",
        "cm": "cm centimeter",
        "mm": "mm millimeter",
        "mile": "mile mi",
        "year": "year yr",
        "month": "month monat mois mes mese mês maand",
        "week": "week wk",
        "day": "day",
        "hour": "hour hr h",
        "minute": "minut min",
        "second": "second sec",
        "celsius": "celsius °c",
        "kelvin": "kelvin",
        "fahrenheit": "fahrenheit °f",
        "dollar": "dollar usd",
        "euro": "euro eur",
        "pound": "pound gbp",
        "person": "person patient participant subject people",
        "liter": "liter lit",
        "ml": "ml milliliter",
        "watt": "watt kw mw gw",
        "fold": "fold",
        "ppm": "ppm part",
    }.items()
    for form in forms.split()
}
# Units of one kind, of which a number can have only one at a time.
_KINDS = {
    unit: kind
    for kind, units in {
        "length": "km m cm mm mile",
        "mass": "t kg g mg µg",
        "temperature": "celsius fahrenheit kelvin",
        "money": "dollar euro pound",
        "time": "year month week day hour minute second",
        "volume": "liter ml",
    }.items()
    for unit in units.split()
}
_CURRENCY = re.compile(r"([$€£])\s?(?=[0-9])")
_POINTS = re.compile(r"\b(?:percentage|per cent|percent)\s+points?\b", re.IGNORECASE)
_TIMES = re.compile(r"(?<=[0-9])\s?(?:-\s?fold|×|times)\b", re.IGNORECASE)
# A unit stands right behind its number, or behind one word ("12 older patients").
_REACH = 2


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in its canonical form (`2500000`, `3.5`) and its unit, "" when it has none that is known."""

    value: str
    unit: str

    @property
    def kind(self) -> str:
        """What its unit measures, "" where that is not known."""
        return _KINDS.get(self.unit, "")

    @property
    def is_year(self) -> bool:
        """Whether the number can only be meant as a year."""
        return not self.unit and len(self.value) == 4 and self.value.isdigit() and "1500" <= self.value <= "2099"


def find_quantities(text: str) -> tuple[Quantity, ...]:
    """Every number of a text with its unit, in order."""
    marked = _TIMES.sub(" fold ", _POINTS.sub("points", _CURRENCY.sub(_name_currency, text)))
    found = tokens(marked)
    return tuple(Quantity(token, _find_unit(found, at)) for at, token in enumerate(found) if is_number(token))


def _name_currency(sign: re.Match[str]) -> str:
    return {"$": "dollar ", "€": "euro ", "£": "pound "}[sign[1]]


def _find_unit(found: Sequence[str], at: int) -> str:
    if at and found[at - 1] in ("dollar", "euro", "pound"):
        return found[at - 1]
    for word in found[at + 1 : at + 1 + _REACH]:
        if is_number(word):
            return ""
        if word == "point":
            return "point"
        if word in _UNITS:
            return _UNITS[word]
    return ""
