// One connection with an MCP server, over the official client. It declares nothing that a server could ask of it but, where the agent
// allows them, forms: no sampling, no roots.
//
// N1  Every request ends within its time, even when the server is silent, or with the signal. Its end reaches the server.
// N2  What breaks the connection, such as an answer that is too long, fails all its requests at once.

import {
  Client,
  type ClientOptions,
  type ElicitResult,
  type InputRequiredResult,
  isInputRequiredResult,
  type Progress,
  type RequestOptions,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from "@modelcontextprotocol/client";
import { version } from "../../../platform/base/version.ts";
import type { HttpAddress } from "../../../platform/config/mcp-servers.ts";
import { createGuardedFetch, type Fetch } from "../../../platform/egress/guarded-fetch.ts";
import type { Egress } from "../../../platform/egress/post.ts";
import { carriedIn, carryResult } from "./carried-results.ts";
import {
  answerBytesMax,
  callTimes,
  closeTimeoutMs,
  connectTimeoutMs,
  listTimeoutMs,
  pollTimeoutMs,
  streamBytesMax,
} from "./limits.ts";
import { failAtStreamEnd, refuseAccepted, watchStreamEnd } from "./lost-answers.ts";
import { addTasks, type DescribedTask, readTask, type StartedTask, tasksCapability } from "./tasks.ts";

export type { ElicitResult, InputRequiredResult, Progress };

/** What a server answers, unchecked. */
export type Answered = Readonly<Record<string, unknown>>;

/** A page of a server's tools. */
export interface ToolPage {
  /** As the server writes them, unchecked. */
  readonly tools: readonly unknown[];
  readonly nextCursor: string | undefined;
  /** How long the page may be kept, in milliseconds; 0 for an old server. */
  readonly ttlMs: number;
}

/** The time of a call, and who follows it. */
export interface CallTimes {
  readonly totalMs: number;
  /** The maximum time without progress. */
  readonly idleMs: number;
}

/** A call of a tool. */
export interface McpCall extends CallTimes {
  /** The tool as the server has listed it. */
  readonly tool: { readonly name: string; readonly inputSchema: object };
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/** What a server answers to a call: its result, which may ask for input, or the task that it has begun. */
export type CallAnswer =
  | { readonly result: Answered }
  | { readonly asked: InputRequiredResult }
  | { readonly task: StartedTask };

/** A form that a server asks for, unchecked in its schema. */
export interface FormRequest {
  readonly message: string;
  readonly requestedSchema: object;
  readonly signal: AbortSignal;
}

/** Answers a form. */
export type FormListener = (form: FormRequest) => Promise<ElicitResult>;

/** A connection that is open. */
export interface McpConnection {
  /** What the server calls itself, such as `files 1.2.0`. */
  readonly about: string;
  /** True for a server of the revision 2026-07-28 or later. */
  readonly isModern: boolean;
  /** True until it breaks or is closed, or its session is over. */
  readonly isOpen: () => boolean;
  /** Calls the listener when the server says that its list has changed. Returns a function that ends that. */
  onListChanged(listener: () => void): () => void;
  /** Calls the listener when the server asks for a form. Returns a function that ends that. Without one, forms are cancelled. */
  onForm(listener: FormListener): () => void;
  /** Returns a page of the tools. */
  listTools(cursor: string | undefined, signal: AbortSignal): Promise<ToolPage>;
  /** Returns the result of a call, or the task that the server has begun for it. */
  callTool(call: McpCall): Promise<CallAnswer>;
  /** Returns a task as the server describes it now. */
  getTask(taskId: string, signal: AbortSignal): Promise<DescribedTask>;
  /** Asks the server to cancel a task. Never throws. */
  cancelTask(taskId: string): Promise<void>;
  /** Ends the session. Never throws. */
  close(): Promise<void>;
}

/** A transport that may break: what its caller has to learn of it. */
export interface BreakableTransport {
  readonly transport: Transport;
  readonly broken: AbortSignal;
}

/** How a connection over HTTP is made. */
export interface HttpConnectionOptions {
  readonly egress: Pick<Egress, "open">;
  readonly signal: AbortSignal;
  /** Returns an access token, but not the one that the server has refused. Unset for a server without them. */
  readonly tokenOf?: ((refused: string | undefined) => Promise<string>) | undefined;
  /** Whether the server may ask for forms. */
  readonly forms: boolean;
}

/** Opens a connection over HTTP. Throws when the server does not answer as one. */
export async function connectHttp(
  address: HttpAddress,
  { egress, signal, tokenOf, forms }: HttpConnectionOptions,
): Promise<McpConnection> {
  const broken = new AbortController();
  let headTimeoutMs: number = connectTimeoutMs;
  const guarded = createGuardedFetch({
    ...{ what: "mcp server", url: address.url, headers: address.headers, egress },
    headTimeoutMs: () => headTimeoutMs,
    answerBytesMax: address.kind === "http" ? answerBytesMax : streamBytesMax,
    onBroken: (failure) => broken.abort(failure),
  });
  const authorized = tokenOf === undefined ? guarded : withToken(guarded, tokenOf);
  let isOver = false;
  const fetch =
    address.kind === "http"
      ? watchSession(refuseAccepted(forms ? authorized : withoutOwnTalk(authorized)), () => {
          isOver = true;
        })
      : watchStreamEnd(authorized, (failure) => broken.abort(failure));
  const url = new URL(address.url);
  const streamable = address.kind === "http" ? new StreamableHTTPClientTransport(url, { fetch }) : undefined;
  const transport = streamable ?? new SSEClientTransport(url, { fetch });
  if (streamable !== undefined) {
    failAtStreamEnd(streamable);
  }
  const connection = await connect({ transport, broken: broken.signal }, { signal, forms });
  // A call may be answered only at its end, and has its own limits.
  headTimeoutMs = callHeadTimeoutMs;
  return {
    ...connection,
    isOpen: () => !isOver && connection.isOpen(),
    close: async () => {
      if (!isOver && streamable?.sessionId !== undefined) {
        await within(closeTimeoutMs, streamable.terminateSession());
      }
      await connection.close();
    },
  };
}

/** Adds an access token to each request. A request whose token the server refuses is made once more, with a new one. */
function withToken(guarded: Fetch, tokenOf: (refused: string | undefined) => Promise<string>): Fetch {
  return async (to, init = {}) => {
    const send = async (token: string): Promise<Response> => {
      const headers = new Headers(init.headers);
      headers.set("authorization", `Bearer ${token}`);
      return await guarded(to, { ...init, headers });
    };
    const token = await tokenOf(undefined);
    const answer = await send(token);
    if (answer.status !== 401) {
      return answer;
    }
    await answer.body?.cancel();
    return await send(await tokenOf(token));
  };
}

/** Calls back when the server no longer knows the session of a request. */
function watchSession(guarded: Fetch, onOver: () => void): Fetch {
  return async (to, init = {}) => {
    const answer = await guarded(to, init);
    if (answer.status === 404 && new Headers(init.headers).has("mcp-session-id")) {
      onOver();
    }
    return answer;
  };
}

/** Leaves out the stream on which a server may talk of its own accord: nothing that it could say there is used. */
function withoutOwnTalk(guarded: Fetch): Fetch {
  return async (to, init = {}) => {
    const isOwnTalk = (init.method ?? "GET") === "GET" && !new Headers(init.headers).has("last-event-id");
    return isOwnTalk ? new Response(null, { status: 405 }) : await guarded(to, init);
  };
}

/** No call lasts longer: the contract permits an hour. */
const callHeadTimeoutMs = 3_600_000;

/** How a connection is made. */
export interface ConnectOptions {
  readonly signal: AbortSignal;
  /** Whether the server may ask for forms. */
  readonly forms: boolean;
  /** Unset means that the server is asked for the newest revision that it speaks. */
  readonly mode?: "auto" | "legacy";
}

/** Opens a connection over any transport. */
export async function connect(
  { transport, broken }: BreakableTransport,
  { signal, forms, mode = "auto" }: ConnectOptions,
): Promise<McpConnection> {
  const options = { ...optionsOf(forms), versionNegotiation: { mode, probe: { timeoutMs: probeTimeoutMs } } };
  const clientInfo = { name: "runnel", version };
  const client = new Client(clientInfo, options);
  const breaker = new AbortController();
  const listeners = new Set<() => void>();
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    for (const listener of listeners) {
      listener();
    }
  });
  const formListeners: FormListener[] = [];
  if (forms) {
    client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq }) => {
      const listener = formListeners.at(-1);
      return listener === undefined || !("requestedSchema" in params)
        ? { action: "cancel" }
        : await listener({ ...params, signal: mcpReq.signal });
    });
  }
  client.onclose = () => breaker.abort(new Error("the server has ended the connection"));
  // The client hands on a message that this has changed.
  transport.onmessage = carryResult;
  const run = <T>(outer: AbortSignal, start: (options: RequestOptions) => Promise<T>, options: RequestOptions) => {
    const ends = AbortSignal.any([outer, broken, breaker.signal]);
    return Promise.race([start({ ...options, signal: ends }), rejectOn(ends)]);
  };
  try {
    // The client closes the transport when it cannot open it, and says why.
    const ends = AbortSignal.any([signal, broken]);
    const options = { timeout: connectTimeoutMs, signal: ends };
    await Promise.race([client.connect(transport, options), rejectOn(ends)]);
  } catch (error) {
    await within(closeTimeoutMs, client.close());
    throw error;
  }
  const { name = "", version: release = "" } = client.getServerVersion() ?? {};
  const revision = client.getProtocolEra() === "modern" ? client.getNegotiatedProtocolVersion() : undefined;
  const tasks = revision === undefined ? undefined : addTasks(transport, revision, clientInfo);
  const ask = async (method: "tasks/get" | "tasks/cancel", taskId: string, outer: AbortSignal) => {
    if (tasks === undefined) {
      throw new Error("the server no longer speaks the revision in which it began the task");
    }
    return await run(outer, ({ signal: ends = outer }) => tasks.request(method, taskId, ends), {});
  };
  return {
    about: `${name} ${release}`.trim(),
    isModern: revision !== undefined,
    isOpen: () => !broken.aborted && !breaker.signal.aborted,
    onListChanged: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onForm: (listener) => {
      formListeners.push(listener);
      return () => void formListeners.splice(formListeners.indexOf(listener), 1);
    },
    listTools: async (cursor, outer) => {
      const params = cursor === undefined ? {} : { params: { cursor } };
      // Not the method of the client that lists all pages: it has no limit of size.
      const list = (options: RequestOptions) => client.request({ method: "tools/list", ...params }, options);
      const { ttlMs, ...page } = await run(outer, list, { timeout: listTimeoutMs });
      // Go writes an empty list as null.
      const { tools, nextCursor } = carriedIn(page);
      if (!Array.isArray(tools ?? [])) {
        throw new Error("the server's list of tools is no list");
      }
      if (typeof (nextCursor ?? "") !== "string") {
        throw new Error("the server's list of tools has an invalid nextCursor");
      }
      return {
        tools: (tools ?? []) as unknown[],
        nextCursor: (nextCursor as string | null) || undefined,
        ttlMs: typeof ttlMs === "number" ? ttlMs : 0,
      };
    },
    callTool: async ({ tool, args, signal: outer, onProgress, totalMs, idleMs }) => {
      const times = { timeout: Math.min(idleMs, totalMs), maxTotalTimeout: totalMs, resetTimeoutOnProgress: true };
      const call = (options: RequestOptions) =>
        client.callTool(
          { name: tool.name, arguments: { ...args } },
          { ...options, toolDefinition: tool as Tool, allowInputRequired: !forms },
        );
      const result = await run(outer, call, { ...times, onprogress: onProgress });
      if (isInputRequiredResult(result)) {
        return { asked: result };
      }
      const task = readTask(result);
      return task === undefined ? { result: carriedIn(result) } : { task };
    },
    getTask: (taskId, outer) => ask("tasks/get", taskId, AbortSignal.any([outer, AbortSignal.timeout(pollTimeoutMs)])),
    cancelTask: async (taskId) => {
      await ask("tasks/cancel", taskId, AbortSignal.timeout(closeTimeoutMs)).catch(() => {});
    },
    close: async () => void (await within(closeTimeoutMs, client.close())),
  };
}

/** Shorter than the time to connect, so that an old program that ignores the first question gets the second one. */
const probeTimeoutMs = 7_000;

function optionsOf(forms: boolean): ClientOptions {
  return {
    capabilities: { ...tasksCapability, ...(forms && { elicitation: { form: { applyDefaults: true } } }) },
    // What else a server asks of its caller becomes the error of the call.
    inputRequired: { autoFulfill: forms },
    // A server's schema of its results is foreign code for the checker, and the model reads any result.
    jsonSchemaValidator: {
      getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
    },
  };
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
    }
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** Waits for an end that does not matter. */
async function within(timeoutMs: number, job: Promise<unknown>): Promise<void> {
  const over = AbortSignal.timeout(timeoutMs);
  await Promise.race([job, rejectOn(over)]).catch(() => {});
}

/** The default times of a call, for a server whose agent sets none. */
export function timesOf({ timeoutSec, idleSec }: { readonly timeoutSec: number; readonly idleSec: number }): CallTimes {
  const totalMs = timeoutSec * 1_000 || Math.max(callTimes.totalMs, idleSec * 1_000);
  return { totalMs, idleMs: Math.min(totalMs, idleSec * 1_000 || callTimes.idleMs) };
}
