"""Stands for the LangBot SDK of the branches that no release has: only the modules and names that an adapter uses, with the
strictness of their models. FAKE_LANGBOT_ERA says which era it is: `spec`, `ledger` or `4.11`.
"""

import os

ERA = os.environ["FAKE_LANGBOT_ERA"]
assert ERA in ("spec", "ledger", "4.11"), ERA
