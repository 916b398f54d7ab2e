// What callers may rely on about sessions, case by case, over every surface: their life, their limits, who sees them.

import { describe, expect } from "vitest";
import { Session_State } from "#gen/runnel/v1/session_pb.js";
import { ListMessagesRequest_Order } from "#gen/runnel/v1/session_service_pb.js";
import { answer } from "../fakes/provider.ts";
import { query } from "../harness/database.ts";
import {
  expectRefused,
  type Refusal,
  readSession,
  runNotFound,
  sessionNotFound,
  setStage,
  startConversation,
  test,
  told,
} from "./stage.ts";
import type { Surface } from "./surface.ts";
import { surfaces, surfacesWithoutFeeds } from "./surfaces.ts";

const unknownRunId = "01900000-0000-7000-8000-000000000000";

describe.each([...surfaces, ...surfacesWithoutFeeds])("sessions over $name", (kind) => {
  test.override("kind", kind);

  test("can be created, run and deleted", async ({ provider, api }) => {
    provider.respond(answer("hello yourself"));
    const created = await api.createSession({ agent: { name: "tester", model: "gpt-4o-mini" } });
    expect(created).toEqual({ session_id: expect.stringMatching(/^[0-9a-f]{32}$/), status: "created" });
    const sessionId = created.session_id;
    const fresh = { session_id: sessionId, name: "tester", model: "gpt-4o-mini", created_at: expect.any(String) };
    expect(await api.getSession(sessionId)).toEqual({ ...fresh, status: "created" });

    const sent = await api.sendMessage({ sessionId, message: "hello" });
    const { run_id: runId } = sent;
    expect(sent).toEqual({ session_id: sessionId, status: "running", tools_registered: [], run_id: runId });
    expect(told(await readSession(api, sessionId))).toEqual([
      ["text", { content: "hello yourself" }],
      ["done", { status: "completed", output: "hello yourself", turns: 1 }],
    ]);
    expect(await api.getSession(sessionId)).toEqual({
      ...fresh,
      status: "completed",
      output: "hello yourself",
      turns: 1,
      duration_ms: expect.any(Number),
      latest_run_id: runId,
      // The provider of this test sends no usage.
      usage: expect.objectContaining({ estimated: true }),
    });
    const run = await api.getRun(runId);
    expect(run).toMatchObject({ run_id: runId, session_id: sessionId, state: "completed", driver: "llm-loop" });
    expect(run).toMatchObject({ output: "hello yourself", turns: 1 });
    expect(await api.listRuns({ sessionId })).toEqual({ runs: [run] });
    const results = await Array.fromAsync(api.followRun(runId));
    expect(results.at(-1)?.sequence).toBe(run.last_sequence);
    expect(await api.listResults({ runId })).toEqual({ results });

    expect(await api.deleteSession(sessionId)).toEqual({ status: "deleted" });
    await expectRefused(api.getSession(sessionId), sessionNotFound);
    await expectRefused(api.sendMessage({ sessionId, message: "still there?" }), sessionNotFound);
    await expectRefused(api.deleteSession(sessionId), sessionNotFound);
    expect(await api.getRun(runId)).toEqual(run);
    expect(await Array.fromAsync(api.followRun(runId))).toEqual(results);
  });

  test("remember their earlier messages", async ({ provider, api }) => {
    provider.respond(answer("I am Ada"), answer("Ada, as I said"));
    const { sessionId, runId } = await startConversation(api);
    await readSession(api, sessionId);
    const { run_id: secondRunId } = await api.sendMessage({ sessionId, message: "who?" });
    expect((await readSession(api, sessionId)).at(-1)?.payload).toMatchObject({ output: "Ada, as I said", turns: 1 });
    const { body } = await provider.request(1);
    expect(body.messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", "hello"],
      ["assistant", "I am Ada"],
      ["user", "who?"],
    ]);
    expect(await api.getSession(sessionId)).toMatchObject({ output: "Ada, as I said", latest_run_id: secondRunId });
    expect((await api.listRuns({ sessionId })).runs.map((run) => run.run_id)).toEqual([secondRunId, runId]);
  });

  test("continue after a failed or cancelled run", async ({ provider, api }) => {
    provider.respond(
      (wire) => wire.reply(401, "no"),
      (wire) => wire.hang(),
      answer("fine"),
    );
    const { sessionId } = await startConversation(api);
    await readSession(api, sessionId);
    const { run_id: runId } = await api.sendMessage({ sessionId, message: "again" });
    await provider.request(1);
    await api.cancelRun(runId);
    await readSession(api, sessionId);
    await api.sendMessage({ sessionId, message: "and again" });
    expect((await readSession(api, sessionId)).at(-1)?.payload).toMatchObject({ status: "completed", output: "fine" });
  });

  test("are refused beyond the maximum of concurrent runs, and accepted when there is room again", async () => {
    const { provider, api } = await setStage(kind, { sessionsMaxConcurrent: 1 });
    provider.respond((wire) => wire.hang(), answer("my turn"));
    const first = await startConversation(api);
    const { session_id: sessionId } = await api.createSession({ agent: { name: "second" } });
    const refused = await expectRefused(api.sendMessage({ sessionId, message: "me too" }), {
      grpcCode: "RESOURCE_EXHAUSTED",
      httpStatus: 429,
      reason: "CONCURRENCY_EXHAUSTED",
      text: "max concurrent sessions (1) reached",
    });
    expect(refused.retryAfterSeconds).toBe(1);
    expect(await api.getSession(sessionId)).toMatchObject({ status: "created" });
    await provider.request(0);
    await api.deleteSession(first.sessionId);
    await Array.fromAsync(api.followRun(first.runId));
    await api.sendMessage({ sessionId, message: "now?" });
    expect((await readSession(api, sessionId)).at(-1)?.payload).toMatchObject({ output: "my turn" });
  });

  test("are refused beyond their client's maximum of concurrent runs, with that limit in the error", async () => {
    const { provider, api } = await setStage(kind, { sessionsClientMaxConcurrent: 1 });
    provider.respond((wire) => wire.hang());
    await startConversation(api);
    const { session_id: sessionId } = await api.createSession({ agent: { name: "second" } });
    await expectRefused(api.sendMessage({ sessionId, message: "me too" }), {
      grpcCode: "RESOURCE_EXHAUSTED",
      httpStatus: 429,
      reason: "CONCURRENCY_EXHAUSTED",
      text: "max concurrent sessions of a client (1) reached",
    });
  });

  test("accept one message at a time", async ({ provider, api, service }) => {
    provider.respond((wire) => wire.hang());
    const { sessionId, runId } = await startConversation(api);
    await expectRefused(api.sendMessage({ sessionId, message: "quick" }), {
      grpcCode: "FAILED_PRECONDITION",
      httpStatus: 409,
      reason: "SESSION_BUSY",
      text: "session already running",
    });
    expect(await countRuns(service.databaseUrl)).toBe(1);
    await api.cancelRun(runId);
  });

  test("are created once per id by concurrent calls", async ({ api }) => {
    const exists: Refusal = {
      grpcCode: "ALREADY_EXISTS",
      httpStatus: 409,
      reason: "SESSION_EXISTS",
      text: 'session "twin" already exists',
    };
    const attempts = await Promise.allSettled(
      Array.from({ length: 8 }, () => api.createSession({ sessionId: "twin", agent: { name: "twin" } })),
    );
    expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const attempt of attempts) {
      if (attempt.status === "rejected") {
        await expectRefused(Promise.reject(attempt.reason), exists);
      }
    }
  });

  describe("with a request id", () => {
    const reused: Refusal = {
      grpcCode: "ALREADY_EXISTS",
      httpStatus: 409,
      reason: "REQUEST_ID_REUSED",
      text: 'request_id "r-1" was used for another request',
    };

    test("are created once, and again for another client", async ({ api, service }) => {
      const request = { agent: { name: "once" }, requestId: "r-1" };
      const created = await api.createSession(request);
      expect(await api.createSession(request)).toEqual(created);
      await expectRefused(api.createSession({ agent: { name: "other" }, requestId: "r-1" }), reused);
      const stranger = kind.connect(service, "stranger");
      expect((await stranger.createSession(request)).session_id).not.toBe(created.session_id);
      expect((await api.listSessions({})).sessions).toHaveLength(1);
    });

    test("start one run, also for a retry after its end", async ({ provider, api, service }) => {
      provider.respond(answer("once"));
      const { session_id: sessionId } = await api.createSession({ agent: { name: "once" } });
      const request = { sessionId, message: "hello", requestId: "r-1" };
      const sent = await api.sendMessage(request);
      await readSession(api, sessionId);
      expect(await api.sendMessage(request)).toEqual(sent);
      await expectRefused(api.sendMessage({ ...request, message: "other" }), reused);
      expect(await countRuns(service.databaseUrl)).toBe(1);
      expect(provider.requests).toHaveLength(1);
    });

    test("start one run for twenty identical concurrent calls, which all get its answer", async () => {
      const { provider, api, service } = await setStage(kind);
      provider.respond(answer("once"));
      const { session_id: sessionId } = await api.createSession({ agent: { name: "once" } });
      const request = { sessionId, message: "hello", requestId: "r-1" };
      const answers = await Promise.all(Array.from({ length: 20 }, () => api.sendMessage(request)));
      expect(new Set(answers.map(({ run_id }) => run_id)).size).toBe(1);
      await readSession(api, sessionId);
      expect(await countRuns(service.databaseUrl)).toBe(1);
      expect(provider.requests).toHaveLength(1);
    });
  });

  test("are listed by filters, with their runs and their last activity, and so are their forks", async ({
    provider,
    api,
    service,
  }) => {
    provider.respond(answer("one"), answer("two"), (wire) => wire.reply(401, "no"));
    const { sessionId: origin, runId } = await startConversation(api);
    await readSession(api, origin);
    await api.sendMessage({ sessionId: origin, message: "again" });
    await readSession(api, origin);
    const { session_id: afterRun } = await api.createSession({ fork: { sessionId: origin, runId } });
    const { session_id: ofFork } = await api.createSession({ fork: { sessionId: afterRun } });
    const { session_id: failed } = await api.createSession({ agent: { name: "editor" } });
    await api.sendMessage({ sessionId: failed, message: "fail" });
    await readSession(api, failed);
    const list = async (filter: Parameters<typeof api.listSessions>[0]) =>
      (await api.listSessions(filter)).sessions.map((each) => [each.session_id, each.status, each.run_count]);
    expect(await list({})).toEqual([
      [failed, "failed", 1],
      [ofFork, "created", 0],
      [afterRun, "created", 0],
      [origin, "completed", 2],
    ]);
    const { CREATED, COMPLETED, FAILED } = Session_State;
    expect(await list({ states: [CREATED] })).toEqual([
      [ofFork, "created", 0],
      [afterRun, "created", 0],
    ]);
    expect(await list({ states: [FAILED, COMPLETED] })).toEqual([
      [failed, "failed", 1],
      [origin, "completed", 2],
    ]);
    expect(await list({ agentName: "editor" })).toEqual([[failed, "failed", 1]]);
    expect(await list({ agentName: "edit" })).toEqual([]);
    expect(await list({ forkOf: origin })).toEqual([[afterRun, "created", 0]]);
    expect(await list({ forkOf: ofFork })).toEqual([]);
    expect(await list({ forkOf: "unknown" })).toEqual([]);
    expect((await kind.connect(service, "stranger").listSessions({ forkOf: origin })).sessions).toEqual([]);
    const latest = await api.getRun(String((await api.getSession(origin)).latest_run_id));
    const [completed] = (await api.listSessions({ states: [COMPLETED] })).sessions;
    expect(completed?.change_time).toBe(latest.change_time);
    const { next_page_token: pageToken } = await api.listSessions({ states: [CREATED], pageSize: 1 });
    await expectRefused(api.listSessions({ states: [FAILED], pageSize: 1, pageToken: pageToken ?? "" }), {
      grpcCode: "INVALID_ARGUMENT",
      httpStatus: 400,
      reason: "CURSOR_INVALID",
      text: /^page_token was not made for this list/,
    });
  });

  test("page through their messages from either end", async ({ provider, api }) => {
    provider.respond(answer("4"));
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
    const messages = ["user", "assistant", "user"].map((role, index) => ({
      role,
      content: { case: "text" as const, value: `${index + 1}` },
    }));
    await api.sendMessage({ sessionId, messages });
    await readSession(api, sessionId);
    const numbers = async (order: ListMessagesRequest_Order) =>
      (await pages((pageToken) => api.listMessages({ sessionId, pageSize: 2, pageToken, order }))).map((page) =>
        page.messages.map(({ number }) => number),
      );
    expect(await numbers(ListMessagesRequest_Order.NEWEST_FIRST)).toEqual([
      [4, 3],
      [2, 1],
    ]);
    expect(await numbers(ListMessagesRequest_Order.UNSPECIFIED)).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test("page through every list, and each list accepts only its own tokens", async ({ provider, api, service }) => {
    const { sessionId } = await startConversation(api);
    for (const message of ["n=1", "n=1"]) {
      await readSession(api, sessionId);
      await api.sendMessage({ sessionId, message });
    }
    await readSession(api, sessionId);
    expect(provider.requests).toHaveLength(3);
    const names = ["s-1", "s-2", "s-3", "s-4"];
    for (const name of names) {
      await api.createSession({ sessionId: name, agent: { name } });
    }

    const sessions = await pages((pageToken) => api.listSessions({ pageSize: 2, pageToken }));
    expect(sessions.flatMap((page) => page.sessions.map((each) => each.session_id))).toEqual([
      ...names.toReversed(),
      sessionId,
    ]);
    expect(sessions.map((page) => page.sessions.length)).toEqual([2, 2, 1]);
    const runs = await pages((pageToken) => api.listRuns({ sessionId, pageSize: 2, pageToken }));
    expect(runs.flatMap((page) => page.runs)).toEqual((await api.listRuns({})).runs);
    const runId = String((await api.getSession(sessionId)).latest_run_id);
    const results = await pages((pageToken) => api.listResults({ runId, pageSize: 1, pageToken }));
    expect(results.flatMap((page) => page.results)).toEqual(await Array.fromAsync(api.followRun(runId)));

    const foreign: Refusal = {
      grpcCode: "INVALID_ARGUMENT",
      httpStatus: 400,
      reason: "CURSOR_INVALID",
      text: /^page_token was not made for this list/,
    };
    const pageToken = sessions[0]?.next_page_token ?? "";
    const { run_id: otherRunId } = runs[0]?.runs[1] ?? {};
    await expectRefused(api.listRuns({ pageToken }), foreign);
    await expectRefused(api.listResults({ runId, pageToken }), foreign);
    await expectRefused(
      api.listResults({ runId: String(otherRunId), pageToken: results[0]?.next_page_token ?? "" }),
      foreign,
    );
    await expectRefused(api.listRuns({ pageToken: runs[0]?.next_page_token ?? "" }), foreign);
    await expectRefused(kind.connect(service, "stranger").listSessions({ pageToken }), foreign);
    await expectRefused(api.listSessions({ pageToken: `${pageToken.slice(0, -1)}~` }), foreign);
  });

  test("of another client look exactly like unknown ones", async ({ provider, api, service }) => {
    provider.respond((wire) => wire.hang());
    const { sessionId, runId } = await startConversation(api);
    const stranger = kind.connect(service, "stranger");
    expect(await refusalsOf(stranger, sessionId, runId)).toEqual(
      await refusalsOf(api, "no-such-session", unknownRunId),
    );
    await expectRefused(stranger.getSession(sessionId), sessionNotFound);
    await expectRefused(stranger.getRun(runId), runNotFound);
    expect(await stranger.listSessions({})).toEqual({ sessions: [] });
    expect(await stranger.listRuns({})).toEqual({ runs: [] });
    expect(await stranger.listRuns({ sessionId })).toEqual({ runs: [] });
    expect(await api.getRun(runId)).toMatchObject({ state: "running" });
    await api.cancelRun(runId);
  });

  test("may share an id with a session of another client", async ({ api, service }) => {
    const stranger = kind.connect(service, "stranger");
    await api.createSession({ sessionId: "same", agent: { name: "mine" } });
    await stranger.createSession({ sessionId: "same", agent: { name: "theirs" } });
    expect(await api.getSession("same")).toMatchObject({ name: "mine" });
    await stranger.deleteSession("same");
    expect(await api.getSession("same")).toMatchObject({ name: "mine" });
  });

  test("with a deleted id can be created again, without the history", async ({ provider, api }) => {
    provider.respond(answer("before"), answer("after"));
    const create = () => api.createSession({ sessionId: "phoenix", agent: { name: "phoenix" } });
    await create();
    await api.sendMessage({ sessionId: "phoenix", message: "first life" });
    await readSession(api, "phoenix");
    await api.deleteSession("phoenix");
    await create();
    const session = await api.getSession("phoenix");
    expect(session).toMatchObject({ status: "created" });
    expect(session).not.toHaveProperty("latest_run_id");
    expect(await api.listRuns({ sessionId: "phoenix" })).toEqual({ runs: [] });
    await api.sendMessage({ sessionId: "phoenix", message: "second life" });
    await readSession(api, "phoenix");
    const { body } = await provider.request(1);
    expect(body.messages).toMatchObject([{ role: "user", content: "second life" }]);
  });

  test("can be followed before their first message", async ({ provider, api }) => {
    provider.respond(answer("worth the wait"));
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
    const reading = readSession(api, sessionId);
    await api.sendMessage({ sessionId, message: "hello" });
    expect((await reading).map(({ type }) => type)).toEqual(["text", "done"]);
  });

  test("replay a finished run, and resume after any of its events", async ({ provider, api }) => {
    provider.respond((wire) => wire.reply(401, "no"));
    const { sessionId, runId } = await startConversation(api);
    const events = await readSession(api, sessionId);
    expect(await readSession(api, sessionId)).toEqual(events);
    expect(events.at(-1)?.id).toMatch(new RegExp(`^${runId}\\.\\d+$`));
    expect(await readSession(api, sessionId, `${runId}.1`)).toEqual(events.filter(({ type }) => type !== "text"));
    expect(await readSession(api, sessionId, events.at(-1)?.id)).toEqual([]);
    const last = Number(events.at(-1)?.id.split(".")[1]);
    expect(await Array.fromAsync(api.followRun(runId, last))).toEqual([]);
    const beyond: Refusal = {
      grpcCode: "OUT_OF_RANGE",
      httpStatus: 400,
      reason: "OFFSET_BEYOND_END",
      text: `after ${last + 1} is beyond the end: the run ended at ${last}`,
    };
    await expectRefused(readSession(api, sessionId, `${runId}.${last + 1}`), beyond);
    await expectRefused(Array.fromAsync(api.followRun(runId, last + 1)), beyond);
  });
});

test("a session, its run and its log are the same over every surface", async () => {
  const [first] = surfaces;
  if (first === undefined) {
    throw new Error("no surface to compare");
  }
  const { service, api } = await setStage(first);
  const { sessionId, runId } = await startConversation(api, { tools: { builtin: ["list_dir"] } });
  await readSession(api, sessionId);
  const views = await Promise.all(
    surfaces.map(async ({ connect }) => {
      const each = connect(service);
      return {
        session: await each.getSession(sessionId),
        sessions: await each.listSessions({}),
        run: await each.getRun(runId),
        runs: await each.listRuns({}),
        events: await readSession(each, sessionId),
        results: await Array.fromAsync(each.followRun(runId)),
        page: await each.listResults({ runId }),
        version: await each.getVersion(),
        limits: await each.getLimits(),
      };
    }),
  );
  for (const view of views.slice(1)) {
    expect(view).toEqual(views[0]);
  }
  expect(views.length).toBeGreaterThan(1);
  expect(views[0]?.version).toMatchObject({ node_version: process.versions.node });
  expect(views[0]?.limits).toMatchObject({ message_bytes_max: 4_194_304, rest_body_bytes_max: 10_485_760 });
});

/** Returns every page of a list, from the first to the last. */
async function pages<Page extends { readonly next_page_token?: string }>(
  list: (pageToken: string) => Promise<Page>,
): Promise<Page[]> {
  const found: Page[] = [];
  for (let token: string | undefined = ""; token !== undefined; token = found.at(-1)?.next_page_token) {
    found.push(await list(token));
  }
  return found;
}

/** Returns the refusals of all calls that name a session or a run. */
async function refusalsOf(api: Surface, sessionId: string, runId: string): Promise<unknown[]> {
  const calls = [
    api.getSession(sessionId),
    api.sendMessage({ sessionId, message: "hello" }),
    api.deleteSession(sessionId),
    readSession(api, sessionId),
    readSession(api, sessionId, `${runId}.1`),
    api.getRun(runId),
    api.cancelRun(runId),
    api.listResults({ runId }),
    Array.fromAsync(api.followRun(runId)),
  ];
  const settled = await Promise.allSettled<unknown>(calls);
  return settled.map((call) => {
    if (call.status === "fulfilled") {
      throw new Error("a call should have been refused");
    }
    const { message, grpcCode, httpStatus, reason, violations } = call.reason;
    return { message, grpcCode, httpStatus, reason, violations };
  });
}

async function countRuns(databaseUrl: string): Promise<number> {
  const [row] = await query<{ count: string }>(databaseUrl, "select count(*) from run");
  return Number(row?.count);
}
