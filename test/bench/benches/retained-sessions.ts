// Whether a service that keeps many sessions is slower or larger than one without any: two databases, a service on each,
// messages to both in turn.

import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Bench, Variant } from "../bench.ts";
import { GrpcClient } from "../clients/grpc-client.ts";
import type { OpenHome } from "../ground/home.ts";
import { percentile } from "../ground/load.ts";
import { memoryMb } from "../ground/meter.ts";
import type { Service } from "../ground/service.ts";
import type { Stage } from "../ground/stage.ts";
import { type Timing, timeMessage } from "./message-timing.ts";

const sessionsRetained = 200_000;
const warmupMessages = 60;
const agent = { name: "bench", model: "demo" };

export const retainedSessions: Bench = {
  name: "retained",
  title: `Messages to new sessions, with ${sessionsRetained.toLocaleString("en-US")} retained sessions in the database and without any`,
  notMeasured:
    "logs and transcripts of the retained sessions (each has its row and one finished run), sessions in use, maintenance of them, a provider: the demo model costs nothing.",
  roundsMax: 3,
  async *measure(stage) {
    await using many = await openSide(stage, stage.home, "retained");
    await using emptyHome = await stage.openHome();
    await using none = await openSide(stage, emptyHome, "empty");
    const retained = await retainSessions(stage.home, many);
    await alternate([many, none], warmupMessages);
    for (;;) {
      const [manyTimings = [], noneTimings = []] = await alternate([many, none], stage.quick ? 60 : 200);
      const noneVariant = describe("no sessions", noneTimings, none, 0);
      const manyVariant = describe("200,000 sessions", manyTimings, many, retained);
      yield [noneVariant, compare(manyVariant, noneVariant, retained)];
    }
  },
};

interface Side extends AsyncDisposable {
  readonly service: Service;
  readonly client: GrpcClient;
}

async function openSide(stage: Stage, home: OpenHome, name: string): Promise<Side> {
  const service = await stage.startService(name, { home });
  const client = new GrpcClient(service.target);
  const close = async (): Promise<void> => {
    client[Symbol.dispose]();
    await service.end("SIGTERM");
  };
  return { service, client, [Symbol.asyncDispose]: close };
}

/** Copies one used session as often as needed. Resolves with the number of sessions. */
async function retainSessions(home: OpenHome, { client }: Side): Promise<number> {
  const { sessionId } = await client.call(SessionService.method.createSession, { agent });
  await timeMessage(client, sessionId);
  const connection = await home.connect();
  try {
    await connection.query(copySessions, [sessionId, sessionsRetained]);
    await connection.query("analyze session, run");
    const { rows } = await connection.query<{ count: string }>("select count(*) from session");
    return Number(rows[0]?.count);
  } finally {
    await connection.end();
  }
}

/** All sessions belong to one client, which is harder than many clients: its lists and names are one range of each index. */
const copySessions = `
  with model as materialized (select * from session where name = $1),
  model_run as materialized (select run.* from run join model on run.id = model.latest_run_id),
  copy as materialized (
    select uuidv7() as id, uuidv7() as run_id, replace(gen_random_uuid()::text, '-', '') as name
    from generate_series(1, $2::int)
  ), copied as (
    insert into session (id, client, name, agent, latest_run_id)
    select copy.id, model.client, copy.name, model.agent, copy.run_id from copy, model
  )
  insert into run (id, client, session, driver, input, status, epoch, turn, deadline, start_time, end_time, last_sequence, terminal)
  select copy.run_id, client, copy.id, driver, input, status, epoch, turn, deadline, start_time, end_time, last_sequence, terminal
  from copy, model_run`;

/** Sends to each side in turn, so that both meet the same moments of the machine. */
async function alternate(sides: readonly Side[], count: number): Promise<Timing[][]> {
  const timings = sides.map((): Timing[] => []);
  for (let index = 0; index < count; index++) {
    for (const [place, { client }] of sides.entries()) {
      const { sessionId } = await client.call(SessionService.method.createSession, { agent });
      timings[place]?.push(await timeMessage(client, sessionId));
    }
  }
  return timings;
}

function describe(name: string, timings: readonly Timing[], { service }: Side, retained: number): Variant {
  const at = (figure: keyof Timing, part: number): number =>
    percentile(
      timings.map((timing) => timing[figure]),
      part,
    );
  return {
    name,
    metrics: {
      "retained sessions": retained,
      messages: timings.length,
      "accepted p50, ms": at("acceptedMs", 0.5),
      "accepted p99, ms": at("acceptedMs", 0.99),
      "done p50, ms": at("doneMs", 0.5),
      "service RSS, MB": memoryMb(service.pid),
    },
    faults: [],
  };
}

function compare(many: Variant, none: Variant, retained: number): Variant {
  const of = ({ metrics }: Variant, metric: string): number => metrics[metric] ?? Number.NaN;
  const ratio = (metric: string): number => of(many, metric) / of(none, metric);
  return {
    ...many,
    metrics: {
      ...many.metrics,
      "accepted p50, ratio to none": ratio("accepted p50, ms"),
      "done p50, ratio to none": ratio("done p50, ms"),
      "service memory per session, KB":
        (1_024 * (of(many, "service RSS, MB") - of(none, "service RSS, MB"))) / retained,
    },
    faults: retained < sessionsRetained ? [`only ${retained} sessions were retained`] : [],
  };
}
