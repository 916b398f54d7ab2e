// A service with the console, whose agents ask a provider that a test scripts.

import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Config } from "../../../src/platform/config/keys.ts";
import { startWithProvider } from "../../conformance/stage.ts";
import type { Script } from "../../fakes/provider.ts";

const { createSession, sendMessage } = SessionService.method;

export type ConsoleStage = Awaited<ReturnType<typeof setConsoleStage>>;

export async function setConsoleStage(flags: Partial<Config> = {}, ...scripts: readonly Script[]) {
  const stage = await startWithProvider({ consoleEnabled: true, ...flags });
  stage.provider.respond(...scripts);
  return {
    ...stage,
    /** Sends a message to a session of its own. */
    start: async (agent: object, message: object = {}): Promise<string> => {
      const { sessionId } = await stage.client.call(createSession, { agent: { name: "tester", ...agent } });
      return (await stage.client.call(sendMessage, { sessionId, message: "Go.", ...message })).runId;
    },
  };
}
