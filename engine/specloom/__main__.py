"""The command: `serve` without options starts at once, everything else goes through the command line's parser."""

from __future__ import annotations

import os
import sys

from specloom.core.garbage_collection import collect_seldom, leave
from specloom.core.paths import PROJECT_VARIABLE


def main(project: str = "") -> int:
    """Run the command that the process was started with; the exit code.

    `project` is the folder of specs of a package whose command this is; they stand in the place of the shipped ones.
    """
    if project:
        os.environ[PROJECT_VARIABLE] = project
    collect_seldom()
    try:
        return _run(sys.argv[1:])
    finally:
        leave()


def _run(arguments: list[str]) -> int:
    if arguments == ["serve"]:
        from specloom.server.start import ServeOptions, run

        return run(ServeOptions())
    from specloom.cli.main import main as run_command

    return run_command(arguments)


if __name__ == "__main__":
    sys.exit(main())
