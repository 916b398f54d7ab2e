// The agent that A2A's compatibility kit talks to: the beginning of a message's id says what the agent does.

import { setTimeout as delay } from "node:timers/promises";
import {
  completed,
  delta,
  failed,
  message,
  type Result,
  type Run,
} from "../../../clients/typescript/src/worker/runner.ts";
import type { TestService } from "../../harness/service.ts";
import { offer } from "../../mcp/stage.ts";

const file: Result = {
  type: "artifact.created",
  data: {
    artifact_type: "file",
    name: "output.txt",
    mime_type: "text/plain",
    content_base64: Buffer.from("text").toString("base64"),
  },
};

/** Longer prefixes first. */
const acts: readonly (readonly [prefix: string, act: (run: Run) => AsyncGenerator<Result>])[] = [
  ["tck-artifact-file", say(file, completed("done"))],
  ["tck-artifact-text", say(message("Generated text content"), completed("Generated text content"))],
  ["tck-stream-artifact-file", say(file, completed("done"))],
  ["tck-stream-artifact-chunked", say(delta("chunk-1 "), delta("chunk-2"), completed("chunk-1 chunk-2"))],
  ["tck-stream-", say(message("Streamed text content"), completed("Streamed text content"))],
  ["tck-reject-task", say(failed("rejected", { code: "rejected" }))],
  ["tck-input-required", wait(1_000)],
  ["test-resubscribe-message-id", wait(4_000)],
  ["", say(completed("Hello from TCK"))],
];

/** Offers the agent. It hides the first preset, so it is the one that a message without a tenant reaches. */
export async function offerFixture(service: TestService): Promise<void> {
  await offer(service, {
    default: async function* (run) {
      const id = run.context.event?.rawRef?.refId ?? "";
      const [, act] = acts.find(([prefix]) => id.startsWith(prefix)) ?? [];
      yield* act?.(run) ?? [];
    },
  });
}

function say(...results: readonly Result[]) {
  return async function* (): AsyncGenerator<Result> {
    yield* results;
  };
}

/** Works for a time, unless the run is cancelled first. */
function wait(ms: number) {
  return async function* ({ signal }: Run): AsyncGenerator<Result> {
    yield delta("working");
    await delay(ms, undefined, { signal }).catch(() => undefined);
    yield signal.aborted ? failed("cancelled", { code: "cancelled" }) : completed("working");
  };
}
