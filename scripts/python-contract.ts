// The contract as clients/python has it: the descriptors from which it makes its messages, a module for each package, and the
// types of both. pip installs them without a compiler of protos.

import { mkdir, mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileRegistry, type FileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, type FileDescriptorSet, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { moduleOf, printModule, printTypes } from "./python-types.ts";
import { repositoryRoot, runCommand } from "./run-command.ts";

const folder = "clients/python/runnel_client";

/** The packages that have a module. */
const packages = [
  "runnel.v1",
  "runnel.runner.v1",
  "runnel.host.v1",
  "runnel.job.v1",
  "runnel.exchange.v1",
  "runnel.community.v1",
  "google.rpc",
  "google.api",
];

/** Besides these files, the descriptors have what they import. */
const roots = /^(?:runnel\/(?!options\/)|google\/rpc\/(?:status|error_details)\.proto$)/;

/** Files that only annotate: the service checks the rules, and REST has the routes. */
const annotations = new Set([
  "buf/validate/validate.proto",
  "google/api/annotations.proto",
  "google/api/field_behavior.proto",
  "runnel/options/v1/rules.proto",
]);

/** Writes all files of the contract. */
export async function writePythonContract(): Promise<void> {
  for (const [name, content] of await makeFiles()) {
    await mkdir(join(repositoryRoot, folder), { recursive: true });
    await writeFile(join(repositoryRoot, folder, name), content);
  }
}

/** Throws when a committed file differs from the one that the protos give. */
export async function checkPythonContractIsFresh(): Promise<undefined> {
  for (const [name, content] of await makeFiles()) {
    const found = await readFile(join(repositoryRoot, folder, name)).catch(() => undefined);
    if (found === undefined || !found.equals(content)) {
      throw new Error(`${folder}/${name} is not what the protos say; run \`npm run generate\` and commit the result.`);
    }
  }
}

async function makeFiles(): Promise<ReadonlyMap<string, Buffer>> {
  const set = await buildDescriptors();
  const registry = createFileRegistry(set);
  const files = new Map<string, Buffer>();
  for (const name of packages) {
    files.set(`${moduleOf(name)}.py`, Buffer.from(printModule(name)));
    files.set(`${moduleOf(name)}.pyi`, Buffer.from(printTypes(name, filesOf(registry, name))));
  }
  for (const file of set.file) {
    delete file.sourceCodeInfo;
  }
  return files.set("contract.binpb", Buffer.from(toBinary(FileDescriptorSetSchema, set)));
}

function filesOf(registry: FileRegistry, name: string) {
  return [...registry.files].filter(({ proto }) => proto.package === name);
}

/** The descriptors with their comments, and without the options of other packages. */
export async function buildDescriptors(): Promise<FileDescriptorSet> {
  await using place = await mkdtempDisposable(join(tmpdir(), "runnel-contract-"));
  const path = join(place.path, "contract.binpb");
  await runCommand("buf", ["build", "--as-file-descriptor-set", "--output", path]);
  const set = fromBinary(FileDescriptorSetSchema, await readFile(path));
  const byName = new Map(set.file.map((file) => [file.name, file]));
  const wanted = new Set<string>();
  const want = (name: string): void => {
    const file = byName.get(name);
    if (file === undefined) {
      throw new Error(`the contract has no file ${name}`);
    }
    stripAnnotations(file);
    file.dependency.forEach(want);
    wanted.add(name);
  };
  for (const { name } of set.file) {
    if (roots.test(name) && !annotations.has(name)) {
      want(name);
    }
  }
  // In the order of their dependencies.
  return { ...set, file: [...wanted].flatMap((name) => byName.get(name) ?? []) };
}

/** The numbers of the options in runnel.options.v1. */
const ownOptions = { first: 2_074_001, last: 2_074_099 };

function stripAnnotations(file: FileDescriptorProto): void {
  file.dependency = file.dependency.filter((name) => !annotations.has(name));
  stripOptions(file);
}

/** Options of other packages are unknown fields here. */
function stripOptions(value: unknown): void {
  if (Array.isArray(value)) {
    value.forEach(stripOptions);
  } else if (typeof value === "object" && value !== null && "$typeName" in value) {
    const message = value as { $unknown?: { readonly no: number }[] };
    if (message.$unknown !== undefined) {
      message.$unknown = message.$unknown.filter(({ no }) => no >= ownOptions.first && no <= ownOptions.last);
    }
    Object.values(message).forEach(stripOptions);
  }
}
