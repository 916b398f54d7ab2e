// A provider that speaks Chat Completions. Each request takes the next script that a test queued, or else the script that its
// last user message describes.

import { setTimeout as delay } from "node:timers/promises";
import {
  fail,
  type RecordedRequest,
  startWireServer,
  type Wire,
  type Script as WireScript,
  type WireServer,
} from "./wire-server.ts";

export interface FakeProvider extends Omit<WireServer, "respond" | "origin"> {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** Queues one script for each of the next requests. */
  respond(...scripts: readonly Script[]): void;
}

/** Writes one response. The server ends a response that a script leaves open. */
export type Script = (wire: ChatWire, request: RecordedRequest) => Promise<void> | void;

/** A piece of a tool call; the first piece of an index contains id and name. */
export interface ToolCallPiece {
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: string;
}

export interface ChatWire extends Wire {
  /** Writes any delta, with a finish reason if it is the last one. */
  delta(delta: object, reason?: string): void;
  text(content: string): void;
  reasoning(content: string): void;
  toolCalls(...pieces: readonly ToolCallPiece[]): void;
  finish(reason: string): void;
  usage(usage: object): void;
  /** Writes the mark of the end, after this finish reason if one is given. */
  done(reason?: string): void;
}

export async function startFakeProvider(): Promise<FakeProvider> {
  const server = await startWireServer((request) => onChat(describedScript(request)));
  return {
    baseUrl: `${server.origin}/v1`,
    requests: server.requests,
    get connections() {
      return server.connections;
    },
    respond: (...scripts) => server.respond(...scripts.map(onChat)),
    request: server.request,
    close: server.close,
    [Symbol.asyncDispose]: server.close,
  };
}

/** Makes a script for a server of any kind from a script of Chat Completions. */
export function onChat(script: Script): WireScript {
  return (wire, request) => script(chatWire(wire), request);
}

/** Sends the text in one delta, then a proper end. */
export function answer(text: string): Script {
  return stopAfter(text, "stop");
}

/** The same, with an end for another reason, such as `length`. */
export function stopAfter(text: string, reason: string): Script {
  return (wire) => {
    wire.text(text);
    wire.done(reason);
  };
}

/** Sends these texts, and then nothing more until the client leaves. */
export function hangAfter(...pieces: readonly string[]): Script {
  return async (wire) => {
    for (const piece of pieces) {
      wire.text(piece);
    }
    await wire.hang();
  };
}

/** Sends the first text, and the rest with a proper end once it is released. */
export function holdAfter(first: string, released: Promise<void>, rest: string): Script {
  return async (wire) => {
    wire.text(first);
    await released;
    wire.text(rest);
    wire.done("stop");
  };
}

/** Sends whole calls, each in one piece and with the index of its position, then a proper end. */
export function callTools(...calls: readonly ToolCallPiece[]): Script {
  return (wire) => {
    for (const [index, call] of calls.entries()) {
      wire.toolCalls({ index, ...call });
    }
    wire.done("tool_calls");
  };
}

/** Sends one call whose arguments come in pieces, as long ones do: no line of a stream may be longer than 1 MiB. */
export function callInPieces({ arguments: json = "", ...call }: ToolCallPiece): Script {
  return (wire) => {
    wire.toolCalls({ index: 0, ...call, arguments: "" });
    for (let start = 0; start < json.length; start += pieceChars) {
      wire.toolCalls({ index: 0, arguments: json.slice(start, start + pieceChars) });
    }
    wire.done("tool_calls");
  };
}

const pieceChars = 65_536;

function chatWire(wire: Wire): ChatWire {
  const choice = (delta: object, reason: string | null = null): void =>
    wire.frame({ ...chunkHead, choices: [{ index: 0, delta, finish_reason: reason }] });
  const finish = (reason: string): void => choice({}, reason);
  return {
    ...wire,
    delta: choice,
    text: (content) => choice({ content }),
    reasoning: (content) => choice({ reasoning_content: content }),
    toolCalls: (...pieces) => choice({ tool_calls: pieces.map(toWireCall) }),
    finish,
    usage: (usage) => wire.frame({ ...chunkHead, choices: [], usage }),
    done: (reason) => {
      if (reason !== undefined) {
        finish(reason);
      }
      wire.raw("data: [DONE]\n\n");
    },
  };
}

const chunkHead = { id: "chatcmpl-fake", object: "chat.completion.chunk", created: 1, model: "fake" };

function toWireCall(piece: ToolCallPiece): object {
  return {
    ...(piece.index === undefined ? {} : { index: piece.index }),
    ...(piece.id === undefined ? {} : { id: piece.id, type: "function" }),
    function: {
      ...(piece.name === undefined ? {} : { name: piece.name }),
      ...(piece.arguments === undefined ? {} : { arguments: piece.arguments }),
    },
  };
}

// Without a queued script the last user message decides, as in "n=20 gap=5 tools=2 tool=read_file args={...}": n text deltas,
// gap ms between them, tools = turns with calls before the text, par = calls per turn, status = HTTP error, cut=1 = no end.
// This is for runs that are started by hand or by a benchmark.
function describedScript({ body }: RecordedRequest): Script {
  const userText = String(body.messages.findLast((message) => message.role === "user")?.content ?? "");
  const settings = new Map(
    Array.from(userText.matchAll(/(\w+)=(\{.*\}|\S+)/g), ([, key, value]) => [key, value ?? ""]),
  );
  const setting = (name: string, otherwise: number): number => Number(settings.get(name) ?? otherwise);
  const lastUser = body.messages.findLastIndex((message) => message.role === "user");
  const turn = body.messages.slice(lastUser).filter((message) => message.role === "assistant").length;

  if (settings.has("status")) {
    return fail(setting("status", 500), '{"error":{"message":"as the message asked"}}');
  }
  if (turn < setting("tools", 0)) {
    return callTools(
      ...Array.from({ length: setting("par", 1) }, (_, index) => ({
        id: `call_${turn}_${index}`,
        name: settings.get("tool") ?? "read_file",
        arguments: settings.get("args") ?? JSON.stringify({ file_path: `file-${turn}-${index}.txt` }),
      })),
    );
  }
  return async (wire) => {
    for (let index = 0; index < setting("n", 3); index++) {
      if (index > 0 && settings.has("gap")) {
        await delay(setting("gap", 0));
      }
      wire.text(`word${index} `);
    }
    if (setting("cut", 0) === 1) {
      return wire.cut();
    }
    wire.finish("stop");
    wire.usage({ prompt_tokens: 10, completion_tokens: setting("n", 3), total_tokens: 10 + setting("n", 3) });
    wire.done();
  };
}
