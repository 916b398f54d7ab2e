// Server streams as SSE over a real port: framing, cursors, ends of every kind, clients that are slow or leave.

import { connect as connectHttp2 } from "node:http2";
import { connect as connectSocket, type Socket } from "node:net";
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { describe, expect, test, vi } from "vitest";
import { ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import type { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { Session_State } from "#gen/runnel/v1/session_pb.js";
import type { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { startRestServer } from "./rest-server.ts";

type TailRun = ServiceImpl<typeof RunService>["tailRun"];
type StreamSession = ServiceImpl<typeof SessionService>["streamSession"];

const tailPath = "/v1/runs/r/results:tail";

async function readTail(tailRun: TailRun, init: RequestInit = {}, query = ""): Promise<[number, string]> {
  await using server = await startRestServer({ runs: { tailRun } });
  const response = await fetch(`${server.url}${tailPath}${query}`, init);
  return [response.status, await response.text()];
}

function resume(): ConnectError {
  return new ConnectError("come again", Code.Unavailable, undefined, [
    { desc: ErrorInfoSchema, value: { reason: "RESUME", domain: "runnel.dev" } },
  ]);
}

/** Waits until the signal aborts, as a handler that waits for news does. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

describe("TailRun", () => {
  test("sends whole results with their ids, heartbeats and an end", async () => {
    const [status, text] = await readTail(async function* () {
      yield {};
      yield {
        results: [
          { runId: "r", sequence: 1n, payload: { case: "messageDelta", value: { chunk: { content: "a\n<b>" } } } },
          { runId: "r", sequence: 2n, payload: { case: "extension", value: { type: "my.type", json: '{"b":1.0}' } } },
        ],
      };
      yield {};
      yield { results: [{ sequence: 3n }] };
    });
    expect(status).toBe(200);
    expect(text).toBe(
      [
        ": open\n\n",
        'id: 1\nevent: message.delta\ndata: {"run_id":"r","sequence":1,"message_delta":{"chunk":{"content":"a\\n<b>"}}}\n\n',
        'id: 2\nevent: my.type\ndata: {"run_id":"r","sequence":2,"extension":{"type":"my.type","json":{"b":1.0}}}\n\n',
        ": heartbeat\n\n",
        'id: 3\nevent: unknown\ndata: {"sequence":3}\n\n',
        "event: end\ndata: {}\n\n",
      ].join(""),
    );
  });

  test("gives the reason when it ends early", async () => {
    const [, text] = await readTail(async function* () {
      yield {};
      throw resume();
    });
    expect(text).toBe(
      ': open\n\nevent: error\ndata: {"error":"come again","code":"UNAVAILABLE","reason":"RESUME"}\n\n',
    );
  });

  test("fails with a status before anything was sent", async () => {
    // biome-ignore lint/correctness/useYield: a stream that is refused yields nothing.
    const [status, text] = await readTail(async function* () {
      throw resume();
    });
    expect([status, text]).toEqual([503, '{"error":"come again","code":"UNAVAILABLE","reason":"RESUME"}\n']);
  });

  test("is 204 when nothing is left to send", async () => {
    expect(await readTail(async function* () {}, {}, "?after=9")).toEqual([204, ""]);
    // So an EventSource that reconnects with the id of the end stops reconnecting.
    expect(await readTail(async function* () {}, { headers: { "last-event-id": "9" } })).toEqual([204, ""]);
  });

  test("continues after the cursor of the header, or else of the query", async () => {
    const seen: bigint[] = [];
    const tailRun: TailRun = async function* ({ after }) {
      seen.push(after);
      yield {};
    };
    await readTail(tailRun, {}, "?after_seq=3");
    await readTail(tailRun, { headers: { "last-event-id": "7" } }, "?after=3");
    expect(seen).toEqual([3n, 7n]);
  });

  test.each(["r.7", "x", "-", "1 2", "1e999", "9223372036854775808", "%37", "1,2"])(
    "refuses the Last-Event-ID %s instead of starting from the beginning",
    async (id) => {
      const unreachable: TailRun = () => expect.unreachable("the handler was called");
      const [status, text] = await readTail(unreachable, { headers: { "last-event-id": id } });
      expect([status, JSON.parse(text)]).toMatchObject([
        400,
        {
          error: "invalid Last-Event-ID: must be a 64-bit integer",
          details: { violations: [{ field: "Last-Event-ID" }] },
        },
      ]);
    },
  );

  test("sends its head at once, with the headers that proxies need", async () => {
    await using server = await startRestServer({
      runs: {
        tailRun: async function* (_, { signal }) {
          yield {};
          await aborted(signal);
        },
      },
    });
    const response = await fetch(`${server.url}${tailPath}`, { headers: { "accept-encoding": "gzip, br" } });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-store",
      connection: "keep-alive",
      "x-accel-buffering": "no",
    });
    expect(response.headers.has("content-encoding")).toBe(false);
    const chunk = await response.body?.getReader().read();
    expect(new TextDecoder().decode(chunk?.value)).toBe(": open\n\n");
  });

  test("works over HTTP/2, without the header that HTTP/2 refuses", async () => {
    await using server = await startRestServer({
      http2: true,
      runs: {
        tailRun: async function* () {
          yield {};
        },
      },
    });
    const session = connectHttp2(server.url);
    const stream = session.request({ ":path": tailPath });
    const text = Buffer.concat(await Array.fromAsync<Buffer>(stream)).toString();
    session.destroy();
    expect(text).toBe(": open\n\nevent: end\ndata: {}\n\n");
  });
});

describe("StreamSession", () => {
  async function readSession(streamSession: StreamSession): Promise<string> {
    await using server = await startRestServer({ sessions: { streamSession } });
    return await (await fetch(`${server.url}/v1/sessions/s/stream`)).text();
  }

  test("sends only the event, its id if it has one, and no event at the end", async () => {
    const text = await readSession(async function* () {
      yield {};
      yield { event: { case: "text", value: { content: "<hi>" } } };
      yield { event: { case: "toolCall", value: { tool: "list_dir", args: '{ "path": 1.50 }' } } };
      yield {};
      yield {
        id: "r.4",
        event: { case: "done", value: { status: Session_State.COMPLETED, turns: 1, durationMs: 5n } },
      };
    });
    expect(text).toBe(
      [
        ": open\n\n",
        'event: text\ndata: {"content":"\\u003chi\\u003e"}\n\n',
        'event: tool_call\ndata: {"tool":"list_dir","args":{"path":1.50}}\n\n',
        ": heartbeat\n\n",
        'id: r.4\nevent: done\ndata: {"status":"completed","turns":1,"duration_ms":5}\n\n',
      ].join(""),
    );
  });

  test("sends events that come with its first message", async () => {
    const text = await readSession(async function* () {
      yield { event: { case: "text", value: { content: "a" } } };
    });
    expect(text).toBe(': open\n\nevent: text\ndata: {"content":"a"}\n\n');
  });

  test("ends early without an event", async () => {
    const text = await readSession(async function* () {
      yield {};
      throw resume();
    });
    expect(text).toBe(": open\n\n");
  });
});

describe("a client that leaves", () => {
  async function openSocket(port: number, path: string): Promise<Socket> {
    const socket = connectSocket(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    return socket;
  }

  test.each([
    ["after the head", "the handler", { opens: true, ignores: false }],
    ["before the head", "the handler", { opens: false, ignores: false }],
    ["after the head", "even a handler that ignores its signal, when it yields", { opens: true, ignores: true }],
    ["before the head", "even a handler that ignores its signal, when it yields", { opens: false, ignores: true }],
  ])("%s ends %s", async (_when, _which, { opens, ignores }) => {
    const news = Promise.withResolvers<void>();
    const state = { signal: undefined as AbortSignal | undefined, finished: false };
    await using server = await startRestServer({
      runs: {
        tailRun: async function* (_request, { signal }: HandlerContext) {
          state.signal = signal;
          try {
            if (opens) {
              yield {};
            }
            await (ignores ? news.promise : aborted(signal));
            yield* ignores ? [{}, {}] : [];
          } finally {
            state.finished = true;
          }
        },
      },
    });
    const socket = await openSocket(server.port, tailPath);
    if (opens) {
      await new Promise((resolve) => {
        socket.once("data", resolve);
      });
    }
    await vi.waitUntil(() => state.signal !== undefined);
    socket.destroy();
    await vi.waitUntil(() => state.signal?.aborted);
    news.resolve();
    await vi.waitUntil(() => state.finished);
  });

  test("aborts a unary method too", async () => {
    const signals: AbortSignal[] = [];
    await using server = await startRestServer({
      runs: {
        getRun: async (_, { signal }) => {
          signals.push(signal);
          await aborted(signal);
          return {};
        },
      },
    });
    const socket = await openSocket(server.port, "/v1/runs/r");
    await vi.waitUntil(() => signals.length === 1);
    socket.destroy();
    await vi.waitUntil(() => signals[0]?.aborted);
  });
});

describe("a client that reads slowly", () => {
  test("slows the handler down instead of filling memory, and still gets everything in order", async () => {
    const total = 400;
    const content = "x".repeat(64 * 1024);
    let produced = 0;
    await using server = await startRestServer({
      runs: {
        tailRun: async function* () {
          yield {};
          for (let sequence = 1; sequence <= total; sequence += 1) {
            produced = sequence;
            yield {
              results: [
                { sequence: BigInt(sequence), payload: { case: "reasoningDelta" as const, value: { content } } },
              ],
            };
          }
        },
      },
    });
    const socket = connectSocket(server.port, "127.0.0.1");
    socket.pause();
    socket.write(`GET ${tailPath} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    await waitUntilStill(() => produced);
    // 25 MB are available; the buffers of the kernel and of Node take a fraction of it.
    expect(produced).toBeLessThan(total / 2);
    const text = Buffer.concat(await Array.fromAsync<Buffer>(socket)).toString();
    expect([...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))).toEqual(
      Array.from({ length: total }, (_, index) => index + 1),
    );
    expect(text).toContain("event: end");
  });
});

/** Waits until a figure has changed and then stays the same over many turns of the event loop. */
async function waitUntilStill(read: () => number): Promise<void> {
  let last = 0;
  let still = 0;
  await vi.waitUntil(
    () => {
      const now = read();
      still = now > 0 && now === last ? still + 1 : 0;
      last = now;
      return still >= 10;
    },
    { interval: 20, timeout: 60_000 },
  );
}
