// An agent with the program of an MCP server, in the jail. The model is a fake; the service, the jail and the server are real.

import { realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { Approval_Decision } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { readMcpServers } from "../../../src/platform/config/mcp-servers.ts";
import { modelFlags } from "../../conformance/stage.ts";
import { answer, callTools, startFakeProvider } from "../../fakes/provider.ts";
import { openFolder } from "../../fixtures.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";

/** A server as the settings have it. */
export interface ServerProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: object;
  readonly folders: readonly string[];
}

export interface Called {
  readonly name: string;
  readonly args: object;
}

/** Makes a work directory with a note in it. */
export async function openWorkDir(): Promise<string> {
  const workDir = await realpath(await openFolder());
  await writeFile(join(workDir, "note.txt"), "the harbour is quiet");
  return workDir;
}

/** Runs an agent whose model makes these calls, one a turn. Returns the results of the calls, and the whole log. */
export async function callAll(
  program: ServerProgram,
  workDir: string,
  calls: readonly Called[],
  /** What a person fills in where the server asks; it may ask for no forms if unset. */
  values?: object,
) {
  await using provider = await startFakeProvider();
  const service = await startService({
    ...modelFlags(provider),
    mcpServers: readMcpServers(`srv=${JSON.stringify(program)}`) ?? [],
    sessionsWorkDirs: ["/"],
  });
  provider.respond(
    ...calls.map(({ name, args }, index) =>
      callTools({ id: `call_${index}`, name: `srv_${name}`, arguments: JSON.stringify(args) }),
    ),
    answer("done"),
  );
  const client = new GrpcClient(service.target);
  const agent = { name: "tester", tools: { mcp: [{ name: "srv", forms: values !== undefined }] } };
  const { sessionId } = await client.call(SessionService.method.createSession, { agent, workDir });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "go" });
  const results: RunResult[] = [];
  for await (const batch of client.stream(RunService.method.tailRun, { runId })) {
    results.push(...batch.results);
    for (const { payload } of batch.results) {
      if (payload.case === "approvalRequested") {
        const { approvalId, digest } = payload.value;
        const decision = Approval_Decision.APPROVE;
        const request = { approvalId, digest, decision, values: JSON.stringify(values) };
        await client.call(ApprovalService.method.decideApproval, request);
      }
    }
  }
  const ends = results.flatMap(({ payload }) =>
    payload.case === "toolCallCompleted" ? [payload.value.error || payload.value.result] : [],
  );
  expect(results.at(-1)?.payload).toMatchObject({ case: "runCompleted" });
  return { ends, results };
}
