// A program: the fake model provider of the benches, in a process of its own so that its cost can be measured apart. It sends
// the Chat Completions stream as cheaply as Node can. The last user message contains the parameters:
//
//   deltas=200   pieces of text       gap=5    milliseconds between them; 0 = all in one turn of the event loop
//   long=1000    pieces of text in each delta, which is a paragraph then
//   stamped=1    see answer.ts        held=1   waits for a `POST /release` of its own before the first piece
//   calls=20     turns with a call of the agent's first tool before the pieces
//   wide=10      calls in each of these turns, whose message has the parameters of an agent below
//   levels=3     levels of agents below, each with as many turns and calls; the last one says one piece
//
// Announces its address on standard error and ends when its standard input ends.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { wordAt, wordsUpTo, writeStamp } from "./answer.ts";

interface ChatBody {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

interface Plan {
  readonly deltas: number;
  readonly long: number;
  readonly gapMs: number;
  readonly stamped: boolean;
  readonly held: boolean;
  /** The tool that this turn calls; undefined when it speaks. */
  readonly calls: Calls | undefined;
}

interface Calls {
  readonly tool: string;
  readonly count: number;
  /** The message of the calls, for a tool that is an agent. */
  readonly message: string | undefined;
}

/** Longer than the pause between two variants, so that no request meets a closing socket. */
const keepAliveTimeoutMs = 60_000;

const held: (() => void)[] = [];
/** A release may arrive before the request that it is for. */
let releasesAhead = 0;
let callsMade = 0;
const framesOf = new Map<number, readonly Buffer[]>();

const server = createServer((request, response) => {
  if (request.url === "/release") {
    const speakNow = held.shift();
    if (speakNow === undefined) {
      releasesAhead++;
    } else {
      speakNow();
    }
    response.end("{}");
    return;
  }
  json(request).then(
    (body) => answer(readPlan(body as ChatBody), response),
    () => response.destroy(),
  );
});
server.keepAliveTimeout = keepAliveTimeoutMs;
server.listen(0, "127.0.0.1", () => {
  console.error(`provider on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.stdin.on("end", () => process.exit(0)).resume();

function readPlan({ messages, tools = [] }: ChatBody): Plan {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const text = JSON.stringify(messages[asked]?.content ?? "");
  const turn = messages.slice(asked).filter(({ role }) => role === "assistant").length;
  const setting = (name: string): number => Number(new RegExp(`\\b${name}=(\\d+)`).exec(text)?.[1] ?? 0);
  const [tool] = tools;
  const [calls, wide, levels] = [setting("calls"), setting("wide"), setting("levels")];
  const below = levels > 1 ? `calls=${calls} wide=${wide} levels=${levels - 1} deltas=1` : "deltas=1";
  return {
    deltas: setting("deltas"),
    long: setting("long"),
    gapMs: setting("gap"),
    stamped: setting("stamped") === 1,
    held: setting("held") === 1,
    calls:
      tool !== undefined && turn < calls
        ? { tool: tool.function.name, count: wide || 1, message: wide > 0 ? below : undefined }
        : undefined,
  };
}

function answer(plan: Plan, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  if (plan.held && releasesAhead === 0) {
    held.push(() => speak(plan, response));
    return;
  }
  if (plan.held) {
    releasesAhead--;
  }
  speak(plan, response);
}

function speak({ deltas, long, gapMs, stamped, calls }: Plan, response: ServerResponse): void {
  if (calls !== undefined) {
    response.end(callFrames(calls));
    return;
  }
  const frames = long > 0 ? Array<string>(deltas).fill(textFrame(`${wordsUpTo(long)}\n\n`)) : textFrames(deltas);
  const write = (index: number): void => {
    response.write(stamped ? textFrame(writeStamp(index)) : frames[index]);
  };
  if (gapMs === 0) {
    for (let index = 0; index < deltas; index++) {
      write(index);
    }
    response.end(lastFrames);
    return;
  }
  let index = 0;
  const timer = setInterval(() => {
    if (index < deltas) {
      write(index++);
      return;
    }
    clearInterval(timer);
    response.end(lastFrames);
  }, gapMs);
  response.once("close", () => clearInterval(timer));
}

/** Made once for all requests of one length. */
function textFrames(deltas: number): readonly Buffer[] {
  let frames = framesOf.get(deltas);
  if (frames === undefined) {
    frames = Array.from({ length: deltas }, (_, index) => Buffer.from(textFrame(wordAt(index))));
    framesOf.set(deltas, frames);
  }
  return frames;
}

function callFrames({ tool, count, message }: Calls): string {
  const pieces = Array.from({ length: count }, (_, index) => {
    callsMade += 1;
    // Equal calls would be a loop.
    const call = {
      name: tool,
      arguments: JSON.stringify(
        message === undefined ? { turn: callsMade } : { message: `${message} number=${callsMade}` },
      ),
    };
    return { index, id: `call_${callsMade}`, type: "function", function: call };
  });
  return [
    frame({ choices: [{ index: 0, delta: { tool_calls: pieces }, finish_reason: null }] }),
    frame({ choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }),
    "data: [DONE]\n\n",
  ].join("");
}

function textFrame(content: string): string {
  return frame({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
}

function frame(fields: object): string {
  const head = { id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1, model: "bench" };
  return `data: ${JSON.stringify({ ...head, ...fields })}\n\n`;
}

const lastFrames = Buffer.from(
  [
    frame({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
    frame({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 200, total_tokens: 210 } }),
    "data: [DONE]\n\n",
  ].join(""),
);
