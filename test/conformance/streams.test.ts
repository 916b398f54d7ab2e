// How streams live and end when it is not the run that ends them: deadlines, heartbeats, drains, readers that stop.

import { connect } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import { RunService, TailRunRequestSchema, type TailRunResponse } from "#gen/runnel/v1/run_service_pb.js";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { startFakeProvider } from "../fakes/provider.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { callRaw, frame } from "./grpc-frames.ts";
import { setStage, startConversation } from "./stage.ts";
import { Refused, type Surface } from "./surface.ts";
import { type SurfaceKind, surfaces } from "./surfaces.ts";

/** A run that has said some words and will not go on. */
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

function modelFlags(baseUrl: string) {
  return { openaiKey: "test-key", openaiBaseUrl: baseUrl, defaultModel: "gpt-4o-mini" };
}

const [grpc, rest] = ["gRPC", "REST"].map((name) => {
  const kind = surfaces.find((each) => each.name === name);
  if (kind === undefined) {
    throw new Error(`no surface ${name}`);
  }
  return kind;
}) as [SurfaceKind, SurfaceKind];

test("a reader's deadline ends its stream with DEADLINE_EXCEEDED, and the run goes on", async () => {
  const { service, api, runId } = await startEndlessRun(grpc);
  const request = toBinary(TailRunRequestSchema, create(TailRunRequestSchema, { runId }));
  // No client library, which would keep the time itself.
  const end = await callRaw(service.url, "/runnel.v1.RunService/TailRun", frame(request), { "grpc-timeout": "300m" });
  expect(end.grpcStatus).toBe(status.DEADLINE_EXCEEDED);

  const client = new Client(service.target, credentials.createInsecure());
  onTestFinished(() => client.close());
  const stream = client.makeServerStreamRequest(
    "/runnel.v1.RunService/TailRun",
    () => Buffer.from(request),
    (bytes: Buffer) => bytes,
    {},
    new Metadata(),
    { deadline: Date.now() + 300 },
  );
  stream.resume();
  const error = await new Promise<ServiceError>((resolve) => stream.on("error", resolve));
  expect(error.code).toBe(status.DEADLINE_EXCEEDED);
  expect(await api.getRun(runId)).toMatchObject({ state: "running" });
});

describe("a stream that nothing happens on", () => {
  /** Time that runs as always but for the heartbeat, which comes when the test says so. */
  function createHeldClock(heldMs: number) {
    const held = new Set<() => void>();
    const clock: Clock = {
      ...systemClock,
      sleep: async (delayMs, signal) => {
        if (delayMs !== heldMs) {
          return await systemClock.sleep(delayMs, signal);
        }
        const { promise, resolve } = Promise.withResolvers<void>();
        held.add(resolve);
        signal?.addEventListener("abort", () => resolve(), { once: true });
        if (signal?.aborted === true) {
          resolve();
        }
        await promise;
        held.delete(resolve);
      },
    };
    return {
      clock,
      pass: () => {
        for (const resolve of held) {
          resolve();
        }
      },
    };
  }

  const heartbeatMs = 15_000;

  test("is kept alive by empty messages over gRPC and comments over SSE", async () => {
    const provider = await startFakeProvider();
    onTestFinished(() => provider.close());
    provider.respond((wire) => wire.hang());
    const { clock, pass } = createHeldClock(heartbeatMs);
    const service = await startService(modelFlags(provider.baseUrl), { clock });
    const { sessionId, runId } = await startConversation(grpc.connect(service));
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
        const { body } = await fetch(`${service.url}${path}`, { signal: leaving.signal });
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
    await grpc.connect(service).cancelRun(runId);
  });

  function countBeats(text: string): number {
    return text.split(": heartbeat\n\n").length - 1;
  }
});

describe("when the service stops", () => {
  const readers = {
    "a run's log": (api: Surface, { runId }: { runId: string }) => api.followRun(runId),
    "a session's events": (api: Surface, { sessionId }: { sessionId: string }) => api.followSession(sessionId),
  };
  const cases = surfaces.flatMap((kind) => Object.entries(readers).map(([what, follow]) => ({ kind, what, follow })));

  test.each(cases)("readers of $what over $kind.name are told to come again", async ({ kind, follow }) => {
    const { service, api, ...ids } = await startEndlessRun(kind);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { type } of follow(api, ids)) {
        seen.push(type);
      }
    })();
    const end = reading.then(
      () => undefined,
      (error: unknown) => error,
    );
    await until("the reader to be there", () => seen.length > 0);
    await service.close();
    const error = await end;
    if (!(error instanceof Refused)) {
      throw new Error(`the stream ended with ${String(error)}`);
    }
    expect(seen).not.toContain("done");
    if (error.grpcCode !== undefined) {
      expect(error.grpcCode).toBe("UNAVAILABLE");
    }
    // The documented session stream just closes.
    if (kind === grpc || seen.includes("turn.started")) {
      expect(error.reason).toBe("RESUME");
    } else {
      expect(error.message).toBe("the stream broke off");
    }
  });

  test("readers that do not read do not hold it up", async () => {
    // More than all buffers on the way to a reader hold.
    const words = Array<string>(120).fill("x".repeat(100_000));
    const { service, runId, sessionId } = await startEndlessRun(rest, words);
    const paused = new GrpcClient(service.target).stream(RunService.method.tailRun, { runId });
    paused.on("error", () => {});
    paused.pause();
    for (const path of [`/v1/sessions/${sessionId}/stream`, `/v1/runs/${runId}/results:tail`]) {
      const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
      onTestFinished(() => {
        socket.destroy();
      });
      socket.on("error", () => {});
      socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
      // The head is there; nothing is read from now on.
      await new Promise((resolve) => socket.once("readable", resolve));
    }
    await service.close();
    paused.cancel();
  });

  test("a run is handed on, so that its readers find it at the next start", async () => {
    const { service, provider, runId } = await startEndlessRun(grpc);
    await service.close();
    provider.respond((wire) => {
      wire.text("well, done");
      wire.finish("stop");
      wire.done();
    });
    const { databaseUrl } = service;
    const next = await startService({ ...modelFlags(provider.baseUrl), databaseUrl });
    const results = await Array.fromAsync(grpc.connect(next).followRun(runId, 2));
    expect(results.map(({ sequence }) => sequence)).toEqual(results.map((_, index) => index + 3));
    expect(results.some(({ type }) => type === "turn.restarted")).toBe(true);
    expect(results.at(-1)).toMatchObject({ type: "run.completed", payload: { message: { text: "well, done" } } });
    await next.close();
  });
});
