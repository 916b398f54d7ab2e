// AuthService: API keys for the operator with the admin token, and stream tickets for clients.

import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type ApiKey, ApiKeySchema, type TicketTarget } from "#gen/runnel/v1/auth_pb.js";
import type { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { findClientRun } from "../engine/storage/client-run.ts";
import { findSession } from "../engine/storage/session.ts";
import { makeApiKey } from "../platform/auth/api-keys.ts";
import { requireClient, type StreamTarget } from "../platform/auth/caller.ts";
import { type ApiKeyRow, listApiKeys, revokeApiKey } from "../platform/auth/storage/api-key.ts";
import { makeTicket } from "../platform/auth/tickets.ts";
import { Fault } from "../platform/base/fault.ts";
import type { Db } from "../platform/database/database.ts";
import type { ServiceDeps } from "./deps.ts";
import { nextPageToken, pageSize } from "./page.ts";

/** Returns the handlers of AuthService. */
export function createAuthService(deps: ServiceDeps): ServiceImpl<typeof AuthService> {
  const { db, clock, cursors, config, wakeup } = deps;
  const cell = config.authCell;
  return {
    createApiKey: async ({ clientId, displayName, expireTime }) => {
      const { row, key } = await makeApiKey(
        { db, clock, cell },
        {
          client: clientId,
          displayName,
          expireTime: expireTime && timestampDate(expireTime),
        },
      );
      return { apiKey: keyToProto(row), key };
    },
    listApiKeys: async ({ clientId, pageSize: requested, pageToken }) => {
      const scope = ["api keys", clientId];
      const limit = pageSize(requested);
      const before = cursors.decode(scope, pageToken);
      const rows = await listApiKeys(db, { client: clientId === "" ? undefined : clientId, before, limit });
      return {
        apiKeys: rows.map(keyToProto),
        nextPageToken: nextPageToken(rows, limit, ({ id }) => cursors.encode(scope, id)),
      };
    },
    revokeApiKey: async ({ keyId }) => {
      const row = await revokeApiKey(db, keyId);
      if (row === undefined) {
        throw new Fault("API_KEY_NOT_FOUND", "API key not found");
      }
      wakeup.publish({ topic: "credential", key: keyId, value: 0 });
      return { apiKey: keyToProto(row) };
    },
    createStreamTicket: async ({ target }, context) => {
      const { client, lifetime } = requireClient(context.values);
      const wanted = streamTarget(target);
      await assertExists(db, client, wanted);
      const { ticket, expireTime } = await makeTicket(db, { client, keyId: lifetime?.keyId, target: wanted, cell });
      return { ticket, expireTime: timestampFromDate(expireTime) };
    },
  };
}

function keyToProto(row: ApiKeyRow): ApiKey {
  return create(ApiKeySchema, {
    keyId: row.id,
    clientId: row.client,
    displayName: row.display_name,
    createTime: timestampFromDate(row.create_time),
    ...(row.expire_time !== null && { expireTime: timestampFromDate(row.expire_time) }),
    ...(row.revoke_time !== null && { revokeTime: timestampFromDate(row.revoke_time) }),
  });
}

function streamTarget(target: TicketTarget | undefined): StreamTarget {
  const chosen = target?.target;
  return chosen?.case === "runId" ? { runId: chosen.value } : { sessionId: chosen?.value ?? "" };
}

/**
 * Throws SESSION_NOT_FOUND or RUN_NOT_FOUND now: with a ticket for a missing target, only the stream would fail later, where a
 * page sees less of the error.
 */
async function assertExists(db: Db, client: string, target: StreamTarget): Promise<void> {
  if ("sessionId" in target) {
    if ((await findSession(db, { client, name: target.sessionId })) === undefined) {
      throw new Fault("SESSION_NOT_FOUND", "session not found");
    }
  } else if ((await findClientRun(db, { client, id: target.runId })) === undefined) {
    throw new Fault("RUN_NOT_FOUND", "run not found");
  }
}
