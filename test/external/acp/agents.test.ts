// Coding agents of others as runners, unmodified: Claude's and Codex's adapters as npm installs them, in the jail. Their models are the
// service's own doors, behind which a fake provider speaks.

import { chmod, cp, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { Approval_Decision, Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { runCommand } from "../../../scripts/run-command.ts";
import { readCodingAgents } from "../../../src/protocols/acp/agents.ts";
import { endOf, openSession, send, short } from "../../acp/stage.ts";
import { modelFlags } from "../../conformance/stage.ts";
import { callTools, type Script, startFakeProvider } from "../../fakes/provider.ts";
import { readLog } from "../../fault/log-reader.ts";
import { keyOf } from "../../harness/credentials.ts";
import { findFreePorts } from "../../harness/free-ports.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { Area } from "../../tools/area.ts";

const installMaxMs = 600_000;
let packages: string;

beforeAll(async () => {
  // npm would leave its compile cache behind.
  vi.stubEnv("NODE_DISABLE_COMPILE_CACHE", "1");
  packages = await realpath(await mkdtemp(join(tmpdir(), "runnel-coding-agents-")));
  await chmod(packages, 0o755);
  await cp(join(import.meta.dirname, "packages"), packages, { recursive: true });
  await runCommand("npm", ["ci", "--prefix", packages, "--ignore-scripts", "--no-audit", "--no-fund"]);
  return async () => {
    vi.unstubAllEnvs();
    await rm(packages, { recursive: true });
  };
}, installMaxMs);

/** More than the programs ask. */
const requestsMax = 40;

/** Starts a service whose runner is a program that asks the service itself for its model. */
async function openStage(script: Script, describe: (url: string) => { args: readonly string[]; env: object }) {
  const provider = await startFakeProvider();
  const area = new Area();
  onTestFinished(async () => {
    area[Symbol.dispose]();
    await provider.close();
  });
  area.giveToSession();
  provider.respond(...Array.from({ length: requestsMax }, () => script));
  const [serverPort = 0] = await findFreePorts(1);
  const { args, env } = describe(`http://127.0.0.1:${serverPort}`);
  const line = {
    command: process.execPath,
    args,
    env: { HOME: "{work_dir}/.home", PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, ...env },
    folders: [packages, dirname(process.execPath)],
    network: true,
  };
  const acpAgents = readCodingAgents(`coder=${JSON.stringify(line)}`) ?? [];
  const service = await startService({ ...modelFlags(provider), serverPort, acpAgents }, { own: true });
  const client = new GrpcClient(service.target);
  const sessionId = await openSession(client, { name: "coder", runner: "coder" }, area.root);
  return { client, sessionId, area, provider };
}

/** Approves what the run asks until it ends. */
async function approveAll(client: GrpcClient, runId: string, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const { approvals } = await client.call(ApprovalService.method.listApprovals, {
      runId,
      state: Approval_State.PENDING,
    });
    for (const { approvalId, digest } of approvals) {
      await client.call(ApprovalService.method.decideApproval, {
        approvalId,
        digest,
        decision: Approval_Decision.APPROVE,
      });
    }
  }
}

/** Returns the log of a run whose requests are approved. */
async function follow(client: GrpcClient, runId: string) {
  let isOver = false;
  const approving = approveAll(client, runId, () => isOver);
  const results = await readLog(client, runId);
  isOver = true;
  await approving;
  return results;
}

/** Makes one call of a tool, and then answers with a text that has the results so far. */
const work =
  (name: string, args: (directory: string) => object, directory: () => string): Script =>
  (wire, request) => {
    const { messages, tools } = request.body;
    const results = messages.filter(({ role }) => role === "tool");
    if (tools !== undefined && results.length === 0) {
      return callTools({ id: "call_1", name, arguments: JSON.stringify(args(directory())) })(wire, request);
    }
    wire.text(tools === undefined ? "A title" : "The file is written.");
    wire.done("stop");
  };

test("Claude's adapter writes a file that a person approves, and goes on with its conversation", async () => {
  let root = "";
  const script = work(
    "Write",
    (directory) => ({ file_path: `${directory}/note.txt`, content: "plover\n" }),
    () => root,
  );
  const { client, sessionId, area, provider } = await openStage(script, (url) => ({
    args: [join(packages, "node_modules/@zed-industries/claude-agent-acp/dist/index.js")],
    env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: keyOf(), ANTHROPIC_DEFAULT_SONNET_MODEL: "openai:fake" },
  }));
  root = area.root;
  const results = await follow(client, await send(client, sessionId, "Write the word plover to note.txt."));
  expect(endOf(results)).toEqual(["runCompleted", "stop", "The file is written."]);
  expect(await readFile(join(area.root, "note.txt"), "utf8")).toBe("plover\n");
  expect(results.map(({ payload }) => payload.case)).toContain("approvalRequested");
  const [, , done] = short(results).find(([name]) => name === "toolCallCompleted") ?? [];
  expect(done).toMatchObject({ diffs: [{ path: expect.stringContaining("note.txt"), new_text: "plover\n" }] });
  const next = await follow(client, await send(client, sessionId, "What did you write?"));
  expect(endOf(next)).toEqual(["runCompleted", "stop", "The file is written."]);
  expect(JSON.stringify(provider.requests.at(-1)?.body.messages)).toContain("Write the word plover");
});

test("Codex's adapter writes a file by a command", async () => {
  const script = work(
    "exec_command",
    () => ({ cmd: "echo plover > note.txt" }),
    () => "",
  );
  const { client, sessionId, area } = await openStage(script, (url) => {
    const provider = { name: "Runnel", base_url: `${url}/v1`, wire_api: "responses", env_key: "RUNNEL_KEY" };
    const flags = Object.entries(provider).map(
      ([key, value]) => `model_providers.runnel.${key}=${JSON.stringify(value)}`,
    );
    const choices = [
      'model_provider="runnel"',
      'model="gpt-5"',
      'sandbox_mode="danger-full-access"',
      'approval_policy="never"',
    ];
    return {
      args: [
        join(packages, "node_modules/@zed-industries/codex-acp/bin/codex-acp.js"),
        ...[...choices, ...flags].flatMap((each) => ["-c", each]),
      ],
      env: { RUNNEL_KEY: keyOf(), CODEX_HOME: "{work_dir}" },
    };
  });
  const results = await follow(client, await send(client, sessionId, "Write the word plover to note.txt."));
  expect(endOf(results)).toEqual(["runCompleted", "stop", "The file is written."]);
  expect(await readFile(join(area.root, "note.txt"), "utf8")).toBe("plover\n");
  expect(results.map(({ payload }) => payload.case)).toContain("toolCallCompleted");
});
