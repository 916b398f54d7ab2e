// Makes a create call idempotent: with a request id, the same request gets the same answer, also when two arrive at once.

import { createHash } from "node:crypto";
import { type DescMessage, type DescMethodUnary, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import {
  claimRequest,
  findAnswer,
  type IdempotencyKey,
  type StoredAnswer,
  saveAnswer,
} from "../engine/storage/idempotency.ts";
import { Fault } from "../platform/base/fault.ts";
import type { Db, Transaction } from "../platform/database/database.ts";

/** A call that may be repeated, with the hash of its request. */
export interface RepeatableCall<Response extends DescMessage> {
  /** Undefined for a call without a request id, which is new each time. */
  readonly key: IdempotencyKey | undefined;
  readonly responseSchema: Response;
}

/** Describes a call. Hashes its request only when it has a request id. */
export function repeatable<Request extends DescMessage, Response extends DescMessage>(
  client: string,
  { input, output }: DescMethodUnary<Request, Response>,
  request: MessageShape<Request> & { readonly requestId: string },
): RepeatableCall<Response> {
  const { requestId } = request;
  if (requestId === "") {
    return { key: undefined, responseSchema: output };
  }
  const requestHash = createHash("sha256").update(toBinary(input, request)).digest();
  return { key: { client, method: input.typeName, requestId, requestHash }, responseSchema: output };
}

/**
 * Claims the request id of a call for this transaction, in which the caller then works and calls `keepAnswer`. Returns undefined
 * on success, else the stored answer of an earlier call. Waits for a concurrent call with this id. A failed transaction leaves
 * nothing, so a call that failed can be retried.
 * @throws Fault REQUEST_ID_REUSED when another request had this id.
 */
export async function claimCall<Response extends DescMessage>(
  trx: Transaction,
  { key, responseSchema }: RepeatableCall<Response>,
): Promise<MessageShape<Response> | undefined> {
  const earlier = key && (await claimRequest(trx, key));
  return key && earlier && readAnswer(earlier, key, responseSchema);
}

/** Stores the answer to a claimed call, and returns it. */
export async function keepAnswer<Response extends DescMessage>(
  trx: Transaction,
  { key, responseSchema }: RepeatableCall<Response>,
  response: MessageShape<Response>,
): Promise<MessageShape<Response>> {
  if (key !== undefined) {
    await saveAnswer(trx, key, toBinary(responseSchema, response));
  }
  return response;
}

/**
 * Returns the stored answer of an earlier call, or undefined, and claims nothing. Serves calls whose first checks depend on the
 * time or on other rows: a retry gets its answer even when they would refuse it now.
 * @throws Fault REQUEST_ID_REUSED when another request had this id.
 */
export async function recallAnswer<Response extends DescMessage>(
  db: Db,
  { key, responseSchema }: RepeatableCall<Response>,
): Promise<MessageShape<Response> | undefined> {
  const earlier = key && (await findAnswer(db, key));
  return key && earlier && readAnswer(earlier, key, responseSchema);
}

function readAnswer<Response extends DescMessage>(
  answer: StoredAnswer,
  key: IdempotencyKey,
  schema: Response,
): MessageShape<Response> {
  if (Buffer.compare(answer.requestHash, key.requestHash) === 0) {
    return fromBinary(schema, answer.response);
  }
  throw new Fault("REQUEST_ID_REUSED", `request_id "${key.requestId}" was used for another request`, {
    violations: [{ field: "request_id", description: "use a new one for each request" }],
  });
}
