"""Runs the runners of one LangBot plugin, as they are, for a Runnel service. See README.md."""

import sys
from pathlib import Path

# Generated modules import each other by the paths of their protos. Behind everything else, so that nothing is hidden by them.
sys.path.append(str(Path(__file__).parent / "stubs"))
