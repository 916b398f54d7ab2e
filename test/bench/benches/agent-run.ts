// One run from the first request to the end of its stream: straight to the provider (the harness alone), or through the service
// over REST and SSE, or over gRPC. Each way checks what it received.

import { fromBinary } from "@bufbuild/protobuf";
import { RunService, TailRunResponseSchema } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { GrpcClient } from "../clients/grpc-client.ts";
import type { HttpClient } from "../clients/http-client.ts";
import { readStamps, wordsUpTo } from "../harness/answer.ts";

export interface Prompt {
  readonly deltas: number;
  readonly gapMs: number;
}

export interface RunOutcome {
  readonly latencyMs: number;
  readonly firstTextMs: number;
  /** How many pieces the text arrived in: deltas that wait for a write are merged. */
  readonly pieces: number;
  /** True when all text arrived, in order and without duplicates. */
  readonly complete: boolean;
  /** True when the stream said that the run completed. */
  readonly done: boolean;
  /** The length of the run's log; 0 without a log. */
  readonly results: number;
  /** The age of each delta, from the provider's write to here. Only paced deltas carry the time. */
  readonly ageMs: readonly number[];
}

export type AgentRun = (prompt: Prompt) => Promise<RunOutcome>;

/** Over Chat Completions: the harness alone when the client calls the provider itself. */
export function runOverChat(client: HttpClient): AgentRun {
  return async (prompt) => {
    const received = new Received(prompt);
    let done = false;
    const body = { model, stream: true, messages: [{ role: "user", content: messageOf(prompt) }] };
    const read = (block: string): void => {
      if (block === "data: [DONE]") {
        done = true;
        return;
      }
      received.add(JSON.parse(block.slice("data: ".length)).choices[0]?.delta.content ?? "");
    };
    await client.events("POST", "/v1/chat/completions", read, body);
    return received.end(done, 0);
  };
}

/** As SDKs of the Agent Runner document do it: session, message, then the stream. */
export function runOverSse(service: HttpClient): AgentRun {
  return async (prompt) => {
    const received = new Received(prompt);
    const session = await post(service, "/v1/sessions", { agent });
    const path = `/v1/sessions/${session.session_id}`;
    await post(service, `${path}/messages`, { message: messageOf(prompt) });
    let done = false;
    let results = 0;
    await service.events("GET", `${path}/stream`, (block) => {
      if (block.startsWith(":")) {
        return;
      }
      const data = block.slice(block.indexOf("\ndata: ") + "\ndata: ".length);
      if (block.includes("\nevent: text\n")) {
        received.add(JSON.parse(data).content);
      }
      if (!block.includes("\nevent: done\n")) {
        return;
      }
      done = JSON.parse(data).status === "completed";
      results = Number(/^id: .*\.(\d+)\n/.exec(block)?.[1]);
    });
    return received.end(done, results);
  };
}

export function runOverGrpc(service: GrpcClient): AgentRun {
  return async (prompt) => {
    const received = new Received(prompt);
    const { sessionId } = await service.call(SessionService.method.createSession, { agent });
    const message = messageOf(prompt);
    const { runId } = await service.call(SessionService.method.sendMessage, { sessionId, message });
    let done = false;
    let results = 0;
    await service.stream(RunService.method.tailRun, { runId }, (bytes) => {
      for (const { payload, sequence } of fromBinary(TailRunResponseSchema, bytes).results) {
        if (payload.case === "messageDelta") {
          received.add(payload.value.chunk?.content ?? "");
        }
        done = payload.case === "runCompleted";
        results = Number(sequence);
      }
    });
    return received.end(done, results);
  };
}

const model = "gpt-4o-mini";
export const agent = { name: "bench", model };

async function post(client: HttpClient, path: string, body: object): Promise<{ session_id: string }> {
  const { status, text } = await client.send("POST", path, body);
  if (status >= 300) {
    throw new Error(`POST ${path}: ${status} ${text}`);
  }
  return JSON.parse(text);
}

function messageOf({ deltas, gapMs }: Prompt): string {
  return `deltas=${deltas} gap=${gapMs} stamped=${gapMs > 0 ? 1 : 0}`;
}

/** What the reader of a run has received so far, and how long it took. */
class Received {
  readonly #prompt: Prompt;
  readonly #startedMs = performance.now();
  readonly #ageMs: number[] = [];
  #firstTextMs = Number.NaN;
  #text = "";
  #pieces = 0;
  #inOrder = true;

  constructor(prompt: Prompt) {
    this.#prompt = prompt;
  }

  add(text: string): void {
    if (text === "") {
      return;
    }
    if (this.#text === "") {
      this.#firstTextMs = performance.now() - this.#startedMs;
    }
    this.#text += text;
    this.#pieces++;
    if (this.#prompt.gapMs === 0) {
      return;
    }
    for (const { index, ageMs } of readStamps(text)) {
      this.#inOrder &&= index === this.#ageMs.length;
      this.#ageMs.push(ageMs);
    }
  }

  end(done: boolean, results: number): RunOutcome {
    const { deltas, gapMs } = this.#prompt;
    const complete = gapMs === 0 ? this.#text === wordsUpTo(deltas) : this.#inOrder && this.#ageMs.length === deltas;
    const latencyMs = performance.now() - this.#startedMs;
    const [firstTextMs, pieces, ageMs] = [this.#firstTextMs, this.#pieces, this.#ageMs];
    return { latencyMs, firstTextMs, pieces, complete, done, results, ageMs };
  }
}
