# Follows a run with grpcio, without stubs, and prints the status code at the end of its stream.
# `python tail.py <host:port> <key> <run id>`

import sys

import grpc

target, key, run_id = sys.argv[1:]
request = bytes([10, len(run_id)]) + run_id.encode()  # TailRunRequest: run_id is field 1.
with grpc.insecure_channel(target) as channel:
    tail = channel.unary_stream("/runnel.v1.RunService/TailRun")
    try:
        for response in tail(request, metadata=[("authorization", f"Bearer {key}")]):
            # A response without results opens the stream.
            if response:
                print("result", flush=True)
        print("OK")
    except grpc.RpcError as error:
        print(error.code().name)
