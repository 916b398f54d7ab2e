// A service that clients of MCP call: by hand, so that tests see each message.

import { BindingScope_Kind } from "#gen/runnel/runner/v1/binding_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import type { Result, Run } from "../../clients/typescript/src/worker/runner.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { startWithProvider } from "../conformance/stage.ts";
import type { FakeProvider } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import type { startService, TestService } from "../harness/service.ts";
import { readEvents, type SseEvent } from "../harness/sse.ts";
import { until } from "../harness/wait.ts";
import { runnerOf, startWorker } from "../harness/worker.ts";

export interface McpStage {
  readonly service: TestService;
  readonly provider: FakeProvider;
}

export async function setMcpStage(
  flags: Partial<Config> = {},
  options: Parameters<typeof startService>[1] = {},
): Promise<McpStage> {
  return await startWithProvider(flags, options);
}

/** A message as it arrives. */
export interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any member.
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export const version = "2026-07-28";
export const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };

export interface CallOptions {
  readonly clientId?: string;
  readonly capabilities?: object;
  readonly meta?: object;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

/** Sends a request of revision 2026-07-28. */
export function send(url: string, method: string, params: object = {}, options: CallOptions = {}): Promise<Response> {
  const { clientId, capabilities = {}, meta = {}, headers = {}, signal } = options;
  const { name, uri, taskId } = params as { name?: string; uri?: string; taskId?: string };
  const named = name ?? uri ?? taskId;
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    ...meta,
  };
  const all = {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(named !== undefined && { "mcp-name": named }),
    ...credentialsOf(clientId),
    ...headers,
  };
  return fetch(`${url}/mcp`, {
    method: "POST",
    headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >,
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { _meta, ...params } }),
    ...(signal !== undefined && { signal }),
  });
}

/** Reads all messages of an answer, JSON or a stream. The answer to the request is the last one. */
export async function messagesOf(response: Response, onMessage = () => {}): Promise<Message[]> {
  if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
    return [(await response.json()) as Message];
  }
  const messages: Message[] = [];
  for await (const { data } of eventsOf(response)) {
    if (data !== "") {
      messages.push(JSON.parse(data));
      onMessage();
    }
  }
  return messages;
}

export function eventsOf({ body }: Response): AsyncGenerator<SseEvent> {
  if (body === null) {
    throw new Error("an answer without a body");
  }
  return readEvents(body);
}

/** Sends a request and returns the answer to it. */
export async function ask(...args: Parameters<typeof send>): Promise<Message> {
  const message = (await messagesOf(await send(...args))).at(-1);
  if (message === undefined) {
    throw new Error("an answer without a message");
  }
  return message;
}

/** The client of an older revision. */
export class LegacyClient {
  readonly #url: string;
  readonly #clientId: string | undefined;
  session = "";
  #id = 0;

  constructor(url: string, clientId?: string) {
    this.#url = url;
    this.#clientId = clientId;
  }

  async open(capabilities: object = {}, protocolVersion = "2025-11-25"): Promise<Message> {
    const clientInfo = { name: "test", version: "1" };
    const response = await this.post({
      method: "initialize",
      params: { protocolVersion, capabilities, clientInfo },
      id: 0,
    });
    this.session = response.headers.get("mcp-session-id") ?? "";
    await this.post({ method: "notifications/initialized" });
    return (await response.json()) as Message;
  }

  post(message: object, { url = this.#url, signal }: { url?: string; signal?: AbortSignal } = {}): Promise<Response> {
    return fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...this.#headers(),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      ...(signal !== undefined && { signal }),
    });
  }

  get(lastEventId: string | undefined, { url = this.#url, signal }: { url?: string; signal?: AbortSignal } = {}) {
    const place = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    return fetch(`${url}/mcp`, {
      headers: { accept: "text/event-stream", ...place, ...this.#headers() },
      ...(signal !== undefined && { signal }),
    });
  }

  async request(method: string, params: object = {}): Promise<Message[]> {
    this.#id += 1;
    return await messagesOf(await this.post({ id: this.#id, method, params }));
  }

  #headers(): Record<string, string> {
    const session = this.session === "" ? {} : { "mcp-session-id": this.session, "mcp-protocol-version": "2025-11-25" };
    return { ...credentialsOf(this.#clientId), ...session };
  }
}

/** Offers a runner as a tool: a worker, and a binding of the scope `agent`. */
export async function offer(
  { url, target }: TestService,
  tools: Readonly<Record<string, (run: Run) => AsyncGenerator<Result>>>,
  { metadata = {} }: { readonly metadata?: Readonly<Record<string, object>> } = {},
): Promise<void> {
  const client = new GrpcClient(target);
  const idOf = (name: string): string => `plugin:tests/mcp/${name}`;
  const runners = Object.entries(tools).map(([name, run]) =>
    runnerOf(run, { id: idOf(name), metadata: metadata[name] === undefined ? {} : { mcp: metadata[name] } }),
  );
  startWorker(url, runners);
  await until("the runners", async () => {
    const page = await client.call(RunnerService.method.listRunners, { pageSize: 250 });
    return page.runners.length >= runners.length;
  });
  for (const name of Object.keys(tools)) {
    await client.call(RunnerService.method.putBinding, {
      binding: { bindingId: name, runnerId: idOf(name), scope: { kind: BindingScope_Kind.AGENT, id: name } },
    });
  }
}
