// Cases of receipts: a client finds out offline whether a log is the one that the service has signed. The service's own code
// makes the receipts.

import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { GetReceiptResponseSchema } from "#gen/runnel/v1/receipt_service_pb.js";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { signText } from "../../../src/engine/receipts/jws.ts";
import { printStatement, type Statement } from "../../../src/engine/receipts/statement.ts";
import { summarizeLog } from "../../../src/engine/receipts/summarize.ts";
import { exportPublicKey } from "../../../src/platform/base/public-key.ts";
import type { Case, Trial } from "../case.ts";
import { completed, delta, type Entry, type Log, makeLog, message, turnStarted, usualLog } from "../service/log.ts";

type Part = Omit<Statement, "type">;

/** A receipt with its log, which a case may damage. */
export interface Evidence {
  readonly jws: string;
  readonly statement: Part;
  readonly results: readonly Uint8Array[];
  readonly publicKey: Uint8Array;
  readonly privateKey: KeyObject;
  readonly log: Log;
}

async function makeEvidence(log: Log): Promise<Evidence> {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const results = log.results.map((result) => toBinary(RunResultSchema, result));
  const pages = [results.map((bytes, index) => ({ sequence: index + 1, bytes }))];
  const summary = await summarizeLog(
    log.runId,
    (async function* () {
      yield* pages;
    })(),
  );
  if (summary === undefined) {
    throw new Error("a log without entries has no receipt");
  }
  const times = {
    started_at: "2026-01-01T00:00:00.000Z",
    ended_at: "2026-01-01T00:00:02.000Z",
    issued_at: "2026-01-01T00:01:00.000Z",
  };
  const statement: Part = {
    iss: "https://runnel.example",
    run_id: log.runId,
    ...summary,
    status: "completed",
    code: "stop",
    ...times,
  };
  const jws = signText(printStatement(statement), privateKey);
  return { jws, statement, results, publicKey: exportPublicKey(publicKey), privateKey, log };
}

type Change = (evidence: Evidence) => Evidence | Promise<Evidence>;

interface ReceiptCase extends Case {
  /** Makes the receipt and the log, for the service's own verification. */
  readonly makeEvidence: () => Promise<Evidence>;
  readonly isValid: boolean;
}

function receipt(
  name: string,
  says: string,
  isValid: boolean,
  change: Change,
  newLog: () => Log = usualLog,
): ReceiptCase {
  const make = async (): Promise<Evidence> => change(await makeEvidence(newLog()));
  const prepare = async (): Promise<Trial> => {
    const { jws, statement, results, publicKey } = await make();
    const response = create(GetReceiptResponseSchema, { jws, statement: printStatement(statement) });
    return {
      request: {
        credentials: {},
        call: "receipt",
        receipt: encode(toBinary(GetReceiptResponseSchema, response)),
        results: results.map(encode),
        public_key: encode(publicKey),
      },
      check: ({ lines }, findings) => {
        const [line] = lines;
        findings.equal("valid", line?.valid, isValid ? true : undefined);
        findings.equal("the code of the error", line?.error?.code, isValid ? undefined : "INVALID_ARGUMENT");
        findings.that(isValid || Boolean(line?.error?.reason), "the error has no reason");
      },
    };
  };
  return { group: "receipt", name, says, prepare, makeEvidence: make, isValid };
}

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function newKey(): KeyObject {
  return generateKeyPairSync("ed25519").privateKey;
}

/** A log of so many results, one of which is larger than a block's buffer. */
function longLog(entries: number): () => Log {
  return () => {
    const deltas: Entry[] = Array.from({ length: entries - 3 }, (_, index) =>
      delta(index === 40 ? "x".repeat(100_000) : `piece ${index} `),
    );
    const text = "in pieces";
    return makeLog([turnStarted(1), ...deltas, message(text), completed(text)], { text });
  };
}

function withResults(evidence: Evidence, change: (results: Uint8Array[]) => Uint8Array[]): Evidence {
  return { ...evidence, results: change([...evidence.results]) };
}

function encodeResult(result: RunResult): Uint8Array {
  return toBinary(RunResultSchema, result);
}

/** Another statement under the old signature. */
function restate(evidence: Evidence, part: Partial<Part>): Evidence {
  const [header, , signature] = evidence.jws.split(".");
  const statement = { ...evidence.statement, ...part };
  const payload = Buffer.from(printStatement(statement)).toString("base64url");
  return { ...evidence, statement, jws: `${header}.${payload}.${signature}` };
}

/** Another header, with a valid signature of the same key. */
function withHeader(evidence: Evidence, change: Readonly<Record<string, unknown>>): Evidence {
  const [header = "", payload] = evidence.jws.split(".");
  const changed = { ...JSON.parse(Buffer.from(header, "base64url").toString()), ...change };
  const signed = `${Buffer.from(JSON.stringify(changed)).toString("base64url")}.${payload}`;
  return {
    ...evidence,
    jws: `${signed}.${sign(null, Buffer.from(signed), evidence.privateKey).toString("base64url")}`,
  };
}

export const receiptCases: readonly ReceiptCase[] = [
  receipt("valid", "a receipt and its log are accepted", true, (evidence) => evidence),
  receipt("valid-64", "a log that fills one block of the chain is accepted", true, (evidence) => evidence, longLog(64)),
  receipt(
    "valid-130",
    "a log of more than two blocks, with a large result, is accepted",
    true,
    (evidence) => evidence,
    longLog(130),
  ),
  receipt(
    "unknown-types",
    "a log with a result of an unknown type is accepted",
    true,
    (evidence) => evidence,
    () =>
      makeLog([turnStarted(1), { unknownField: 900 }, delta("Hello"), message("Hello"), completed("Hello")], {
        text: "Hello",
      }),
  ),
  receipt("changed-result", "a result whose text was changed is refused", false, (evidence) =>
    withResults(evidence, (results) => {
      const { payload } = makeLog([delta("not said")], { text: "" }).results[0] ?? create(RunResultSchema);
      const changed = create(RunResultSchema, { runId: evidence.log.runId, sequence: 3n, payload });
      return results.with(2, encodeResult(changed));
    }),
  ),
  receipt("changed-byte", "a log with one changed bit in its last result is refused", false, (evidence) =>
    withResults(evidence, (results) => {
      const last = Uint8Array.from(results.at(-1) ?? []);
      last.set([(last.at(-1) ?? 0) ^ 1], last.length - 1);
      return results.with(-1, last);
    }),
  ),
  receipt("missing-result", "a log in which a result is missing is refused", false, (evidence) =>
    withResults(evidence, (results) => results.toSpliced(3, 1)),
  ),
  receipt("missing-first", "a log without its first result is refused", false, (evidence) =>
    withResults(evidence, (results) => results.slice(1)),
  ),
  receipt("missing-last", "a log without its last result is refused", false, (evidence) =>
    withResults(evidence, (results) => results.slice(0, -1)),
  ),
  receipt(
    "missing-block",
    "a log without its second block is refused",
    false,
    (evidence) => withResults(evidence, (results) => results.toSpliced(64, 64)),
    longLog(130),
  ),
  receipt("empty-log", "an empty log is refused", false, (evidence) => withResults(evidence, () => [])),
  receipt("reordered-results", "a log with two results in the wrong order is refused", false, (evidence) =>
    withResults(evidence, ([first = new Uint8Array(), second = new Uint8Array(), ...rest]) => [second, first, ...rest]),
  ),
  receipt("repeated-result", "a log in which a result stands twice is refused", false, (evidence) =>
    withResults(evidence, (results) => results.toSpliced(4, 0, results[4] ?? new Uint8Array())),
  ),
  receipt("added-result", "a log that goes on after its last result is refused", false, (evidence) =>
    withResults(evidence, (results) => [
      ...results,
      encodeResult(create(RunResultSchema, { runId: evidence.log.runId, sequence: 10n })),
    ]),
  ),
  receipt("moved-border", "bytes that moved from one result to the next are refused", false, (evidence) =>
    withResults(evidence, ([first = new Uint8Array(), second = new Uint8Array(), ...rest]) => [
      first.slice(0, -1),
      Buffer.concat([first.slice(-1), second]),
      ...rest,
    ]),
  ),
  receipt("other-key", "a receipt is refused when the caller trusts another key", false, (evidence) => ({
    ...evidence,
    publicKey: exportPublicKey(generateKeyPairSync("ed25519").publicKey),
  })),
  receipt(
    "own-key",
    "a receipt that another key has signed is refused, although it contains that key",
    false,
    (evidence) => ({
      ...evidence,
      jws: signText(printStatement(evidence.statement), newKey()),
    }),
  ),
  receipt("changed-statement", "a statement that was changed after it was signed is refused", false, (evidence) =>
    restate(evidence, { status: "failed" }),
  ),
  receipt("changed-times", "a statement with another time under the old signature is refused", false, (evidence) =>
    restate(evidence, { ended_at: "2026-01-02T00:00:02.000Z" }),
  ),
  receipt(
    "other-run",
    "a receipt of another run is refused, although its entries have the same content",
    false,
    (evidence) => {
      const statement = { ...evidence.statement, run_id: "0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d" };
      return { ...evidence, statement, jws: signText(printStatement(statement), evidence.privateKey) };
    },
  ),
  receipt(
    "other-count",
    "a statement that counts fewer entries than the log has is refused",
    false,
    async (evidence) => {
      const shorter = await makeEvidence({ ...evidence.log, results: evidence.log.results.slice(0, -1) });
      const statement = { ...shorter.statement };
      return { ...evidence, statement, jws: signText(printStatement(statement), evidence.privateKey) };
    },
  ),
  receipt("other-kind", "a text of another kind that the same key has signed is refused", false, (evidence) =>
    withHeader(evidence, { typ: "JWT" }),
  ),
  receipt("without-algorithm", "a receipt whose header names another algorithm is refused", false, (evidence) =>
    withHeader(evidence, { alg: "none" }),
  ),
  receipt("not-a-receipt", "a text that is not a JWS is refused", false, (evidence) => ({ ...evidence, jws: "a.b" })),
];
