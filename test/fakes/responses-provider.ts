// The frames of OpenAI's Responses format, numbered and with all the fields that the service sends, used here or not.

import type { RecordedRequest, Wire, Script as WireScript } from "./wire-server.ts";

export type ResponsesScript = (wire: ResponsesWire, request: RecordedRequest) => Promise<void> | void;

export interface ResponsesWire extends Wire {
  /** Writes one event, with the next number. */
  event(type: string, fields: object): void;
  /** Writes the two events at the beginning. The first item writes them unless a script did. */
  start(): void;
  /** Writes a message item. It stays open until the next item or the end, so that scripts can be chained. */
  text(...deltas: readonly string[]): void;
  refusal(...deltas: readonly string[]): void;
  reasoning(thought: ReasoningItem): void;
  /** Writes a whole call, its arguments in two pieces. */
  call(call: { readonly id: string; readonly name: string; readonly arguments: string }): void;
  /** Writes a whole item of any type, such as the call of a tool that the provider runs itself. */
  item(item: object): void;
  completed(usage?: object | null): void;
  incomplete(reason: string | null, usage?: object | null): void;
  failed(error: object | null, usage?: object | null): void;
}

export interface ReasoningItem {
  readonly id: string;
  readonly summary: readonly string[];
  readonly encrypted?: string;
}

/** Makes a script for a server of any kind from a script of Responses. Inside another such script it continues that one. */
export function onResponses(script: ResponsesScript): WireScript {
  return (wire, request) => script("completed" in wire ? (wire as ResponsesWire) : new Writer(wire).wire, request);
}

interface OpenMessage {
  readonly index: number;
  said: string;
  refused: string;
}

class Writer {
  readonly wire: ResponsesWire;
  readonly #bare: Wire;
  #number = 0;
  #items = 0;
  #isStarted = false;
  #message: OpenMessage | undefined;
  readonly #output: object[] = [];

  constructor(bare: Wire) {
    this.#bare = bare;
    this.wire = {
      ...bare,
      event: (type, fields) => this.#event(type, fields),
      start: () => this.#start(),
      text: (...deltas) => this.#say(deltas, "response.output_text.delta"),
      refusal: (...deltas) => this.#say(deltas, "response.refusal.delta"),
      reasoning: (thought) => this.#reason(thought),
      call: (call) => this.#call(call),
      item: (item) => this.#item(item),
      completed: (usage = null) => this.#end("completed", { usage }),
      incomplete: (reason, usage = null) =>
        this.#end("incomplete", { incomplete_details: reason === null ? null : { reason }, usage }),
      failed: (error, usage = null) => this.#end("failed", { error, usage }),
    };
  }

  #event(type: string, fields: object): void {
    this.#bare.frame({ type, sequence_number: this.#number++, ...fields }, type);
  }

  #start(): void {
    if (!this.#isStarted) {
      this.#isStarted = true;
      this.#event("response.created", { response: responseObject("in_progress", {}) });
      this.#event("response.in_progress", { response: responseObject("in_progress", {}) });
    }
  }

  #say(deltas: readonly string[], type: "response.output_text.delta" | "response.refusal.delta"): void {
    const message = this.#openMessage();
    for (const delta of deltas) {
      const place = { item_id: messageId(message.index), output_index: message.index, content_index: 0 };
      if (type === "response.output_text.delta") {
        message.said += delta;
        this.#event(type, { ...place, delta, logprobs: [], obfuscation: "Xy7fQ" });
      } else {
        message.refused += delta;
        this.#event(type, { ...place, delta });
      }
    }
  }

  #openMessage(): OpenMessage {
    if (this.#message === undefined) {
      this.#start();
      const index = this.#items++;
      this.#message = { index, said: "", refused: "" };
      this.#event("response.output_item.added", {
        output_index: index,
        item: { id: messageId(index), type: "message", status: "in_progress", content: [], role: "assistant" },
      });
      this.#event("response.content_part.added", {
        item_id: messageId(index),
        output_index: index,
        content_index: 0,
        part: { type: "output_text", annotations: [], logprobs: [], text: "" },
      });
    }
    return this.#message;
  }

  #closeMessage(): void {
    const message = this.#message;
    if (message === undefined) {
      return;
    }
    this.#message = undefined;
    const { index, said, refused } = message;
    const place = { item_id: messageId(index), output_index: index, content_index: 0 };
    const part =
      refused === ""
        ? { type: "output_text", annotations: [], logprobs: [], text: said }
        : { type: "refusal", refusal: refused };
    if (refused === "") {
      this.#event("response.output_text.done", { ...place, text: said, logprobs: [] });
    } else {
      this.#event("response.refusal.done", { ...place, refusal: refused });
    }
    this.#event("response.content_part.done", { ...place, part });
    this.#finishItem(index, {
      id: messageId(index),
      type: "message",
      status: "completed",
      content: [part],
      role: "assistant",
    });
  }

  #reason({ id, summary, encrypted }: ReasoningItem): void {
    this.#closeMessage();
    this.#start();
    const index = this.#items++;
    const item = { id, type: "reasoning" };
    this.#event("response.output_item.added", {
      output_index: index,
      item: { ...item, ...(encrypted === undefined ? {} : { encrypted_content: "early" }), summary: [] },
    });
    for (const [summaryIndex, text] of summary.entries()) {
      const place = { item_id: id, output_index: index, summary_index: summaryIndex };
      this.#event("response.reasoning_summary_part.added", { ...place, part: { type: "summary_text", text: "" } });
      this.#event("response.reasoning_summary_text.delta", { ...place, delta: text, obfuscation: "k2" });
      this.#event("response.reasoning_summary_text.done", { ...place, text });
      this.#event("response.reasoning_summary_part.done", { ...place, part: { type: "summary_text", text } });
    }
    this.#finishItem(index, {
      ...item,
      ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
      summary: summary.map((text) => ({ type: "summary_text", text })),
    });
  }

  #call({ id, name, arguments: text }: { id: string; name: string; arguments: string }): void {
    this.#closeMessage();
    this.#start();
    const index = this.#items++;
    const item = { id: `fc_${index}`, type: "function_call", call_id: id, name };
    this.#event("response.output_item.added", {
      output_index: index,
      item: { ...item, status: "in_progress", arguments: "" },
    });
    for (const delta of [text.slice(0, 3), text.slice(3)]) {
      this.#event("response.function_call_arguments.delta", { item_id: item.id, output_index: index, delta });
    }
    this.#event("response.function_call_arguments.done", { item_id: item.id, output_index: index, arguments: text });
    this.#finishItem(index, { ...item, status: "completed", arguments: text });
  }

  #item(item: object): void {
    this.#closeMessage();
    this.#start();
    const index = this.#items++;
    this.#event("response.output_item.added", { output_index: index, item: { ...item, status: "in_progress" } });
    this.#finishItem(index, item);
  }

  #finishItem(index: number, item: object): void {
    this.#output.push(item);
    this.#event("response.output_item.done", { output_index: index, item });
  }

  #end(status: "completed" | "incomplete" | "failed", fields: object): void {
    this.#start();
    this.#closeMessage();
    this.#event(`response.${status}`, { response: responseObject(status, { output: this.#output, ...fields }) });
  }
}

function messageId(index: number): string {
  return `msg_${index}`;
}

function responseObject(status: string, fields: object): object {
  return {
    id: "resp_fake",
    object: "response",
    created_at: 1_741_487_325,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: "gpt-fake-2026-01-01",
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    service_tier: "default",
    store: false,
    temperature: 1,
    text: { format: { type: "text" }, verbosity: "medium" },
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    truncation: "disabled",
    usage: null,
    user: null,
    metadata: {},
    ...fields,
  };
}
