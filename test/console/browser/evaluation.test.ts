// An evaluation: marked runs repeated with another model or system prompt, marked by a person, and exported.

import { readFile } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { modelFlags } from "../../conformance/stage.ts";
import { answer, type Script, startFakeProvider } from "../../fakes/provider.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeText } from "./console-page.ts";
import { takePicture } from "./pictures.ts";

const viewport = { width: 1440, height: 900 };

async function setStage() {
  const provider = await startFakeProvider();
  onTestFinished(() => provider.close());
  const service = await startService({ ...modelFlags(provider), consoleEnabled: true, rateLimitRps: 0 });
  const client = new GrpcClient(service.target);
  const complete = async (sessionId: string, message: string, text: string): Promise<string> => {
    provider.respond(answer(text));
    const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message });
    await until("the run to end", async () => {
      const { run } = await client.call(RunService.method.getRun, { runId });
      return run?.endTime !== undefined;
    });
    return runId;
  };
  const createSession = async (): Promise<string> => {
    const agent = { name: "birder", systemPrompt: "You know birds." };
    return (await client.call(SessionService.method.createSession, { agent })).sessionId;
  };
  return { provider, service, client, complete, createSession };
}

/** Answers with what the model was asked: its name, its prompt, and the texts of the conversation. */
const echo: Script = async (wire, request) => {
  const { model, messages } = request.body;
  const system = JSON.stringify(messages.filter(({ role }) => role === "system"));
  const prompt = ["Be brief.", "You know birds."].filter((each) => system.includes(each)).join();
  const texts = messages.filter(({ role }) => role !== "system").map(({ content }) => content);
  await answer(`${String(model)} read ${[prompt, ...texts].join(" | ")}`)(wire, request);
};

test("marked runs are repeated with another model and prompt, each with the conversation before it, and a person's marks stay", async () => {
  const { provider, service, client, complete, createSession } = await setStage();
  const session = await createSession();
  const first = await complete(session, "Which wader?", "An avocet.");
  const second = await complete(session, "And a diver?", "A gannet.");
  const opened = await openConsole(service.url, "runs", { viewport });
  const { page } = opened;
  for (const runId of [first, second]) {
    await page.getByRole("checkbox", { name: `Mark ${runId.slice(-8)}` }).check();
  }
  await page.getByRole("link", { name: "Evaluate 2" }).click();
  await page.getByLabel("Model").fill("gpt-4o");
  await page.getByLabel("System prompt").fill("Be brief.");
  await expectFit(page, "the form of an evaluation");
  provider.respond(echo, echo);
  await page.getByRole("button", { name: "Repeat 2 runs" }).click();
  await page.waitForURL(/\/evaluations\//);
  const rowOf = (input: string) => page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: input }) });
  await rowOf("Which wader?").filter({ hasText: "gpt-4o read Be brief. | Which wader?" }).waitFor();
  const context = "gpt-4o read Be brief. | Which wader? | An avocet. | And a diver?";
  await rowOf("And a diver?").filter({ hasText: context }).filter({ hasText: "A gannet." }).waitFor();
  await seeText(page, "2 of 2");
  await page.getByLabel(`Mark of the repetition of ${first.slice(-8)}`).selectOption("worse");
  const note = page.getByLabel(`Note about the repetition of ${first.slice(-8)}`);
  await note.fill("too long <b>");
  await note.press("Tab");
  const id = page.url().split("/").at(-1) ?? "";
  await until("the mark and the note to be kept", async () => {
    const { session } = await client.call(SessionService.method.getSession, { sessionId: `evaluation-${id}-1` });
    return session?.annotations.includes("too long");
  });
  await expectFit(page, "an evaluation");

  // The address finds the evaluation again, and nothing starts twice.
  await page.reload();
  await rowOf("Which wader?").filter({ hasText: "gpt-4o read" }).waitFor();
  expect(await page.getByLabel(`Mark of the repetition of ${first.slice(-8)}`).inputValue()).toBe("worse");
  expect(await note.inputValue()).toBe("too long <b>");
  const { runs } = await client.call(RunService.method.listRuns, {});
  expect(runs).toHaveLength(4);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export JSON" }).click(),
  ]);
  const file = JSON.parse(await readFile(await download.path(), "utf8"));
  expect(file).toMatchObject({ evaluation: id, model: "gpt-4o", system_prompt: "Be brief." });
  expect(file.runs).toMatchObject([
    { original: { run_id: first, output: "An avocet." }, repetition: { state: "completed" }, mark: "worse" },
    { original: { run_id: second }, repetition: { model: "gpt-4o" }, mark: "", note: "" },
  ]);
  await rowOf("Which wader?").getByRole("link", { name: "Compare" }).click();
  await seeText(page, "Settings");

  // A person who has lost its address comes back from its sessions.
  await page.goto(`${service.url}/console/sessions/evaluation-${id}-1`);
  await page.getByRole("link", { name: "Its evaluation" }).click();
  await rowOf("Which wader?").filter({ hasText: "gpt-4o read" }).waitFor();
  expectCalm(opened);
});

test("a page that was left continues with what it had not started, and says at its place why a run cannot be repeated", async () => {
  const { provider, service, client, complete, createSession } = await setStage();
  const source = await complete(await createSession(), "Which wader?", "An avocet.");
  const gone = await complete(await createSession(), "Which gull?", "A kittiwake.");
  // As the form leaves it when the page is closed at once.
  const id = "5f0c";
  await client.call(SessionService.method.createSession, {
    sessionId: `evaluation-${id}`,
    agent: { name: "evaluation" },
    annotations: JSON.stringify({ evaluation: id, sources: [source, "0199aaaa-0000-7000-8000-000000000000", gone] }),
  });
  provider.respond(echo, echo);
  const { page } = await openConsole(service.url, `evaluations/${id}`, { viewport: { width: 390, height: 800 } });
  await page.getByRole("row").filter({ hasText: "Which wader?" }).filter({ hasText: "You know birds." }).waitFor();
  await page.getByRole("row").filter({ hasText: "Which gull?" }).filter({ hasText: "You know birds." }).waitFor();
  const failed = page.getByRole("row").filter({ hasText: "Not started: " });
  await failed.waitFor();
  expect(await failed.textContent()).toContain("not found");
  await failed.getByRole("button", { name: "Try again" }).click();
  await failed.waitFor();
  await seeText(page, "2 of 3");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export JSON" }).click(),
  ]);
  expect(JSON.parse(await readFile(await download.path(), "utf8")).runs).toMatchObject([
    { original: { run_id: source } },
    { original: null, repetition: null, not_started: expect.stringContaining("not found") },
    { original: { run_id: gone } },
  ]);
  await expectFit(page, "an evaluation with a failure");
  await page.goto(`${service.url}/console/evaluations/unknown`);
  await seeText(page, "Not found");
});

test("an evaluation makes pictures", async () => {
  const { provider, service, client, complete, createSession } = await setStage();
  const sources: string[] = [];
  for (const [question, text] of [
    ["Which wader turns its bill up?", "The avocet."],
    ["Which diver folds its wings?", "The gannet."],
  ] as const) {
    sources.push(await complete(await createSession(), question, text));
  }
  const id = "5f0d";
  await client.call(SessionService.method.createSession, {
    sessionId: `evaluation-${id}`,
    agent: { name: "evaluation" },
    annotations: JSON.stringify({ evaluation: id, sources, model: "gpt-4o", system_prompt: "Name the bird." }),
  });
  provider.respond(answer("The avocet: its bill turns up."), answer("The gannet, as it dives."));
  await takePicture(service.url, {
    name: "evaluation",
    path: `evaluations/${id}`,
    text: /as it dives/,
    prepare: async (page) => {
      await seeText(page, /its bill turns up/);
      await page.getByRole("row").filter({ hasText: "completed" }).nth(1).waitFor();
    },
  });
});
