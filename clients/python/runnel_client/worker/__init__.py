"""For authors of runners: a runner is a manifest and a function that works on one run and yields its results.

A worker registers runners, takes the runs that the service offers, and reports what they yield. It dials in, so it may run
behind any NAT. See README.md.
"""

from ..json_text import print_json, read_json
from .host import Host
from .results import Result, completed, delta, failed, message, state
from .run import Run, Runner, run_worker
from .until_signal import until_signal
from .worker import Assignment, RefusedWorkerError, Worker

__all__ = [
    "Assignment",
    "Host",
    "RefusedWorkerError",
    "Result",
    "Run",
    "Runner",
    "Worker",
    "completed",
    "delta",
    "failed",
    "message",
    "print_json",
    "read_json",
    "run_worker",
    "state",
    "until_signal",
]
