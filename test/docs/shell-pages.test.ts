// The shell blocks with a name that no other test runs: pasted as they are, with the addresses of a test.

import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test, vi } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { type CommandPlace, ownFolder, runShell } from "../cli/command.ts";
import { answer } from "../fakes/provider.ts";
import { startRun } from "../fault/cluster.ts";
import { openProvider } from "../fixtures.ts";
import { defaultClientId, keyOf } from "../harness/credentials.ts";
import { testDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startProcess } from "../harness/process.ts";
import { startService } from "../harness/service.ts";
import { blockOf } from "./page-blocks.ts";

/** Each block starts programs, on a machine with other work. */
vi.setConfig({ testTimeout: 120_000 });

const adminToken = "an-admin-token-of-32-characters-1";
const shims = 'set -eo pipefail; runnel() { $runnel "$@"; };';

async function paste(code: string, place: CommandPlace): Promise<string> {
  const { code: exitCode, stdout, stderr } = await runShell(`${shims}\n${code}`, place);
  expect(exitCode, `${stdout}${stderr}`).toBe(0);
  return stdout;
}

const shell = (page: string, name: string, url: string): string =>
  blockOf(page, `sh ${name}`, url).replaceAll("https://runnel.example", url);

test("docs/authentication.md: a key, a signed call and a ticket", async () => {
  const service = await startProcess({ DATABASE_URL: await testDatabase(), RUNNEL_AUTH_ADMIN_TOKEN: adminToken });
  const page = (name: string) => shell("docs/authentication.md", name, service.url);
  const made = await paste(page("create-key"), { environment: { ADMIN_TOKEN: adminToken } });
  const { key: KEY = "" } = JSON.parse(made);
  const signing = { BASE: service.url, CLIENT: defaultClientId, SECRET: keyOf() };
  expect(JSON.parse(await paste(page("sign"), { environment: signing }))).toMatchObject({ status: "created" });
  const headers = { authorization: `Bearer ${KEY}` };
  const body = JSON.stringify({ session_id: "abc", agent: { name: "a" } });
  await fetch(`${service.url}/v1/sessions`, { method: "POST", headers, body });
  expect(JSON.parse(await paste(page("ticket"), { environment: { KEY } }))).toMatchObject({
    ticket: expect.any(String),
  });
});

test("clients/README.md and docs/compatibility.md: the contract of a service, and what a newer one breaks", async () => {
  const { url } = await startService();
  const directory = await ownFolder();
  const PATH = `${join(repositoryRoot, "node_modules/.bin")}${delimiter}${process.env.PATH}`;
  await paste(`${shell("clients/README.md", "descriptors", url)}\ncp runnel.binpb old.binpb`, { directory });
  await paste(shell("docs/compatibility.md", "compare", url), { directory, environment: { PATH } });
  expect(readFileSync(join(directory, "new.binpb"))).toEqual(readFileSync(join(directory, "old.binpb")));
});

test("docs/large-tasks.md: an entry of a memory", async () => {
  const { url } = await startService();
  const written = await paste(shell("docs/large-tasks.md", "memory", url), { environment: { KEY: keyOf() } });
  expect(JSON.parse(written)).toMatchObject({ key: "style" });
});

test("docs/tools.md: a call waits for a person, who approves it", async () => {
  const { url } = await startService({ authApiKeys: [], defaultModel: "demo" });
  await paste(shell("docs/tools.md", "ask", url), {});
  await vi.waitUntil(
    async () => (await (await fetch(`${url}/v1/approvals?state=pending`)).text()).includes("digest"),
    60_000,
  );
  const shown = await paste(`url=${url}\n${shell("docs/tools.md", "decide", url)}`, {});
  expect(shown).toContain("event: done");
});

test("docs/shaped-runs.md: a recording of a run gives the same log", async () => {
  const { url, target } = await startService({ defaultModel: "demo" });
  const { runId } = await startRun(new GrpcClient(target), "hello pace=0");
  await vi.waitUntil(
    async () => (await new GrpcClient(target).call(RunService.method.getRun, { runId })).run?.endTime !== undefined,
    60_000,
  );
  const block = shell("docs/shaped-runs.md", "record", url).replace("0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d", runId);
  await paste(block, { directory: await ownFolder(), environment: { RUNNEL_URL: url } });
});

test("docs/reference/cli.md: a key for one command, a review of a change, and a conversation in a pipe", async () => {
  const provider = await openProvider();
  const service = await startProcess({
    DATABASE_URL: await testDatabase(),
    RUNNEL_AUTH_ADMIN_TOKEN: adminToken,
    RUNNEL_PROVIDERS_OPENAI_KEY: "sk-test",
    RUNNEL_PROVIDERS_OPENAI_BASE_URL: provider.baseUrl,
    RUNNEL_DEFAULTS_MODEL: "gpt-4o",
    RUNNEL_AGENTS_PRESETS: "reviewer={}",
  });
  const page = (name: string) => shell("docs/reference/cli.md", name, service.url);
  const directory = await ownFolder();
  const environment = { RUNNEL_URL: service.url };
  provider.respond(...["with a key", "reviewed", "listed", "a lease", "a fence"].map(answer));
  const withKey = await paste(page("key"), { environment: { ...environment, RUNNEL_ADMIN_TOKEN: adminToken } });
  expect(withKey).toContain("with a key");
  writeFileSync(join(directory, "CONTRIBUTING.md"), "Be brief.\n");
  const change =
    "git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm a && echo more >> CONTRIBUTING.md";
  const reviewed = await paste(`${change}\n${page("review")}`, { environment, directory });
  expect(reviewed).toMatch(/reviewed.*listed/s);
  expect(provider.requests[2]?.body).toMatchObject({ temperature: 0.2 });
  expect(await paste(page("pipe"), { environment })).toMatch(/a lease.*a fence/s);
});

test("docs/call/acp.md: a preset for an editor", async () => {
  const [settings = ""] = shell("docs/call/acp.md", "presets", "").split("\nrunnel dev");
  const shown = await paste(`${settings}\nrunnel config explain agents.presets`, { directory: await ownFolder() });
  expect(shown).toContain("coder=");
});

test("docs/call/mcp.md: a binding makes a runner a tool", async () => {
  const { url } = await startService();
  const bound = await paste(shell("docs/call/mcp.md", "bind", url), { environment: { RUNNEL_KEY: keyOf() } });
  expect(JSON.parse(bound)).toMatchObject({ binding_id: "reviewer" });
});

test("docs/forum.md: a community, an agent and its credential", async () => {
  const { url } = await startService({ authAdminToken: adminToken });
  const [community = "", agent = "", credential = ""] = shell("docs/forum.md", "create", url).split(/\n(?=curl)/);
  const environment = { ADMIN: adminToken, URL: url };
  const idOf = (text: string) => /"(?:community_id|agent_id|id)":"([^"]+)"/.exec(text)?.[1] ?? expect.fail(text);
  const communityId = idOf(await paste(community, { environment }));
  const withIds = agent
    .replace("0x…", `0x${"1".repeat(40)}`)
    .replace('"community_id": "…"', `"community_id": "${communityId}"`);
  const agentId = idOf(await paste(withIds, { environment }));
  expect(await paste(credential.replace("<id>", agentId), { environment })).toContain("runnerToken");
});
