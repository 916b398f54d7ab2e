// StartRun: one event, one binding, one run. Everything that the run may use is decided and stored.

import { fromBinary, toBinary } from "@bufbuild/protobuf";
import pg from "pg";
import { describe, expect, onTestFinished } from "vitest";
import { AgentEventRecordSchema } from "#gen/runnel/host/v1/host_history_service_pb.js";
import { AgentRunContextSchema } from "#gen/runnel/runner/v1/agent_run_context_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { Run_State, RunSchema } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { type Era, printContext } from "../../src/protocols/langbot/runners/era.ts";
import { conversationKey, stateKey } from "../../src/protocols/langbot/runners/scope.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { greedyManifest, manifestOf, runnerId } from "../runners/manifests.ts";
import { type BindingInit, test as base, openRunnerStage, refusal } from "./runner-stage.ts";

const test = base.extend("bound", () => openBound());

type Stage = Awaited<ReturnType<typeof openRunnerStage>>;

/** Opens a stage with a runner that asks for everything, and a binding. */
async function openBound(binding: BindingInit = {}, manifest = greedyManifest): Promise<Stage> {
  const stage = await openRunnerStage();
  await stage.register([manifest]);
  await stage.put(binding);
  return stage;
}

interface RemoteRow {
  readonly runner_id: string;
  readonly binding_id: string;
  readonly era: string;
  readonly scope: Record<string, unknown>;
  readonly granted: Record<string, unknown>;
  readonly context: Buffer;
  readonly attempt: number;
}

async function remoteRun({ service }: Stage, runId: string): Promise<RemoteRow> {
  const [row] = await query<RemoteRow>(service.databaseUrl, "select * from remote_run where run_id = $1", [runId]);
  if (row === undefined) {
    throw new Error(`run ${runId} has no row of its runner`);
  }
  return row;
}

/** Returns the context that the runner of a run receives, as JSON. */
async function contextText(stage: Stage, runId: string): Promise<string> {
  const { context, era } = await remoteRun(stage, runId);
  return printContext(fromBinary(AgentRunContextSchema, context), era as Era);
}

async function contextOf(stage: Stage, runId: string) {
  return JSON.parse(await contextText(stage, runId));
}

async function countRows({ service }: Stage, table: string): Promise<number> {
  const [row] = await query<{ n: number }>(service.databaseUrl, `select count(*)::int as n from ${table}`);
  return row?.n ?? -1;
}

const talk = { conversationId: "talk", actor: { actorType: "user", actorId: "ada" }, input: { text: "hello" } };

describe("a run of an event", () => {
  test.each([
    [90, 60],
    [30, 30],
  ])("whose binding allows %i s waits for a worker for %i s", async (allowed, offered) => {
    const stage = await openBound({ runnerConfig: `{"timeout":${allowed}}` });
    const run = await stage.start(talk);
    expect(run).toMatchObject({ state: Run_State.QUEUED, driver: "remote-runner", runnerId, bindingId: "b" });
    const [row] = await query(
      stage.service.databaseUrl,
      `select run.status, owner, epoch, input, extract(epoch from wake_at - run.create_time)::float8 as offered,
        extract(epoch from deadline - run.create_time)::float8 as allowed, session.runner_id,
        session.name = session.id::text as is_hidden, session.latest_run_id = run.id as is_latest,
        extract(epoch from deadline)::float8 as deadline
       from run join session on session.id = run.session where run.id = $1`,
      [run.runId],
    );
    expect(row).toMatchObject({
      status: "queued",
      owner: null,
      epoch: 0,
      offered,
      allowed,
      runner_id: runnerId,
      is_hidden: true,
      is_latest: true,
    });
    expect(fromBinary(MessageSchema, row?.input)).toMatchObject({ role: "user", content: { value: "hello" } });
    expect((await contextOf(stage, run.runId)).runtime.deadline_at).toBeCloseTo(row?.deadline, 3);
  });

  test("is listed everywhere with its runner and its binding", async ({ bound: { client, start } }) => {
    const run = await start();
    const read = await client.call(RunService.method.getRun, { runId: run.runId });
    expect(toBinary(RunSchema, read.run ?? run)).toEqual(toBinary(RunSchema, run));
    const { runs } = await client.call(RunService.method.listRuns, {});
    expect(runs).toMatchObject([{ runId: run.runId, runnerId, bindingId: "b" }]);
    for (const [filter, found] of [
      [{ runnerId }, 1],
      [{ agentName: runnerId }, 1],
      [{ runnerId: "plugin:other/chat/one" }, 0],
    ] as const) {
      expect((await client.call(RunService.method.listRuns, filter)).runs).toHaveLength(found);
    }
  });

  test("has a session that no client can list or reach", async ({ bound: { client, start } }) => {
    const { sessionId } = await start();
    expect((await client.call(SessionService.method.listSessions, {})).sessions).toEqual([]);
    expect(await refusal(client.call(SessionService.method.getSession, { sessionId }))).toBe("SESSION_NOT_FOUND");
  });

  test("is announced to workers", async ({ bound: stage }) => {
    const listener = new pg.Client({ connectionString: stage.service.databaseUrl });
    await listener.connect();
    onTestFinished(() => listener.end());
    let heard = 0;
    listener.on("notification", () => {
      heard += 1;
    });
    await listener.query("listen runnel_offer");
    await stage.start();
    await until("a word of the offer", () => heard > 0);
  });

  test("is created over REST", async ({ bound: { service } }) => {
    const response = await fetch(`${service.url}/v1/runs`, {
      method: "POST",
      headers: { ...credentialsOf(), "content-type": "application/json" },
      body: '{"event":{"event_id":"e","event_type":"message.received","input":{"text":"hi"}}}',
    });
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ state: "queued", runner_id: runnerId, binding_id: "b" });
  });

  test("counts among the active runs of its client", async () => {
    const stage = await openRunnerStage({ sessionsClientMaxConcurrent: 2 });
    await stage.register();
    await stage.put();
    await stage.start({ eventId: "1" });
    await stage.start({ eventId: "2" });
    expect(await refusal(stage.start({ eventId: "3" }))).toBe("CONCURRENCY_EXHAUSTED");
    expect(await countRows(stage, "remote_run")).toBe(2);
    expect(await countRows(stage, "agent_event")).toBe(2);
  });

  test("can be cancelled while it waits", async ({ bound: { client, start } }) => {
    const { runId } = await start();
    const { run } = await client.call(RunService.method.cancelRun, { runId });
    expect(run).toMatchObject({ state: Run_State.CANCELLED, runnerId, bindingId: "b" });
  });
});

describe("the same event with the same request id", () => {
  test("is one run with one answer, even when repeated at once (case 12)", async ({ bound: stage }) => {
    const runs = await Promise.all(Array.from({ length: 5 }, () => stage.start(talk, "key-1")));
    expect(new Set(runs.map(({ runId }) => runId)).size).toBe(1);
    expect(await countRows(stage, "remote_run")).toBe(1);
    expect(await countRows(stage, "history_item")).toBe(1);
    expect(await refusal(stage.start({ ...talk, eventId: "other" }, "key-1"))).toBe("REQUEST_ID_REUSED");
  });

  test("has its answer even after the binding was deleted", async ({ bound: { client, start } }) => {
    const { runId } = await start(talk, "key-1");
    await client.call(RunnerService.method.deleteBinding, { bindingId: "b" });
    expect((await start(talk, "key-1")).runId).toBe(runId);
    expect(await refusal(start(talk, "key-2"))).toBe("BINDING_NOT_FOUND");
  });

  test("may be tried again after a refusal", async ({ register, put, start }) => {
    await put();
    expect(await refusal(start(talk, "key-1"))).toBe("RUNNER_NOT_FOUND");
    await register();
    expect(await refusal(start(talk, "key-1"))).toBeUndefined();
  });
});

describe("an event", () => {
  test("without a binding, with several, or with an unknown runner starts nothing (case 13)", async ({ stage }) => {
    expect(await refusal(stage.start())).toBe("BINDING_NOT_FOUND");
    await stage.put();
    expect(await refusal(stage.start())).toBe("RUNNER_NOT_FOUND");
    await stage.register();
    await stage.put({ bindingId: "c" });
    expect(await refusal(stage.start())).toBe("BINDING_AMBIGUOUS");
    await stage.put({ bindingId: "c", enabled: false });
    expect(await refusal(stage.start())).toBeUndefined();
    for (const table of ["run", "session", "remote_run", "agent_event"]) {
      expect(await countRows(stage, table)).toBe(1);
    }
  });

  test("goes to the binding of its own scope among others", async () => {
    const stage = await openBound({ bindingId: "mine", scope: { kind: 3, id: "bot-1" } });
    await stage.put({ bindingId: "theirs", scope: { kind: 3, id: "bot-2" } });
    await stage.put({ bindingId: "space", scope: { kind: 2, id: "bot-1" } });
    expect((await stage.start({ botId: "bot-1" })).bindingId).toBe("mine");
    expect((await stage.start({ botId: "bot-2" })).bindingId).toBe("theirs");
    expect((await stage.start({ workspaceId: "bot-1" })).bindingId).toBe("space");
    expect(await refusal(stage.start())).toBe("BINDING_NOT_FOUND");
  });

  test("of a client never matches another client's binding", async ({ bound: { stranger } }) => {
    const event = { eventId: "e", eventType: "message.received" };
    expect(await refusal(stranger.call(RunnerService.method.startRun, { event }))).toBe("BINDING_NOT_FOUND");
  });

  test("of a known runner that is offline is queued (case 13)", async ({ bound: stage }) => {
    await query(stage.service.databaseUrl, "delete from worker_session");
    expect((await stage.start()).state).toBe(Run_State.QUEUED);
  });

  test.for<[string, object]>([
    ["no id", { eventId: "" }],
    ["no type", { eventType: "" }],
    ["a trigger of an unknown source", { trigger: { type: "message.received", source: "carrier pigeon" } }],
    ["a trigger without a source", { trigger: { type: "message.received" } }],
    ["U+0000 in its id", { eventId: "a\0" }],
    ["U+0000 in its text", { input: { text: "a\0b" } }],
    ["U+0000 in its data", { data: '{"a":"\\u0000"}' }],
    ["half a surrogate pair in a part", { input: { contents: ['{"type":"text","text":"\\udc00"}'] } }],
    ["a part that is a text", { input: { contents: ['"hello"'] } }],
    ["an attachment that is null", { input: { attachments: ["null"] } }],
    ["data that is a list", { data: "[]" }],
    ["data that is not JSON", { data: '{"a":NaN}' }],
    ["data without end", { data: '{"a":'.repeat(101) + 1 + "}".repeat(101) }],
    ["an actor without a kind", { actor: { actorId: "ada" } }],
    ["metadata of the actor that is a number", { actor: { actorType: "user", metadata: "1" } }],
    ["an adapter's extra that is empty", { adapterExtra: "" }],
  ] as const)("with %s is refused, and nothing is written (case 14)", async ([_, event], { bound: stage }) => {
    expect(await refusal(stage.start(event))).toBe("INVALID_ARGUMENT");
    expect(await countRows(stage, "run")).toBe(0);
    expect(await countRows(stage, "conversation")).toBe(0);
  });

  test("whose context is too large for every runner is refused", async ({ bound: stage }) => {
    const contents = [JSON.stringify({ type: "image_base64", image_base64: "A".repeat(3_200_000) })];
    expect(await refusal(stage.start({ ...talk, input: { contents } }))).toBe("PAYLOAD_TOO_LARGE");
    expect(await countRows(stage, "run")).toBe(0);
    expect(await countRows(stage, "conversation")).toBe(0);
  });
});

describe("a conversation", () => {
  test("has an event and an item for each run, numbered without gaps even at once", async ({ bound: stage }) => {
    const runs = await Promise.all(Array.from({ length: 12 }, (_, n) => stage.start({ ...talk, eventId: `e-${n}` })));
    const numbers = [];
    for (const { runId } of runs) {
      const { context } = await contextOf(stage, runId);
      numbers.push([context.event_seq, context.transcript_seq, context.has_history_before]);
    }
    const inOrder = Array.from({ length: 12 }, (_, n) => [n + 1, n + 1, n > 0]);
    expect(numbers.toSorted(([a], [b]) => Number(a) - Number(b))).toEqual(inOrder);
    const items = await query<{ seq: number }>(
      stage.service.databaseUrl,
      "select seq::int from history_item order by seq",
    );
    expect(items.map(({ seq }) => seq)).toEqual(inOrder.map(([seq]) => seq));
  });

  test("of a thousand items sends none of them, but a cursor to the newest (case 16)", async ({ bound: stage }) => {
    const first = await stage.start({ ...talk, input: { text: "the very first" } });
    await query(
      stage.service.databaseUrl,
      `insert into history_item (scope, seq, id, run_id, event_id, role, content, content_json)
       select scope, n, gen_random_uuid(), $1, 'e', 'assistant', 'said before', '{}'
       from conversation, generate_series(2, 1001) as n`,
      [first.runId],
    );
    await query(stage.service.databaseUrl, "update conversation set last_item = 1001");
    const { runId } = await stage.start({ ...talk, eventId: "e-2" });
    const text = await contextText(stage, runId);
    expect(text).not.toContain("said before");
    expect(text).not.toContain("the very first");
    expect(JSON.parse(text).context).toMatchObject({
      latest_cursor: expect.stringMatching(/^[\w-]{20,}$/),
      event_seq: 2,
      transcript_seq: 1_002,
      has_history_before: true,
      inline_policy: { mode: "current_event", delivered_count: 0 },
    });
  });

  test("keeps the message, its beginning as text and the whole as it arrived", async ({ bound: stage }) => {
    const text = "😀".repeat(5_000);
    const contents = [`{ "type": "text", "text": "${text}", "n": 1.0 }`];
    const { runId } = await stage.start({ ...talk, input: { contents } });
    const [item] = await query(stage.service.databaseUrl, "select * from history_item");
    expect(item).toMatchObject({ run_id: runId, event_id: "e-1", role: "user", content: "😀".repeat(4_000) });
    expect(item?.content_json).toBe(`{"role":"user","content":[{"type":"text","text":"${text}","n":1.0}]}`);
    const [event] = await query(stage.service.databaseUrl, "select * from agent_event");
    expect(fromBinary(AgentEventRecordSchema, event?.record)).toMatchObject({
      eventId: "e-1",
      eventType: "message.received",
      source: "api",
      conversationId: "talk",
      actorType: "user",
      actorId: "ada",
      inputSummary: "😀".repeat(1_000),
      seq: 1n,
      metadata: "{}",
    });
  });

  test("gets no item for an event without a message, and the context has only the past before it", async () => {
    const stage = await openBound({ eventTypes: ["message.received", "member.joined"] });
    await stage.start(talk);
    const { runId } = await stage.start({ eventId: "e-2", eventType: "member.joined", conversationId: "talk" });
    const { context } = await contextOf(stage, runId);
    expect(context).toMatchObject({ event_seq: 2, has_history_before: true });
    expect(context).not.toHaveProperty("transcript_seq");
    expect(await countRows(stage, "history_item")).toBe(1);
  });

  test("does not exist for an event without one, which is kept without scope and sequence", async () => {
    const stage = await openBound();
    const { runId } = await stage.start({ input: { text: "hello" } });
    const { context } = await contextOf(stage, runId);
    expect(context.available_apis).toMatchObject({ history_page: false, history_search: false, event_page: false });
    expect(context.available_apis.event_get).toBe(true);
    expect(context).not.toHaveProperty("latest_cursor");
    expect((await remoteRun(stage, runId)).granted.apis).not.toContain("history_page");
    expect(await countRows(stage, "conversation")).toBe(0);
    const [event] = await query(stage.service.databaseUrl, "select scope, seq from agent_event");
    expect(event).toEqual({ scope: null, seq: null });
  });
});

describe("the permissions of a run", () => {
  const allowing = {
    resourcePolicy: { allowedTools: ["glob", "no-such-tool"], allowedModels: ["demo", "no-such-model"] },
  };

  test("contain what this service has", async () => {
    const stage = await openBound(allowing);
    const { runId } = await stage.start(talk);
    const { granted, scope } = await remoteRun(stage, runId);
    expect(granted).toMatchObject({
      models: { demo: ["invoke", "stream", "count_tokens"] },
      tools: { glob: ["detail", "call"] },
      knowledgeBases: {},
      pluginStorage: true,
      workspaceStorage: false,
      stateScopes: ["conversation", "actor"],
    });
    expect(scope).toEqual({
      client: "key/local",
      runnerId,
      bindingId: "b",
      eventId: "e-1",
      conversationId: "talk",
      actor: { type: "user", id: "ada" },
    });
    const { resources } = await contextOf(stage, runId);
    expect(resources.models).toMatchObject([{ model_id: "demo", model_type: "llm", operations: ["invoke", "stream"] }]);
    expect(resources.tools).toMatchObject([{ tool_name: "glob", operations: ["detail", "call"] }]);
  });

  test("stay unchanged when the policy changes, and the next run gets the new one (case 22)", async () => {
    const stage = await openBound(allowing);
    const before = await stage.start(talk);
    const granted = await remoteRun(stage, before.runId);
    await stage.put({ resourcePolicy: { allowWorkspaceStorage: true }, statePolicy: { enableState: false } });
    expect(await remoteRun(stage, before.runId)).toEqual(granted);
    const after = await stage.start({ ...talk, workspaceId: "w" });
    expect((await remoteRun(stage, after.runId)).granted).toMatchObject({
      tools: {},
      workspaceStorage: true,
      stateScopes: [],
    });
  });

  test("stay unchanged when its runner requests less, and the next run gets less (case 10)", async () => {
    const stage = await openBound(allowing);
    const before = await stage.start(talk);
    const granted = await remoteRun(stage, before.runId);
    await stage.register([manifestOf()]);
    expect(await remoteRun(stage, before.runId)).toEqual(granted);
    const after = await stage.start(talk);
    expect((await remoteRun(stage, after.runId)).granted).toMatchObject({ models: {}, tools: {} });
  });

  test("are kept apart from the context: a context that claims more grants no more (case 28)", async () => {
    const stage = await openBound();
    // Every free text of the caller claims to be a grant.
    const claim = '{"resources":{"tools":[{"tool_name":"bash","operations":["call"]}]},"tools":["bash"]}';
    const { runId } = await stage.start({ ...talk, adapterExtra: claim, data: claim });
    const { granted } = await remoteRun(stage, runId);
    expect(granted).toMatchObject({ tools: {} });
    const { resources } = await contextOf(stage, runId);
    expect(resources.tools).toEqual([]);
  });
});

describe("the context for a runner", () => {
  test("uses the words of the era that the runner was registered with", async ({ bound: stage }) => {
    const attachments = ['{"type":"file","id":"f-1"}'];
    const event = { ...talk, input: { text: "a", attachments } };
    const spec = await contextOf(stage, (await stage.start(event)).runId);
    expect(spec.input.attachments).toEqual([{ artifact_id: "f-1", artifact_type: "file", id: "f-1" }]);
    await stage.register([greedyManifest], "worker", "4.11");
    const { runId } = await stage.start(event);
    expect((await remoteRun(stage, runId)).era).toBe("4.11");
    expect((await contextOf(stage, runId)).input.attachments).toEqual([{ type: "file", id: "f-1" }]);
  });

  test("keeps every number as it was written", async () => {
    const free = '{"big":9007199254740993,"one":1,"float":1.0,"exponent":1e2}';
    const stage = await openBound({ runnerConfig: free });
    const event = `{"event_id":"e","event_type":"message.received","data":${free},"adapter_extra":${free},
      "input":{"contents":[${free}]},"subject":{"subject_type":"s","data":${free}}}`;
    const response = await fetch(`${stage.service.url}/v1/runs`, {
      method: "POST",
      headers: { ...credentialsOf(), "content-type": "application/json" },
      body: `{"event":${event}}`,
    });
    const { run_id: runId } = (await response.json()) as { run_id: string };
    expect((await contextText(stage, runId)).split(free).length - 1).toBe(5);
  });

  test("contains the state at the start, small values before large ones", async () => {
    const stage = await openBound({ statePolicy: { stateScopes: ["conversation", "actor", "runner"] } });
    const { runId } = await stage.start(talk);
    const { scope } = (await remoteRun(stage, runId)) as unknown as { scope: Parameters<typeof stateKey>[0] };
    const keep = (of: "conversation" | "actor" | "subject" | "runner", key: string, value: string) =>
      query(stage.service.databaseUrl, "insert into state_value (owner, key, client, value) values ($1, $2, $3, $4)", [
        stateKey(scope, of) ?? Buffer.from("nobody"),
        key,
        scope.client,
        value,
      ]);
    await keep("conversation", "a", '{"n":1.0}');
    await keep("actor", "name", '"Ada"');
    await keep("runner", "big", JSON.stringify("x".repeat(200_000)));
    await keep("runner", "another", JSON.stringify("y".repeat(210_000)));
    await keep("runner", "small", "9007199254740993");
    const text = await contextText(stage, (await stage.start({ ...talk, eventId: "e-2" })).runId);
    expect(text).toContain('"conversation":{"external.conversation_id":"talk","a":{"n":1.0}},"actor":{"name":"Ada"}');
    expect(text).toContain('"small":9007199254740993');
    expect(Object.keys(JSON.parse(text).state.runner)).toEqual(["big", "small"]);
  });

  test("contains the trace of the caller", async ({ client, service, register, put }) => {
    await register();
    await put();
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const { run } = await client.call(
      RunnerService.method.startRun,
      { event: { eventId: "e", eventType: "message.received" } },
      { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    );
    const [row] = await query<{ context: Buffer }>(
      service.databaseUrl,
      "select context from remote_run where run_id = $1",
      [run?.runId],
    );
    expect(fromBinary(AgentRunContextSchema, row?.context ?? Buffer.alloc(0)).runtime?.traceId).toBe(traceId);
  });
});

test("the rows of a conversation are stored under its key", async ({ bound: stage }) => {
  const { runId } = await stage.start(talk);
  const { scope } = (await remoteRun(stage, runId)) as unknown as { scope: Parameters<typeof conversationKey>[0] };
  const [row] = await query<{ scope: Buffer }>(stage.service.databaseUrl, "select scope from conversation");
  expect(row?.scope).toEqual(conversationKey(scope));
});
