"""Runnel for Python: call the service, follow runs, and check what it signed. `runnel_client.aio` is for event loops.

The messages are in a module for each package of the contract: `runnel_client.v1`, `runnel_client.runner_v1`, and so on.
"""

from .callbacks import StatusCallback, verify_callback
from .client import Runnel, connect
from .credentials import ApiKey, Credentials, Signature, Ticket
from .errors import RunnelError, Violation
from .following import Following
from .functions import Function
from .reading import End, result_type
from .receipts import Statement, read_public_keys, verify_receipt

__version__ = "0.2.0"
__all__ = [
    "ApiKey",
    "Credentials",
    "End",
    "Following",
    "Function",
    "Runnel",
    "RunnelError",
    "Signature",
    "Statement",
    "StatusCallback",
    "Ticket",
    "Violation",
    "connect",
    "read_public_keys",
    "result_type",
    "verify_callback",
    "verify_receipt",
]
