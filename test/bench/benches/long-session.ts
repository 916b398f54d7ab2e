// Whether a message costs more the longer its session is: messages in a session of ten thousand and in new sessions, in turn.

import { create, toBinary } from "@bufbuild/protobuf";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { findSession } from "../../../src/engine/storage/session.ts";
import { appendTranscript } from "../../../src/engine/storage/transcript.ts";
import { newUuid } from "../../../src/platform/base/ids.ts";
import { openDatabase } from "../../../src/platform/database/open.ts";
import type { Bench, Variant } from "../bench.ts";
import { GrpcClient } from "../clients/grpc-client.ts";
import { percentile } from "../ground/load.ts";
import type { Stage } from "../ground/stage.ts";
import { benchOwner } from "../ground/stored-run.ts";
import { type Timing, timeMessage } from "./message-timing.ts";

const pastMessages = 10_000;
const batchRows = 1_000;
const warmupMessages = 10;
const agent = { name: "bench", model: "demo" };

export const longSession: Bench = {
  name: "long",
  title: `A message in a session of ${pastMessages} messages, compared with one in a new session`,
  notMeasured: "a provider that reads its requests: the demo model costs nothing.",
  roundsMax: 3,
  async *measure(stage) {
    await using service = await stage.startService("long");
    using client = new GrpcClient(service.target);
    const sessionId = await createLongSession(stage, client);
    await alternate(client, sessionId, warmupMessages);
    for (;;) {
      const { long, fresh } = await alternate(client, sessionId, stage.quick ? 30 : 80);
      const [longVariant, freshVariant] = [present("long session", long), present("new session", fresh)];
      yield [freshVariant, { ...longVariant, metrics: { ...longVariant.metrics, ...ratios(long, fresh) } }];
    }
  },
};

/** Sends to each in turn, so that both meet the same moments of the machine. */
async function alternate(
  client: GrpcClient,
  sessionId: string,
  count: number,
): Promise<Record<"long" | "fresh", Timing[]>> {
  const timings: Record<"long" | "fresh", Timing[]> = { long: [], fresh: [] };
  for (let index = 0; index < count; index++) {
    timings.long.push(await timeMessage(client, sessionId));
    const created = await client.call(SessionService.method.createSession, { agent });
    timings.fresh.push(await timeMessage(client, created.sessionId));
  }
  return timings;
}

/** The service's own code writes the session's past into the table. */
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
    const session = await findSession(db, { client: benchOwner, name: sessionId });
    if (session === undefined) {
      throw new Error("the new session is missing");
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
