// Whether exchanges that wait for their person cost a service anything: two databases, one with few and one with many of them,
// a service on each, texts to both in turn. Both services have done the same work before.

import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import type { Bench, Variant } from "../bench.ts";
import { GrpcClient } from "../clients/grpc-client.ts";
import type { OpenHome } from "../ground/home.ts";
import { percentile } from "../ground/load.ts";
import { memoryMb } from "../ground/meter.ts";
import type { Service } from "../ground/service.ts";
import type { Stage } from "../ground/stage.ts";

const waitingMany = 10_000;
const waitingFew = 10;
/** The service starts these; the others are copies of one of them. */
const startedCount = 300;
const warmupTexts = 60;

const { startExchange, getOutbox, submitInbox } = ExchangeService.method;
const goOn = "[MESSAGE]\ngo on\n[/MESSAGE]\n";
const done = "[DONE]\ndone\n[/DONE]\n";

export const waitingExchanges: Bench = {
  name: "exchange-waiting",
  title: `An answer to an exchange, with ${waitingMany.toLocaleString("en-US")} waiting exchanges and with ${waitingFew}`,
  notMeasured:
    "commands (each text has one message), large workspaces, people who read outboxes or follow logs at the same time; the timers of the service, which a test counts.",
  roundsMax: 3,
  async *measure(stage) {
    await using manyHome = await stage.openHome();
    await using fewHome = await stage.openHome();
    await using many = await openSide(stage, manyHome, "many");
    await using few = await openSide(stage, fewHome, "few");
    await Promise.all([startAll(many, startedCount), startAll(few, waitingFew)]);
    const waiting = await copyWaiting(manyHome, many);
    await alternate([many, few], warmupTexts);
    for (;;) {
      const [manyMs = [], fewMs = []] = await alternate([many, few], stage.quick ? 60 : 200);
      const fewVariant = describe(`${waitingFew} waiting`, fewMs, few, waitingFew);
      const manyVariant = describe("10,000 waiting", manyMs, many, waiting);
      yield [fewVariant, compare(manyVariant, fewVariant)];
    }
  },
};

interface Side extends AsyncDisposable {
  readonly service: Service;
  readonly client: GrpcClient;
  /** The exchange that gets the texts, and its newest outbox. */
  exchangeId: string;
  sequence: number;
}

async function openSide(stage: Stage, home: OpenHome, name: string): Promise<Side> {
  const service = await stage.startService(name, { home });
  const client = new GrpcClient(service.target);
  const close = async (): Promise<void> => {
    client[Symbol.dispose]();
    await service.end("SIGTERM");
  };
  return { service, client, exchangeId: "", sequence: 1, [Symbol.asyncDispose]: close };
}

/** Starts the same number on each side, and leaves `waiting` of them open. */
async function startAll(side: Side, waiting: number): Promise<void> {
  const { client } = side;
  for (let count = 0; count < startedCount; count++) {
    const { exchangeId } = await client.call(startExchange, { task: "write a letter" });
    await client.call(getOutbox, { exchangeId });
    if (count >= waiting) {
      await client.call(submitInbox, { exchangeId, sequence: 1, text: done });
    } else {
      side.exchangeId ||= exchangeId;
    }
  }
}

/** Resolves with the number of waiting exchanges. */
async function copyWaiting(home: OpenHome, { exchangeId }: Side): Promise<number> {
  const connection = await home.connect();
  try {
    await connection.query(copyExchanges, [exchangeId, waitingMany - startedCount]);
    await connection.query("analyze session, run, exchange, checkpoint");
    const { rows } = await connection.query<{ count: string }>("select count(*) from run where status = 'waiting'");
    return Number(rows[0]?.count);
  } finally {
    await connection.end();
  }
}

/** All belong to one client, which is harder than many clients. */
const copyExchanges = `
  with model as materialized (select * from exchange where id = $1),
  copy as materialized (
    select uuidv7() as session, uuidv7() as run_id, 'c' || lpad(to_hex(number), 7, '0') as id
    from generate_series(1, $2::int) as number
  ), copied_session as (
    insert into session (id, client, name, agent, latest_run_id)
    select copy.session, session.client, copy.id, session.agent, copy.run_id
    from copy, model join session on session.id = model.session
  ), copied_run as (
    insert into run (id, client, session, driver, input, status, epoch, turn, wake_at, wait_reason, deadline, start_time)
    select copy.run_id, run.client, copy.session, driver, input, status, epoch, turn, wake_at, wait_reason, deadline, start_time
    from copy, model join run on run.id = model.run_id
  )
  insert into exchange (session, client, id, run_id, task, sequence, outbox)
  select copy.session, client, copy.id, copy.run_id, task, sequence, outbox from copy, model`;

/**
 * Sends to each side in turn, so that both meet the same moments of the machine. Resolves with the milliseconds of each text,
 * by side.
 */
async function alternate(sides: readonly Side[], count: number): Promise<number[][]> {
  const timings = sides.map((): number[] => []);
  for (let index = 0; index < count; index++) {
    for (const [place, side] of sides.entries()) {
      timings[place]?.push(await timeText(side));
    }
  }
  return timings;
}

/** From the text to the effect of its command. */
async function timeText(side: Side): Promise<number> {
  const { client, exchangeId, sequence } = side;
  const startedMs = performance.now();
  const answer = await client.call(submitInbox, { exchangeId, sequence, text: goOn });
  const tookMs = performance.now() - startedMs;
  if (answer.results.length !== 1 || answer.sequence !== sequence + 1) {
    throw new Error(`a text was answered with ${answer.results.length} results and sequence ${answer.sequence}`);
  }
  side.sequence = answer.sequence;
  return tookMs;
}

function describe(name: string, timings: readonly number[], { service }: Side, waiting: number): Variant {
  return {
    name,
    metrics: {
      "waiting exchanges": waiting,
      texts: timings.length,
      "answered p50, ms": percentile(timings, 0.5),
      "answered p99, ms": percentile(timings, 0.99),
      "service RSS, MB": memoryMb(service.pid),
    },
    faults: [],
  };
}

function compare(many: Variant, few: Variant): Variant {
  const of = ({ metrics }: Variant, metric: string): number => metrics[metric] ?? Number.NaN;
  const waiting = of(many, "waiting exchanges");
  const grownMb = of(many, "service RSS, MB") - of(few, "service RSS, MB");
  return {
    ...many,
    metrics: {
      ...many.metrics,
      "answered p50, ratio to few": of(many, "answered p50, ms") / of(few, "answered p50, ms"),
      "service memory per exchange, KB": (1_024 * grownMb) / (waiting - waitingFew),
    },
    faults: waiting < waitingMany ? [`only ${waiting} exchanges waited`] : [],
  };
}
