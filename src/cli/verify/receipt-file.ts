// Which kind of signed thing a file holds: a receipt, as its JWS alone or as the service answers it, or else a JobSpec.

import type { ReadDocument } from "../../protocols/jobspec/spec/json.ts";
import { assertLength, readInput, specBytesMax } from "../input.ts";
import { readJson } from "../signing-files.ts";

/** More than the receipt of the longest log has, with its statement beside it. */
const fileBytesMax = 8_388_608;

export interface ReceiptFile {
  readonly kind: "receipt";
  readonly jws: string;
  /** The statement that stands beside the JWS, for people; undefined when none does. */
  readonly copy: unknown;
}

export type SignedFile = ReceiptFile | { readonly kind: "jobspec"; readonly document: ReadDocument };

/** What a compact JWS is written with. Whether it is one is for whoever checks it. */
const jwsText = /^[\w-]+(?:\.[\w-]*)+$/;

export async function readSigned(path: string): Promise<SignedFile> {
  const bytes = await readInput(path, fileBytesMax);
  const text = bytes.toString("latin1").trim();
  if (jwsText.test(text)) {
    return { kind: "receipt", jws: text, copy: undefined };
  }
  const document = readJson(path, bytes);
  const jws = document.object.get("jws");
  if (jws !== undefined) {
    return { kind: "receipt", jws: typeof jws === "string" ? jws : "", copy: readCopy(document) };
  }
  assertLength(path, bytes, specBytesMax);
  return { kind: "jobspec", document };
}

/** An object over REST; over gRPC, which has no JSON, its text. */
function readCopy({ text, spans }: ReadDocument): unknown {
  const span = spans.get("statement");
  const value: unknown = span === undefined ? undefined : JSON.parse(text.slice(span.start, span.end));
  if (typeof value !== "string") {
    return value;
  }
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
