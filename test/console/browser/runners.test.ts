// Runners in the console: what each requests beside what its bindings grant, what its runs met, and starting and deleting.

import { status } from "@grpc/grpc-js";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { AgentRunContext } from "#gen/runnel/runner/v1/agent_run_context_pb.js";
import { BindingScope_Kind } from "#gen/runnel/runner/v1/binding_pb.js";
import { KnowledgeService } from "#gen/runnel/runner/v1/knowledge_service_pb.js";
import { Runner_State } from "#gen/runnel/runner/v1/runner_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { completed, message, type Run, state } from "../../../clients/typescript/src/worker/runner.ts";
import { openFakeRunner, sayDone } from "../../fakes/dialled-runner.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { runnerOf, startWorker } from "../../harness/worker.ts";
import { mayDial } from "../../runners/dialled-stage.ts";
import { readLog, start } from "../../runners/hand-worker.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeText } from "./console-page.ts";
import { takePicture } from "./pictures.ts";

const { putBinding, putAgentProfile, getBinding, getRunner, listRunners, registerRunners } = RunnerService.method;
const helper = "plugin:acme/helpdesk/support";
const helperPath = `runners/${encodeURIComponent(helper)}`;
const wide = { viewport: { width: 1280, height: 800 } };

const manifest = {
  id: helper,
  label: { en_US: "Support for customers" },
  description: { en_US: "Answers questions about orders." },
  capabilities: { streaming: true, tool_calling: true, knowledge_retrieval: true },
  permissions: {
    models: ["invoke", "stream", "rerank"],
    tools: ["detail", "call"],
    knowledge_bases: ["list", "retrieve"],
    history: ["page", "search"],
    events: ["get"],
    storage: ["plugin", "workspace"],
    files: ["config"],
  },
  config_schema: [
    { type: "llm-model-selector", name: "model" },
    { type: "file", name: "tone" },
  ],
};

const binding = {
  bindingId: "support-telegram",
  runnerId: helper,
  scope: { kind: BindingScope_Kind.BOT, id: "helpdesk" },
  eventTypes: ["message.received"],
  runnerConfig: JSON.stringify({ model: "demo", tone: "tone.md", timeout: 120 }),
  resourcePolicy: {
    allowedTools: ["read_file", "list_dir"],
    allowedKnowledgeBases: ["handbook", "returns"],
    skills: [{ skillName: "refunds" }],
  },
  statePolicy: { stateScopes: ["conversation"] },
  deliveryPolicy: { maxMessageSize: 4096n },
};

/** A run that tries more than it is granted. */
async function* support(run: Run) {
  await run.host.callTool({ toolName: "list_dir", parameters: "{}" }).catch(() => {});
  await run.host.callTool({ toolName: "write_file", parameters: "{}" }).catch(() => {});
  await run.host.setState({ scope: "actor", key: "name", value: '"Ada"' }).catch(() => {});
  await run.host.pageHistory({}).catch(() => {});
  yield { type: "message.delta", data: { text: "no chunk" } };
  yield state("runner", "seen", 1);
  yield { type: "mood.changed", data: { mood: "calm" } };
  yield message("Your order leaves tomorrow.");
  yield completed();
}

async function setStage() {
  const service = await startService({ consoleEnabled: true, rateLimitRps: 0, ...mayDial });
  const client = new GrpcClient(service.target);
  const contexts: AgentRunContext[] = [];
  const work = async (): Promise<void> => {
    const act = (run: Run) => {
      contexts.push(run.context);
      return support(run);
    };
    startWorker(service.url, [runnerOf(act, manifest)], { workerId: "support-1" });
    await until("the runner", async () => {
      const { runners } = await client.call(listRunners, {});
      return runners.some(({ state }) => state === Runner_State.AVAILABLE);
    });
  };
  const bind = async (): Promise<void> => {
    await client.call(KnowledgeService.method.putKnowledgeBase, {
      knowledgeBase: { kbId: "handbook", name: "Handbook" },
    });
    await client.call(RunnerService.method.putConfigFile, { fileKey: "tone.md", content: Buffer.from("Be kind.") });
    await client.call(putBinding, { binding });
  };
  return { service, client, contexts, work, bind };
}

/** The rows of the table of grants, as a person reads them. */
async function readGrants(page: Page): Promise<readonly string[]> {
  const rows = page.getByRole("table", { name: "Requested and granted" }).locator("tbody tr");
  return (await rows.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim());
}

test("a runner appears, its requests stand beside the grants of its binding, and its run has exactly these", async () => {
  const { service, client, contexts, work, bind } = await setStage();
  const opened = await openConsole(service.url, "runners", wide);
  const { page } = opened;
  await seeText(page, "No runners yet");
  await seeText(page, "No bindings yet");
  await expectFit(page, "no runners");
  await work();
  await page.getByRole("row").filter({ hasText: helper }).filter({ hasText: "available" }).waitFor();
  await page.getByRole("link", { name: helper }).click();
  await seeText(page, "14 of 14 requests are not granted in full.");
  expect(new URL(page.url()).pathname).toBe(`/console/${helperPath}`);
  await seeText(page, "No binding names this runner.");
  await seeText(page, "No runs yet");
  await expectFit(page, "a runner without bindings");

  await bind();
  await seeText(page, "4 of 14 requests are not granted in full, and 1 grant is not requested.");
  await expectFit(page, "a runner and its binding");
  expect(await readGrants(page)).toEqual([
    "Models invoke, stream requested granted demo If the service has the model.",
    "Rerankers rerank requested not granted The binding names no model of the form rerank:<name>.",
    "Tools detail, call requested granted read_file, list_dir If the service has the tool.",
    "Knowledge bases list, retrieve requested granted handbook",
    "Knowledge bases list, retrieve requested not granted returns This client has no such knowledge base.",
    "Files config requested granted tone.md",
    "Skills not requested allowed, not requested refunds The manifest does not declare the capability skill_authoring.",
    "Storage plugin requested granted",
    "Storage workspace requested not granted resource_policy.allow_workspace_storage is false.",
    "State conversation needs no request granted If the event has them.",
    "State actor, subject, runner needs no request not allowed Not in state_policy.state_scopes.",
    "History page, search requested granted For events with a conversation.",
    "Events get requested granted",
    "Messages pieces requested granted At most 4,096 characters.",
    "Messages whole messages needs no request granted At most 4,096 characters.",
  ]);

  await page.getByLabel("Message").fill("Where is my order?");
  await page.getByRole("button", { name: "Start the run" }).click();
  await seeText(page, "Your order leaves tomorrow.");
  const runId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  expect((await client.call(RunService.method.getRun, { runId })).run).toMatchObject({
    runnerId: helper,
    bindingId: binding.bindingId,
  });
  const [context] = contexts;
  expect(context?.input?.text).toBe("Where is my order?");
  expect(context?.resources?.models).toMatchObject([{ modelId: "demo", operations: ["invoke", "stream"] }]);
  expect(context?.resources?.tools.map(({ toolName }) => toolName)).toEqual(["read_file", "list_dir"]);
  expect(context?.resources?.knowledgeBases).toMatchObject([{ kbId: "handbook", operations: ["list", "retrieve"] }]);
  expect(context?.resources?.files).toMatchObject([{ fileId: "tone.md" }]);
  expect(context?.resources?.skills).toEqual([]);
  expect(context?.resources?.storage).toMatchObject({ pluginStorage: true, workspaceStorage: false });
  expect(context?.context?.availableApis).toMatchObject({ historyPage: true, eventGet: true, artifactRead: false });

  await page.getByRole("link", { name: helper }).click();
  await seeText(page, "Requests of all its runs to the host");
  expectCalm(opened);

  const other = await openConsole(service.url, helperPath, { client: "stranger" });
  await seeText(other.page, "Not found");
  await other.page.goto(`${service.url}/console/runners`);
  await seeText(other.page, "No runners yet");
  await seeText(other.page, "No bindings yet");
  expect(await other.page.content()).not.toContain("helpdesk");
});

test("the records of a run say what the host refused, and the choice lives in the address", async () => {
  const { service, client, work, bind } = await setStage();
  await work();
  await bind();
  const event = { botId: "helpdesk", conversationId: "telegram-118", actor: { actorType: "user", actorId: "ada" } };
  const first = await start(client, event);
  await readLog(client, first);
  const last = await start(client, event);
  await readLog(client, last);
  const opened = await openConsole(service.url, helperPath, wide);
  const { page } = opened;
  const requests = page.getByRole("table", { name: "Requests" }).locator("tbody tr");
  await requests
    .filter({ hasText: last.slice(-8) })
    .first()
    .waitFor();
  await requests
    .filter({ hasText: first.slice(-8) })
    .first()
    .waitFor();
  // All runs are shown, so the keys begin there.
  await page.keyboard.press("j");
  await page.locator(":focus", { hasText: last.slice(-8) }).waitFor();
  await page.keyboard.press("k");
  await page.locator(":focus", { hasText: "All runs" }).waitFor();
  await page.keyboard.press("j");
  await page.locator(":focus", { hasText: last.slice(-8) }).waitFor();
  await page.keyboard.press("Enter");
  const results = page.getByRole("table", { name: "Results" }).locator("tbody tr");
  await results.filter({ hasText: "message.delta" }).filter({ hasText: "dropped_invalid" }).waitFor();
  await results.filter({ hasText: "state.updated" }).filter({ hasText: "refused_policy" }).waitFor();
  await results.filter({ hasText: "mood.changed" }).filter({ hasText: "ignored_unknown" }).waitFor();
  await requests.filter({ hasText: "list_dir" }).filter({ hasText: "allowed" }).waitFor();
  await expectFit(page, "records of a run");
  await page.locator(".chip", { hasText: "denied only" }).click();
  await requests.filter({ hasText: "list_dir" }).waitFor({ state: "detached" });
  await requests.filter({ hasText: "write_file" }).filter({ hasText: "denied" }).waitFor();
  await requests.filter({ hasText: "state_set" }).filter({ hasText: "state of this scope is not granted" }).waitFor();
  expect(new URL(page.url()).search).toBe(`?run=${last}&only=denied`);
  await page.reload();
  await requests.filter({ hasText: "write_file" }).waitFor();
  expect(await requests.count()).toBe(2);

  await page.goto(`${service.url}/console/runners/bindings/${binding.bindingId}`);
  await results.filter({ hasText: "dropped_invalid" }).waitFor();
  await seeText(page, '"timeout": 120');
  await expectFit(page, "a binding");
  expectCalm(opened);

  const grants = { name: "runner", path: helperPath, text: "Requests of all its runs" };
  // A table full of text makes a large picture.
  await takePicture(service.url, grants, { viewport: { width: 1280, height: 640 } });
  const refusals = { name: "runner-records", path: `${helperPath}?run=${last}`, text: "dropped_invalid" };
  await takePicture(service.url, {
    ...refusals,
    prepare: (shown) => shown.getByRole("heading", { name: "Its runs" }).scrollIntoViewIfNeeded(),
  });
});

test("bindings by an agent, dialled runners, hostile names, disabled and dangling bindings are shown as they are", async () => {
  const { service, client, work } = await setStage();
  await work();
  const dialled = await openFakeRunner(async function* () {
    yield sayDone();
  });
  dialled.manifests = [
    JSON.stringify({
      id: "plugin:acme/translate/fast",
      name: "fast",
      label: { en_US: "<img src=x onerror=alert(1)> \u001b[31mred" },
    }),
  ];
  await client.call(registerRunners, { workerId: "translator", url: dialled.url });
  const agent = { agentId: "translator", runnerId: "plugin:acme/translate/fast", runnerConfig: '{"to":"de"}' };
  await client.call(putAgentProfile, { agent });
  await client.call(putBinding, { binding: { bindingId: "translate", agentId: agent.agentId } });
  await client.call(putBinding, { binding: { bindingId: "paused", runnerId: helper, enabled: false } });
  await client.call(putBinding, { binding: { bindingId: "early", runnerId: "plugin:acme/none/yet", enabled: false } });
  await client.call(putBinding, { binding: { bindingId: "lost", agentId: "nobody", eventTypes: ["member.joined"] } });
  const opened = await openConsole(service.url, "runners", wide);
  const { page } = opened;
  await page.getByRole("row").filter({ hasText: "dialled at" }).filter({ hasText: dialled.url }).waitFor();
  await seeText(page, "<img src=x onerror=alert(1)> ␛[31mred");
  await expectFit(page, "runners and bindings");
  await page.keyboard.press("j");
  await page.locator(":focus", { hasText: helper }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.locator(":focus", { hasText: "early" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.locator(":focus", { hasText: "paused" }).waitFor();
  await page.keyboard.press("Enter");
  await seeText(page, "disabled");
  expect(await page.getByRole("button", { name: "Start the run" }).count()).toBe(0);

  await page.goto(`${service.url}/console/runners/bindings/translate`);
  await seeText(page, "The manifest requests nothing.");
  await seeText(page, '"to": "de"');
  await page.getByRole("link", { name: agent.runnerId }).click();
  await seeText(page, "as agent translator");
  await page.getByLabel("Message").fill("Good morning");
  await page.getByRole("button", { name: "Start the run" }).click();
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
  await until("the dialled runner", () => dialled.calls.length === 1);

  await page.goto(`${service.url}/console/runners/bindings/translate`);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Keep it" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await expectFit(page, "the question");
  await page.getByRole("button", { name: "Delete it" }).click();
  await seeText(page, "Deleted the binding.");
  await page.getByRole("row").filter({ hasText: "paused" }).waitFor();
  await page.getByRole("link", { name: "translate", exact: true }).waitFor({ state: "detached" });
  await expect(client.call(getBinding, { bindingId: "translate" })).rejects.toMatchObject({ code: status.NOT_FOUND });

  await page.goto(`${service.url}/console/runners/${encodeURIComponent(agent.runnerId)}`);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete it" }).click();
  await seeText(page, "Deleted the runner.");
  const parts = { author: "acme", name: "translate", runner: "fast" };
  await expect(client.call(getRunner, parts)).rejects.toMatchObject({ code: status.NOT_FOUND });
  await page.keyboard.press("g");
  await page.keyboard.press("u");
  await page.waitForURL(/\/runners$/);
  expectCalm(opened);

  // A browser notes each answer that is an error, so these are in a page of their own.
  const dangling = await openConsole(service.url, "runners/bindings/early");
  await seeText(dangling.page, "The binding names the runner plugin:acme/none/yet, which does not exist.");
  await dangling.page.goto(`${service.url}/console/runners/bindings/lost`);
  await seeText(dangling.page, "The binding names the agent nobody, which does not exist.");
  await expectFit(dangling.page, "a binding whose agent does not exist");
});
