// RunnerService: runners and bindings, over gRPC and REST, and their access control.

import { describe, expect } from "vitest";
import { BindingScope_Kind } from "#gen/runnel/runner/v1/binding_pb.js";
import { Runner_State } from "#gen/runnel/runner/v1/runner_pb.js";
import { ResultDisposition, RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { systemClock } from "../../src/platform/base/clock.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import { manifestBytesMax } from "../../src/protocols/langbot/runners/manifest.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { greedyManifest, manifestOf, runnerId } from "../runners/manifests.ts";
import { openRunnerStage, refusal, test } from "./runner-stage.ts";

const { registerRunners, listRunners, getRunner, deleteRunner } = RunnerService.method;
const { putBinding, putAgentProfile, getAgentProfile, listAgentProfiles, deleteAgentProfile } = RunnerService.method;
const { putConfigFile, listConfigFiles, deleteConfigFile } = RunnerService.method;
const { getBinding, listBindings, deleteBinding, listResultVerdicts, listAuditEntries } = RunnerService.method;

const parts = { author: "acme", name: "chat", runner: "default" };

function manifestNamed(name: string): string {
  return manifestOf({ id: `plugin:acme/chat/${name}`, name });
}

function codesOf({ verdicts }: { verdicts: readonly { accepted: boolean; code: string }[] }): string[] {
  return verdicts.map(({ accepted, code }) => (accepted ? "accepted" : code));
}

describe("registering", () => {
  test("a refused manifest affects no other, and the error says where it is wrong (case 2)", async () => {
    const { register, client } = await openRunnerStage();
    const odd = manifestOf({ capabilities: { streaming: "yes" } });
    const response = await register([odd, manifestNamed("one"), "{", manifestNamed("two")]);
    expect(codesOf(response)).toEqual(["invalid_argument", "accepted", "invalid_argument", "accepted"]);
    expect(response.verdicts[0]).toMatchObject({
      runnerId,
      problem: expect.stringContaining("capabilities.streaming"),
    });
    expect(response.verdicts[2]?.runnerId).toBe("");
    const { runners } = await client.call(listRunners, {});
    expect(runners.map((runner) => runner.runnerId)).toEqual(["plugin:acme/chat/one", "plugin:acme/chat/two"]);
  });

  test("an id that differs from the manifest's is refused (case 4)", async ({ register }) => {
    expect(codesOf(await register([manifestOf({ id: "plugin:acme/chat/other" })]))).toEqual(["invalid_argument"]);
  });

  test("the first of a batch gets an id, and so does the first worker (case 6)", async ({ register, client }) => {
    const first = manifestOf({ metadata: { n: 1 } });
    const second = manifestOf({ metadata: { n: 2 } });
    expect(codesOf(await register([first, second]))).toEqual(["accepted", "already_exists"]);
    expect(codesOf(await register([second], "another"))).toEqual(["permission_denied"]);
    const { runner: before } = await client.call(getRunner, parts);
    expect(before).toMatchObject({ workerId: "worker", manifest: { metadata: '{"n":1}' } });
    expect(codesOf(await register([second], "worker", "4.11"))).toEqual(["accepted"]);
    const { runner: after } = await client.call(getRunner, parts);
    expect(after).toMatchObject({ workerId: "worker", era: "4.11", manifest: { metadata: '{"n":2}' } });
    expect(after?.createTime).toEqual(before?.createTime);
    expect(after?.updateTime).not.toEqual(before?.updateTime);
  });

  test("a refused manifest leaves the id to a valid one", async ({ register }) => {
    expect(codesOf(await register([manifestOf({ odd: 1 }), manifestOf()]))).toEqual(["invalid_argument", "accepted"]);
  });

  test("exactly one of many workers that register the same id at once gets it", async ({ register, service }) => {
    const ids = Array.from({ length: 8 }, (_, index) => `worker-${index}`);
    // In different orders: no registration may deadlock with another.
    const batch = [manifestNamed("a"), manifestNamed("b"), manifestNamed("c")];
    const answers = await Promise.all(
      ids.map((id, index) => register(index % 2 === 0 ? batch : batch.toReversed(), id)),
    );
    const accepted = answers.flatMap(({ verdicts }, index) =>
      verdicts.filter((verdict) => verdict.accepted).map((verdict) => ({ id: verdict.runnerId, by: ids[index] })),
    );
    expect(accepted.map(({ id }) => id).toSorted()).toEqual(["a", "b", "c"].map((name) => `plugin:acme/chat/${name}`));
    const rows = await query<{ runner_id: string; worker_id: string }>(
      service.databaseUrl,
      "select runner_id, worker_id from runner",
    );
    expect(rows.map((row) => ({ id: row.runner_id, by: row.worker_id }))).toEqual(expect.arrayContaining(accepted));
  });

  test("each call creates its own session, for the accepted runners", async ({ register, service }) => {
    const one = await register([manifestNamed("one"), "{"]);
    const two = await register([manifestNamed("two")]);
    // Without manifests the session is for all runners of the worker.
    const bare = await register([]);
    expect(bare.verdicts).toEqual([]);
    expect(new Set([one, two, bare].map(({ workerSessionId }) => workerSessionId)).size).toBe(3);
    const rows = await query<{ id: string; runner_ids: string[] }>(
      service.databaseUrl,
      "select id, runner_ids from worker_session",
    );
    const runnersOf = (id: string) => rows.find((row) => row.id === id)?.runner_ids;
    expect(runnersOf(one.workerSessionId)).toEqual(["plugin:acme/chat/one"]);
    expect(runnersOf(two.workerSessionId)).toEqual(["plugin:acme/chat/two"]);
    expect(runnersOf(bare.workerSessionId)).toEqual(["plugin:acme/chat/one", "plugin:acme/chat/two"]);
  });

  test("an invalid worker id or an unknown era is refused", async ({ register }) => {
    expect(await refusal(register([], "no blanks"))).toBe("INVALID_ARGUMENT");
    expect(await refusal(register([], "worker", "5"))).toBe("INVALID_ARGUMENT");
  });
});

describe("runners", () => {
  test("give an empty list at first, which is not an error (case 8)", async ({ client }) => {
    expect(await client.call(listRunners, {})).toMatchObject({ runners: [], nextPageToken: "" });
  });

  test("are available while their worker was seen recently", async ({ register, client, service }) => {
    await register();
    const stateOf = async () => (await client.call(getRunner, parts)).runner?.state;
    expect(await stateOf()).toBe(Runner_State.AVAILABLE);
    await query(service.databaseUrl, "update worker_session set seen_time = now() - interval '46 seconds'");
    expect(await stateOf()).toBe(Runner_State.OFFLINE);
    // A process of another worker is no sign of life of this worker.
    await register([manifestNamed("other")], "another");
    expect(await stateOf()).toBe(Runner_State.OFFLINE);
    await register([]);
    expect(await stateOf()).toBe(Runner_State.AVAILABLE);
  });

  test("are visible only to their own client", async ({ register, client, stranger }) => {
    await register();
    expect((await stranger.call(listRunners, {})).runners).toEqual([]);
    expect(await refusal(stranger.call(getRunner, parts))).toBe("RUNNER_NOT_FOUND");
    expect(await refusal(stranger.call(deleteRunner, parts))).toBe("RUNNER_NOT_FOUND");
    // The same id is free for another client.
    const theirs = await stranger.call(registerRunners, { workerId: "theirs", manifests: [manifestOf()] });
    expect(codesOf(theirs)).toEqual(["accepted"]);
    expect((await client.call(getRunner, parts)).runner?.workerId).toBe("worker");
  });

  test("disappear when they are deleted, and another worker can use their id", async ({ register, client }) => {
    await register();
    await client.call(deleteRunner, parts);
    expect(await refusal(client.call(getRunner, parts))).toBe("RUNNER_NOT_FOUND");
    expect(await refusal(client.call(deleteRunner, parts))).toBe("RUNNER_NOT_FOUND");
    expect(codesOf(await register([manifestOf()], "another"))).toEqual(["accepted"]);
  });

  test("are listed in pages of limited size", async ({ register, client }) => {
    const large = { metadata: { text: "x".repeat(manifestBytesMax - 1_000) } };
    for (let index = 0; index < 9; index += 3) {
      const names = [index, index + 1, index + 2].map((each) => `r${each}`);
      await register(names.map((name) => manifestOf({ id: `plugin:acme/chat/${name}`, name, ...large })));
    }
    const pages: number[] = [];
    const ids: string[] = [];
    let pageToken = "";
    do {
      const page = await client.call(listRunners, { pageToken, pageSize: 7 });
      pages.push(page.runners.length);
      ids.push(...page.runners.map((runner) => runner.runnerId));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(ids).toEqual(Array.from({ length: 9 }, (_, index) => `plugin:acme/chat/r${index}`));
    expect(pages).toEqual([4, 4, 1]);
  });

  test("have the documented form over REST", async ({ register, service }) => {
    await register([greedyManifest]);
    const response = await fetch(`${service.url}/v1/runners/acme/chat/default`, { headers: credentialsOf() });
    expect(await response.json()).toEqual({
      runner_id: runnerId,
      manifest: JSON.parse(greedyManifest),
      era: "spec",
      state: "available",
      worker_id: "worker",
      create_time: expect.any(String),
      update_time: expect.any(String),
    });
    const registered = await fetch(`${service.url}/v1/runners:register`, {
      method: "POST",
      headers: { ...credentialsOf(), "content-type": "application/json" },
      body: `{"worker_id":"worker","manifests":[${manifestNamed("rest")},{"id":7}]}`,
    });
    expect(await registered.json()).toEqual({
      worker_session_id: expect.any(String),
      verdicts: [
        { runner_id: "plugin:acme/chat/rest", accepted: true },
        { accepted: false, code: "invalid_argument", problem: expect.stringContaining("id") },
      ],
    });
  });
});

describe("bindings", () => {
  test("are put, replaced, read and deleted", async ({ put, client }) => {
    const made = await put({ runnerConfig: '{"a":1.0,"b":9007199254740993}', eventTypes: ["a", "b"] });
    expect(made).toMatchObject({ bindingId: "b", runnerId, eventTypes: ["a", "b"] });
    expect((await client.call(getBinding, { bindingId: "b" })).binding).toEqual(made);
    const replaced = await put({ enabled: false });
    expect(replaced).toMatchObject({ enabled: false, eventTypes: [], createTime: made?.createTime });
    expect(replaced?.runnerConfig).toBeUndefined();
    expect(replaced?.updateTime).not.toEqual(made?.updateTime);
    await client.call(deleteBinding, { bindingId: "b" });
    expect(await refusal(client.call(getBinding, { bindingId: "b" }))).toBe("BINDING_NOT_FOUND");
    expect(await refusal(client.call(deleteBinding, { bindingId: "b" }))).toBe("BINDING_NOT_FOUND");
  });

  test("keep the numbers of their configuration over REST", async ({ service }) => {
    const config = '{"big":9007199254740993,"float":1.0,"int":1}';
    const url = `${service.url}/v1/bindings/b`;
    const body = `{"runner_id":"${runnerId}","runner_config":${config},"scope":{"kind":"bot","id":"x"}}`;
    const headers = { ...credentialsOf(), "content-type": "application/json" };
    const put = await fetch(url, { method: "PUT", headers, body });
    expect(put.status).toBe(200);
    expect(await put.text()).toContain(`"runner_config":${config}`);
    const read = await (await fetch(url, { headers })).text();
    expect(read).toContain(`"runner_config":${config}`);
    expect(read).toContain('"scope":{"kind":"bot","id":"x"}');
  });

  test("are visible only to their own client, and listed by their ids", async ({ put, client, stranger }) => {
    for (const bindingId of ["c", "a", "b"]) {
      await put({ bindingId });
    }
    const first = await client.call(listBindings, { pageSize: 2 });
    expect(first.bindings.map(({ bindingId }) => bindingId)).toEqual(["a", "b"]);
    const next = await client.call(listBindings, { pageSize: 2, pageToken: first.nextPageToken });
    expect(next).toMatchObject({ bindings: [{ bindingId: "c" }], nextPageToken: "" });
    expect((await stranger.call(listBindings, {})).bindings).toEqual([]);
    expect(await refusal(stranger.call(getBinding, { bindingId: "a" }))).toBe("BINDING_NOT_FOUND");
    expect(await refusal(stranger.call(listBindings, { pageToken: first.nextPageToken }))).toBe("CURSOR_INVALID");
  });
});

describe("the records of a run", () => {
  test("contain its verdicts in order of arrival, only for its own client", async () => {
    const { register, put, start, client, stranger, service } = await openRunnerStage();
    await register();
    await put();
    const { runId } = await start();
    const words = ["dropped_invalid", "dropped_duplicate", "telemetry"];
    await query(
      service.databaseUrl,
      `insert into result_verdict (run_id, position, sequence, type, disposition, diagnostics)
       select $1, n, n * 2, 'state.updated', ($2::text[])[n], array['gap ' || n] from generate_series(1, 3) as n`,
      [runId, words],
    );
    const first = await client.call(listResultVerdicts, { runId, pageSize: 2 });
    expect(first.verdicts).toMatchObject([
      { sequence: 2n, type: "state.updated", disposition: ResultDisposition.DROPPED_INVALID, diagnostics: ["gap 1"] },
      { sequence: 4n, disposition: ResultDisposition.DROPPED_DUPLICATE },
    ]);
    const next = await client.call(listResultVerdicts, { runId, pageSize: 2, pageToken: first.nextPageToken });
    expect(next.verdicts).toMatchObject([{ sequence: 6n, disposition: ResultDisposition.TELEMETRY }]);
    expect(next.nextPageToken).toBe("");
    expect(await refusal(stranger.call(listResultVerdicts, { runId }))).toBe("RUN_NOT_FOUND");
    const unknown = newUuid(systemClock.nowMs());
    expect(await refusal(client.call(listResultVerdicts, { runId: unknown }))).toBe("RUN_NOT_FOUND");
  });

  test("contain its audit entries, newest first, only for its own client", async ({ client, stranger, service }) => {
    const runs = [newUuid(systemClock.nowMs()), newUuid(systemClock.nowMs())];
    for (const [index, action] of ["state_get", "call_tool", "state_set"].entries()) {
      await query(
        service.databaseUrl,
        `insert into audit_entry (id, client, run_id, runner_id, action, resource, scope, result, reason)
         values ($1, 'key/local', $2, $3, $4, 'r', 'actor', 'deny', 'why')`,
        [newUuid(systemClock.nowMs()), runs[index % 2], runnerId, action],
      );
    }
    const first = await client.call(listAuditEntries, { pageSize: 2 });
    expect(first.entries).toMatchObject([
      { action: "state_set", runId: runs[0], runnerId, resource: "r", scope: "actor", result: "deny", reason: "why" },
      { action: "call_tool", runId: runs[1] },
    ]);
    const next = await client.call(listAuditEntries, { pageSize: 2, pageToken: first.nextPageToken });
    expect(next.entries.map(({ action }) => action)).toEqual(["state_get"]);
    const ofOne = await client.call(listAuditEntries, { runId: runs[1] ?? "" });
    expect(ofOne.entries.map(({ action }) => action)).toEqual(["call_tool"]);
    expect((await stranger.call(listAuditEntries, { runId: runs[1] ?? "" })).entries).toEqual([]);
    const foreign = client.call(listAuditEntries, { runId: runs[1] ?? "", pageToken: first.nextPageToken });
    expect(await refusal(foreign)).toBe("CURSOR_INVALID");
  });
});

test("configuration files are put, listed by key and deleted, separately for each client", async () => {
  const { client, stranger } = await openRunnerStage();
  for (const fileKey of ["b.txt", "a.txt"]) {
    await client.call(putConfigFile, { fileKey, mimeType: "text/plain", content: Buffer.from("four") });
  }
  await client.call(putConfigFile, { fileKey: "a.txt", content: Buffer.from("replaced") });
  const first = await client.call(listConfigFiles, { pageSize: 1 });
  expect(first.files).toMatchObject([{ fileKey: "a.txt", sizeBytes: 8n }]);
  expect(first.files[0]?.mimeType).toBeUndefined();
  const { files } = await client.call(listConfigFiles, { pageToken: first.nextPageToken });
  expect(files).toMatchObject([{ fileKey: "b.txt", mimeType: "text/plain", sizeBytes: 4n }]);
  expect((await stranger.call(listConfigFiles, {})).files).toEqual([]);
  expect(await refusal(stranger.call(deleteConfigFile, { fileKey: "a.txt" }))).toBe("RESOURCE_NOT_FOUND");
  await client.call(deleteConfigFile, { fileKey: "a.txt" });
  expect((await client.call(listConfigFiles, {})).files).toHaveLength(1);
  for (const fileKey of ["", "../a", "a".repeat(129)]) {
    expect(await refusal(client.call(putConfigFile, { fileKey }))).toBe("INVALID_ARGUMENT");
  }
});

describe("an agent", () => {
  const agent = {
    agentId: "helper",
    runnerId,
    runnerConfig: '{"timeout":30,"n":9007199254740993}',
    resourcePolicy: { allowedTools: ["read_file"] },
    statePolicy: { stateScopes: ["runner"] },
  };

  test("is put, replaced, listed and deleted, separately for each client", async ({ client, stranger }) => {
    const { agent: put } = await client.call(putAgentProfile, { agent });
    expect(put).toMatchObject({ agentId: "helper", runnerConfig: agent.runnerConfig });
    await client.call(putAgentProfile, { agent: { ...agent, agentId: "a" } });
    const first = await client.call(listAgentProfiles, { pageSize: 1 });
    const rest = await client.call(listAgentProfiles, { pageToken: first.nextPageToken });
    expect([...first.agents, ...rest.agents].map(({ agentId }) => agentId)).toEqual(["a", "helper"]);
    expect((await client.call(getAgentProfile, { agentId: "helper" })).agent).toEqual(put);
    expect(await refusal(stranger.call(getAgentProfile, { agentId: "helper" }))).toBe("AGENT_NOT_FOUND");
    await client.call(deleteAgentProfile, { agentId: "helper" });
    expect(await refusal(client.call(deleteAgentProfile, { agentId: "helper" }))).toBe("AGENT_NOT_FOUND");
  });

  test("says for all of its bindings which runner takes their events, and with which configuration", async () => {
    const { client, register, start, service } = await openRunnerStage();
    await register();
    await client.call(putAgentProfile, { agent });
    for (const id of ["one", "two"]) {
      const binding = { bindingId: id, agentId: "helper", scope: { kind: BindingScope_Kind.BOT, id } };
      await client.call(putBinding, { binding });
    }
    for (const botId of ["one", "two"]) {
      const run = await start({ botId });
      expect(run).toMatchObject({ runnerId, bindingId: botId });
      const [row] = await query<{ granted: object; context: Buffer; seconds: number }>(
        service.databaseUrl,
        `select granted, context, extract(epoch from deadline - run.create_time)::int as seconds
         from remote_run join run on run.id = run_id where run_id = $1`,
        [run.runId],
      );
      expect(row).toMatchObject({
        seconds: 30,
        granted: { stateScopes: ["runner"], tools: { read_file: ["detail", "call"] } },
      });
      expect(row?.context.toString()).toContain("9007199254740993");
    }
    await client.call(deleteAgentProfile, { agentId: "helper" });
    expect(await refusal(start({ botId: "one" }))).toBe("AGENT_NOT_FOUND");
  });

  test.for([
    ["a runner beside it", { runnerId }],
    ["a configuration beside it", { runnerConfig: "{}" }],
    ["a policy beside it", { statePolicy: {} }],
  ] as const)("is refused in a binding with %s", async ([_, beside], { client }) => {
    const binding = { bindingId: "b", agentId: "helper", ...beside };
    expect(await refusal(client.call(putBinding, { binding }))).toBe("INVALID_ARGUMENT");
  });

  test.for([
    ["without a runner", { runnerId: "" }],
    ["with an invalid id", { agentId: "a b" }],
    ["with an invalid runner id", { runnerId: "acme/chat/default" }],
    ["with a configuration that is not an object", { runnerConfig: "[]" }],
    ["with an invalid timeout", { runnerConfig: '{"timeout":0}' }],
  ] as const)("%s is refused", async ([_, change], { client }) => {
    expect(await refusal(client.call(putAgentProfile, { agent: { ...agent, ...change } }))).toBe("INVALID_ARGUMENT");
    expect((await client.call(listAgentProfiles, {})).agents).toEqual([]);
  });
});
