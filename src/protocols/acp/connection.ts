// One connection with a coding agent, over the official SDK. It is loaded with the first run that has an agent: the SDK takes 180 ms of
// CPU.

import {
  type ContentBlock,
  client,
  type InitializeResponse,
  methods,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import type { ServedProgram } from "../../agent/tools/bash/served-program.ts";
import { type Clock, over } from "../../platform/base/clock.ts";
import { version } from "../../platform/base/version.ts";
import type { AgentFiles, ReadOutcome } from "./files.ts";
import type { PromptEnd } from "./happenings.ts";
import { openRequestsMax, openTimeoutMs } from "./limits.ts";
import { openLines, type UpdateTaker } from "./line-stream.ts";

/** What serves the requests of an agent. */
export interface AgentHost {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly updates: UpdateTaker;
  readonly files: AgentFiles;
  readonly ask: (request: RequestPermissionRequest) => Promise<RequestPermissionResponse["outcome"]>;
}

/** A connection that is open. */
export interface AgentConnection {
  /** How a session continues: `load` repeats its history as updates, `resume` does not. */
  readonly continues: "load" | "resume" | undefined;
  readonly takesImages: boolean;
  /** Opens a session, or continues one. Returns its id. */
  openSession(cwd: string, known?: string): Promise<string>;
  /** Sends a prompt. Never rejects. */
  prompt(sessionId: string, prompt: ContentBlock[]): Promise<PromptEnd>;
  cancel(sessionId: string): void;
  close(): void;
}

/** Connects with a started program. Throws when it does not answer as an agent. */
export async function connectAgent(program: ServedProgram, host: AgentHost): Promise<AgentConnection> {
  const { signal, clock } = host;
  let openRequests = 0;
  const limited = async <T>(serve: () => Promise<T>): Promise<T> => {
    if (openRequests >= openRequestsMax) {
      throw RequestError.internalError(undefined, `at most ${openRequestsMax} requests at once`);
    }
    openRequests += 1;
    try {
      return await serve();
    } finally {
      openRequests -= 1;
    }
  };
  const app = client({ name: "runnel" })
    .onRequest(methods.client.session.requestPermission, ({ params }) =>
      limited(async () => ({ outcome: await host.ask(params) })),
    )
    .onRequest(methods.client.fs.readTextFile, ({ params }) =>
      limited(async () => ({ content: requireContent(await host.files.read(params)) })),
    )
    .onRequest(methods.client.fs.writeTextFile, ({ params }) =>
      limited(async () => {
        requireContent(await host.files.write(params));
        return {};
      }),
    );
  const connection = app.connect(openLines(program, host.updates));
  const { agent } = connection;
  const onBroken = (): void => connection.close(program.broken.signal.reason);
  program.broken.signal.addEventListener("abort", onBroken, { once: true });
  if (program.broken.signal.aborted) {
    onBroken();
  }
  const inTime = <T>(what: string, send: (stop: AbortSignal) => Promise<T>): Promise<T> =>
    within(send, { what, signal, clock });
  const { protocolVersion, agentCapabilities } = await inTime<InitializeResponse>("initialize", (cancellationSignal) =>
    agent.request(methods.agent.initialize, hello, { cancellationSignal, stopWaitingOnCancel: true }),
  );
  if (protocolVersion !== PROTOCOL_VERSION) {
    throw new Error(`it speaks version ${protocolVersion} of ACP, and this service speaks ${PROTOCOL_VERSION}`);
  }
  const continues = continuationOf(agentCapabilities);
  return {
    continues,
    takesImages: agentCapabilities?.promptCapabilities?.image === true,
    openSession: async (cwd, known) =>
      await inTime("open a session", async (cancellationSignal) => {
        const options = { cancellationSignal, stopWaitingOnCancel: true } as const;
        const place = { cwd, mcpServers: [] };
        if (known === undefined) {
          const opened: NewSessionResponse = await agent.request(methods.agent.session.new, place, options);
          return opened.sessionId;
        }
        const method = continues === "load" ? methods.agent.session.load : methods.agent.session.resume;
        await agent.request(method, { ...place, sessionId: known }, options);
        return known;
      }),
    prompt: async (sessionId, prompt) => {
      try {
        const response = await agent.request(methods.agent.session.prompt, { sessionId, prompt });
        const { stopReason, usage } = (response ?? {}) as {
          stopReason?: string;
          usage?: Readonly<Record<string, unknown>> | null;
        };
        return { stopReason: stopReason ?? "without a reason", usage: usage ?? undefined };
      } catch (error) {
        return { error };
      }
    },
    cancel: (sessionId) => void agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => {}),
    close: () => {
      program.broken.signal.removeEventListener("abort", onBroken);
      connection.close();
    },
  };
}

/** No terminals: an agent runs its commands itself, in its jail. */
const hello = {
  protocolVersion: PROTOCOL_VERSION,
  clientInfo: { name: "runnel", version },
  clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
};

function continuationOf(capabilities: InitializeResponse["agentCapabilities"]): AgentConnection["continues"] {
  if (capabilities?.loadSession === true) {
    return "load";
  }
  return capabilities?.sessionCapabilities?.resume == null ? undefined : "resume";
}

function requireContent(outcome: ReadOutcome): string {
  if (!("error" in outcome)) {
    return outcome.content;
  }
  // Agents look for a file before they write a new one. Some know the code of a missing file, and others these words.
  throw outcome.isMissing === true
    ? new RequestError(resourceNotFound, `Resource not found: ${outcome.error}`)
    : new RequestError(invalidParams, outcome.error);
}

const invalidParams = -32_602;
const resourceNotFound = -32_002;

async function within<T>(
  send: (stop: AbortSignal) => Promise<T>,
  { what, signal, clock }: { what: string; signal: AbortSignal; clock: Clock },
): Promise<T> {
  const done = new AbortController();
  const late = new AbortController();
  void clock.sleep(openTimeoutMs, done.signal).then(() => done.signal.aborted || late.abort());
  try {
    return await send(AbortSignal.any([signal, late.signal]));
  } catch (error) {
    throw late.signal.aborted ? new Error(`it did not ${what} within ${openTimeoutMs / 1_000} s`) : error;
  } finally {
    done.abort(over);
  }
}
