// A provider for agents that call each other: what a model answers is decided by its system prompt and by its conversation, so that
// agents may work at the same time.

import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { answer, callTools, onChat, type Script } from "../fakes/provider.ts";
import type { RecordedRequest, WireServer } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";

/** A message as the provider receives it. */
export interface SentMessage {
  readonly role: string;
  readonly content: string;
}

/** Plays an agent: gets the messages since the system prompt, and the number of responses since the last message of a user. */
export type Part = (messages: readonly SentMessage[], turn: number, request: RecordedRequest) => Script;

/** Opens a provider whose agents play these parts, by their system prompts. */
export async function openTeam(parts: Readonly<Record<string, Part>>): Promise<WireServer> {
  return await openWireServer((request) => {
    const messages = request.body.messages as readonly SentMessage[];
    const [{ content: name } = { content: "" }, ...said] = messages;
    const part = parts[name];
    if (part === undefined) {
      throw new Error(`no agent plays ${name}`);
    }
    const lastUser = said.findLastIndex(({ role }) => role === "user");
    const turn = said.slice(lastUser).filter(({ role }) => role === "assistant").length;
    return onChat(part(said, turn, request));
  });
}

/** The settings of a service that uses the provider. */
function usingTeam({ origin }: WireServer) {
  return { compatibleBaseUrl: `${origin}/v1`, defaultModel: "compatible:team" };
}

const { createSession, sendMessage } = SessionService.method;
const { getRun, listRuns, listRunResults } = RunService.method;

/** Starts a run of an agent in a new session. */
export async function ask(
  client: GrpcClient,
  agent: object,
  message = "go",
): Promise<{ readonly sessionId: string; readonly runId: string }> {
  const { sessionId } = await client.call(createSession, { agent });
  const { runId } = await client.call(sendMessage, { sessionId, message });
  return { sessionId, runId };
}

/** Returns a call of a tool. */
export const callOf = (id: string, name: string, args: object) => ({ id, name, arguments: JSON.stringify(args) });

/** Calls agents in the first turn, and then says what they answered. */
export const boss =
  (...calls: readonly ReturnType<typeof callOf>[]): Part =>
  (messages, turn) =>
    turn === 0 ? callTools(...calls) : answer(`they said: ${resultsOf(messages).join(" | ")}`);

/** The results of the last response's calls, without the ids of their runs. */
export function resultsOf(messages: readonly SentMessage[]): string[] {
  const from = messages.findLastIndex(({ role }) => role === "assistant");
  return messages.slice(from + 1).map(({ content }) => content.replace(/\n\n\[run_id: [0-9a-f-]+\]$/, ""));
}

/** Repeats its message. */
export const echo: Part = (messages) => answer(`echo ${messages.at(-1)?.content}`);
/** Never answers, until its caller hangs up. */
export const silent: Part =
  () =>
  async (_, { closed }) => {
    await closed;
  };

/** Opens a service whose model plays these parts. */
export async function openStage(
  parts: Readonly<Record<string, Part>>,
  settings: Parameters<typeof startService>[0] = {},
) {
  const team = await openTeam(parts);
  const service = await startService({ ...usingTeam(team), ...settings });
  const client = new GrpcClient(service.target);
  const ended = (runId: string) =>
    until("the run to end", async () => {
      const { run } = await client.call(getRun, { runId });
      return run !== undefined && run.state >= Run_State.COMPLETED && run;
    });
  const logOf = async (runId: string) => (await client.call(listRunResults, { runId, pageSize: 250 })).results;
  const childrenOf = async (parentRunId: string) => (await client.call(listRuns, { parentRunId })).runs.toReversed();
  return { team, service, client, ended, logOf, childrenOf };
}
