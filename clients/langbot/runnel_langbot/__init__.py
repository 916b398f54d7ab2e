"""Runs the runners of one LangBot plugin, as they are, for a Runnel service. See README.md."""
