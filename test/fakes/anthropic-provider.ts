// The frames of Anthropic Messages, as the service writes them, including fields that Runnel does not read.

import type { RecordedRequest, Wire, Script as WireScript } from "./wire-server.ts";

/** Writes one response. The server ends a response that a script leaves open. */
export type Script = (wire: MessagesWire, request: RecordedRequest) => Promise<void> | void;

export interface MessagesWire extends Wire {
  /** Begins the response; every response needs it. Its default usage is `startUsage`. */
  start(usage?: object): void;
  /** Writes a whole block of text, one delta a piece. */
  text(...pieces: readonly string[]): void;
  /** Writes a whole block of thought. */
  thinking(signature: string, ...pieces: readonly string[]): void;
  redactedThinking(data: string): void;
  /** Writes a whole call; the arguments come in these pieces of JSON text. */
  toolUse(id: string, name: string, ...pieces: readonly string[]): void;
  /** Begins a block of any kind; `delta` and `close` continue it. */
  open(contentBlock: object): void;
  delta(delta: object): void;
  close(): void;
  error(type: string, message: string): void;
  /** Writes why the response ends; `details` belong to a refusal. */
  stop(reason: string, usage?: object, details?: object): void;
  /** Writes the last frame, after this reason of the end if one is given. */
  done(reason?: string): void;
}

export const startUsage = {
  input_tokens: 4,
  cache_creation_input_tokens: 2,
  cache_read_input_tokens: 5,
  cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 0 },
  output_tokens: 1,
  service_tier: "standard",
  inference_geo: "not_available",
};

/** Makes a script for a server of any kind from a script of Messages. */
export function onMessages(script: Script): WireScript {
  return (wire, request) => script(messagesWire(wire), request);
}

/** Sends the text in one delta, then a proper end. */
export function answer(text: string): Script {
  return (wire) => {
    wire.start();
    wire.text(text);
    wire.done("end_turn");
  };
}

function messagesWire(wire: Wire): MessagesWire {
  let index = 0;
  const send = (type: string, fields: object = {}): void => wire.frame({ type, ...fields }, type);
  const open = (contentBlock: object): void => send("content_block_start", { index, content_block: contentBlock });
  const delta = (piece: object): void => send("content_block_delta", { index, delta: piece });
  const close = (): void => {
    send("content_block_stop", { index });
    index += 1;
  };
  const block = (contentBlock: object, ...deltas: readonly object[]): void => {
    open(contentBlock);
    deltas.forEach(delta);
    close();
  };
  const stop: MessagesWire["stop"] = (reason, usage = { output_tokens: 7 }, details) =>
    send("message_delta", {
      delta: { stop_reason: reason, stop_sequence: null, stop_details: details ?? null },
      usage,
      context_management: { applied_edits: [] },
    });
  return {
    ...wire,
    open,
    delta,
    close,
    start: (usage = startUsage) => {
      send("message_start", { message: { ...messageHead, usage } });
      send("ping");
    },
    text: (...pieces) => block({ type: "text", text: "" }, ...pieces.map((text) => ({ type: "text_delta", text }))),
    thinking: (signature, ...pieces) =>
      block(
        { type: "thinking", thinking: "", signature: "" },
        ...pieces.map((thinking) => ({ type: "thinking_delta", thinking, estimated_tokens: null })),
        { type: "signature_delta", signature },
      ),
    redactedThinking: (data) => block({ type: "redacted_thinking", data }),
    toolUse: (id, name, ...pieces) =>
      block(
        { type: "tool_use", id, name, input: {}, caller: { type: "direct" } },
        ...["", ...pieces].map((piece) => ({ type: "input_json_delta", partial_json: piece })),
      ),
    error: (type, message) => send("error", { error: { type, message, details: null }, request_id: "req_fake" }),
    stop,
    done: (reason) => {
      if (reason !== undefined) {
        stop(reason);
      }
      send("message_stop");
    },
  };
}

const messageHead = {
  id: "msg_fake",
  type: "message",
  role: "assistant",
  model: "claude-fake",
  content: [],
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
};
