"""Reads declared settings from the environment: the only door, and environment text is data after it was read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from specloom.core import Secret
from specloom.model import Provider, Setting

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 §5.6.2


class SettingError(ValueError):
    """A variable that cannot be read as its type: one sentence that does not show a secret."""


def read_setting(setting: Setting, environ: Mapping[str, str]) -> Any:
    """The value in its type, its default, or None."""
    text = environ.get(setting.name, "").strip() or environ.get(setting.stand_in, "").strip()
    if not text:
        return setting.default
    shown = "not readable" if setting.secret else repr(text)
    if setting.kind == "boolean":
        if text.lower() in {"1", "true", "yes", "on"}:
            return True
        if text.lower() in {"0", "false", "no", "off"}:
            return False
        raise SettingError(f"{setting.name} is {shown}; write true or false")
    if setting.kind == "integer":
        if not re.fullmatch(r"[-+]?\d{1,12}", text):
            raise SettingError(f"{setting.name} is {shown}; write a whole number")
        return int(text)
    if setting.kind == "number":
        if not re.fullmatch(r"[-+]?\d{1,12}(?:\.\d{1,12})?", text):
            raise SettingError(f"{setting.name} is {shown}; write a number like 0.5")
        return float(text)
    if setting.kind == "url":
        if not re.fullmatch(r"https?://[^\s/]+\S*", text):
            raise SettingError(f"{setting.name} should be an http or https URL")
        return text
    if setting.kind == "headers":
        return _headers(setting, text)
    if setting.kind == "credentials":
        user, colon, password = text.partition(":")
        if not (user and colon and password):
            raise SettingError(f"{setting.name} should be user:password")
        return Secret(text)
    if re.search(r"[\r\n\0]", text):
        raise SettingError(f"{setting.name} has a line break in it")
    return Secret(text) if setting.secret else text


def _headers(setting: Setting, text: str) -> dict[str, Secret]:
    """`Name: Value, Name2: Value2`; values cannot hold commas, and a name that is said twice counts once, the last."""
    found: dict[str, tuple[str, Secret]] = {}
    for pair in text.split(","):
        name, colon, value = pair.partition(":")
        name, value = name.strip(), value.strip()
        if not colon or not _TOKEN.fullmatch(name) or not value or re.search(r"[\r\n\0]", value):
            raise SettingError(f"{setting.name} should be pairs like `Name: value, Other: value`")
        found[name.lower()] = (name, Secret(value))
    return dict(found.values())


def read_settings(settings: Mapping[str, Setting], environ: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """All values by name, and a sentence for each that could not be read (its default is then used)."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    for setting in settings.values():
        try:
            values[setting.name] = read_setting(setting, environ)
        except SettingError as error:
            problems.append(str(error))
            values[setting.name] = setting.default
    return values, problems


def is_configured(provider: Provider, values: Mapping[str, Any]) -> bool:
    """Whether every setting that the provider needs has a value."""
    return all(values.get(one.name) is not None for one in provider.settings.values() if one.required)


def missing_settings(provider: Provider, values: Mapping[str, Any]) -> list[str]:
    """The variables to set before the provider can be asked, by name or as `NAME or OTHER`."""
    return [
        f"{one.name} or {one.stand_in}" if one.stand_in else one.name
        for one in provider.settings.values()
        if one.required and values.get(one.name) is None
    ]


@dataclass(frozen=True, slots=True)
class Configured:
    """What is set for all providers."""

    settings: Mapping[str, dict[str, Any]]
    """The values of each provider by name."""
    names: frozenset[str]
    """The providers that have what they need."""
    missing: Mapping[str, tuple[str, ...]]
    """For each of the others the variables to set."""
    problems: tuple[str, ...]
    """A sentence for each value that could not be read."""


def configure(providers: Iterable[Provider], environ: Mapping[str, str], *, always: bool = False) -> Configured:
    """What is set for these providers; with `always` what they need is made up where it is missing."""
    settings: dict[str, dict[str, Any]] = {}
    names: set[str] = set()
    missing: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for provider in providers:
        values, found = read_settings(provider.settings, environ)
        problems += found
        if is_configured(provider, values):
            names.add(provider.name)
        elif always:
            names.add(provider.name)
            values |= _stand_ins(provider, values)
        else:
            missing[provider.name] = tuple(missing_settings(provider, values))
        settings[provider.name] = values
    return Configured(settings, frozenset(names), missing, tuple(problems))


def _stand_ins(provider: Provider, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values for needed settings when nothing is sent anyway."""
    needed = [one for one in provider.settings.values() if one.required and values.get(one.name) is None]
    return {
        one.name: Secret("replayed") if one.secret else "https://replay.invalid" if one.kind == "url" else "replayed"
        for one in needed
    }
