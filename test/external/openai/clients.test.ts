// Programs that were written for OpenAI's API call Runnel: only the base URL and the key are ours.

import { join } from "node:path";
import { Agent, OpenAIResponsesModel, run, setTracingDisabled, tool } from "@openai/agents";
import { tool as aiTool, generateText, stepCountIs, streamText, type ToolSet } from "ai-6";
import { createOpenAI } from "ai-sdk-openai-3";
import { describe, expect, inject, test } from "vitest";
import { z } from "zod";
import { callTools } from "../../fakes/provider.ts";
import { keyOf } from "../../harness/credentials.ts";
import { setOpenAiStage, speak } from "../../openai/stage.ts";
import { runProgram } from "../program.ts";

const python = inject("python");

test.skipIf(python === "")("the official Python client passes the acceptance list", async () => {
  const { service } = await setOpenAiStage();
  const script = join(import.meta.dirname, "acceptance.py");
  const { stdout } = await runProgram(python, [script, `${service.url}/v1`, keyOf(), keyOf("stranger")]);
  expect(stdout.toString().match(/^passed /gm)).toHaveLength(16);
});

const city = z.object({ city: z.string() });

describe("the Agents SDK", () => {
  setTracingDisabled(true);

  test("runs a function of the caller and leaves the service's own tools alone", async () => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(
      callTools({ id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' }),
      speak("It is ", "sunny"),
    );
    const agent = new Agent({
      name: "Weather",
      instructions: "Be brief.",
      model: new OpenAIResponsesModel(client as never, "gpt-4o"),
      tools: [
        tool({
          name: "get_weather",
          description: "Weather",
          parameters: city,
          execute: ({ city: name }) => `${name}: 25`,
        }),
      ],
    });
    const result = await run(agent, "Weather in Rome?");
    expect(result.finalOutput).toBe("It is sunny");
    expect((await provider.request(1)).body.messages.at(-1)).toMatchObject({ role: "tool", content: "Rome: 25" });
  });

  test("streams", async () => {
    const { client, provider } = await setOpenAiStage();
    provider.respond(speak("One ", "two"));
    const agent = new Agent({ name: "Talk", model: new OpenAIResponsesModel(client as never, "gpt-4o") });
    const stream = await run(agent, "Hi", { stream: true });
    const text = (await Array.fromAsync(stream.toTextStream())).join("");
    await stream.completed;
    expect(text).toBe("One two");
  });
});

describe("the AI SDK", () => {
  const openModels = async () => {
    const stage = await setOpenAiStage();
    return { ...stage, openai: createOpenAI({ baseURL: `${stage.service.url}/v1`, apiKey: keyOf() }) };
  };

  test("generates and streams a text by both APIs", async () => {
    const { openai, provider } = await openModels();
    provider.respond(speak("a ", "b"), speak("c ", "d"), speak("e"), speak("f ", "g"));
    for (const model of [openai.responses("gpt-4o"), openai.chat("gpt-4o")]) {
      const { text, usage } = await generateText({ model, prompt: "Hi" });
      expect(["a b", "e"]).toContain(text);
      expect(usage.inputTokens).toBe(7);
      const streamed = streamText({ model, prompt: "Hi" });
      expect(["c d", "f g"]).toContain((await Array.fromAsync(streamed.textStream)).join(""));
    }
  });

  test("calls a function of the caller by both APIs", async () => {
    const { openai, provider } = await openModels();
    const call = callTools({ id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' });
    provider.respond(call, speak("Sunny"), call, speak("Sunny"));
    for (const model of [openai.responses("gpt-4o"), openai.chat("gpt-4o")]) {
      const { text, steps } = await generateText({
        model,
        prompt: "Weather?",
        stopWhen: stepCountIs(3),
        tools: { get_weather: aiTool({ inputSchema: city, execute: ({ city: name }) => `${name}: 25` }) },
      });
      expect(text).toBe("Sunny");
      expect(steps[0]?.toolResults[0]).toMatchObject({ toolName: "get_weather", output: "Rome: 25" });
    }
  });

  test("shows calls and results of the service's own tools", async () => {
    const { openai, provider } = await openModels();
    provider.respond(callTools({ id: "c", name: "list_dir", arguments: '{"path":"."}' }), speak("done"));
    const mcp = openai.tools.mcp({
      serverLabel: "runnel",
      serverUrl: "https://runnel.invalid",
      allowedTools: ["list_dir"],
      requireApproval: "never",
    });
    const { text, toolCalls, toolResults } = await generateText({
      model: openai.responses("gpt-4o"),
      prompt: "Look",
      tools: { mcp } as unknown as ToolSet,
    });
    expect(text).toBe("done");
    expect([...toolCalls, ...toolResults].length).toBeGreaterThan(0);
  });
});
