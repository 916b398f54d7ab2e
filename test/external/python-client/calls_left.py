"""Prints how many calls of grpc are left after streams that failed, without a collection of garbage.

A call that is left is finalised when the interpreter ends, and may hold up its end.
"""

import gc
import sys
from collections.abc import Callable
from typing import Any

import grpc
import runnel_client
from runnel_client import RunnelError, v1

RUN_ID = "0196f1de-0000-7000-8000-000000000000"


def main() -> None:
    gc.disable()
    with runnel_client.connect(sys.argv[1]) as runnel:
        fail(lambda: list(runnel.follow(RUN_ID, timeout=1)))
        fail(lambda: list(runnel.runs.watch_runs(v1.WatchRunsRequest(), timeout=1)))
        print(sum(isinstance(each, grpc.Call) for each in gc.get_objects()))


def fail(call: Callable[[], Any]) -> None:
    try:
        call()
    except RunnelError as error:
        print(error.code.name)


if __name__ == "__main__":
    main()
