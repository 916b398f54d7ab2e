// Which manifests are valid, and the errors of the others.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RunnerManifestSchema } from "#gen/runnel/runner/v1/runner_pb.js";
import { Fault } from "../../src/platform/base/fault.ts";
import { printMessage } from "../../src/platform/base/json/print.ts";
import {
  manifestBytesMax,
  manifestFromBytes,
  manifestToBytes,
  peekRunnerId,
  readManifest,
} from "../../src/protocols/langbot/runners/manifest.ts";
import { formatRunnerId, parseRunnerId } from "../../src/protocols/langbot/runners/runner-id.ts";
import { greedyManifest, manifestOf, runnerId } from "./manifests.ts";

/** The single violation of a refused manifest. */
function refusalOf(text: string): { field: string; description: string } | undefined {
  try {
    readManifest(text);
  } catch (error) {
    if (error instanceof Fault && error.reason === "INVALID_ARGUMENT" && error.violations.length === 1) {
      return error.violations[0];
    }
    throw error;
  }
  return undefined;
}

describe("a manifest", () => {
  test("that requests everything keeps all of it, even after storage", () => {
    const stored = manifestFromBytes(manifestToBytes(readManifest(greedyManifest)));
    expect(JSON.parse(printMessage(RunnerManifestSchema, stored))).toEqual(JSON.parse(greedyManifest));
  });

  test("that lists an operation twice has it once, in the order of first occurrence", () => {
    const asked = Object.entries(JSON.parse(greedyManifest).permissions as Record<string, string[]>);
    const twice = Object.fromEntries(asked.map(([kind, words]) => [kind, [...words, ...words]]));
    const read = readManifest(manifestOf({ permissions: twice }));
    expect(JSON.parse(printMessage(RunnerManifestSchema, read)).permissions).toEqual(Object.fromEntries(asked));
  });

  test("with only an id and a name requests nothing", () => {
    const manifest = readManifest(JSON.stringify({ id: runnerId, name: "default" }));
    expect(manifest.capabilities).toBeUndefined();
    expect(manifest.permissions).toBeUndefined();
  });

  test("keeps the numbers of its configuration schema and metadata as they were written", () => {
    const text = `{"id":"${runnerId}","name":"default","config_schema":[{"type":"number","name":"n","default":1.0,
      "maximum":9007199254740993}],"metadata":{"a":1e2}}`;
    const { configSchema, metadata } = readManifest(text);
    expect(configSchema).toBe('[{"type":"number","name":"n","default":1.0,"maximum":9007199254740993}]');
    expect(metadata).toBe('{"a":1e2}');
  });

  test("may have no description and no text in a language, as in dumps of the SDK", () => {
    expect(refusalOf(manifestOf({ description: null, label: { en_US: "x", zh_Hans: null } }))).toBeUndefined();
  });

  test.each<[string, string, string]>([
    // Case 2: a capability is never coerced.
    ["a capability that is a word", manifestOf({ capabilities: { streaming: "yes" } }), "capabilities.streaming"],
    ["a capability that is a number", manifestOf({ capabilities: { streaming: 1 } }), "capabilities.streaming"],
    ["a capability in quotes", manifestOf({ capabilities: { streaming: "true" } }), "capabilities.streaming"],
    ["a capability that is null", manifestOf({ capabilities: { streaming: null } }), "capabilities.streaming"],
    ["a capability that is unknown", manifestOf({ capabilities: { flying: true } }), "capabilities.flying"],
    ["Protobuf's name of a key", manifestOf({ capabilities: { toolCalling: true } }), "capabilities.toolCalling"],
    ["Protobuf's name of the schema", manifestOf({ configSchema: [] }), "configSchema"],
    ["an unknown key", manifestOf({ version: 1 }), "version"],
    ["capabilities that are null", manifestOf({ capabilities: null }), "capabilities"],
    ["capabilities that are a list", manifestOf({ capabilities: ["streaming"] }), "capabilities"],
    ["a permission of an unknown kind", manifestOf({ permissions: { network: ["dial"] } }), "permissions.network"],
    ["an unknown operation", manifestOf({ permissions: { models: ["invoke", "train"] } }), "permissions.models[1]"],
    ["an operation of another kind", manifestOf({ permissions: { tools: ["invoke"] } }), "permissions.tools[0]"],
    ["an operation in capitals", manifestOf({ permissions: { tools: ["Call"] } }), "permissions.tools[0]"],
    ["an operation that is not a string", manifestOf({ permissions: { tools: [1] } }), "permissions.tools[0]"],
    ["operations that are no list", manifestOf({ permissions: { tools: "call" } }), "permissions.tools"],
    // Case 4: the id must be the manifest's own.
    ["an id of another runner", manifestOf({ id: "plugin:acme/chat/other" }), "name"],
    ["an id without the prefix", manifestOf({ id: "acme/chat/default" }), "id"],
    ["an id of two parts", manifestOf({ id: "plugin:chat/default" }), "id"],
    ["an id of four parts", manifestOf({ id: "plugin:acme/chat/v1/default" }), "id"],
    ["an id with an empty part", manifestOf({ id: "plugin:/chat/default" }), "id"],
    ["an id with a long part", manifestOf({ id: `plugin:${"a".repeat(65)}/chat/default` }), "id"],
    ["an id with a blank", manifestOf({ id: "plugin:ac me/chat/default" }), "id"],
    ["an id that is not a string", manifestOf({ id: 7 }), "id"],
    ["no id", JSON.stringify({ name: "default" }), "id"],
    ["no name", JSON.stringify({ id: runnerId }), "name"],
    ["a label that is a text", manifestOf({ label: "Default" }), "label"],
    ["a label with a number", manifestOf({ label: { en_US: 1 } }), "label.en_US"],
    ["a description that is a list", manifestOf({ description: [] }), "description"],
    ["a schema that is an object", manifestOf({ config_schema: {} }), "config_schema"],
    ["a field of the schema that is a text", manifestOf({ config_schema: ["a"] }), "config_schema[0]"],
    ["a field without a type", manifestOf({ config_schema: [{ name: "a" }] }), "config_schema[0].type"],
    ["a field without a name", manifestOf({ config_schema: [{ type: "a", name: "" }] }), "config_schema[0].name"],
    ["metadata that is a list", manifestOf({ metadata: [] }), "metadata"],
    ["a key that comes twice", manifestOf().replace("{", `{"name":"default",`), "name"],
    ["U+0000", manifestOf({ metadata: { a: "\0" } }), "manifest"],
    ["half of a surrogate pair", manifestOf({ metadata: { a: "\ud800" } }), "manifest"],
    [
      "nesting without end",
      manifestOf().replace("}", `,"metadata":${'{"a":'.repeat(101)}1${"}".repeat(102)}`),
      "manifest",
    ],
    ["no JSON", "id: plugin:acme/chat/default", "manifest"],
    ["a list", `[${manifestOf()}]`, "manifest"],
    ["nothing", "", "manifest"],
    ["too many bytes", manifestOf({ metadata: { a: "ä".repeat(manifestBytesMax / 2) } }), "manifest"],
  ])("with %s is refused with its path", (_, text, field) => {
    const refusal = refusalOf(text);
    expect(refusal?.field).toBe(field);
    expect(refusal?.description).not.toBe("");
  });

  test("of any JSON is accepted or refused with one path", () => {
    const anyValue = fc.jsonValue({ maxDepth: 3 });
    const odd = fc.record(
      {
        id: fc.oneof(fc.constant(runnerId), anyValue),
        name: fc.oneof(fc.constant("default"), anyValue),
        capabilities: fc.oneof(fc.dictionary(fc.constantFrom("streaming", "interrupt", "odd"), anyValue), anyValue),
        permissions: fc.oneof(fc.dictionary(fc.constantFrom("models", "tools", "odd"), anyValue), anyValue),
        config_schema: anyValue,
        metadata: anyValue,
        label: anyValue,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(odd, anyValue), (value) => {
        const text = JSON.stringify(value);
        const refusal = refusalOf(text);
        if (refusal === undefined) {
          // In an accepted manifest every capability is a boolean.
          const { capabilities = {} } = value as { capabilities?: Record<string, unknown> };
          expect(Object.values(capabilities).every((each) => typeof each === "boolean")).toBe(true);
          expect(peekRunnerId(text)).toBe(runnerId);
        }
      }),
    );
  });
});

describe("the id of a runner", () => {
  test("has three parts of any allowed characters", () => {
    const part = fc.stringMatching(/^[A-Za-z0-9_.-]{1,64}$/);
    fc.assert(
      fc.property(part, part, part, (author, name, runner) => {
        expect(parseRunnerId(formatRunnerId({ author, name, runner }))).toEqual({ author, name, runner });
      }),
    );
  });

  test("is readable from a refused manifest, but not from text without a valid id", () => {
    expect(peekRunnerId(manifestOf({ capabilities: 1 }))).toBe(runnerId);
    expect(peekRunnerId("{")).toBe("");
    expect(peekRunnerId('{"id":7}')).toBe("");
    expect(peekRunnerId(manifestOf({ id: "x".repeat(300) }))).toBe("");
  });
});
