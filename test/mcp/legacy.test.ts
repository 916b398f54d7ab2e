// The revisions before 2026-07-28: sessions, streams that resume on any replica, and a client that may leave.

import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";
import pg from "pg";
import { expect, test } from "vitest";
import { z } from "zod";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { completed, delta, failed, type Run } from "../../clients/typescript/src/worker/runner.ts";
import { openMcpServer } from "../fakes/mcp-server.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { testDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { createHeldClock } from "../harness/held-clock.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { eventsOf, LegacyClient, type Message, messagesOf, offer, setMcpStage } from "./stage.ts";

test("a client initializes, lists, pings and calls", async () => {
  const { service, provider } = await setMcpStage();
  const client = new LegacyClient(service.url);
  const { result } = await client.open();
  expect(result).toMatchObject({ protocolVersion: "2025-11-25", serverInfo: { name: "runnel" } });
  for (const [asked, given] of [
    ["1999-01-01", "2025-11-25"],
    ["2024-11-05", "2024-11-05"],
  ]) {
    expect((await new LegacyClient(service.url).open({}, asked)).result.protocolVersion).toBe(given);
  }
  expect((await client.request("ping")).at(-1)?.result).toEqual({});
  const [list] = await client.request("tools/list");
  expect(list?.result.tools).toMatchObject([{ name: "default" }]);
  expect(list?.result).not.toHaveProperty("resultType");
  provider.respond(answer("hello"));
  const [called] = await client.request("tools/call", { name: "default", arguments: { message: "hi" } });
  expect(called?.result.content).toEqual([{ type: "text", text: "hello" }]);
  expect((await client.request("prompts/list")).at(-1)?.error?.code).toBe(-32601);
});

test("what a client writes as null, or a model fills in, counts as missing", async () => {
  const { service, provider } = await setMcpStage();
  const client = new LegacyClient(service.url);
  await client.open();
  for (const params of [null, { cursor: null }, { cursor: "" }, { _meta: null }]) {
    for (const [method, name] of [
      ["tools/list", "tools"],
      ["resources/list", "resources"],
    ] as const) {
      const [answered] = await messagesOf(await client.post({ id: 1, method, params }));
      expect([params, method, answered?.result]).toEqual([params, method, { [name]: expect.any(Array) }]);
    }
  }
  expect((await client.post({ method: "notifications/initialized", params: null })).status).toBe(202);
  for (const session_id of [null, ""]) {
    provider.respond(answer("hello"));
    const [called] = await client.request("tools/call", { name: "default", arguments: { message: "hi", session_id } });
    expect(called?.result.content).toEqual([{ type: "text", text: "hello" }]);
  }
});

test("a session of another client is unknown", async () => {
  const { service } = await setMcpStage();
  const client = new LegacyClient(service.url);
  await client.open();
  const thief = new LegacyClient(service.url, "stranger");
  thief.session = client.session;
  expect((await thief.post({ id: 1, method: "tools/list" })).status).toBe(404);
  expect((await thief.get(undefined)).status).toBe(404);
  const nobody = new LegacyClient(service.url);
  expect((await nobody.post({ id: 1, method: "tools/list", params: {} })).status).toBe(400);
});

/** A runner whose steps the test takes. */
function steppedTool() {
  const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  return {
    steps,
    run: async function* ({ signal }: Run) {
      signal.addEventListener("abort", () => steps.forEach(({ resolve }) => void resolve()));
      yield delta("one");
      await steps[0].promise;
      yield delta("two");
      await steps[1].promise;
      yield signal.aborted ? failed("cancelled", { code: "cancelled" }) : completed("one two");
    },
  };
}

const call = {
  id: "call-7",
  method: "tools/call",
  params: { name: "stepper", arguments: { message: "go" }, _meta: { progressToken: "p" } },
};

test("a cut stream goes on at another replica: every event once, then the response", async () => {
  const { service } = await setMcpStage({}, { own: true });
  const other = await startService({ databaseUrl: service.databaseUrl });
  const { run, steps } = steppedTool();
  await offer(service, { stepper: run });
  const client = new LegacyClient(service.url);
  await client.open();
  const leaving = new AbortController();
  const first = eventsOf(await client.post(call, { signal: leaving.signal }));
  const opening = (await first.next()).value;
  expect([opening?.id, opening?.data]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}\.0$/), ""]);
  const begun = (await first.next()).value;
  expect(JSON.parse(begun?.data ?? "")).toMatchObject({
    method: "notifications/progress",
    params: { progressToken: "p" },
  });
  leaving.abort();
  await first.return(undefined).catch(() => undefined);
  steps[0].resolve();
  steps[1].resolve();
  const rest = await messagesOf(await client.get(begun?.id, { url: other.url }));
  const numbers = [JSON.parse(begun?.data ?? ""), ...rest.slice(0, -1)].map(({ params }) => params.progress);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((one, two) => one - two));
  expect(rest.at(-1)).toMatchObject({ id: "call-7", result: { content: [{ text: "one two" }] } });
  const whole = await messagesOf(await client.get(opening?.id));
  expect(whole.at(-1)).toEqual(rest.at(-1));
  const another = new LegacyClient(service.url);
  await another.open();
  expect((await another.get(begun?.id)).status).toBe(404);
});

test("a client that leaves cancels nothing; notifications/cancelled does, at any replica", async () => {
  const { service } = await setMcpStage({}, { own: true });
  const other = await startService({ databaseUrl: service.databaseUrl });
  const { run } = steppedTool();
  await offer(service, { stepper: run });
  const grpc = new GrpcClient(service.target);
  const stateOf = async () => (await grpc.call(RunService.method.listRuns, {})).runs[0]?.state;
  const client = new LegacyClient(service.url);
  await client.open();
  const leaving = new AbortController();
  const events = eventsOf(await client.post(call, { signal: leaving.signal }));
  await events.next();
  await events.next();
  leaving.abort();
  await events.return(undefined).catch(() => undefined);
  expect((await client.request("ping")).at(-1)?.result).toEqual({});
  expect(await stateOf()).toBe(Run_State.RUNNING);
  for (const requestId of ["call-8", 7]) {
    await client.post({ method: "notifications/cancelled", params: { requestId } });
  }
  expect(await stateOf()).toBe(Run_State.RUNNING);
  const accepted = await client.post(
    { method: "notifications/cancelled", params: { requestId: "call-7" } },
    { url: other.url },
  );
  expect([accepted.status, await accepted.text()]).toEqual([202, ""]);
  await until("the end", async () => (await stateOf()) === Run_State.CANCELLED);
});

test("a cancelled call is found among any number of active runs", async () => {
  const databaseUrl = await testDatabase();
  const { service } = await setMcpStage({ databaseUrl }, { own: true });
  await offer(service, { stepper: steppedTool().run });
  const grpc = new GrpcClient(service.target);
  const client = new LegacyClient(service.url);
  await client.open();
  await client.post(call);
  const [run] = await until("the run", async () => {
    const { runs } = await grpc.call(RunService.method.listRuns, {});
    return runs.length > 0 && runs;
  });
  const connection = new pg.Client({ connectionString: databaseUrl });
  await connection.connect();
  await connection.query(
    `with others as (
       insert into session select (jsonb_populate_record(s, jsonb_build_object('id', uuidv7(), 'name', 'other' || n))).*
       from run r join session s on s.id = r.session, generate_series(1, 300) n where r.id = $1 returning id
     )
     insert into run select (jsonb_populate_record(r, jsonb_build_object('id', uuidv7(), 'session', others.id,
       'status', 'waiting', 'owner', null, 'wake_at', now() + interval '1 day'))).*
     from run r, others where r.id = $1`,
    [run?.runId],
  );
  await connection.end();
  await client.post({ method: "notifications/cancelled", params: { requestId: "call-7" } });
  const state = async () => (await grpc.call(RunService.method.getRun, { runId: run?.runId ?? "" })).run?.state;
  await until("the end", async () => (await state()) === Run_State.CANCELLED);
});

test("an approval is a request on the stream, and its answer a POST", async () => {
  const agent = { tools: { builtin: ["list_dir"], approve: ["list_dir"] } };
  const { service, provider } = await setMcpStage({ agentPresets: [`careful=${JSON.stringify(agent)}`] });
  provider.respond(callTools({ id: "c1", name: "list_dir", arguments: "{}" }), answer("It is empty."));
  const client = new LegacyClient(service.url);
  await client.open({ elicitation: {} });
  const response = await client.post({
    id: 1,
    method: "tools/call",
    params: { name: "careful", arguments: { message: "List." } },
  });
  let end: unknown;
  for await (const { data } of eventsOf(response)) {
    const message = data === "" ? {} : JSON.parse(data);
    if (message.method === "elicitation/create") {
      const answered = await client.post({ id: message.id, result: { action: "accept", content: { confirm: true } } });
      expect(answered.status).toBe(202);
    } else if (message.id === 1) {
      end = message.result;
    }
  }
  expect(end).toMatchObject({ content: [{ text: "It is empty." }] });
});

test("a form of an agent's server is asked as that server wrote it, and the server gets the values", async () => {
  const form: ElicitRequestFormParams = {
    message: "Where to?",
    requestedSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  };
  const behind = await openMcpServer((server) => {
    server.registerTool("book", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      const { content } = await mcpReq.elicitInput(form);
      return { content: [{ type: "text", text: `booked ${content?.city}` }] };
    });
  }, "sessions");
  const agent = { tools: { mcp: [{ name: "srv", url: behind.url, forms: true }] } };
  const { service, provider } = await setMcpStage({
    agentPresets: [`traveller=${JSON.stringify(agent)}`],
    securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"],
  });
  provider.respond(callTools({ id: "c1", name: "srv_book", arguments: "{}" }), answer("Have a good time."));
  const client = new LegacyClient(service.url);
  await client.open({ elicitation: {} });
  const params = { name: "traveller", arguments: { message: "Go." } };
  const response = await client.post({ id: 1, method: "tools/call", params });
  const messages: Message[] = [];
  for await (const { data } of eventsOf(response)) {
    const message: Message = data === "" ? {} : JSON.parse(data);
    messages.push(message);
    if (message.method === "elicitation/create") {
      await client.post({ id: message.id, result: { action: "accept", content: { city: "Lund" } } });
    }
  }
  const asked = messages.flatMap(({ method, params: given }) => (method === "elicitation/create" ? [given] : []));
  expect(asked).toMatchObject([{ mode: "form", ...form, message: "srv asks: Where to?" }]);
  expect(messages.at(-1)?.result).toMatchObject({ content: [{ text: "Have a good time." }] });
  expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain("booked Lund");
});

test("a quiet call reports progress that rises, and asks no question twice", async () => {
  const { clock, pass } = createHeldClock(15_000);
  const agent = { tools: { builtin: ["list_dir"], approve: ["list_dir"] } };
  const agentPresets = [`careful=${JSON.stringify(agent)}`];
  const { service, provider } = await setMcpStage({ agentPresets }, { clock });
  provider.respond(callTools({ id: "c1", name: "list_dir", arguments: "{}" }), answer("It is empty."));
  const client = new LegacyClient(service.url);
  await client.open({ elicitation: {} });
  const params = { name: "careful", arguments: { message: "List." }, _meta: { progressToken: "p" } };
  const messages: Message[] = [];
  const reading = (async () => {
    for await (const { data } of eventsOf(await client.post({ id: 1, method: "tools/call", params }))) {
      messages.push(data === "" ? {} : JSON.parse(data));
    }
  })();
  const numbers = () => messages.flatMap(({ params: given = {} }) => given.progress ?? []);
  const questions = () => messages.filter(({ method }) => method === "elicitation/create");
  await until("the question", () => questions().length > 0);
  for (let beats = 0; beats < 3; beats++) {
    const before = numbers().length;
    pass();
    await until("the next progress", () => numbers().length > before);
  }
  expect(questions()).toHaveLength(1);
  expect(numbers()).toEqual([...new Set(numbers())].toSorted((one, two) => Number(one) - Number(two)));
  await client.post({ id: questions()[0]?.id, result: { action: "accept", content: { confirm: true } } });
  await reading;
  expect(messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: "It is empty." }] } });
});

test("the stream of a session tells of new agents", async () => {
  const { service } = await setMcpStage();
  const client = new LegacyClient(service.url);
  await client.open();
  const leaving = new AbortController();
  const events = eventsOf(await client.get(undefined, { signal: leaving.signal }));
  await offer(service, { fresh: steppedTool().run });
  expect(JSON.parse((await events.next()).value?.data ?? "")).toEqual({
    jsonrpc: "2.0",
    method: "notifications/tools/list_changed",
    params: {},
  });
  leaving.abort();
});
