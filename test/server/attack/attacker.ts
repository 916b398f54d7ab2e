// The thread of an attacker: sends bodies one after the other, and again when the service asks for it, as fast as it permits.

import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import type { WorstBody } from "./worst-bodies.ts";

export interface Attack {
  readonly url: string;
  readonly bodies: readonly WorstBody[];
  readonly rounds: number;
  readonly credentials: Readonly<Record<string, string>>;
}

const { url, bodies, rounds, credentials }: Attack = workerData;
const statuses: Record<string, number> = {};
const failures: string[] = [];
/** An attacker keeps several requests on the way. */
const atOnce = 4;

const queue = Array.from({ length: rounds }, () => bodies).flat();
await Promise.all(Array.from({ length: atOnce }, attack));
parentPort?.postMessage({ statuses, failures });

async function attack(): Promise<void> {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    await sendUntilHeard(next);
  }
}

async function sendUntilHeard(worst: WorstBody): Promise<void> {
  for (;;) {
    const answer = await send(worst).catch((error: unknown) => `${worst.what}: ${error}`);
    if (typeof answer === "string") {
      failures.push(answer);
      return;
    }
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    if (!answer.isLater) {
      return;
    }
    await delay(50);
  }
}

interface Answer {
  readonly status: number;
  /** Whether the service asks to send the request again. */
  readonly isLater: boolean;
}

function send({ httpMethod, path, contentType, encoding, body, isPublic }: WorstBody): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const headers = {
    ...(!isPublic && credentials),
    ...encoding,
    "content-type": contentType,
    "content-length": body.byteLength,
  };
  const sent = request(url + path, { method: httpMethod, headers }, (response) => {
    response.resume();
    // A stream of results may stay open for long.
    response.once("data", () => response.destroy());
    const { statusCode: status = 0 } = response;
    response.once("close", () => resolve({ status, isLater: response.headers["retry-after"] !== undefined }));
  });
  sent.once("error", reject);
  sent.end(Buffer.from(body));
  return promise;
}
