// The kit itself: its README has every case, and its receipts agree with the service's own verification.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { printLogLine } from "../../src/engine/hash-chain/log-line.ts";
import { verifyText } from "../../src/engine/receipts/jws.ts";
import { ReceiptFault } from "../../src/engine/receipts/receipt-fault.ts";
import { readStatement } from "../../src/engine/receipts/statement.ts";
import { verifyLog } from "../../src/engine/receipts/verify-log.ts";
import { type Evidence, receiptCases } from "./cases/receipt.ts";
import { cases, nameOf } from "./kit.ts";
import { listCases } from "./list-cases.ts";

test("the README lists all cases, and no name comes twice", () => {
  const readme = readFileSync(join(import.meta.dirname, "README.md"), "utf8");
  const [, list] = readme.split("<!-- cases -->\n");
  expect(list).toBe(listCases());
  expect(new Set(cases.map(nameOf)).size).toBe(cases.length);
});

describe("the service's own verification has the same verdict", () => {
  test.each(receiptCases)("$name", async ({ makeEvidence, isValid }) => {
    expect(await isValidForService(await makeEvidence())).toBe(isValid);
  });
});

async function isValidForService({ jws, results, publicKey }: Evidence): Promise<boolean> {
  try {
    const text = verifyText(jws);
    const statement = readStatement(text.payload);
    const lines = results.map((bytes, index) => printLogLine({ sequence: index + 1, bytes }));
    const { bad } = await verifyLog(
      statement,
      (async function* () {
        yield* lines;
      })(),
    );
    return bad === undefined && Buffer.from(text.publicKey).equals(Buffer.from(publicKey));
  } catch (error) {
    expect(error).toBeInstanceOf(ReceiptFault);
    return false;
  }
}
