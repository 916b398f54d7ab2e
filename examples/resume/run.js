// run.js
import { setTimeout as sleep } from "node:timers/promises";
import { credentials, loadPackageDefinition, status } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { Text } from "./text.js";

const options = { includeDirs: ["proto", "third_party"], longs: Number, arrays: true };
const definition = loadSync("runnel/v1/run_service.proto", options);
const { RunService } = loadPackageDefinition(definition).runnel.v1;

const answers = [
  status.INVALID_ARGUMENT,
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
  status.NOT_FOUND,
  status.OUT_OF_RANGE,
  status.FAILED_PRECONDITION,
  status.UNIMPLEMENTED,
  status.DATA_LOSS,
];

/** Without the option a channel that was refused several times waits up to two minutes before it dials again. */
export function connect(target) {
  return new RunService(target, credentials.createInsecure(), { "grpc.max_reconnect_backoff_ms": 5_000 });
}

/** Calls `show` with the text so far, and resolves with the last result. `metadata` says who calls. */
export async function followRun(runs, metadata, runId, show) {
  const text = new Text();
  let last = { sequence: 0 };
  let delayMs = 200;
  for (;;) {
    try {
      for await (const { results } of runs.tailRun({ runId, after: last.sequence }, metadata)) {
        for (const result of results) {
          take(text, result);
          last = result;
          delayMs = 200;
        }
        show(String(text));
      }
      return last;
    } catch (error) {
      // What has no code is no answer: a mistake in `show`, for instance.
      if (error.code === undefined || answers.includes(error.code)) {
        throw error;
      }
      await sleep(delayMs);
      delayMs = Math.min(delayMs * 2, 10_000);
    }
  }
}

function take(text, { sequence, messageDelta, turnRestarted }) {
  if (messageDelta) {
    text.add(sequence, messageDelta.chunk.content);
  }
  if (turnRestarted) {
    text.voidFrom(turnRestarted.fromSequence);
  }
}
