// Parses the manifest of a runner, the JSON that its author wrote. It must be valid as a whole. Otherwise it is refused with
// the path of the problem and what to do: nothing is coerced, guessed or left out.
//
// M1  Unknown keys are refused in the manifest, its capabilities and its permissions.
// M2  A capability is true or false; 1, "yes" and null are refused.
// M3  A permission is one of the protocol's words.
// M4  The id is the runner's own: three parts, the last of which is its name.
// M5  An operation that is listed twice is kept once.

import { type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { type RunnerManifest, RunnerManifestSchema, RunnerPermissionsSchema } from "#gen/runnel/runner/v1/runner_pb.js";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { type JsonObject, parseFreeJson, parseFreeObject, textMember } from "../../../platform/base/json/free.ts";
import { readMessageJson } from "../../../platform/base/json/read.ts";
import { jsonShape } from "../../../platform/base/json/shape.ts";
import { findJson, JsonTextError } from "../../../platform/base/json/text.ts";
import { isChunkContent, statedChunkContent } from "./delivery.ts";
import { parseRunnerId, runnerIdForm } from "./runner-id.ts";

/** The maximum bytes of a manifest, which has only forms and texts. */
export const manifestBytesMax = 262_144;

/** The operations that a manifest can ask for, by kind. */
const permissionWords = {
  models: ["invoke", "stream", "rerank", "count_tokens"],
  tools: ["detail", "call"],
  knowledgeBases: ["list", "retrieve"],
  history: ["page", "search"],
  events: ["get", "page"],
  artifacts: ["metadata", "read"],
  storage: ["plugin", "workspace"],
  files: ["config", "knowledge"],
  interactions: ["request"],
} as const satisfies Record<PermissionKind, readonly string[]>;

type PermissionKind = Exclude<keyof NonNullable<RunnerManifest["permissions"]>, `$${string}`>;

/** Parses a manifest. Throws Fault INVALID_ARGUMENT with one violation: the path in the manifest, and what to do. */
export function readManifest(text: string): RunnerManifest {
  if (Buffer.byteLength(text) > manifestBytesMax) {
    throw invalidField("manifest", `must be at most ${manifestBytesMax} bytes`);
  }
  assertKeys(RunnerManifestSchema, readRoot(text), "");
  const manifest = readFields(text);
  assertId(manifest);
  readPermissions(manifest);
  assertTexts("label", manifest.label);
  assertTexts("description", manifest.description);
  assertConfigSchema(manifest.configSchema);
  assertObject("metadata", manifest.metadata);
  assertChunkContent(manifest);
  return manifest;
}

/** Returns the id of a manifest that may be invalid. Empty when no id can be read. */
export function peekRunnerId(text: string): string {
  const id = Buffer.byteLength(text) > manifestBytesMax ? undefined : textMember(findJson(text), "id");
  return id !== undefined && id.length <= shownIdCharsMax ? id.toWellFormed() : "";
}

/** The maximum characters of an id: longer than any valid one. */
const shownIdCharsMax = 256;

/** Encodes a manifest. */
export function manifestToBytes(manifest: RunnerManifest): Uint8Array {
  return toBinary(RunnerManifestSchema, manifest);
}

/** Decodes a stored manifest. */
export function manifestFromBytes(bytes: Uint8Array): RunnerManifest {
  return fromBinary(RunnerManifestSchema, bytes);
}

function readRoot(text: string): JsonObject {
  try {
    return parseFreeObject(text);
  } catch (error) {
    throw notJson("manifest", error);
  }
}

function notJson(field: string, error: unknown): unknown {
  return error instanceof JsonTextError ? invalidField(field, error.message) : error;
}

/** Accepts only the protocol's names, not the other spellings of Protobuf's JSON. */
function assertKeys(desc: DescMessage, node: JsonObject, path: string): void {
  const { byName } = jsonShape(desc);
  for (const { key, value } of node.members) {
    const field = byName.get(key.value)?.field;
    const childPath = `${path}${key.value.slice(0, shownIdCharsMax)}`;
    if (field === undefined || field.name !== key.value) {
      throw invalidField(childPath, "unknown key: remove it");
    }
    if (value.kind === "null" && childPath !== "description") {
      throw invalidField(childPath, "must not be null: leave it out instead");
    }
    if (field.message !== undefined && value.kind === "object") {
      assertKeys(field.message, value, `${childPath}.`);
    }
  }
}

function readFields(text: string): RunnerManifest {
  const manifest = reflect(RunnerManifestSchema);
  try {
    readMessageJson(manifest, text, { lenient: false });
  } catch (error) {
    const [violation] = error instanceof Fault ? error.violations : [];
    throw violation === undefined ? error : invalidField(violation.field, violation.description);
  }
  return manifest.message as RunnerManifest;
}

function assertId({ id, name }: RunnerManifest): void {
  const parts = parseRunnerId(id);
  if (parts === undefined) {
    throw invalidField("id", `must be ${runnerIdForm}`);
  }
  if (parts.runner !== name) {
    throw invalidField("name", `must be the last part of the id, ${JSON.stringify(parts.runner)}`);
  }
}

/** Refuses unknown operations, and drops repeated ones. */
function readPermissions({ permissions }: RunnerManifest): void {
  for (const [kind, words] of Object.entries(permissionWords)) {
    const asked = permissions?.[kind as PermissionKind] ?? [];
    const at = asked.findIndex((word) => !(words as readonly string[]).includes(word));
    if (at >= 0) {
      const { name } = RunnerPermissionsSchema.field[kind as PermissionKind];
      throw invalidField(`permissions.${name}[${at}]`, `must be one of ${words.join(", ")}`);
    }
    asked.splice(0, asked.length, ...new Set(asked));
  }
}

function assertChunkContent(manifest: RunnerManifest): void {
  const word = statedChunkContent(manifest);
  if (word !== undefined && !isChunkContent(word)) {
    throw invalidField("metadata.chunk_content", "must be snapshot or increment");
  }
}

/** Accepts null for a language without a text: dumps of the SDK have it. */
function assertTexts(field: string, json: string | undefined): void {
  if (json === undefined || json === "null") {
    return;
  }
  const odd = assertObject(field, json)?.members.find(({ value }) => value.kind !== "string" && value.kind !== "null");
  if (odd !== undefined) {
    throw invalidField(`${field}.${odd.key.value.slice(0, shownIdCharsMax)}`, "must be a string");
  }
}

function assertConfigSchema(json: string | undefined): void {
  const node = json === undefined ? undefined : parseFreeJson(json);
  if (node === undefined) {
    return;
  }
  if (node.kind !== "array") {
    throw invalidField("config_schema", "must be a list of fields");
  }
  for (const [index, item] of node.items.entries()) {
    const path = `config_schema[${index}]`;
    if (item.kind !== "object") {
      throw invalidField(path, "must be an object with type and name");
    }
    for (const key of ["type", "name"]) {
      if (!textMember(item, key)) {
        throw invalidField(`${path}.${key}`, "must be a string that is not empty");
      }
    }
  }
}

function assertObject(field: string, json: string | undefined): JsonObject | undefined {
  try {
    return json === undefined ? undefined : parseFreeObject(json);
  } catch (error) {
    throw notJson(field, error);
  }
}
