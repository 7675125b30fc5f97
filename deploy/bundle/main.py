"""Starts the server of a bundle, in the environment that uv makes from the wheel beside this file."""

import sys

from specloom.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
