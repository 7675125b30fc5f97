"""The command: `serve` without options starts at once, everything else goes through the command line's parser."""

from __future__ import annotations

import sys

from specloom.core.garbage_collection import collect_seldom, leave


def main() -> int:
    """Run the command that the process was started with; the exit code."""
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
