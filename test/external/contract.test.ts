// The contract as an outsider has it: the protos of a clone and the descriptors of a service, read by programs that know nothing of
// this repository.

import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileRegistry, fromBinary, type JsonObject, toJson } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, inject, onTestFinished, test } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { version } from "../../src/platform/base/version.ts";
import { startService } from "../harness/service.ts";
import { runProgram } from "./program.ts";

const python = inject("python");
const root = join(repositoryRoot, "proto");
const protos = globSync("**/*.proto", { cwd: root }).sort();
const includes = [root, join(repositoryRoot, "third_party")];

/** The loader that comes with grpc-js. */
const { loadSync } = createRequire(import.meta.resolve("@grpc/grpc-js"))("@grpc/proto-loader") as {
  readonly loadSync: (path: string, options: { readonly includeDirs: readonly string[] }) => object;
};

test.each(protos)("grpc-js loads %s", (path) => {
  expect(Object.keys(loadSync(path, { includeDirs: includes }))).not.toEqual([]);
});

test.runIf(python !== "")("the protoc of grpcio-tools compiles all of it", () => {
  const folder = openFolder();
  const output = join(folder, "contract.binpb");
  protoc([...includes.map((path) => `-I${path}`), `--descriptor_set_out=${output}`, ...protos]);
  expect(fromBinary(FileDescriptorSetSchema, readFileSync(output)).file).toHaveLength(protos.length);
});

test.runIf(python !== "")("/descriptors.binpb has the same files as protoc makes of the protos", async () => {
  const folder = openFolder();
  const output = join(folder, "contract.binpb");
  const flags = [...includes.map((path) => `-I${path}`), "--include_imports", `--descriptor_set_out=${output}`];
  protoc([...flags, ...protos]);
  const expected = readSet(readFileSync(output));
  const { file } = await saveServedSet(folder);
  const served = readSet(readFileSync(file));
  expect([...served.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
  for (const [name, json] of expected) {
    // Of protoc's own file, the service has what code generators need.
    const [one, other] = [served.get(name), json].map((each) =>
      name === "google/protobuf/descriptor.proto" ? each?.options : each,
    );
    expect(one, name).toEqual(other);
  }
});

test.runIf(python !== "")("protoc makes code that calls the service of /descriptors.binpb alone", async () => {
  const folder = openFolder();
  const { file, target } = await saveServedSet(folder);
  const served = [...readSet(readFileSync(file)).keys()].filter((name) => !name.startsWith("google/protobuf/"));
  protoc([`--descriptor_set_in=${file}`, `--python_out=${folder}`, `--grpc_python_out=${folder}`, ...served]);
  const program = [
    "import sys, grpc",
    "from runnel.v1 import system_service_pb2 as pb, system_service_pb2_grpc as service",
    "stub = service.SystemServiceStub(grpc.insecure_channel(sys.argv[1]))",
    "print(stub.GetVersion(pb.GetVersionRequest()).version)",
  ].join("\n");
  const { stdout } = await runProgram(python, ["-c", program, target], { environment: { PYTHONPATH: folder } });
  expect(stdout.toString().trim()).toBe(version);
});

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "runnel-contract-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

function protoc(args: readonly string[]): void {
  execFileSync(python, ["-m", "grpc_tools.protoc", ...args], { stdio: "pipe" });
}

/** Returns each file as JSON, which has the options of the contract by name. */
function readSet(bytes: Uint8Array): ReadonlyMap<string, JsonObject> {
  const set = fromBinary(FileDescriptorSetSchema, bytes);
  const registry = createFileRegistry(set);
  return new Map(
    set.file.map((file) => [file.name, toJson(FileDescriptorProtoSchema, file, { registry }) as JsonObject]),
  );
}

/** Saves the set that a new service serves. */
async function saveServedSet(folder: string): Promise<{ readonly file: string; readonly target: string }> {
  const { url, target } = await startService();
  const file = join(folder, "descriptors.binpb");
  writeFileSync(file, await (await fetch(`${url}/descriptors.binpb`)).bytes());
  return { file, target };
}
