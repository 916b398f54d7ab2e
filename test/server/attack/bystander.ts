// A client without a part in the attack: it calls ten times a second, over a connection that it keeps and over new ones, and
// the service must answer every call.

import { once } from "node:events";
import http from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { Member } from "../../fault/cluster.ts";
import { credentialsOf } from "../../harness/credentials.ts";

const intervalMs = 100;
/** Far more than an answer takes, even on a machine that is busy with the attack itself. */
const answerMaxMs = 20_000;

export class Bystander {
  readonly #member: Member;
  readonly #over = new AbortController();
  readonly #calling: Promise<void>;
  readonly #failures: string[] = [];
  #answers = 0;

  constructor(member: Member) {
    this.#member = member;
    onTestFinished(() => this.#over.abort());
    this.#calling = this.#call();
  }

  get answers(): number {
    return this.#answers;
  }

  /** Stops calling. Fails unless there were calls and all were answered. */
  async expectServed(): Promise<void> {
    this.#over.abort();
    await this.#calling;
    expect(this.#failures).toEqual([]);
    expect(this.#answers).toBeGreaterThan(0);
  }

  async #call(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      await this.#time("gRPC", () => this.#member.client.call(RunService.method.listRuns, {}));
      await this.#time("REST", () => getOverNewConnection(`${this.#member.url}/v1/sessions`));
      await delay(intervalMs, undefined, { signal }).catch(() => {});
    }
  }

  async #time(what: string, call: () => Promise<unknown>): Promise<void> {
    const startedMs = performance.now();
    try {
      await call();
      this.#answers += 1;
    } catch (error) {
      this.#failures.push(`${what}: ${error}`);
    }
    const tookMs = performance.now() - startedMs;
    if (tookMs > answerMaxMs) {
      this.#failures.push(`${what} took ${Math.round(tookMs)} ms`);
    }
  }
}

async function getOverNewConnection(url: string): Promise<void> {
  const request = http.get(url, { agent: false, headers: credentialsOf() });
  const [response]: http.IncomingMessage[] = await once(request, "response");
  if (response === undefined) {
    throw new Error("no response");
  }
  await text(response);
  if (response.statusCode !== 200) {
    throw new Error(`answered ${response.statusCode}`);
  }
}
