// Whether a message costs more the longer its session is: messages in a session of ten thousand, and in new ones, in turn.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { RunService, TailRunResponseSchema } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { newUuid } from "../../src/base/ids.ts";
import { openDatabase } from "../../src/storage/open.ts";
import { findSession } from "../../src/storage/session.ts";
import { appendTranscript } from "../../src/storage/transcript.ts";
import type { Bench, Stage, Variant } from "./bench.ts";
import { GrpcClient } from "./grpc-client.ts";
import { percentile } from "./load.ts";

const pastMessages = 10_000;
const batchRows = 1_000;
const agent = { name: "bench", model: "demo" };

export const longSession: Bench = {
  name: "long",
  title: `A message in a session of ${pastMessages} messages, beside one in a new session`,
  notMeasured: "a provider that reads what it is sent: the demo model stands for one that costs nothing.",
  run: async (stage) => {
    await using service = await stage.startService("long");
    using client = new GrpcClient(service.target);
    const sessionId = await createLongSession(stage, client);
    const long: Timing[] = [];
    const fresh: Timing[] = [];
    const rounds = stage.quick ? 30 : 200;
    for (let round = -10; round < rounds; round++) {
      const kept = round >= 0;
      const inLong = await timeMessage(client, sessionId);
      const created = await client.call(SessionService.method.createSession, { agent });
      const inFresh = await timeMessage(client, created.sessionId);
      if (kept) {
        long.push(inLong);
        fresh.push(inFresh);
      }
    }
    const [longVariant, freshVariant] = [present("long session", long), present("new session", fresh)];
    return [freshVariant, { ...longVariant, metrics: { ...longVariant.metrics, ...ratios(long, fresh) } }];
  },
};

interface Timing {
  readonly acceptedMs: number;
  readonly doneMs: number;
}

async function timeMessage(client: GrpcClient, sessionId: string): Promise<Timing> {
  const startedMs = performance.now();
  const message = "hello pace=0 words=1";
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message });
  const acceptedMs = performance.now() - startedMs;
  let results = 0;
  await client.stream(RunService.method.tailRun, { runId }, (bytes) => {
    results += fromBinary(TailRunResponseSchema, bytes).results.length;
  });
  if (results === 0) {
    throw new Error("a run without results");
  }
  return { acceptedMs, doneMs: performance.now() - startedMs };
}

/** Its past is written as the service writes it, by its own way into the table. */
async function createLongSession({ home }: Stage, client: GrpcClient): Promise<string> {
  const { sessionId } = await client.call(SessionService.method.createSession, { agent });
  const database = await openDatabase({
    url: "",
    directory: home.databaseDirectory,
    poolSize: 2,
    onConnectionError: () => {},
  });
  try {
    const { db } = database.connections;
    const session = await findSession(db, { client: "key/bench", name: sessionId });
    if (session === undefined) {
      throw new Error("the session that was just created is not there");
    }
    const runId = newUuid(0);
    for (let position = 0; position < pastMessages; position += batchRows) {
      const messages = Array.from({ length: batchRows }, (_, index) => pastMessage(position + index));
      await db
        .transaction()
        .execute((trx) => appendTranscript(trx, { session: session.id, runId, position, messages }));
    }
  } finally {
    await database.close();
  }
  return sessionId;
}

function pastMessage(position: number): Uint8Array {
  const value = `What was said in place ${position}, in a sentence of about the usual length.`;
  const role = position % 2 === 0 ? "user" : "assistant";
  return toBinary(MessageSchema, create(MessageSchema, { role, content: { case: "text", value } }));
}

function present(name: string, timings: readonly Timing[]): Variant {
  return {
    name,
    metrics: {
      messages: timings.length,
      "accepted p50, ms": p50(timings, "acceptedMs"),
      "accepted p99, ms": percentile(
        timings.map(({ acceptedMs }) => acceptedMs),
        0.99,
      ),
      "done p50, ms": p50(timings, "doneMs"),
    },
    faults: [],
  };
}

function ratios(long: readonly Timing[], fresh: readonly Timing[]): Record<string, number> {
  return {
    "accepted p50, ratio to new": p50(long, "acceptedMs") / p50(fresh, "acceptedMs"),
    "done p50, ratio to new": p50(long, "doneMs") / p50(fresh, "doneMs"),
  };
}

function p50(timings: readonly Timing[], figure: keyof Timing): number {
  return percentile(
    timings.map((timing) => timing[figure]),
    0.5,
  );
}
