// TailRunTree: the logs of a whole tree as one stream, which continues after any of its responses.

import { createClient } from "@connectrpc/connect";
import { expect } from "vitest";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { connectHttp2Transport } from "../conformance/transports.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { test } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { readSse, type SseEvent } from "../harness/sse.ts";
import { ask, boss, callOf, echo, openStage, type Part } from "./team.ts";

const worker = { name: "worker", agent: { systemPrompt: "worker" } };
const middle = { name: "middle", agent: { systemPrompt: "middle", maxTurns: 5, tools: { agents: [worker] } } };
const bossOf = (...agents: readonly object[]) => ({
  ...{ name: "boss", systemPrompt: "boss", maxTurns: 60 },
  tools: { agents },
});
const calls = ["a", "b"].map((message) => callOf(message, "middle", { message }));
const asking: Part = (messages, turn, request) =>
  boss(callOf("m", "worker", { message: `of ${messages.at(-1)?.content}` }))(messages, turn, request);
const threeLevels = { boss: boss(...calls), middle: asking, worker: echo };

type Stage = Awaited<ReturnType<typeof openStage>>;
interface Seen {
  readonly cursor: string;
  readonly result: RunResult;
}

interface Reading {
  readonly after?: string;
  readonly enough?: (seen: readonly Seen[]) => boolean;
  readonly clientId?: string;
}

/** Reads the stream until it ends, or until `enough` says so. */
async function read(
  { service }: Stage,
  runId: string,
  { after = "", enough = () => false, clientId }: Reading = {},
): Promise<Seen[]> {
  const runs = createClient(RunService, connectHttp2Transport(service.url));
  const seen: Seen[] = [];
  for await (const { cursor, item } of runs.tailRunTree({ runId, after }, { headers: credentialsOf(clientId) })) {
    if (item.case === "result") {
      seen.push({ cursor, result: item.value });
    }
    if (enough(seen)) {
      break;
    }
  }
  return seen;
}

const placesOf = (seen: readonly Seen[]) => seen.map(({ result }) => `${result.runId}:${result.sequence}`);

/** Checks that each run has 1..n and its end, and that a child run comes after the entry that names it. */
function expectWhole(seen: readonly Seen[], rootId: string, runs: number): void {
  const known = new Map([[rootId, 0]]);
  const ended = new Set<string>();
  for (const { result } of seen) {
    const { runId, payload } = result;
    expect(Number(result.sequence)).toBe((known.get(runId) ?? Number.NaN) + 1);
    known.set(runId, Number(result.sequence));
    if (payload.case === "childRunStarted") {
      known.set(payload.value.runId, 0);
    }
    if (payload.case === "runCompleted" || payload.case === "runFailed") {
      ended.add(runId);
    }
  }
  expect([known.size, ended.size]).toEqual([runs, runs]);
}

test("a reader gets all runs of a tree, each in its order, and the stream ends with the last of them", async () => {
  const stage = await openStage(threeLevels);
  const { runId } = await ask(stage.client, bossOf(middle));
  expectWhole(await read(stage, runId), runId, 5);
  expectWhole(await read(stage, runId), runId, 5);
});

test("a stream after any cursor has the rest, and nothing twice", async () => {
  const stage = await openStage(threeLevels);
  const { runId } = await ask(stage.client, bossOf(middle));
  const whole = await read(stage, runId);
  for (const [index, { cursor }] of whole.entries()) {
    const rest = await read(stage, runId, { after: cursor });
    expect(placesOf(rest).toSorted()).toEqual(placesOf(whole.slice(index + 1)).toSorted());
  }
});

test("a reader that leaves in the middle of a live tree continues where it was", async () => {
  let release: (() => void) | undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow: Part = () => async (wire) => {
    wire.text("so far ");
    await held;
    wire.text("and on");
    wire.done("stop");
  };
  const stage = await openStage({ boss: boss(callOf("c", "worker", { message: "x" })), worker: slow });
  const { runId } = await ask(stage.client, bossOf(worker));
  const isSpeaking = (seen: readonly Seen[]) => seen.at(-1)?.result.payload.case === "messageDelta";
  const first = await read(stage, runId, { enough: isSpeaking });
  release?.();
  const second = await read(stage, runId, { after: first.at(-1)?.cursor ?? "" });
  expectWhole([...first, ...second], runId, 2);
});

test("over SSE each result is an event whose id continues the stream", async () => {
  const stage = await openStage(threeLevels);
  const { runId } = await ask(stage.client, bossOf(middle));
  const url = `${stage.service.url}/v1/runs/${runId}/tree:tail`;
  const readAll = async (headers = {}) => {
    const seen: SseEvent[] = [];
    for await (const event of readSse(url, headers)) {
      seen.push(event);
    }
    return seen.filter(({ event }) => event === "result");
  };
  const whole = await readAll();
  const placeOf = ({ data }: SseEvent): string => {
    const { run_id: id, sequence } = JSON.parse(data);
    return `${id}:${sequence}`;
  };
  expect(whole.map(placeOf).toSorted()).toEqual(placesOf(await read(stage, runId)).toSorted());
  const rest = await readAll({ "last-event-id": whole[9]?.id });
  expect(rest.map(({ data }) => data).toSorted()).toEqual(
    whole
      .slice(10)
      .map(({ data }) => data)
      .toSorted(),
  );
});

test("a tree of more runs than are followed at a time is whole", async () => {
  const many: Part = (_, turn) =>
    turn < 12
      ? callTools(
          ...Array.from({ length: 10 }, (_each, index) =>
            callOf(`${turn}-${index}`, "worker", { message: `${turn}-${index}` }),
          ),
        )
      : answer("done");
  const stage = await openStage({ boss: many, worker: echo });
  const { runId } = await ask(stage.client, bossOf(worker));
  await stage.ended(runId);
  const seen = await read(stage, runId);
  expectWhole(seen, runId, 121);
  expect(Math.max(...seen.map(({ cursor }) => cursor.length))).toBeLessThan(8_192);
});

test("another client finds no such run, and a cursor is for its own tree", async () => {
  const stage = await openStage(threeLevels);
  const [one, two] = await Promise.all([ask(stage.client, bossOf(middle)), ask(stage.client, bossOf(middle))]);
  const [first] = await read(stage, one.runId);
  await expect(read(stage, two.runId, { after: first?.cursor ?? "" })).rejects.toThrow(
    "after was not made for this stream",
  );
  await expect(read(stage, one.runId, { clientId: "stranger" })).rejects.toThrow("run not found");
});
