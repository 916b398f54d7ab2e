// The answer to a call that may take as long as a run: a stream of progress, or JSON for a client that reads no streams.

import {
  errorMessage,
  printError,
  printNotification,
  printResult,
  type RpcError,
  type RpcId,
  resultMessage,
} from "../in-process/json-rpc.ts";
import { SlowJson } from "../in-process/slow-json.ts";
import { endStream, setHead } from "../rest/respond.ts";
import { sseHeartbeat } from "../rest/sse.ts";
import { streamHeaders, writeText } from "../rest/streamed-answer.ts";
import { finish, type McpCall } from "./call.ts";
import type { CallFold } from "./fold.ts";

/** An answer that is being written. */
export class CallAnswer {
  readonly #call: McpCall;
  readonly #runId: string;
  readonly #id: RpcId;
  readonly #progressToken: RpcId | undefined;
  readonly #slow: SlowJson | undefined;
  /** The ids of the requests that the client has got. */
  readonly #asked = new Set<string>();
  /** The number of beats since the last entry. A log opens with one, which says nothing. */
  #beats = -1;

  /** `after` is the sequence that the client has. */
  constructor(
    call: McpCall,
    {
      runId,
      id,
      progressToken,
    }: { readonly runId: string; readonly id: RpcId; readonly progressToken: RpcId | undefined },
  ) {
    this.#call = call;
    this.#runId = runId;
    this.#id = id;
    this.#progressToken = progressToken;
    this.#slow = call.takesStream ? undefined : new SlowJson(call.response);
  }

  /** Begins the answer. A client with a session gets a place from which it can resume, before anything else. */
  async open(after: number): Promise<void> {
    if (this.#slow === undefined) {
      setHead(this.#call.response, 200, streamHeaders);
      await writeText(this.#call, this.#call.isModern ? sseHeartbeat : `id: ${this.#runId}.${after}\ndata: \n\n`);
    }
  }

  /** Keeps the answer alive. Call it every 15 s. Clients that wait for progress end a call without it, and take only what rises. */
  async beat(fold: CallFold): Promise<void> {
    if (this.#slow !== undefined) {
      await this.#slow.beat();
      return;
    }
    this.#beats += 1;
    if (this.#progressToken === undefined || this.#beats === 0) {
      await writeText(this.#call, sseHeartbeat);
    } else {
      await this.#sendProgress(fold, this.#beats / (this.#beats + 1));
    }
  }

  /** Sends how far the run is. The sequence rises with each entry. */
  async progress(fold: CallFold): Promise<void> {
    this.#beats = 0;
    await this.#sendProgress(fold, 0);
  }

  async #sendProgress({ sequence, doing }: CallFold, part: number): Promise<void> {
    if (this.#slow === undefined && this.#progressToken !== undefined) {
      const message = doing === "" ? {} : { message: doing };
      const params = { progressToken: this.#progressToken, progress: sequence + part, ...message };
      await this.#write(printNotification("notifications/progress", params), sequence);
    }
  }

  /** Sends a request of the service, which the client answers with a POST. Once for each id. */
  async ask(id: string, { method, params }: { readonly method: string; readonly params: object }, sequence: number) {
    if (this.#asked.has(id)) {
      return;
    }
    this.#asked.add(id);
    await this.#write(JSON.stringify({ jsonrpc: "2.0", id, method, params }), sequence);
  }

  end(result: object, sequence: number): void {
    const finished = finish(this.#call, result);
    if (this.#slow !== undefined) {
      this.#slow.send(200, resultMessage(this.#id, finished));
    } else {
      endStream(this.#call.response, this.#event(printResult(this.#id, finished), sequence));
    }
  }

  fail(error: RpcError, sequence: number): void {
    if (this.#slow !== undefined) {
      this.#slow.send(error.status, errorMessage(this.#id, error));
    } else {
      endStream(this.#call.response, this.#event(printError(this.#id, error), sequence));
    }
  }

  /** Ends a stream that the client resumes. */
  breakOff(): void {
    endStream(this.#call.response, "");
  }

  async #write(json: string, sequence: number): Promise<void> {
    if (this.#slow === undefined) {
      await writeText(this.#call, this.#event(json, sequence));
    }
  }

  #event(json: string, sequence: number): string {
    const id = this.#call.isModern ? "" : `id: ${this.#runId}.${sequence}\n`;
    return `${id}event: message\ndata: ${json}\n\n`;
  }
}
