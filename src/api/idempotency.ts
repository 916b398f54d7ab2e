// Makes a create call idempotent: with a request id, the same request gets the same answer, also when two arrive at once.

import { createHash } from "node:crypto";
import { type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import {
  claimRequest,
  findAnswer,
  type IdempotencyKey,
  type StoredAnswer,
  saveAnswer,
} from "../engine/storage/idempotency.ts";
import { Fault } from "../platform/base/fault.ts";
import type { Db, Transaction } from "../platform/database/database.ts";

/** A call with an optional request id. An empty id switches idempotency off. */
export interface RepeatableCall<Request extends DescMessage, Response extends DescMessage> {
  readonly client: string;
  readonly requestId: string;
  readonly request: MessageShape<Request>;
  readonly requestSchema: Request;
  readonly responseSchema: Response;
}

/**
 * Does the work once for each request id, and returns the stored answer for a repeated call. Uses one transaction, so a call
 * that failed can be retried.
 * @throws Fault REQUEST_ID_REUSED when another request had this id.
 */
export async function answerOnce<Request extends DescMessage, Response extends DescMessage>(
  trx: Transaction,
  call: RepeatableCall<Request, Response>,
  work: () => Promise<MessageShape<Response>>,
): Promise<MessageShape<Response>> {
  if (call.requestId === "") {
    return await work();
  }
  const key = keyOf(call);
  const earlier = await claimRequest(trx, key);
  if (earlier !== undefined) {
    return readAnswer(earlier, key, call.responseSchema);
  }
  const response = await work();
  await saveAnswer(trx, key, toBinary(call.responseSchema, response));
  return response;
}

/**
 * Returns the stored answer of an earlier call, or undefined. Serves callers that do part of the work outside a transaction and
 * must do it once.
 * @throws Fault REQUEST_ID_REUSED when another request had this id.
 */
export async function recallAnswer<Request extends DescMessage, Response extends DescMessage>(
  db: Db,
  call: RepeatableCall<Request, Response>,
): Promise<MessageShape<Response> | undefined> {
  const key = keyOf(call);
  const earlier = call.requestId === "" ? undefined : await findAnswer(db, key);
  return earlier && readAnswer(earlier, key, call.responseSchema);
}

function keyOf<Request extends DescMessage, Response extends DescMessage>(
  call: RepeatableCall<Request, Response>,
): IdempotencyKey {
  const requestHash = createHash("sha256").update(toBinary(call.requestSchema, call.request)).digest();
  return { client: call.client, method: call.requestSchema.typeName, requestId: call.requestId, requestHash };
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
