// `runnel acp` as an editor starts it, and the editor: the client of the official package.

import { Readable, Writable } from "node:stream";
import {
  type AgentRequestMethod,
  type ClientContext,
  client,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
} from "@agentclientprotocol/sdk";
import { onTestFinished } from "vitest";
import { keyOf } from "../harness/credentials.ts";
import { until } from "../harness/wait.ts";
import { type RunningCommand, startCommand } from "./command.ts";

export interface TestEditor extends RunningCommand {
  readonly agent: ClientContext;
  readonly updates: readonly SessionNotification["update"][];
  readonly permissions: readonly RequestPermissionRequest[];
  /** Returns the text of the agent so far. */
  text(): string;
  /** Resolves with the text once it has this part. */
  textWith(part: string): Promise<string>;
  /** Begins a session and returns its id. */
  begin(cwd?: string): Promise<string>;
  prompt(sessionId: string, text: string): Promise<{ readonly stopReason: string }>;
  /** Resolves with the error of a request that the agent refuses. */
  refused(method: AgentRequestMethod, params: object): Promise<{ code: number; message: string; data: object }>;
}

export type Decide = (
  request: RequestPermissionRequest,
) => Promise<RequestPermissionResponse> | RequestPermissionResponse;

export interface EditorOptions {
  readonly key?: string;
  readonly flags?: readonly string[];
  readonly decide?: Decide;
}

/** Starts the command and connects to it. */
export async function startEditor(url: string, options: EditorOptions = {}): Promise<TestEditor> {
  const { key = keyOf(), flags = [], decide = () => ({ outcome: { outcome: "cancelled" as const } }) } = options;
  const command = startCommand(["acp", "--url", url, ...flags], {
    environment: { RUNNEL_API_KEY: key },
    keepsInput: true,
  });
  const { stdin, stdout } = command.child;
  if (stdin === null || stdout === null) {
    throw new Error("the command has no pipes");
  }
  const updates: SessionNotification["update"][] = [];
  const permissions: RequestPermissionRequest[] = [];
  const bytes = Readable.from(stdout.map((text: string) => Buffer.from(text)));
  const connection = client({ name: "test" })
    .onRequest("session/request_permission", ({ params }) => {
      permissions.push(params);
      return decide(params);
    })
    .onNotification("session/update", ({ params }) => {
      updates.push(params.update);
    })
    .connect(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(bytes) as ReadableStream<Uint8Array>));
  onTestFinished(() => connection.close());
  const { agent } = connection;
  await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const text = () =>
    updates
      .map((update) =>
        update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? update.content.text : "",
      )
      .join("");
  return {
    ...command,
    agent,
    updates,
    permissions,
    text,
    textWith: (part) => until(part, () => (text().includes(part) ? text() : undefined)),
    begin: async (cwd = "/project") => (await agent.request("session/new", { cwd, mcpServers: [] })).sessionId,
    prompt: (sessionId, prompt) =>
      agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: prompt }] }),
    refused: async (method, params) => {
      try {
        await agent.request(method as string, params);
      } catch (error) {
        return error as { code: number; message: string; data: object };
      }
      throw new Error(`${method} was answered`);
    },
  };
}
