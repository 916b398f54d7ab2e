// The grants of runs: a case for each rule, and the property that a grant never exceeds manifest, binding or event.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { apis } from "../../src/protocols/langbot/runners/grant.ts";
import { stateScopes } from "../../src/protocols/langbot/runners/scope.ts";
import { decide, fullEvent, openBinding } from "./granted.ts";
import { greedyManifest, manifestOf } from "./manifests.ts";

/** The manifest that requests everything, with one part replaced. */
function manifestBut(part: "permissions" | "capabilities", changes: Record<string, unknown>): string {
  const manifest = JSON.parse(greedyManifest);
  return JSON.stringify({ ...manifest, [part]: { ...manifest[part], ...changes } });
}

const llm = ["invoke", "stream", "count_tokens"];

test("everything that is requested, allowed and available is granted, with its operations", async () => {
  const { grant, resources } = await decide();
  expect(grant).toEqual({
    models: {
      "llm-config": llm,
      "llm-first": llm,
      "llm-second": llm,
      "rank-config": ["rerank"],
      "llm-policy": llm,
    },
    tools: { "tool-a": ["detail", "call"] },
    knowledgeBases: { "kb-a": ["list", "retrieve"] },
    files: ["faq.txt", "one.txt", "two.txt"],
    pluginStorage: true,
    workspaceStorage: true,
    apis: [...apis],
    stateScopes: [...stateScopes],
    delivery: { streaming: true, reply: true, messageCharsMax: undefined },
    announcesStreaming: true,
  });
  expect(resources.skills.map(({ skillName }) => skillName)).toEqual(["skill-a"]);
});

test("a manifest that requests nothing is granted only the state", async () => {
  const { grant, resources } = await decide({ manifest: manifestOf() });
  expect(grant).toMatchObject({ models: {}, tools: {}, knowledgeBases: {}, files: [], apis: ["state"] });
  expect(grant).toMatchObject({ pluginStorage: false, workspaceStorage: false, announcesStreaming: false });
  expect(resources).toMatchObject({ models: [], tools: [], knowledgeBases: [], skills: [], files: [] });
});

test("the resources in the context are those of the grant", async () => {
  const { grant, resources } = await decide();
  expect(Object.fromEntries(resources.models.map((each) => [each.modelId, each.operations]))).toEqual(grant.models);
  expect(Object.fromEntries(resources.tools.map((each) => [each.toolName, each.operations]))).toEqual(grant.tools);
  expect(Object.fromEntries(resources.knowledgeBases.map((each) => [each.kbId, each.operations]))).toEqual(
    grant.knowledgeBases,
  );
  expect(resources.files.map(({ fileId }) => fileId)).toEqual(grant.files);
  expect(resources.storage).toMatchObject({ pluginStorage: true, workspaceStorage: true });
});

describe("models", () => {
  test("are granted with the operations of the manifest only", async () => {
    const { grant } = await decide({ manifest: manifestBut("permissions", { models: ["stream"] }) });
    expect(grant.models["llm-config"]).toEqual(["stream"]);
    expect(grant.models["rank-config"]).toBeUndefined();
  });

  test("that rerank are granted only with that permission", async () => {
    const { grant } = await decide({ manifest: manifestBut("permissions", { models: ["rerank"] }) });
    expect(grant.models).toEqual({ "rank-config": ["rerank"] });
  });

  test("that do not exist are not granted", async () => {
    const { grant } = await decide({
      binding: { resourcePolicy: { allowedModels: ["gone"] }, runnerConfig: '{"model":"gone"}' },
    });
    expect(grant.models).toEqual({});
  });

  test.each([
    ["llm-model-selector", "llm-a", ["llm-a"]],
    ["select-llm-model", "llm-a", ["llm-a"]],
    ["model-fallback-selector", "llm-a", ["llm-a"]],
    [
      "model-fallback-selector",
      { primary: "", fallbacks: ["llm-a", "__none__"], reasoning: { "llm-b": "x" } },
      ["llm-a"],
    ],
    ["rerank-model-selector", "rank-a", ["rank-a"]],
    ["embedding-model-selector", "llm-a", []],
  ])("named by a %s with %j are granted", async (type, value, ids) => {
    const { grant } = await decide({
      manifest: manifestOf({
        permissions: { models: ["invoke", "rerank"] },
        config_schema: [{ type, name: "model" }],
      }),
      binding: { resourcePolicy: {}, runnerConfig: JSON.stringify({ model: value }) },
    });
    expect(Object.keys(grant.models)).toEqual(ids);
  });

  test("named by a field of another type are not granted", async () => {
    const { grant } = await decide({ binding: { runnerConfig: '{"greeting":"llm-x","unlisted":"llm-y","model":7}' } });
    expect(Object.keys(grant.models)).toEqual(["llm-policy"]);
  });
});

describe("tools", () => {
  test.each([
    ["the permission", manifestBut("permissions", { tools: [] })],
    ["the capability", manifestBut("capabilities", { tool_calling: false })],
  ])("named by the policy are not granted without %s (case 18)", async (_, manifest) => {
    const { grant, resources } = await decide({ manifest });
    expect(grant.tools).toEqual({});
    expect(resources.tools).toEqual([]);
  });

  test("that the policy does not name, or that do not exist, are not granted", async () => {
    expect((await decide({ binding: { resourcePolicy: {} } })).grant.tools).toEqual({});
    expect((await decide({ binding: { resourcePolicy: { allowedTools: ["gone"] } } })).grant.tools).toEqual({});
  });
});

describe("knowledge bases", () => {
  test.each([
    ["the permission", manifestBut("permissions", { knowledge_bases: [] })],
    ["the capability", manifestBut("capabilities", { knowledge_retrieval: false })],
  ])("named by the policy are not granted without %s", async (_, manifest) => {
    expect((await decide({ manifest })).grant.knowledgeBases).toEqual({});
  });

  test("that do not exist are not granted", async () => {
    const { grant } = await decide({ binding: { resourcePolicy: { allowedKnowledgeBases: ["gone"] } } });
    expect(grant.knowledgeBases).toEqual({});
  });

  const selecting = (type: string, value: unknown, permissions = ["retrieve"]) => ({
    manifest: manifestOf({
      capabilities: { knowledge_retrieval: true },
      permissions: { knowledge_bases: permissions },
      config_schema: [{ type, name: "knowledge-bases", default: ["kb-of-the-author"] }],
    }),
    binding: { resourcePolicy: {}, runnerConfig: JSON.stringify({ "knowledge-bases": value }) },
  });

  test.each([
    ["knowledge-base-multi-selector", ["kb-a", "kb-b", "kb-a"]],
    ["select-knowledge-bases", ["kb-a", "__none__", "kb-b", "__none", ""]],
    ["knowledge-base-selector", "kb-a"],
  ])("named by a %s are granted once each, with the operations of the manifest", async (type, value) => {
    const { resources } = await decide(selecting(type, value));
    const shown = resources.knowledgeBases.map(({ kbId, kbName, operations }) => ({ kbId, kbName, operations }));
    const ids = typeof value === "string" ? [value] : ["kb-a", "kb-b"];
    expect(shown).toEqual(ids.map((kbId) => ({ kbId, kbName: "facts", operations: ["retrieve"] })));
  });

  test.each([
    ["a field of another type", selecting("string", "kb-a")],
    ["a value that selects nothing", selecting("knowledge-base-selector", "__none__")],
    ["a manifest without the permission", selecting("knowledge-base-selector", "kb-a", [])],
    [
      "a default of the manifest",
      { ...selecting("knowledge-base-multi-selector", 0), binding: { resourcePolicy: {} } },
    ],
  ])("are not granted by %s", async (_, given) => {
    expect((await decide(given)).grant.knowledgeBases).toEqual({});
  });

  test("named by both the configuration and the policy are granted once", async () => {
    const { manifest, binding } = selecting("knowledge-base-multi-selector", ["kb-a"]);
    const resourcePolicy = { allowedKnowledgeBases: ["kb-b", "kb-a"] };
    const { resources } = await decide({ manifest, binding: { ...binding, resourcePolicy } });
    expect(resources.knowledgeBases.map(({ kbId }) => kbId)).toEqual(["kb-a", "kb-b"]);
  });
});

test("skills are listed only for a runner with that capability", async () => {
  const { resources } = await decide({ manifest: manifestBut("capabilities", { skill_authoring: false }) });
  expect(resources.skills).toEqual([]);
});

test("only files of the configuration are granted, and only with the permission", async () => {
  expect((await decide({ manifest: manifestBut("permissions", { files: ["knowledge"] }) })).grant.files).toEqual([]);
  expect((await decide({ manifest: manifestBut("permissions", { files: ["config"] }) })).grant.files).toContain(
    "faq.txt",
  );
});

describe("storage", () => {
  test("of the plugin may be granted without that of the workspace (case 26)", async () => {
    const { grant } = await decide({ manifest: manifestBut("permissions", { storage: ["plugin"] }) });
    expect(grant).toMatchObject({ pluginStorage: true, workspaceStorage: false });
    expect(grant.apis).toContain("storage");
  });

  test("of the workspace is opt-in, that of the plugin is opt-out", async () => {
    const byDefault = await decide({ binding: { resourcePolicy: {} } });
    expect(byDefault.grant).toMatchObject({ pluginStorage: true, workspaceStorage: false });
    const closed = await decide({ binding: { resourcePolicy: { allowPluginStorage: false } } });
    expect(closed.grant).toMatchObject({ pluginStorage: false, workspaceStorage: false });
    expect(closed.grant.apis).not.toContain("storage");
  });

  test("of the workspace is not granted for an event without a workspace", async () => {
    const { grant } = await decide({ event: { ...fullEvent, workspaceId: "" } });
    expect(grant).toMatchObject({ pluginStorage: true, workspaceStorage: false });
  });
});

describe("the available APIs", () => {
  const talkOnly = ["history_page", "history_search", "event_page"];

  test("leave out those that need a conversation for an event without one (case 24)", async () => {
    const { conversationId: _, ...event } = fullEvent;
    const { grant } = await decide({ event });
    expect(grant.apis).toEqual(apis.filter((api) => !talkOnly.includes(api)));
  });

  test.each([
    ["history_page", { history: ["search"] }],
    ["history_search", { history: ["page"] }],
    ["event_get", { events: ["page"] }],
    ["event_page", { events: ["get"] }],
    ["artifact_metadata", { artifacts: ["read"] }],
    ["artifact_read", { artifacts: ["metadata"] }],
    ["storage", { storage: [] }],
  ])("leave out %s without its permission", async (api, permissions) => {
    const { grant } = await decide({ manifest: manifestBut("permissions", permissions) });
    expect(grant.apis).toEqual(apis.filter((each) => each !== api));
  });
});

describe("the state", () => {
  test("is granted for the conversation and the actor by default", async () => {
    const { grant } = await decide({ binding: { statePolicy: {} } });
    expect(grant.stateScopes).toEqual(["conversation", "actor"]);
  });

  test("is not granted for scopes that the event does not have", async () => {
    const { grant } = await decide({ event: { eventId: "e", eventType: "message.received" } });
    expect(grant.stateScopes).toEqual(["runner"]);
  });

  test("is not granted when the policy disables it", async () => {
    const { grant } = await decide({ binding: { statePolicy: { enableState: false, stateScopes: ["runner"] } } });
    expect(grant.stateScopes).toEqual([]);
    expect(grant.apis).not.toContain("state");
  });
});

test("delivery follows the binding", async () => {
  const { grant } = await decide({
    binding: { deliveryPolicy: { enableStreaming: false, enableReply: false, maxMessageSize: 10n } },
  });
  expect(grant.delivery).toEqual({ streaming: false, reply: false, messageCharsMax: 10 });
});

test("a run is never granted more than with a manifest that requests more", async () => {
  const { permissions, capabilities } = JSON.parse(greedyManifest) as {
    permissions: Record<string, string[]>;
    capabilities: Record<string, boolean>;
  };
  const most = (await decide()).grant;
  const arbitrary = fc.record({
    permissions: fc.record(Object.fromEntries(Object.entries(permissions).map(([k, v]) => [k, fc.subarray(v)]))),
    capabilities: fc.record(Object.fromEntries(Object.keys(capabilities).map((k) => [k, fc.boolean()]))),
    resourcePolicy: fc.constantFrom(openBinding.resourcePolicy, {}, { allowWorkspaceStorage: true }),
  });
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ resourcePolicy, ...asked }) => {
      const manifest = JSON.stringify({ ...JSON.parse(greedyManifest), ...asked });
      const { grant } = await decide({ manifest, binding: resourcePolicy === undefined ? {} : { resourcePolicy } });
      for (const kind of ["models", "tools", "knowledgeBases"] as const) {
        const asks = asked.permissions[kind === "knowledgeBases" ? "knowledge_bases" : kind] ?? [];
        for (const [name, operations] of Object.entries(grant[kind])) {
          expect(most[kind][name]).toEqual(expect.arrayContaining([...operations]));
          expect(asks).toEqual(expect.arrayContaining([...operations]));
          expect(operations).not.toEqual([]);
        }
      }
      expect(grant.workspaceStorage && !asked.permissions.storage?.includes("workspace")).toBe(false);
      expect(most.apis).toEqual(expect.arrayContaining([...grant.apis]));
      expect(Object.keys(grant.tools).length > 0 && !asked.capabilities.tool_calling).toBe(false);
    }),
  );
});
