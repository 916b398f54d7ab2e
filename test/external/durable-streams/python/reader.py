"""Reads a run to its end over the death of its service. Prints the number of each message on a line of its own."""

import os
import sys
import time

import httpx
from durable_streams import DurableStreamError, stream

url, live = sys.argv[1:]
headers = {"Authorization": f"Bearer {os.environ['RUNNEL_API_KEY']}"}
offset = "-1"
while True:
    try:
        with stream(url, offset=offset, live=live != "catch-up" and live, headers=headers, timeout=60) as log:
            for event in log.iter_events(mode="json"):
                for message in event.data:
                    print(message["sequence"], flush=True)
                    # This version of the client does not know that a stream may be closed.
                    if "run_completed" in message:
                        sys.exit()
                offset = event.next_offset
    except (httpx.HTTPError, DurableStreamError) as error:
        print(error, file=sys.stderr)
    time.sleep(0.2)
