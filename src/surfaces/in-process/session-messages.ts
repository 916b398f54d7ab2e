// Reads the messages of a session.

import { type SessionMessage, SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { pageSizeMax, readPages } from "../../platform/base/lists.ts";
import type { Calls } from "./calls.ts";

/** Returns the messages of a session, oldest first. */
export async function readSessionMessages(calls: Calls, sessionId: string): Promise<readonly SessionMessage[]> {
  return await readPages(async (pageToken) => {
    const page = await calls.call(SessionService.method.listMessages, { sessionId, pageSize: pageSizeMax, pageToken });
    return { items: page.messages, nextPageToken: page.nextPageToken };
  });
}
