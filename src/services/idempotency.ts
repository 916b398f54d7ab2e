// Makes a create repeatable: with a request id, the same request gets the same answer, also from twins at the same time.

import { createHash } from "node:crypto";
import { type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { Fault } from "../base/fault.ts";
import { type Db, isLockTimeout, type Transaction } from "../storage/database.ts";
import { claimAnswer, findAnswer, type IdempotencyKey, type StoredAnswer } from "../storage/idempotency.ts";

export interface RepeatableCall<Request extends DescMessage, Response extends DescMessage> {
  readonly client: string;
  readonly requestId: string;
  readonly request: MessageShape<Request>;
  readonly requestSchema: Request;
  readonly responseSchema: Response;
}

/** The answer given before, if there is one: looked up first, so that a retry never meets its own effects. */
export async function findEarlierAnswer<Request extends DescMessage, Response extends DescMessage>(
  db: Db,
  call: RepeatableCall<Request, Response>,
): Promise<MessageShape<Response> | undefined> {
  if (call.requestId === "") return undefined;
  const key = keyOf(call);
  const answer = await findAnswer(db, key);
  return answer && readAnswer(answer, key, call.responseSchema);
}

/** Keeps the answer within the create's transaction. A twin that was first makes this transaction undone. */
export async function keepAnswer<Request extends DescMessage, Response extends DescMessage>(
  trx: Transaction,
  call: RepeatableCall<Request, Response>,
  response: MessageShape<Response>,
): Promise<void> {
  if (call.requestId === "") return;
  const key = keyOf(call);
  const earlier = await claimAnswer(trx, key, toBinary(call.responseSchema, response));
  if (earlier !== undefined) throw new EarlierAnswer(earlier);
}

/** Runs the create; when a twin was first, its answer is given instead. */
export async function answerOnce<Request extends DescMessage, Response extends DescMessage>(
  call: RepeatableCall<Request, Response>,
  work: () => Promise<MessageShape<Response>>,
): Promise<MessageShape<Response>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EarlierAnswer) return readAnswer(error.answer, keyOf(call), call.responseSchema);
    if (!isLockTimeout(error)) throw error;
    throw new Fault("REQUEST_ID_BUSY", "a request with this request_id is still being worked on", {
      retryAfterMs: 1_000,
      cause: error,
    });
  }
}

/** Undoes the transaction of a create whose twin was first. */
class EarlierAnswer extends Error {
  readonly answer: StoredAnswer;
  constructor(answer: StoredAnswer) {
    super("a twin of this request was first");
    this.answer = answer;
  }
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
  if (Buffer.compare(answer.requestHash, key.requestHash) === 0) return fromBinary(schema, answer.response);
  throw new Fault("REQUEST_ID_REUSED", `request_id "${key.requestId}" was used for another request`, {
    violations: [{ field: "request_id", description: "use a new one for each request" }],
  });
}
