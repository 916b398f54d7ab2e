// The log of a run as a stream of the Durable Streams protocol: what its clients send, and what they rely on.

import { describe, expect } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { systemClock } from "../../src/platform/base/clock.ts";
import { modelFlags } from "../conformance/stage.ts";
import { answer } from "../fakes/provider.ts";
import { test as base, openProvider } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { createHeldClock } from "../harness/held-clock.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";

interface Followed {
  readonly service: TestService;
  readonly runId: string;
  readonly url: string;
  readonly get: (query: string, init?: RequestInit) => Promise<Response>;
  readonly client: GrpcClient;
  /** Lets a run that is held go on. */
  readonly release: () => void;
}

/** Starts a run whose answer is `parts`; the part after the first waits for `release` if the run is held. */
async function follow({ isHeld = false, clock = systemClock } = {}): Promise<Followed> {
  const provider = await openProvider();
  const { promise, resolve: release } = Promise.withResolvers<void>();
  provider.respond(
    isHeld
      ? async (wire) => {
          wire.text("The harbour");
          await promise;
          wire.text(" is quiet.");
          wire.finish("stop");
        }
      : answer("The harbour is quiet."),
  );
  const service = await startService(modelFlags(provider), clock === systemClock ? {} : { clock });
  const client = new GrpcClient(service.target);
  const { sessionId } = await client.call(SessionService.method.createSession, { agent: { name: "tester" } });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "How is it?" });
  const url = `${service.url}/v1/runs/${runId}/stream`;
  const get = (query: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${url}${query}`, { ...init, headers: { ...credentialsOf(), ...init.headers } });
  return { service, runId, url, get, client, release };
}

const test = base.extend("ended", async () => {
  const followed = await follow();
  await until("the run to end", async () => (await followed.get("")).headers.get("stream-closed") === "true");
  return followed;
});

const offsetOf = (sequence: number): string => String(sequence).padStart(16, "0");

interface Message {
  readonly sequence: number;
  readonly run_completed?: object;
}

test("catch-up reads the whole log in the JSON of REST, and says that the stream is closed", async ({ ended }) => {
  const answered = await ended.get("");
  expect(answered.status).toBe(200);
  expect(answered.headers.get("content-type")).toBe("application/json");
  const messages = (await answered.json()) as Message[];
  const listed = await fetch(`${ended.service.url}/v1/runs/${ended.runId}/results?page_size=250`, {
    headers: credentialsOf(),
  });
  expect(messages).toEqual(((await listed.json()) as { results: Message[] }).results);
  expect(messages.map(({ sequence }) => sequence)).toEqual(messages.map((_, index) => index + 1));
  const end = offsetOf(messages.length);
  expect(Object.fromEntries(answered.headers)).toMatchObject({
    "stream-next-offset": end,
    "stream-up-to-date": "true",
    "stream-closed": "true",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  const head = await ended.get("", { method: "HEAD" });
  expect([head.status, head.headers.get("stream-next-offset"), head.headers.get("stream-closed")]).toEqual([
    200,
    end,
    "true",
  ]);
  const rest = await ended.get(`?offset=${offsetOf(2)}`);
  expect(await rest.json()).toEqual(messages.slice(2));
  const nothing = await ended.get(`?offset=${end}`);
  expect([await nothing.json(), nothing.headers.get("stream-closed")]).toEqual([[], "true"]);
  const now = await ended.get("?offset=now");
  expect([await now.json(), now.headers.get("stream-next-offset"), now.headers.get("etag")]).toEqual([[], end, null]);
});

test("an answer has an ETag of its range and its closure, and is not sent again to who has it", async ({ ended }) => {
  const first = await ended.get("?offset=-1");
  const etag = first.headers.get("etag") ?? "";
  expect(etag).toContain(":closed");
  const again = await ended.get("?offset=-1", { headers: { "if-none-match": etag } });
  expect([again.status, await again.text(), again.headers.get("stream-closed")]).toEqual([304, "", "true"]);
  const other = await ended.get(`?offset=${offsetOf(1)}`, { headers: { "if-none-match": etag } });
  expect(other.status).toBe(200);
});

describe("a run that works", () => {
  test("a poll waits for the next message, and the last poll says that the stream is closed", async () => {
    const { get, client, runId, release } = await follow({ isHeld: true });
    await until("the first text", async () => {
      return (await client.call(RunService.method.getRun, { runId })).logSequence >= 2n;
    });
    const soFar = await get("");
    expect(soFar.headers.get("stream-closed")).toBeNull();
    let offset = soFar.headers.get("stream-next-offset") ?? "";
    const waiting = get(`?offset=${offset}&live=long-poll`);
    release();
    const messages: Message[] = [...((await soFar.json()) as Message[])];
    let answered = await waiting;
    const cursors: (string | null)[] = [];
    while (answered.headers.get("stream-closed") !== "true") {
      expect(answered.status).toBe(200);
      messages.push(...((await answered.json()) as Message[]));
      offset = answered.headers.get("stream-next-offset") ?? "";
      const cursor = answered.headers.get("stream-cursor");
      cursors.push(cursor);
      answered = await get(`?offset=${offset}&live=long-poll&cursor=${cursor}`);
    }
    messages.push(...(answered.status === 204 ? [] : ((await answered.json()) as Message[])));
    expect(messages.map(({ sequence }) => sequence)).toEqual(messages.map((_, index) => index + 1));
    expect(messages.at(-1)).toHaveProperty("run_completed");
    expect(new Set(cursors).size).toBe(cursors.length);
    const closed = await get(`?offset=${offsetOf(messages.length)}&live=long-poll`);
    expect([closed.status, closed.headers.get("stream-closed")]).toEqual([204, "true"]);
  });

  test("a stream of events has each message once, and closes after the last", async () => {
    const { get, release } = await follow({ isHeld: true });
    const answered = await get("?offset=-1&live=sse");
    expect(answered.headers.get("content-type")).toBe("text/event-stream");
    release();
    const events = (await answered.text())
      .split("\n\n")
      .map((block) => /^event: (\w+)\ndata: (.*)$/.exec(block))
      .filter((match) => match !== null);
    const messages = events
      .filter(([, type]) => type === "data")
      .flatMap(([, , data]) => JSON.parse(data ?? "") as Message[]);
    expect(messages.map(({ sequence }) => sequence)).toEqual(messages.map((_, index) => index + 1));
    const [, type, last] = events.at(-1) ?? [];
    expect([type, JSON.parse(last ?? "")]).toEqual([
      "control",
      { streamNextOffset: offsetOf(messages.length), streamClosed: true, upToDate: true },
    ]);
  });
});

test.for([
  ["long-poll", 25_000],
  ["sse", 60_000],
] as const)("an answer of live=%s ends after %s ms while the run works", async ([live, limitMs]) => {
  const { clock, pass } = createHeldClock(limitMs);
  const { get, client, runId, release } = await follow({ isHeld: true, clock });
  await until("the first text", async () => {
    return (await client.call(RunService.method.getRun, { runId })).logSequence >= 2n;
  });
  const offset = (await get("")).headers.get("stream-next-offset") ?? "";
  let isOver = false;
  const answered = get(`?offset=${offset}&live=${live}`).then(
    async (response) => [response, await response.text()] as const,
  );
  void answered.finally(() => {
    isOver = true;
  });
  await until("the end of the answer", async () => {
    pass();
    return isOver;
  });
  const [response, text] = await answered;
  if (live === "sse") {
    expect([response.status, text]).toEqual([200, expect.stringContaining(`"streamNextOffset":"${offset}"`)]);
    expect(text).not.toContain("streamClosed");
  } else {
    expect([response.status, response.headers.get("stream-next-offset")]).toEqual([204, offset]);
    expect(response.headers.get("stream-up-to-date")).toBe("true");
    expect(response.headers.get("stream-closed")).toBeNull();
  }
  release();
});

test.for([
  ["?offset=7", 400, "invalid offset"],
  ["?offset=0000000000000001&offset=0000000000000002", 400, "invalid offset: is given twice"],
  ["?offset=9999999999999999", 400, "invalid offset"],
  ["?offset=0000000000009999", 400, "invalid offset: is beyond the end"],
  ["?live=long-poll", 400, "invalid offset: is required"],
  ["?offset=-1&live=tail", 400, "invalid live"],
] as const)("%s is refused with the name of the parameter", async ([query, status, message], { ended }) => {
  const answered = await ended.get(query);
  expect([answered.status, JSON.stringify(await answered.json())]).toEqual([status, expect.stringContaining(message)]);
});

test.for(["POST", "PUT", "DELETE"])("%s is refused: only the run writes its log", async (method, { ended }) => {
  const answered = await ended.get("", { method });
  expect([answered.status, answered.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

test("another client finds no stream, and a ticket follows this one alone", async ({ ended }) => {
  const { url, client, runId, service } = ended;
  const strange = await fetch(url, { headers: credentialsOf("stranger") });
  expect(strange.status).toBe(404);
  const { ticket } = await client.call(AuthService.method.createStreamTicket, {
    target: { target: { case: "runId", value: runId } },
  });
  const opened = await fetch(`${url}?offset=-1&live=sse&ticket=${ticket}`);
  expect([opened.status, await opened.text()]).toEqual([200, expect.stringContaining('"streamClosed":true')]);
  const read = await fetch(`${url}?offset=-1&ticket=${ticket}`);
  expect(read.status).toBe(403);
  const otherUrl = `${service.url}/v1/runs/00000000-0000-7000-8000-000000000000/stream`;
  const other = await fetch(`${otherUrl}?offset=-1&live=sse&ticket=${ticket}`);
  expect(other.status).toBe(401);
});
