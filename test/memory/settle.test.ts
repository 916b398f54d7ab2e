// A call whose effect is rows: its outcome is made in the transaction that stores it, and once only.

import { create, fromBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ToolCallCompletedSchema } from "#gen/runnel/v1/result_pb.js";
import { memoryOfAgent } from "../../src/engine/memory/owner.ts";
import { writeMemory } from "../../src/engine/memory/write.ts";
import type { SettleCall } from "../../src/engine/runs/driver.ts";
import { applyEffects } from "../../src/engine/runs/effects.ts";
import { findStateValue } from "../../src/engine/storage/state-value.ts";
import { insertToolCalls, readOpenToolCalls } from "../../src/engine/storage/tool-call.ts";
import { addRun, openStore } from "../runlog/store.ts";

const key = "note";

async function openCall() {
  const { db } = await openStore();
  const { id: runId, session } = await addRun(db);
  const call = { call: new Uint8Array(), approvalId: undefined };
  await db.transaction().execute((trx) => insertToolCalls(trx, { runId, turn: 1, calls: [call] }));
  const memory = memoryOfAgent("shared/test", runId);
  const settle: SettleCall = async (trx) => {
    const written = await writeMemory(trx, { memory, key, value: '"one"', ifVersion: 0 });
    return create(ToolCallCompletedSchema, { toolCallId: "c", toolName: "memory_write", result: written.kind });
  };
  const commit = async (after?: () => never) =>
    await db.transaction().execute(async (trx) => {
      const effects = { toolOutcome: { turn: 1, position: 0, outcome: settle } };
      await applyEffects(trx, { runId, session, transcriptLength: 0 }, effects, { sequences: [] } as never);
      after?.();
    });
  const read = async () => {
    const [row] = await readOpenToolCalls(db, runId);
    const outcome = row?.outcome && fromBinary(ToolCallCompletedSchema, row.outcome).result;
    return { outcome, value: await findStateValue(db, { owner: memory.owner, key }) };
  };
  return { commit, read };
}

test("a transaction that is repeated after its commit writes nothing again", async () => {
  const { commit, read } = await openCall();
  await commit();
  const first = await read();
  expect(first).toMatchObject({ outcome: "written", value: { value: '"one"' } });
  await commit();
  expect(await read()).toEqual(first);
});

test("a transaction that fails leaves neither rows nor an outcome", async () => {
  const { commit, read } = await openCall();
  const fail = (): never => {
    throw new Error("lost");
  };
  await expect(commit(fail)).rejects.toThrow("lost");
  expect(await read()).toEqual({ outcome: null, value: undefined });
  await commit();
  expect(await read()).toMatchObject({ outcome: "written" });
});
