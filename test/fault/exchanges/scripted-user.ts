// A person with a fixed script: starts an exchange, shows its outboxes, and answers each with a known text. After a lost
// connection the person repeats everything from the beginning, and has to get the same answers.

import { expect } from "vitest";
import { ExchangeService, type SubmitInboxResponse } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import type { GrpcClient } from "../../harness/grpc.ts";

const { startExchange, getOutbox, submitInbox } = ExchangeService.method;

/** Its commands are numbered by position. Executing one of them twice would be visible. */
const firstInbox = `I begin with two files.
[CREATE_FILE path="notes.txt"]
one
two
[/CREATE_FILE]
[EDIT_FILE path="notes.txt" start_line="1" end_line="1"]
one
one
[/EDIT_FILE]
[DELETE_FILE path="old.txt"]
[RUN_COMMAND]
echo ran >> ran.txt
[/RUN_COMMAND]
[READ_FILE path="notes.txt"]
[MESSAGE]
half way
[/MESSAGE]
`;
export const runPosition = 4;
export const firstCommands = 6;

const secondInbox = `[EDIT_FILE path="notes.txt" start_line="3" end_line="3"]
two
two
[/EDIT_FILE]
[DONE]
all done
[/DONE]
`;

export const task = "write notes";

/** Records the first version of everything that the person gets, and compares later ones with it. */
export class ScriptedUser {
  readonly #workDir: string;
  readonly #told = new Map<string, unknown>();
  exchangeId = "";
  runId = "";

  constructor(workDir: string) {
    this.#workDir = workDir;
  }

  /** The whole conversation. */
  async converse(client: GrpcClient): Promise<void> {
    await this.#start(client);
    await this.#show(client);
    await this.#answer(client, 1, firstInbox);
    await this.#show(client);
    await this.#answer(client, 2, secondInbox);
    await this.#show(client);
  }

  /** Only the first answer. */
  async send(client: GrpcClient, text: string): Promise<SubmitInboxResponse> {
    await this.#start(client);
    return await client.call(submitInbox, { exchangeId: this.exchangeId, sequence: 1, text });
  }

  told(what: string): unknown {
    return this.#told.get(what);
  }

  async #start(client: GrpcClient): Promise<void> {
    const started = await client.call(startExchange, { task, workDir: this.#workDir, requestId: "once" });
    this.exchangeId = this.#note("the exchange", started.exchangeId);
    this.runId = this.#note("the run", started.runId);
  }

  async #show(client: GrpcClient): Promise<void> {
    const { text, sequence } = await client.call(getOutbox, { exchangeId: this.exchangeId });
    this.#note(`outbox ${sequence}`, text);
  }

  async #answer(client: GrpcClient, sequence: number, text: string): Promise<void> {
    const { exchangeId } = this;
    const answer = await client.call(submitInbox, { exchangeId, sequence, text });
    const results = answer.results.map(({ type, success, summary, output }) => ({ type, success, summary, output }));
    this.#note(`answer ${sequence}`, { results, sequence: answer.sequence, isComplete: answer.isComplete });
  }

  #note<T>(what: string, told: T): T {
    expect([what, told]).toEqual([what, this.#told.get(what) ?? told]);
    this.#told.set(what, told);
    return told;
  }
}
