// The Agent Runner protocol: the documented events of sessions, as a separate stream.

import {
  SessionService,
  type StreamSessionResponse,
  StreamSessionResponseSchema,
} from "#gen/runnel/v1/session_service_pb.js";
import { createFeed, MessageItem } from "../../api/feeds.ts";
import { type Protocol, part } from "../../api/protocol.ts";
import { FirstRuns } from "../../engine/sessions/first-runs.ts";
import { followSession, oneByOne } from "./stream-session.ts";

/**
 * The Agent Runner protocol. It adds `StreamSession` to `SessionService`, as RPC and as feed, and has no settings or tables.
 */
export const agentRunner: Protocol = {
  name: "agent-runner",
  services: [],
  open: async () => ({
    serve: (services) => {
      const deps = { ...services, firstRuns: new FirstRuns(services) };
      return {
        services: [
          part(SessionService, {
            streamSession: (request, context) => oneByOne(followSession(deps, request, context)),
          }),
        ],
        feeds: [
          createFeed(deps, {
            method: SessionService.method.streamSession,
            isMergeable: false,
            follow: (request, context, sink) => followSession(deps, request, context, sink),
            toItem: (event: StreamSessionResponse) => new MessageItem(StreamSessionResponseSchema, event),
          }),
        ],
      };
    },
  }),
};
