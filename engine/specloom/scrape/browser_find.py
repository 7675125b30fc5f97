"""Where Chromium is, and whether one can be driven at all; nothing is started to find out."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

INSTALL = "pip install 'specloom[browser]'"

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "microsoft-edge-stable")
_PLACES = {
    "darwin": (
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    ),
    "win32": (
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
    ),
}
# Where the driver's own `install` command puts browsers.
_DOWNLOADED = ("chromium-*/chrome-linux*/chrome", "chromium-*/chrome-mac*/*.app/Contents/MacOS/*")


@dataclass(frozen=True, slots=True)
class Found:
    """The executable, or in `why` one sentence for its absence."""

    path: str = ""
    why: str = ""


@lru_cache(maxsize=16)
def find_browser(setting: str) -> Found:
    """The browser that CHROME_PATH asks for: a path, `disabled`, or empty to look for one."""
    if setting.lower() == "disabled":
        return Found(why="the browser is switched off (CHROME_PATH is `disabled`)")
    if importlib.util.find_spec("playwright") is None:
        return Found(why=f"the library that drives browsers is not installed; install it with: {INSTALL}")
    if setting:
        path = shutil.which(setting)
        if path is None:
            return Found(why=f"CHROME_PATH names {setting!r}, which is not a program that can be run")
        return Found(path)
    for name in _NAMES:
        path = shutil.which(name)
        if path is not None:
            return Found(path)
    for place in _PLACES.get(sys.platform, ()):
        if Path(place).is_file():
            return Found(place)
    home = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    for pattern in _DOWNLOADED:
        for path_found in sorted(home.glob(pattern), reverse=True):
            return Found(str(path_found))
    return Found(why="no Chromium or Chrome was found; install one, or set CHROME_PATH to where it is")
