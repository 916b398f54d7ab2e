// A service with the fake coding agent in the jail, and what a test sees of its runs.

import { dirname, join } from "node:path";
import { expect } from "vitest";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { repositoryRoot } from "../../scripts/run-command.ts";
import type { Agent } from "../fault/cluster.ts";
import type { GrpcClient } from "../harness/grpc.ts";

/** A key that nothing may show. */
const secretKey = "key-4711-of-the-agent";

/** Returns the line of the settings that names the fake agent. */
export function lineOf(name: string, args: readonly string[] = [], fields: object = {}): string {
  const line = {
    command: process.execPath,
    args: [join(repositoryRoot, "test/fakes/acp-agent.ts"), ...args],
    env: { AGENT_KEY: secretKey, NODE_NO_WARNINGS: "1" },
    folders: [join(repositoryRoot, "test/fakes"), join(repositoryRoot, "node_modules"), dirname(process.execPath)],
    ...fields,
  };
  return `${name}=${JSON.stringify(line)}`;
}

/** Starts a session with an agent. */
export async function openSession(client: GrpcClient, agent: Agent, workDir = ""): Promise<string> {
  const { sessionId } = await client.call(SessionService.method.createSession, { agent, workDir });
  return sessionId;
}

/** Starts a run. Returns its id. */
export async function send(client: GrpcClient, sessionId: string, message: string): Promise<string> {
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message });
  return runId;
}

/** The results of a log in short: the name, and what tests compare. */
export function short(results: readonly RunResult[]): unknown[][] {
  return results.map(({ payload: { case: name, value } }) => {
    switch (name) {
      case "messageDelta":
        return [name, value.chunk?.content];
      case "messageCompleted":
        return [name, value.message?.content.value];
      case "reasoningDelta":
        return [name, value.content];
      case "planUpdated":
        return [name, ...value.entries.map(({ text, status, priority }) => [text, status, priority])];
      case "toolCallStarted":
        return [name, value.toolCallId, value.toolName, JSON.parse(value.parameters)];
      case "toolCallCompleted":
        return [name, value.toolCallId, value.error ?? JSON.parse(value.result ?? "null")];
      case "runCompleted":
        return [name, value.finishReason, value.message?.content.value];
      case "runFailed":
        return [name, value.code, value.error];
      case "artifactCreated":
        return [name, value.artifactType, value.name, value.metadata ?? value.contentBase64];
      case "extension":
        return [name, value.type];
      default:
        return [name];
    }
  });
}

/** Returns the last result. */
export function endOf(results: readonly RunResult[]): unknown {
  return short(results).at(-1) ?? expect.fail("the log is empty");
}
