"""Who a request says it is: the headers of one coherent desktop browser, or of a robot that says so. Both are data."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from specloom import __version__

from .options import Identity

Headers = tuple[tuple[str, str], ...]

_VERSION = re.compile(r"Chrome/(\d+)")
_PLATFORMS = {"Macintosh": '"macOS"', "Windows": '"Windows"', "X11; Linux": '"Linux"'}


@dataclass(frozen=True, slots=True)
class Persona:
    """One identity: its user agent, and its headers in the order in which they are sent, user agent included."""

    user_agent: str
    headers: Headers


@cache
def load_persona(name: Identity) -> Persona:
    """The persona of `identities.json`; ValueError where its headers contradict each other."""
    data = json.loads(files(__package__).joinpath("identities.json").read_text(encoding="utf-8"))[name]
    agent = data["user_agent"].format(version=__version__)
    headers = tuple((str(key), str(value)) for key, value in data["headers"])
    problem = find_contradiction(agent, headers)
    if problem:
        raise ValueError(f"identities.json, {name}: {problem}")
    return Persona(agent, (("User-Agent", agent), *headers))


def find_contradiction(agent: str, headers: Headers) -> str:
    """What gives a made-up identity away, in words: hints that name another version or system; empty where all fits."""
    said = {name.lower(): value for name, value in headers}
    version = _VERSION.search(agent)
    brands = said.get("sec-ch-ua", "")
    if bool(brands) != bool(version):
        return "only one of user agent and Sec-Ch-Ua names a Chrome version"
    if version and f'v="{version[1]}"' not in brands:
        return f"the user agent says version {version[1]} and Sec-Ch-Ua does not"
    platform = next((hint for sign, hint in _PLATFORMS.items() if sign in agent), "")
    if said.get("sec-ch-ua-platform", platform) != platform:
        return f"the user agent is of {platform} and Sec-Ch-Ua-Platform is {said['sec-ch-ua-platform']}"
    return ""
