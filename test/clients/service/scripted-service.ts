// A service that follows a script: it answers SendMessage, TailRun and GetRun as a case says, and records what it was asked. It
// speaks gRPC, gRPC-Web and Connect on one port, like the real one.

import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
  type ServiceImpl,
} from "@connectrpc/connect";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { Run_State, RunSchema } from "#gen/runnel/v1/run_pb.js";
import {
  GetRunResponseSchema,
  RunService,
  type TailRunRequest,
  type TailRunResponse,
  TailRunResponseSchema,
} from "#gen/runnel/v1/run_service_pb.js";
import { Session_State } from "#gen/runnel/v1/session_pb.js";
import {
  type SendMessageRequest,
  SendMessageResponseSchema,
  SessionService,
} from "#gen/runnel/v1/session_service_pb.js";
import type { Request, Response } from "../../../src/surfaces/http/message.ts";
import { listenOnePort, type OnePortServer } from "../../../src/surfaces/http/one-port.ts";
import { contentsOf } from "../../../src/surfaces/http/request-body.ts";
import { answerRpc, createRpcTable } from "../../../src/surfaces/http/rpc.ts";
import { type Cut, Relay } from "./relay.ts";

/** One call, as the service saw it. Times are those of `performance.now()`. */
export interface RecordedCall {
  readonly method: "TailRun" | "SendMessage" | "GetRun";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What a signature may cover: the body, and its message. */
  readonly contents: readonly Uint8Array[];
  readonly atMs: number;
  /** When the real time of the machine was so, for timestamps of signatures. */
  readonly realTimeMs: number;
  /** When the call was over for the service. */
  endMs: number | undefined;
  /** True when the client ended it. */
  isCancelled: boolean;
  readonly tailRun?: TailRunRequest;
  readonly sendMessage?: SendMessageRequest;
}

/** What a step of a script may do to the call that it answers. */
export interface Turn {
  /** The cursor of the client. */
  readonly after: number;
  /** Aborts when the call is over. */
  readonly signal: AbortSignal;
  /** Cuts the connection once everything written so far has arrived. Never resolves in time for another answer. */
  cut(how: Cut): Promise<void>;
  /** Writes bytes of the body as they are. */
  writeRaw(bytes: Uint8Array): Promise<void>;
  /** Passes on nothing any more on this connection, after what was written so far. */
  freeze(): Promise<void>;
  /** Announces the end of the connection; `isAngry` names a reason other than an orderly end. */
  sayGoodbye(isAngry: boolean): Promise<void>;
  /** Resets the stream alone; over HTTP/1.1 the connection. */
  resetStream(): Promise<void>;
  /** Cuts all connections and refuses new ones for so long. */
  goAway(durationMs: number): Promise<void>;
  /** Resolves when the client has everything that was written so far, as far as the protocol shows it. */
  settle(): Promise<void>;
}

/** A part of an answer of TailRun: does something, or yields batches of results. It may throw a ConnectError. */
export type Step = (turn: Turn) => Promise<void> | AsyncGenerator<readonly RunResult[], void>;

/** The answer to one attempt: its steps in order. */
export type Attempt = readonly Step[];

/** The answer to one SendMessage: a run's id, an error, or a misfortune. */
export type SendAnswer = (turn: Turn, request: SendMessageRequest) => Promise<string>;

/** What the service does. The last attempt of a list repeats. */
export interface Script {
  /** By run id. */
  readonly runs?: Readonly<Record<string, readonly Attempt[]>>;
  readonly sends?: readonly SendAnswer[];
  /** HTTP statuses of a proxy, for the first calls of TailRun: they never reach the service. */
  readonly proxyStatuses?: readonly number[];
  /** The answer of GetRun for a run: the sequence of its terminal result. */
  readonly lastSequences?: Readonly<Record<string, number>>;
  /** How long the port refuses connections from the start. */
  readonly awayAtFirstMs?: number;
}

interface CallContext {
  readonly request: Request;
  readonly response: Response;
  readonly contents: readonly Uint8Array[];
}

const contextKey = createContextKey<CallContext | undefined>(undefined, { description: "the HTTP call" });
/** How long a client may take to confirm bytes. A client that never does is as good as gone. */
const settleMaxMs = 1_000;
/** HTTP/1.1 shows nothing: bytes of loopback arrive within this time. */
const settleBlindMs = 50;

/** A running scripted service. */
export class ScriptedService {
  readonly calls: RecordedCall[] = [];
  readonly #script: Script;
  readonly #attempts = new Map<string, number>();
  readonly #closing = new AbortController();
  #port: OnePortServer | undefined;
  #relay: Relay | undefined;
  #returning: Promise<void> = Promise.resolve();

  constructor(script: Script) {
    this.#script = script;
  }

  /** Opens the port and returns its URL. */
  async open(): Promise<string> {
    const router = createConnectRouter().service(RunService, this.#runs());
    router.service(SessionService, this.#sessions());
    const table = createRpcTable(router.handlers);
    this.#port = await listenOnePort({
      host: "127.0.0.1",
      port: 0,
      handler: (request, response) => {
        const handler = table.get((request.url ?? "").split("?")[0] ?? "");
        if (handler === undefined) {
          (response as ServerResponse).writeHead(404).end();
          return;
        }
        void this.#answer(handler, request, response).catch(() => {});
      },
    });
    this.#relay = new Relay(this.#port.address.port);
    await this.#relay.open();
    if (this.#script.awayAtFirstMs !== undefined) {
      await this.#goAway(this.#script.awayAtFirstMs);
    }
    return `http://127.0.0.1:${this.#relay.port}`;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#returning;
    await this.#relay?.close();
    await this.#port?.shutdown(0);
  }

  async #answer(handler: Parameters<typeof answerRpc>[0], request: Request, response: Response): Promise<void> {
    const proxyStatus = request.url?.endsWith("/TailRun") && this.#script.proxyStatuses?.[this.#count("proxy")];
    if (proxyStatus) {
      // Both response types have this overload, but TypeScript finds no common one.
      (response as ServerResponse).writeHead(proxyStatus, { "content-type": "text/html" }).end("<h1>away</h1>");
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) {
      chunks.push(chunk);
    }
    const body = Buffer.concat(chunks);
    const contents = contentsOf(body, request.headers["content-type"] ?? "");
    const contextValues = createContextValues().set(contextKey, { request, response, contents });
    await answerRpc(handler, request, response, { contextValues, body: { bytes: body, isWhole: true } });
  }

  #count(what: string): number {
    const count = this.#attempts.get(what) ?? 0;
    this.#attempts.set(what, count + 1);
    return count;
  }

  #record(
    context: HandlerContext,
    method: RecordedCall["method"],
    message: Pick<RecordedCall, "tailRun" | "sendMessage">,
  ): { call: RecordedCall; turn: Turn } {
    const { request, response, contents } = context.values.get(contextKey) ?? unreachable();
    const headers = Object.fromEntries(context.requestHeader.entries());
    const times = { atMs: performance.now(), realTimeMs: Date.now(), endMs: undefined };
    const call: RecordedCall = {
      method,
      path: request.url ?? "",
      headers,
      contents,
      ...times,
      isCancelled: false,
      ...message,
    };
    this.calls.push(call);
    const left = new AbortController();
    const turn = this.#turn(request, response, AbortSignal.any([context.signal, left.signal]), message.tailRun, () => {
      hasFault = true;
    });
    let hasFault = false;
    const end = (): void => {
      call.endMs ??= performance.now();
      left.abort();
    };
    context.signal.addEventListener("abort", () => {
      call.isCancelled = call.endMs === undefined && !hasFault;
      end();
    });
    response.once("close", end);
    return { call, turn };
  }

  #turn(
    request: Request,
    response: Response,
    signal: AbortSignal,
    tailRun: TailRunRequest | undefined,
    noteFault: () => void,
  ): Turn {
    const peerPort = request.socket.remotePort ?? 0;
    const session = "stream" in request ? request.stream.session : undefined;
    const settle = async (): Promise<void> => {
      if (session === undefined || session.destroyed) {
        await sleep(settleBlindMs);
        return;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      session.ping(() => resolve());
      const over = new AbortController();
      await Promise.race([promise, sleep(settleMaxMs, undefined, { signal: over.signal }).catch(() => {})]);
      over.abort();
    };
    const cut = async (how: Cut): Promise<void> => {
      await settle();
      noteFault();
      this.#relay?.cut(peerPort, how);
    };
    return {
      after: Number(tailRun?.after ?? 0),
      signal,
      settle,
      cut,
      writeRaw: async (bytes) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        (response as unknown as NodeJS.WritableStream).write(bytes, () => resolve());
        await promise;
      },
      freeze: async () => {
        await settle();
        noteFault();
        this.#relay?.freeze(peerPort);
      },
      sayGoodbye: async (isAngry) => {
        await settle();
        // 11 is ENHANCE_YOUR_CALM.
        session?.goaway(isAngry ? 11 : 0);
        await settle();
      },
      resetStream: async () => {
        await settle();
        noteFault();
        if ("stream" in response) {
          // 2 is INTERNAL_ERROR.
          response.stream.close(2);
        } else {
          this.#relay?.cut(peerPort, "reset");
        }
      },
      goAway: async (durationMs) => {
        await settle();
        noteFault();
        await this.#goAway(durationMs);
      },
    };
  }

  async #goAway(durationMs: number): Promise<void> {
    const relay = this.#relay ?? unreachable();
    await relay.refuse();
    this.#returning = sleep(durationMs, undefined, { signal: this.#closing.signal }).then(
      () => relay.open(),
      () => {},
    );
  }

  #runs(): Partial<ServiceImpl<typeof RunService>> {
    return {
      tailRun: (request, context) => this.#tailRun(request, context),
      getRun: ({ runId }, context) => {
        this.#record(context, "GetRun", {});
        const lastSequence = BigInt(this.#script.lastSequences?.[runId] ?? 0);
        const state = lastSequence > 0n ? Run_State.COMPLETED : Run_State.RUNNING;
        return create(GetRunResponseSchema, { run: create(RunSchema, { runId, state, lastSequence }) });
      },
    };
  }

  async *#tailRun(request: TailRunRequest, context: HandlerContext): AsyncGenerator<TailRunResponse> {
    const attempts = this.#script.runs?.[request.runId];
    const { call, turn } = this.#record(context, "TailRun", { tailRun: request });
    try {
      if (attempts === undefined) {
        throw new ConnectError(`the script knows no run ${request.runId}`, Code.NotFound);
      }
      const steps = attempts[Math.min(this.#count(request.runId), attempts.length - 1)] ?? [];
      yield create(TailRunResponseSchema, {});
      for (const step of steps) {
        const done = step(turn);
        for await (const results of Symbol.asyncIterator in done ? done : nothingAfter(done)) {
          yield create(TailRunResponseSchema, { results: [...results] });
        }
      }
    } finally {
      call.endMs ??= performance.now();
    }
  }

  #sessions(): Partial<ServiceImpl<typeof SessionService>> {
    return {
      sendMessage: async (request, context) => {
        const { turn } = this.#record(context, "SendMessage", { sendMessage: request });
        const answers = this.#script.sends ?? [];
        const answer = answers[Math.min(this.#count("send"), answers.length - 1)];
        if (answer === undefined) {
          throw new ConnectError("the script sends nothing", Code.Unimplemented);
        }
        const runId = await answer(turn, request);
        return create(SendMessageResponseSchema, {
          sessionId: request.sessionId,
          status: Session_State.RUNNING,
          runId,
        });
      },
    };
  }
}

async function* nothingAfter(done: Promise<void>): AsyncGenerator<readonly RunResult[], void> {
  yield* await done.then(() => []);
}

function unreachable(): never {
  throw new Error("a call without its HTTP request");
}
