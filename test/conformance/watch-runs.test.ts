// A watch shows every run of a client as it changes, and goes on where a reader left it.

import { type Client, Code, createClient } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService, type WatchRunsResponse } from "#gen/runnel/v1/run_service_pb.js";
import { answer } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { readEvents } from "../harness/sse.ts";
import { until } from "../harness/wait.ts";
import { setStage } from "./stage.ts";
import type { Surface } from "./surface.ts";
import { findSurface } from "./surfaces.ts";
import { connectHttp2Transport } from "./transports.ts";

async function openWatch(clientId?: string) {
  const stage = await setStage(findSurface("gRPC"));
  const runs = createClient(RunService, connectHttp2Transport(stage.service.url));
  const headers = credentialsOf(clientId);
  const watch = (request: { sessionId?: string; after?: string; outputCharsMax?: number } = {}) => {
    const seen: WatchRunsResponse[] = [];
    const leave = new AbortController();
    const over = (async () => {
      for await (const response of runs.watchRuns(request, { headers, signal: leave.signal })) {
        seen.push(response);
      }
    })().catch(() => undefined);
    return {
      seen,
      runs: () => seen.flatMap(({ change }) => (change.case === "run" ? [change.value] : [])),
      leave: async () => {
        leave.abort();
        await over;
      },
    };
  };
  return { ...stage, watch };
}

test("a run is shown as it begins, works and ends; other runs that ended before are not", async () => {
  const { api, provider, watch } = await openWatch();
  const gate = Promise.withResolvers<void>();
  provider.respond(answer("before"), async (wire) => {
    await gate.promise;
    wire.text("after");
    wire.done("stop");
  });
  const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
  const { run_id: before } = await api.sendMessage({ sessionId, message: "1" });
  await Array.fromAsync(api.followRun(before));
  const { seen, runs, leave } = watch();
  const short = watch({ outputCharsMax: 2 });
  await until("the streams to open", () => seen.length > 0 && short.seen.length > 0);
  const { run_id: runId } = await api.sendMessage({ sessionId, message: "2" });
  await until("the run to be shown", () => runs().some((run) => run.state === Run_State.RUNNING));
  gate.resolve();
  await until("its end to be shown", () => runs().some((run) => run.state === Run_State.COMPLETED));
  expect(new Set(runs().map((run) => run.runId))).toEqual(new Set([runId]));
  expect(runs().at(-1)).toMatchObject({ output: "after", turns: 1 });
  await until("its end in the other stream", () => short.runs().some((run) => run.state === Run_State.COMPLETED));
  expect(short.runs().at(-1)).toMatchObject({ output: "af", turns: 1 });
  await leave();
  await short.leave();
});

test("a reader that goes on after its cursor gets what ended meanwhile, of its session alone", async () => {
  const { api, provider, watch } = await openWatch();
  provider.respond(...["1", "2", "3"].map(answer));
  const open = async () => (await api.createSession({ agent: { name: "tester" } })).session_id;
  const [sessionId, other] = [await open(), await open()];
  const send = async (to: string) => {
    const { run_id: runId } = await api.sendMessage({ sessionId: to, message: "Hi" });
    await Array.fromAsync(api.followRun(runId));
    return runId;
  };
  const first = watch({ sessionId });
  await until("the stream to open", () => first.seen.length > 0);
  await send(sessionId);
  await until("a cursor", () => first.runs().some((run) => run.state === Run_State.COMPLETED));
  await first.leave();
  await send(other);
  const missed = await send(sessionId);
  const second = watch({ sessionId, after: first.seen.at(-1)?.cursor ?? "" });
  await until("the missed run", () => second.runs().some((run) => run.runId === missed));
  expect(second.runs().every((run) => run.sessionId === sessionId)).toBe(true);
  await second.leave();
});

test("another client sees nothing, and an invented cursor is refused", async () => {
  const { api, provider, service, watch } = await openWatch("stranger");
  provider.respond(answer("x"), answer("y"));
  const { seen, runs, leave } = watch();
  await until("the stream to open", () => seen.length > 0);
  const start = async (surface: Surface) => {
    const { session_id: sessionId } = await surface.createSession({ agent: { name: "tester" } });
    const { run_id: runId } = await surface.sendMessage({ sessionId, message: "Hi" });
    await Array.fromAsync(surface.followRun(runId));
    return runId;
  };
  await start(api);
  const own = await start(findSurface("gRPC").connect(service, "stranger"));
  await until("its own run", () => runs().length > 0);
  expect(new Set(runs().map(({ runId }) => runId))).toEqual(new Set([own]));
  const refused = await fetch(`${service.url}/v1/runs:watch?after=invented`, { headers: credentialsOf() });
  expect([refused.status, ((await refused.json()) as { reason: string }).reason]).toEqual([400, "CURSOR_INVALID"]);
  await leave();
});

test("over SSE each event is a run, with its cursor as the id", async () => {
  const { api, provider, service } = await openWatch();
  provider.respond((wire) => wire.hang());
  const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
  const { run_id: runId } = await api.sendMessage({ sessionId, message: "Hi" });
  const leaving = new AbortController();
  const response = await fetch(`${service.url}/v1/runs:watch`, { headers: credentialsOf(), signal: leaving.signal });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  for await (const { event, data, id } of readEvents(response.body ?? expect.unreachable("no body"))) {
    expect(event).toBe("run");
    expect(id).toMatch(/./);
    expect(JSON.parse(data)).toMatchObject({ run_id: runId, session_id: sessionId });
    break;
  }
  leaving.abort();
  await api.cancelRun(runId);
});

test("a client has at most 100 watches, and one that leaves makes room", async () => {
  const { service } = await setStage(findSurface("gRPC"), {}, { own: true });
  const headers = credentialsOf();
  /** Opens a watch; the first response shows that it was not refused. */
  const open = async (runs: { watchRuns: Client<typeof RunService>["watchRuns"] }, more = headers) => {
    const leaving = new AbortController();
    const responses = runs.watchRuns({}, { headers: more, signal: leaving.signal })[Symbol.asyncIterator]();
    await responses.next();
    return async () => {
      leaving.abort();
      await responses.next().catch(() => undefined);
    };
  };
  const connect = () => createClient(RunService, connectHttp2Transport(service.url));
  const leaves: (() => Promise<void>)[] = [];
  for (const runs of [connect(), connect()]) {
    leaves.push(...(await Promise.all(Array.from({ length: 50 }, () => open(runs)))));
  }
  const runs = connect();
  const refusal = { rawMessage: "max watches of a client (100) reached", code: Code.ResourceExhausted };
  await expect(open(runs)).rejects.toMatchObject(refusal);
  leaves.push(await open(runs, credentialsOf("stranger")));
  await leaves.shift()?.();
  leaves.push(await until("room", () => open(runs).catch(() => undefined)));
  await Promise.all(leaves.map((leave) => leave()));
});
