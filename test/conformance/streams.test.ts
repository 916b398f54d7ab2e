// How streams live and end for reasons other than their run: deadlines, heartbeats, drains, readers that stop or leave. Over
// every surface, as feeds and by their handlers.

import { once } from "node:events";
import { connect } from "node:net";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { describe, expect, onTestFinished } from "vitest";
import { RunService, TailRunRequestSchema, type TailRunResponse } from "#gen/runnel/v1/run_service_pb.js";
import { answer } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { createHeldClock } from "../harness/held-clock.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { openBreakingLine } from "./breaking-line.ts";
import { connectEventSource } from "./event-source-surface.ts";
import { callRaw, frame } from "./grpc-frames.ts";
import { modelFlags, readSession, setStage, startConversation, test } from "./stage.ts";
import { Refused, type Surface } from "./surface.ts";
import { findSurface, type SurfaceKind, surfaces, withoutFeeds } from "./surfaces.ts";

const grpc = findSurface("gRPC");
/** A service with feeds and one without; unary calls use gRPC. */
const modes: readonly SurfaceKind[] = [
  { ...grpc, name: "as feeds" },
  { ...withoutFeeds(grpc), name: "by their handlers" },
];

/** Starts a run that has sent some words and then waits without end. */
async function startEndlessRun(kind: SurfaceKind, words: readonly string[] = ["well"]) {
  const stage = await setStage(kind);
  stage.provider.respond((wire) => {
    for (const word of words) {
      wire.text(word);
    }
    return wire.hang();
  });
  const ids = await startConversation(stage.api);
  const charsMin = words.join("").length;
  await until("the words to be durable", async () => {
    const sizes = "select coalesce(sum(length(payload)), 0)::int as bytes from run_result";
    const [row] = await query<{ bytes: number }>(stage.service.databaseUrl, sizes);
    return row !== undefined && row.bytes > charsMin;
  });
  return { ...stage, ...ids };
}

type Ids = { readonly sessionId: string; readonly runId: string };

/** The streams that a reader can follow. */
const logs: Record<string, (api: Surface, ids: Ids) => AsyncGenerator<{ readonly type: string }>> = {
  "a run's log": (api, { runId }) => api.followRun(runId),
  "a session's events": (api, { sessionId }) => api.followSession(sessionId),
};
const readers = surfaces.flatMap(({ name, connect: open }) =>
  Object.entries(logs).map(([what, follow]) => ({ who: `a reader of ${what} over ${name}`, open, follow })),
);

describe.each(modes)("streams $name", (mode) => {
  test.override("kind", mode);

  describe("end with DEADLINE_EXCEEDED at their reader's deadline, and the run continues", () => {
    const tailPath = "/runnel.v1.RunService/TailRun";

    test("over gRPC", async () => {
      const { service, api, runId } = await startEndlessRun(mode);
      const request = toBinary(TailRunRequestSchema, create(TailRunRequestSchema, { runId }));
      // Without a client library, which would enforce the deadline itself.
      const end = await callRaw(service.url, tailPath, frame(request), { "grpc-timeout": "300m" });
      expect(end.grpcStatus).toBe(status.DEADLINE_EXCEEDED);

      const client = new Client(service.target, credentials.createInsecure());
      onTestFinished(() => client.close());
      const metadata = new Metadata();
      metadata.set("authorization", credentialsOf().authorization ?? "");
      const stream = client.makeServerStreamRequest(
        tailPath,
        () => Buffer.from(request),
        (bytes: Buffer) => bytes,
        {},
        metadata,
        { deadline: Date.now() + 300 },
      );
      stream.resume();
      const error = await new Promise<ServiceError>((resolve) => stream.on("error", resolve));
      expect(error.code).toBe(status.DEADLINE_EXCEEDED);
      expect(await api.getRun(runId)).toMatchObject({ state: "running" });
    });

    const shapes = [
      {
        protocol: "Connect",
        headers: { "content-type": "application/connect+json", "connect-timeout-ms": "300" },
        end: /"code":"deadline_exceeded"/,
      },
      {
        protocol: "gRPC-Web",
        headers: { "content-type": "application/grpc-web+json", "grpc-timeout": "300m" },
        end: /grpc-status: 4\r\n/,
      },
    ];
    test.each(shapes)("over $protocol", async ({ headers, end }) => {
      const { service, api, runId } = await startEndlessRun(mode);
      const request = toJsonString(TailRunRequestSchema, create(TailRunRequestSchema, { runId }));
      const response = await fetch(`${service.url}${tailPath}`, {
        method: "POST",
        headers: { ...credentialsOf(), ...headers },
        body: frame(Buffer.from(request)),
      });
      expect(await response.text()).toMatch(end);
      expect(await api.getRun(runId)).toMatchObject({ state: "running" });
    });
  });

  test("are kept alive by empty messages over gRPC and comments over SSE", async ({ provider }) => {
    provider.respond((wire) => wire.hang());
    const { clock, pass } = createHeldClock(heartbeatMs);
    const { plainStreams = false } = mode;
    const service = await startService(modelFlags(provider), { clock, plainStreams });
    const { sessionId, runId } = await startConversation(mode.connect(service));
    await provider.request(0);
    const stream = new GrpcClient(service.target).stream(RunService.method.tailRun, { runId, after: 1n });
    stream.on("error", () => {});
    onTestFinished(() => stream.cancel());
    let empty = 0;
    stream.on("data", ({ results }: TailRunResponse) => {
      if (results.length === 0) {
        empty++;
      }
    });
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    const texts = await Promise.all(
      [`/v1/sessions/${sessionId}/stream`, `/v1/runs/${runId}/results:tail`].map(async (path) => {
        const { body } = await fetch(`${service.url}${path}`, { headers: credentialsOf(), signal: leaving.signal });
        const read = { text: "" };
        void (async () => {
          for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
            read.text += piece;
          }
        })().catch(() => {});
        return read;
      }),
    );
    await until("the streams to open", () => empty === 1 && texts.every(({ text }) => text.startsWith(": open\n\n")));
    for (const beats of [1, 2]) {
      pass();
      await until(`heartbeat ${beats}`, () => empty > beats && texts.every(({ text }) => countBeats(text) >= beats));
    }
    await mode.connect(service).cancelRun(runId);
  });

  test("resume after any of their results, with exactly the rest", async ({ provider, service, api }) => {
    provider.respond(answer("well"));
    const { sessionId, runId } = await startConversation(api, { tools: { builtin: ["list_dir"] } });
    const events = await readSession(api, sessionId);
    const results = await Array.fromAsync(api.followRun(runId));
    expect(results.length).toBeGreaterThan(3);
    for (const { name, connect: open } of surfaces) {
      const reader = open(service);
      for (const { sequence } of results) {
        const rest = await Array.fromAsync(reader.followRun(runId, sequence));
        expect(rest, `over ${name} after ${sequence}`).toEqual(results.slice(sequence));
        const told = await readSession(reader, sessionId, `${runId}.${sequence}`);
        expect(events.slice(events.length - told.length), `over ${name} after ${sequence}`).toEqual(told);
        expect(told.length > 0, `over ${name} after ${sequence}`).toBe(sequence < results.length);
      }
    }
  });

  test("whose readers leave are closed while the run continues", async () => {
    const { service, api, ...ids } = await startEndlessRun(mode);
    const leaveAll = await Promise.all(
      readers.map(async ({ who, open, follow }) => {
        const stream = follow(open(service), ids);
        expect((await stream.next()).done, who).toBe(false);
        return () => stream.return(undefined);
      }),
    );
    await until("all readers", () => service.app.countReaders() === readers.length);
    await Promise.all(leaveAll.map((leave) => leave()));
    await until("no reader", () => service.app.countReaders() === 0);
    expect(await api.getRun(ids.runId)).toMatchObject({ state: "running" });
  });

  test("ask their readers to reconnect when the service stops", async () => {
    const { service, ...ids } = await startEndlessRun(mode);
    const watches = readers.map(({ who, open, follow }) => {
      const seen: string[] = [];
      const read = async (): Promise<void> => {
        for await (const { type } of follow(open(service), ids)) {
          seen.push(type);
        }
      };
      return { who, seen, end: read().catch((error: unknown) => error) };
    });
    await until("the readers to be there", () => watches.every(({ seen }) => seen.length > 0));
    await service.close();
    for (const { who, seen, end } of watches) {
      const error = await end;
      if (!(error instanceof Refused)) {
        throw new Error(`${who} ended with ${String(error)}`);
      }
      expect(seen, who).not.toContain("done");
      if (error.grpcCode !== undefined) {
        expect(error.grpcCode, who).toBe("UNAVAILABLE");
      }
      // The documented session stream just closes.
      if (error.grpcCode !== undefined || seen.includes("turn.started")) {
        expect(error.reason, who).toBe("RESUME");
      } else {
        expect(error.message, who).toBe("the stream broke off");
      }
    }
  });

  test("that no client reads do not delay a stop", async () => {
    // More than all buffers on the way to a reader hold.
    const words = Array<string>(120).fill("x".repeat(100_000));
    const { service, runId, sessionId } = await startEndlessRun(mode, words);
    const paused = new GrpcClient(service.target).stream(RunService.method.tailRun, { runId });
    paused.on("error", () => {});
    paused.pause();
    for (const path of [`/v1/sessions/${sessionId}/stream`, `/v1/runs/${runId}/results:tail`]) {
      const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
      onTestFinished(() => {
        socket.destroy();
      });
      socket.on("error", () => {});
      const { authorization } = credentialsOf();
      socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n\r\n`);
      // The head has arrived; from now on the client reads nothing.
      await once(socket, "readable");
      expect(String(socket.read(15))).toBe("HTTP/1.1 200 OK");
    }
    await service.close();
    paused.cancel();
  });
});

test("a run is handed on when the service stops, so that its readers find it at the next start", async () => {
  const { service, provider, runId } = await startEndlessRun(grpc);
  await service.close();
  provider.respond(answer("well, done"));
  const { databaseUrl } = service;
  const next = await startService({ ...modelFlags(provider), databaseUrl });
  const results = await Array.fromAsync(grpc.connect(next).followRun(runId, 2));
  expect(results.map(({ sequence }) => sequence)).toEqual(results.map((_, index) => index + 3));
  expect(results.some(({ type }) => type === "turn.restarted")).toBe(true);
  expect(results.at(-1)).toMatchObject({ type: "run.completed", payload: { message: { text: "well, done" } } });
  await next.close();
});

test("an EventSource that is cut off reconnects by itself, and misses nothing", async ({ service, api, provider }) => {
  const words = ["one", "two"].map((word) => ({ word, ...Promise.withResolvers<void>() }));
  provider.respond(async (wire) => {
    for (const { word, promise } of words) {
      wire.text(word);
      await promise;
    }
    wire.done("stop");
  });
  const { sessionId, runId } = await startConversation(api);
  const line = await openBreakingLine(service.url);
  const far = connectEventSource(line.url, credentialsOf());
  const events = collect(far.followSession(sessionId));
  const results = collect(far.followRun(runId));
  for (const { word, resolve } of words) {
    await until(`the word ${word}`, () => [events, results].every((each) => JSON.stringify(each).includes(word)));
    line.cut();
    resolve();
  }
  const whole = await readSession(api, sessionId);
  await until("the ends", () => events.at(-1)?.type === "done" && results.at(-1)?.type === "run.completed");
  expect(events).toEqual(whole);
  expect(results).toEqual(await Array.fromAsync(api.followRun(runId)));
  // Each of the two streams was cut off. On a busy machine the second cut may find one that has not reconnected yet.
  expect(line.connections).toBeGreaterThanOrEqual(4);
});

/** Returns a list that grows with the stream. */
function collect<T>(stream: AsyncGenerator<T>): readonly T[] {
  const collected: T[] = [];
  void (async () => {
    for await (const each of stream) {
      collected.push(each);
    }
  })().catch(() => {});
  return collected;
}

const heartbeatMs = 15_000;

function countBeats(text: string): number {
  return text.split(": heartbeat\n\n").length - 1;
}
