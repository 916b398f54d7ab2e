// Public runners of LangBot, unmodified, under their own SDK: the log and the run have exactly the text that the model or
// workflow sent. Their checkouts are not part of this repository; environment variables name them.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import type { Message } from "#gen/runnel/v1/message_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { repositoryRoot } from "../../../scripts/run-command.ts";
import { modelFlags } from "../../conformance/stage.ts";
import { startN8nWebhook } from "../../fakes/n8n-webhook.ts";
import type { FakeProvider } from "../../fakes/provider.ts";
import { openProvider } from "../../fixtures.ts";
import { startProgram } from "../program.ts";
import { type Environment, makeEnvironment } from "./environment.ts";
import { openTalk, type Said, type Talk } from "./service.ts";
import { environmentOf } from "./workers.ts";

const { LANGBOT_SDK_DIR, LANGBOT_LOCAL_AGENT_DIR, LANGBOT_AGENT_RUNNER_DIR } = process.env;
const named = { LANGBOT_SDK_DIR, LANGBOT_LOCAL_AGENT_DIR, LANGBOT_AGENT_RUNNER_DIR };
const localAgent = LANGBOT_LOCAL_AGENT_DIR ?? "";
const n8nAgent = join(LANGBOT_AGENT_RUNNER_DIR ?? "", "n8n-agent");
const missing = Object.entries(named).flatMap(([name, folder]) => (folder ? [] : [name]));
if (missing.length > 0) {
  process.stderr.write(`the public runners are left out: name their checkouts with ${missing.join(", ")}\n`);
}

/** The SDK has many dependencies. */
const installMaxMs = 900_000;
const model = "gpt-4o";
/** Difficult texts: repetitions that look like the accumulated text, white space at both ends, characters of several bytes. */
const words = [" Hel", "lo", "lo", "lolo, ", "Hello, ", "wörld 🙂", "\n\n", "* one\n", "* one two\n", "…", ".", " "];
/** local-agent yields the accumulated text with every eighth piece. */
const pieces = [...words, ...words, ...words];
/** Keeps two pieces from being joined on their way. */
const gapMs = 10;
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe.skipIf(missing.length > 0)("public runners", () => {
  let environment: Environment;
  beforeAll(async () => {
    environment = await makeEnvironment();
    const needed = [localAgent, n8nAgent].map((folder) => join(folder, "requirements.txt"));
    const lists = needed.filter((path) => existsSync(path)).flatMap((path) => ["-r", path]);
    const packages = ["clients/python", "clients/langbot"].map((path) => join(repositoryRoot, path));
    await environment.install(...packages, LANGBOT_SDK_DIR ?? "", ...lists);
    return environment.remove;
  }, installMaxMs);

  describe.each([
    ["local-agent", openLocalAgent],
    ["n8n-agent", openN8nAgent],
  ])("%s", (_, open) => {
    describe.each([
      ["streamed", true],
      ["not streamed", false],
    ])("%s", (_way, isStreamed) => {
      test.each([
        ["of text", text],
        ["with an image", image],
      ])("two turns %s have the text that was sent", async (_kind, inputOf) => {
        const stage = await open(environment, isStreamed);
        await stage.turn(inputOf("first"), pieces);
        await stage.turn(text("second"), [...pieces, "and more"]);
        stage.check(inputOf === image);
      });
    });
  });
});

interface Stage {
  /** One event and its run, whose model answers with these pieces. */
  turn(input: object, answer: readonly string[]): Promise<void>;
  /** Checks what the model or the workflow received in both turns. */
  readonly check: (hadImage: boolean) => void;
}

function text(content: string): object {
  return { text: content, contents: [JSON.stringify({ type: "text", text: content })] };
}

function image(content: string): object {
  const elements = [
    { type: "text", text: content },
    { type: "image_base64", image_base64: `data:image/png;base64,${png}` },
  ];
  return { text: content, contents: elements.map((element) => JSON.stringify(element)) };
}

async function openLocalAgent(environment: Environment, isStreamed: boolean): Promise<Stage> {
  const provider = await openProvider();
  const talk = await openPlugin(environment, localAgent, { model: { primary: model, fallbacks: [] } }, provider);
  return {
    turn: async (input, answer) => {
      provider.respond(async (wire) => {
        for (const piece of answer) {
          wire.text(piece);
          await delay(gapMs);
        }
        wire.done("stop");
      });
      const said = await talk.say("", { input, delivery: { surface: "chat", supportsStreaming: isStreamed } });
      const all = answer.join("");
      // It yields pieces when its host streams, and one message when not.
      assertText(said, all, { messages: isStreamed ? [] : [all], chunksMin: isStreamed ? 2 : 0 }, talk);
    },
    check: (hadImage) => {
      const [first, second] = provider.requests.map(({ body }) => JSON.stringify(body.messages));
      expect(first?.includes(png)).toBe(hadImage);
      // The second turn knows the first one. Its history refers to the image, which the host loads for the model.
      expect(second).toContain("wörld 🙂");
      expect(second?.includes(png)).toBe(hadImage);
    },
  };
}

async function openN8nAgent(environment: Environment, isStreamed: boolean): Promise<Stage> {
  const webhook = await startN8nWebhook();
  const talk = await openPlugin(environment, n8nAgent, { "webhook-url": webhook.url });
  return {
    turn: async (input, answer) => {
      const all = answer.join("");
      webhook.answer(isStreamed ? answer : [all]);
      // It yields pieces in both cases, and no message.
      assertText(await talk.say("", { input }), all, { messages: [], chunksMin: isStreamed ? 2 : 1 }, talk);
    },
    check: () => {
      expect(webhook.calls.map(({ chatInput }) => chatInput)).toEqual(["first", "second"]);
      // The runner kept the id of its conversation in the state.
      expect(new Set(webhook.calls.map(({ conversation_id: id }) => id)).size).toBe(1);
    },
  };
}

function openPlugin(environment: Environment, folder: string, config: object, provider?: FakeProvider): Promise<Talk> {
  const language = {
    name: `the plugin in ${folder}`,
    start: async (url: string) =>
      startProgram(environment.program("runnel-langbot"), [folder, "--url", url], { environment: environmentOf(url) }),
  };
  return openTalk(language, config, { models: [model], flags: provider === undefined ? {} : modelFlags(provider) });
}

/** Compares all texts of a run with the text that was sent. */
function assertText(
  { log, run }: Said,
  sent: string,
  yielded: { readonly messages: readonly string[]; readonly chunksMin: number },
  talk: Talk,
): void {
  expect(run, talk.stderr()).toMatchObject({ error: "", state: Run_State.COMPLETED });
  const payloads = log.map(({ payload }) => payload);
  const chunks = payloads.flatMap((each) => (each.case === "messageDelta" ? [each.value.chunk?.content ?? ""] : []));
  expect(chunks.length).toBeGreaterThanOrEqual(yielded.chunksMin);
  expect({
    deltas: chunks.join(""),
    messages: payloads.flatMap((each) => (each.case === "messageCompleted" ? [textOf(each.value.message)] : [])),
    end: payloads.flatMap((each) => (each.case === "runCompleted" ? [textOf(each.value.message)] : [])),
    output: run?.output,
  }).toEqual({
    deltas: chunks.length > 0 ? sent : "",
    messages: yielded.messages,
    // No message that the runner did not yield.
    end: [yielded.messages.at(-1)],
    output: sent,
  });
}

function textOf(message: Message | undefined): string | undefined {
  const content = message?.content;
  return content?.case === "parts" ? content.value.elements.map(({ text = "" }) => text).join("") : content?.value;
}
