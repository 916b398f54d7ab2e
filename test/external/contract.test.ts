// The contract as an outsider has it: the protos of a clone, loaded by programs that know nothing of this repository.

import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, inject, onTestFinished, test } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";

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

test.runIf(inject("python"))("the protoc of grpcio-tools compiles all of it", () => {
  const folder = mkdtempSync(join(tmpdir(), "runnel-contract-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const output = join(folder, "contract.binpb");
  const flags = [...includes.map((path) => `-I${path}`), `--descriptor_set_out=${output}`];
  execFileSync(inject("python") ?? "", ["-m", "grpc_tools.protoc", ...flags, ...protos]);
  expect(fromBinary(FileDescriptorSetSchema, readFileSync(output)).file).toHaveLength(protos.length);
});
