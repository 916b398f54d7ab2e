// Reads a receipt from a file: its JWS alone, or the answer of the service.

import { parseJson } from "../../platform/base/json/parse-object.ts";

/** The maximum size of a receipt's file: more than the receipt of the longest log with its statement. */
export const receiptBytesMax = 8_388_608;

/** A receipt from a file. */
export interface ReceiptFile {
  readonly jws: string;
  /** The statement beside the JWS, for people; undefined without one. */
  readonly copy: unknown;
}

/** The characters of a compact JWS. */
const jwsText = /^[\w-]+(?:\.[\w-]*)+$/;

/** Reads a receipt. Returns undefined for a file of another kind. */
export function readReceiptFile(bytes: Uint8Array): ReceiptFile | undefined {
  const text = Buffer.from(bytes).toString().trim();
  if (jwsText.test(text)) {
    return { jws: text, copy: undefined };
  }
  const { jws, statement } = parseObject(text);
  return jws === undefined ? undefined : { jws: typeof jws === "string" ? jws : "", copy: readCopy(statement) };
}

/** Returns the statement: an object over REST; over gRPC, which has no JSON, its text. */
function readCopy(statement: unknown): unknown {
  return typeof statement === "string" ? (parseJson(statement) ?? statement) : statement;
}

function parseObject(text: string): { readonly jws?: unknown; readonly statement?: unknown } {
  const value = parseJson(text);
  return typeof value === "object" && value !== null ? value : {};
}
