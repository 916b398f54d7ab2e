// A receipt as readers check it: fetched over gRPC, verified against the published keys and against the stored bytes of the
// log.

import { expect } from "vitest";
import { ReceiptService } from "#gen/runnel/v1/receipt_service_pb.js";
import { RunService, TailRunBytesSchema } from "#gen/runnel/v1/run_service_pb.js";
import { printLogLine } from "../../src/engine/hash-chain/log-line.ts";
import { verifyText } from "../../src/engine/receipts/jws.ts";
import { readStatement, type Statement } from "../../src/engine/receipts/statement.ts";
import { verifyLog } from "../../src/engine/receipts/verify-log.ts";
import type { GrpcClient } from "../harness/grpc.ts";

const { getReceipt } = ReceiptService.method;
const { tailRun } = RunService.method;
const tailRunBytes = { ...tailRun, output: TailRunBytesSchema };

export interface Fetched {
  readonly statement: Statement;
  readonly kid: string;
  readonly jws: string;
  /** The lines of the whole log against which it was verified. */
  readonly lines: readonly string[];
}

/** Fails unless the receipt is valid, signed by a key that the service publishes, and fits the log that readers get. */
export async function fetchReceipt(service: { client: GrpcClient; url: string }, runId: string): Promise<Fetched> {
  const { jws, statement: shown } = await service.client.call(getReceipt, { runId });
  const { payload, kid } = verifyText(jws);
  expect(shown).toBe(payload);
  expect(await listPublishedKids(service.url)).toContain(kid);
  const statement = readStatement(payload);
  expect(statement.run_id).toBe(runId);
  const lines = await exportLog(service.client, runId);
  expect(await verifyLog(statement, inOrder(lines))).toEqual({ bad: undefined, misquoted: [] });
  expect(statement.entries).toBe(lines.length);
  return { statement, kid, jws, lines };
}

/** Returns the published key ids, the newest first, without credentials. */
export async function listPublishedKids(url: string): Promise<string[]> {
  const response = await fetch(`${url}/.well-known/jwks.json`);
  const { keys } = (await response.json()) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
}

/** Exports a log as a client does, one line per entry. */
async function exportLog(client: GrpcClient, runId: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const { results } of client.stream(tailRunBytes, { runId })) {
    for (const bytes of results) {
      lines.push(printLogLine({ sequence: lines.length + 1, bytes }));
    }
  }
  return lines;
}

async function* inOrder(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}
