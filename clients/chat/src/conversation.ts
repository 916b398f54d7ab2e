// A conversation: its exchanges, and the work on the last one, which it begins, continues and stops. It knows no element.
//
// C1  One exchange is worked on at a time, and it is the last one.
// C2  A message has one request id, whatever is repeated, so it starts one run.
// C3  What it has is kept together with the place in the log, so a reload continues exactly there.

import { type Answer, emptyAnswer, takeEntry } from "./answer.ts";
import { type Backend, type ChatRequest, callBackend, readText } from "./backend.ts";
import { ChatError } from "./error.ts";
import { followRun } from "./follow.ts";
import { type Exchange, loadHistory, saveHistory } from "./history.ts";
import { repeat } from "./repeat.ts";

/** Where the conversation takes place. */
export interface Place {
  /** URL of the service. */
  readonly endpoint: string;
  readonly backend: Backend;
  /** Name of the conversation for the site, and of its history in the tab. */
  readonly conversation: string;
}

/** What happens now. `failed` waits for the visitor, who may try again. */
export type Activity =
  | { readonly name: "idle" | "working" | "reconnecting" | "stopping" }
  | { readonly name: "failed"; readonly what: "send" | "read"; readonly error: unknown };

type ChatCall = ChatRequest extends infer Each
  ? Each extends ChatRequest
    ? Omit<Each, "conversation">
    : never
  : never;

export class Conversation {
  readonly exchanges: Exchange[];
  readonly #place: Place;
  readonly #onChange: () => void;
  readonly #closing = new AbortController();
  #activity: Activity = { name: "idle" };
  #work: AbortController | undefined;

  constructor(place: Place, onChange: () => void) {
    this.#place = place;
    this.#onChange = onChange;
    this.exchanges = loadHistory(place.conversation);
  }

  get activity(): Activity {
    return this.#activity;
  }

  /** Whether the last exchange has no end yet. */
  get isOpen(): boolean {
    const last = this.exchanges.at(-1);
    return last !== undefined && last.answer.end === undefined;
  }

  /** Sends a message. An exchange that the visitor gave up gets no answer any more. */
  send(message: string): void {
    const given = this.exchanges.at(-1);
    if (given !== undefined) {
      given.answer.end ??= "unread";
    }
    this.exchanges.push({ requestId: makeId(), message, answer: emptyAnswer() });
    this.save();
    this.resume();
  }

  /** Continues the last exchange, if it has no end and nothing works on it. */
  resume(): void {
    const last = this.exchanges.at(-1);
    if (last === undefined || !this.isOpen || this.#work !== undefined || this.#closing.signal.aborted) {
      return;
    }
    const work = new AbortController();
    this.#work = work;
    this.#set({ name: "working" });
    const signal = AbortSignal.any([work.signal, this.#closing.signal]);
    void this.#answer(last, signal).then(
      () => this.#end({ name: "idle" }),
      (error: unknown) => this.#end({ name: "failed", what: last.runId === undefined ? "send" : "read", error }),
    );
  }

  /** Stops the answer. A message that the site has not taken yet is only not sent again. */
  stop(): void {
    const runId = this.exchanges.at(-1)?.runId;
    if (runId === undefined) {
      this.#work?.abort(new ChatError("the visitor stopped the attempt"));
      return;
    }
    this.#set({ name: "stopping" });
    const cancel = () => this.#call({ type: "cancel", run_id: runId }, this.#closing.signal);
    // The log says when the run has stopped. Until then the visitor may ask again.
    void cancel().catch(() => this.#activity.name === "stopping" && this.#set({ name: "working" }));
  }

  /** Keeps the history. One that is closed may be open again elsewhere, and must not overwrite it. */
  save(): void {
    if (!this.#closing.signal.aborted) {
      saveHistory(this.#place.conversation, this.exchanges);
    }
  }

  /** Keeps the history and ends the work; the run goes on without a reader. */
  close(): void {
    this.save();
    this.#closing.abort();
  }

  async #answer(exchange: Exchange, signal: AbortSignal): Promise<void> {
    const { endpoint } = this.#place;
    let ticket: string | undefined;
    if (exchange.runId === undefined) {
      const { message, requestId } = exchange;
      const send = () => this.#call({ type: "message", message, request_id: requestId }, signal);
      const answer = await repeat(send, signal, () => this.#noteConnection(false));
      exchange.runId = readText(answer, "run_id");
      ticket = readText(answer, "ticket");
      this.save();
      this.#onChange();
    }
    const { runId } = exchange;
    const after = exchange.answer.cursor;
    const askForTicket = async () => readText(await this.#call({ type: "ticket", run_id: runId }, signal), "ticket");
    const onConnection = (isOpen: boolean) => this.#noteConnection(isOpen);
    for await (const entry of followRun({ endpoint, runId, after, ticket, askForTicket, signal, onConnection })) {
      takeEntry(exchange.answer, entry);
      this.#onChange();
    }
    settle(exchange.answer);
    this.save();
  }

  async #call(request: ChatCall, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const { backend, conversation } = this.#place;
    return await callBackend(backend, { conversation, ...request } as ChatRequest, signal);
  }

  #noteConnection(isOpen: boolean): void {
    const { name } = this.#activity;
    if (isOpen ? name === "reconnecting" : name === "working") {
      this.#set({ name: isOpen ? "working" : "reconnecting" });
    }
  }

  #end(activity: Activity): void {
    this.#work = undefined;
    if (!this.#closing.signal.aborted) {
      this.#set(activity);
    }
  }

  #set(activity: Activity): void {
    this.#activity = activity;
    this.#onChange();
  }
}

/** `randomUUID` is for pages over TLS only. */
function makeId(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");
}

/** An answer that has ended changes no more: its texts need no places in the log. */
function settle(answer: Answer): void {
  for (const part of answer.parts) {
    if (part.kind === "text") {
      part.pieces = [{ sequence: answer.cursor, text: part.pieces.map(({ text }) => text).join("") }];
    }
  }
}
