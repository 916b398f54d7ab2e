// Checks a receipt in the page: the verifier of the library for TypeScript, over the bytes of the log as they are stored.

import { create } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { createClient } from "@connectrpc/connect";
import { ReceiptService } from "#gen/runnel/v1/receipt_service_pb.js";
import { RunService, TailRunBytesSchema, TailRunRequestSchema } from "#gen/runnel/v1/run_service_pb.js";
import { RunnelError } from "../../../clients/typescript/src/error.ts";
import { type ReceiptStatement, verifyReceipt } from "../../../clients/typescript/src/receipt.ts";
import { transport } from "../api/transport.ts";
import type { Check } from "../ui/check-list.tsx";

const receipts = createClient(ReceiptService, transport);
/** On the wire it is TailRun; its answers are read as bytes. */
const tailRunBytes = { ...RunService.method.tailRun, output: TailRunBytesSchema };

/** What came out of a check. */
export interface ReceiptReport {
  readonly jws: string;
  readonly checks: readonly Check[];
  /** What the receipt says. It counts only when the first check is good. */
  readonly statement: ReceiptStatement | undefined;
}

/** The reasons of the verifier by the check that found them, in the order of the checks. */
const reasons: readonly (readonly string[])[] = [
  ["RECEIPT_INVALID", "SIGNATURE_INVALID", "KEY_UNKNOWN"],
  ["LOG_CHANGED"],
  ["END_DIFFERS"],
];
const names = ["Signature", "Hash chain", "End of the run"] as const;

/** Fetches the receipt of a run, and checks it. Throws a ConnectError when the service has none. */
export async function checkRun(runId: string, signal: AbortSignal): Promise<ReceiptReport> {
  const { jws } = await receipts.getReceipt({ runId }, { signal });
  return await checkReceipt(runId, jws, signal);
}

/** Checks a receipt against the log of a run that the service has now. */
export async function checkReceipt(runId: string, jws: string, signal: AbortSignal): Promise<ReceiptReport> {
  const [{ keys }, results] = await Promise.all([receipts.getJwks({}, { signal }), readLog(runId, signal)]);
  const statement = readPart<ReceiptStatement>(jws, 1);
  const kid = readPart<{ readonly kid?: string }>(jws, 0)?.kid;
  const key = keys.find((each) => each.kid === kid);
  try {
    if (key === undefined) {
      const message = `the service does not publish the key ${kid ?? "that the header has to name"}`;
      throw new RunnelError("INVALID_ARGUMENT", message, { reason: "KEY_UNKNOWN" });
    }
    const publicKey = base64Decode(key.x);
    const verified = await verifyReceipt({ receipt: { jws }, results, publicKey });
    if (verified.run_id.toLowerCase() !== runId.toLowerCase()) {
      throw new RunnelError("INVALID_ARGUMENT", "the receipt is of another run", { reason: "LOG_CHANGED" });
    }
    return { jws, statement: verified, checks: judge(verified, kid ?? "", undefined) };
  } catch (error) {
    if (error instanceof RunnelError && reasons.flat().includes(error.reason)) {
      return { jws, statement, checks: judge(statement, kid ?? "", error) };
    }
    throw error;
  }
}

function judge(statement: ReceiptStatement | undefined, kid: string, error: RunnelError | undefined): readonly Check[] {
  const failed = error === undefined ? names.length : reasons.findIndex((each) => each.includes(error.reason));
  const details = [
    `Ed25519, with the published key ${kid}`,
    `all ${statement?.entries} entries are the signed ones: ${statement?.last_hash}`,
    `the last entry says ${statement?.status}, as the receipt does`,
  ];
  return names.map((name, index) => ({
    name,
    verdict: index < failed ? "good" : index === failed ? "bad" : "open",
    detail:
      index < failed ? (details[index] ?? "") : index === failed ? (error?.message ?? "") : "an earlier check failed",
  }));
}

async function readLog(runId: string, signal: AbortSignal): Promise<readonly Uint8Array[]> {
  const results: Uint8Array[] = [];
  const request = create(TailRunRequestSchema, { runId });
  const { message } = await transport.stream(tailRunBytes, signal, 0, undefined, once(request));
  for await (const answer of message) {
    results.push(...answer.results);
  }
  return results;
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

/** Returns undefined for a part that is not JSON: the verifier then names the fault. */
function readPart<T>(jws: string, index: number): T | undefined {
  try {
    const bytes = base64Decode(jws.split(".")[index] ?? "");
    return JSON.parse(new TextDecoder().decode(bytes)) as T;
  } catch {
    return undefined;
  }
}
