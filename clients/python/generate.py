"""Writes runnel_langbot/stubs: messages and clients of the services that the adapter calls, from the protos of the repository.

Needs grpcio-tools, and third_party/, which `npm run generate` fills.
"""

import re
import shutil
import sys
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

REPOSITORY = Path(__file__).resolve().parents[2]
STUBS = Path(__file__).resolve().parent / "runnel_langbot" / "stubs"
ROOTS = (REPOSITORY / "proto", REPOSITORY / "third_party")
WANTED = (
    "runnel/v1/runner_service.proto",
    "runnel/v1/runner_worker_service.proto",
    "runnel/host/v1/host_service.proto",
    "google/rpc/status.proto",
)


def with_imports(path: str, found: dict[str, None]) -> None:
    """Adds the proto and what it imports, but for what the package protobuf brings."""
    if path in found or path.startswith("google/protobuf/"):
        return
    source = next((root / path for root in ROOTS if (root / path).exists()), None)
    if source is None:
        sys.exit(f"{path} is not there: run `npm run generate` in {REPOSITORY}")
    found[path] = None
    for imported in re.findall(r'^import "([^"]+)";', source.read_text(), re.MULTILINE):
        with_imports(imported, found)


def main() -> None:
    found: dict[str, None] = {}
    for path in WANTED:
        with_imports(path, found)
    shutil.rmtree(STUBS, ignore_errors=True)
    STUBS.mkdir()
    roots = [*ROOTS, files("grpc_tools") / "_proto"]
    options = [*(f"-I{root}" for root in roots), f"--python_out={STUBS}", f"--grpc_python_out={STUBS}"]
    if protoc.main(["protoc", *options, *found]) != 0:
        sys.exit("protoc failed")


if __name__ == "__main__":
    main()
