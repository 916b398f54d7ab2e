// The runs of MCP's requests, for clients whose messages name a request by its id. They lie with the answers that a retry gets, for 24 hours.

import { createHash } from "node:crypto";
import { findAnswer, type IdempotencyKey, putAnswer } from "../engine/storage/idempotency.ts";
import type { Db } from "../platform/database/database.ts";
import type { RequestRuns } from "../surfaces/mcp/call.ts";

/** Returns the runs of a client's requests. */
export function requestRunsOf(db: Db, client: string): RequestRuns {
  const keyOf = (session: string, id: string | number): IdempotencyKey => {
    const requestId = createHash("sha256")
      .update(JSON.stringify([session, id]))
      .digest("base64url");
    return { client, method: "mcp", requestId, requestHash: Buffer.alloc(0) };
  };
  return {
    keep: (session, id, runId) => putAnswer(db, keyOf(session, id), Buffer.from(runId)),
    find: async (session, id) => {
      const answer = await findAnswer(db, keyOf(session, id));
      return answer && Buffer.from(answer.response).toString();
    },
  };
}
