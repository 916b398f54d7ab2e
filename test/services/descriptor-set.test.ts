// GET /descriptors.binpb: the whole contract as a FileDescriptorSet, for programs that do not have the protos.

import { globSync } from "node:fs";
import { join } from "node:path";
import {
  createFileRegistry,
  type DescField,
  type DescMessage,
  fromBinary,
  getOption,
  ScalarType,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect } from "vitest";
import { http } from "#gen/google/api/annotations_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { test } from "../fixtures.ts";

test("has every proto of the contract and all imports, each after its own imports", async ({ service: { url } }) => {
  const answer = await fetch(`${url}/descriptors.binpb`);
  expect(answer.headers.get("content-type")).toBe("application/protobuf");
  const bytes = await answer.bytes();
  expect(answer.headers.get("content-length")).toBe(String(bytes.byteLength));
  const set = fromBinary(FileDescriptorSetSchema, bytes);
  const names = set.file.map(({ name }) => name);
  const protos = globSync("**/*.proto", { cwd: join(repositoryRoot, "proto") });
  expect(names.filter((name) => name.startsWith("runnel/")).toSorted()).toEqual(protos.toSorted());
  expect(names).toEqual([...new Set(names)]);
  for (const [index, { dependency }] of set.file.entries()) {
    expect(names.slice(0, index)).toEqual(expect.arrayContaining(dependency));
  }

  const registry = createFileRegistry(set);
  const methods = registry.getService(RunService.typeName)?.methods ?? [];
  expect(methods.map(({ name }) => name)).toEqual(RunService.methods.map(({ name }) => name));
  const getRun = methods.find(({ name }) => name === "GetRun") ?? expect.unreachable();
  expect(getOption(getRun, http).pattern).toEqual({ case: "get", value: "/v1/runs/{run_id}" });
});

/** What the accessors of a field in Java have behind its name, by the kind of its value. */
function javaSuffixes({ fieldKind, scalar }: DescField): readonly string[] {
  const ofValue = {
    scalar: scalar === ScalarType.STRING ? ["Bytes"] : [],
    enum: ["Value"],
    message: ["Builder", "OrBuilder"],
  };
  return ["", ...(fieldKind === "list" || fieldKind === "map" ? ["List", "Map", "Count"] : ofValue[fieldKind])];
}

test("no two fields of a message have the same accessor in Java, which does not compile", async ({
  service: { url },
}) => {
  const bytes = await (await fetch(`${url}/descriptors.binpb`)).bytes();
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
  const messages = [...registry].filter((desc) => desc.kind === "message" && desc.typeName.startsWith("runnel."));
  for (const { typeName, fields, oneofs } of messages as readonly DescMessage[]) {
    const accessors = [
      ...fields.flatMap((field) => javaSuffixes(field).map((suffix) => `${field.localName}${suffix}`)),
      ...oneofs.map(({ localName }) => `${localName}Case`),
    ];
    expect(accessors.toSorted(), typeName).toEqual([...new Set(accessors)].toSorted());
  }
});
