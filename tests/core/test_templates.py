"""Filters of templates: those of the engine, and those that a room brings when it is first used."""

from __future__ import annotations

import subprocess
import sys

LATE = """
from specloom.core.templates import fill_template
assert fill_template("{{ name|quoted }}", {"name": "otters"}) == '"otters"'
import specloom.domains.scrape.sites
print(fill_template("{{ page|markdown('https://example.org/') }}", {"page": "<p>A <b>holt</b></p>"}).strip())
"""


def test_a_filter_of_a_room_that_is_used_later_is_there() -> None:
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=False)

    assert (done.stdout, done.stderr) == ("A **holt**\n", "")
