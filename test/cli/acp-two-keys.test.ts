// `runnel acp` with two keys: a session of another key is as one that does not exist, in each method that names one.

import { expect, test } from "vitest";
import { keyOf } from "../harness/credentials.ts";
import { startService } from "../harness/service.ts";
import { startEditor } from "./acp-stage.ts";

test("each method", { timeout: 60_000 }, async () => {
  const { url } = await startService({ agentPresets: ["plain={}"] }, { own: true });
  const owner = await startEditor(url);
  const sessionId = await owner.begin();
  await owner.agent.request("session/set_config_option", { sessionId, configId: "agent", value: "plain" });
  await owner.agent.request("session/load", { sessionId, cwd: "/project", mcpServers: [] });
  const stranger = await startEditor(url, { key: keyOf("stranger") });
  const methods: readonly (readonly [method: Parameters<typeof stranger.refused>[0], params: object])[] = [
    ["session/load", { cwd: "/project", mcpServers: [] }],
    ["session/resume", { cwd: "/project", mcpServers: [] }],
    ["session/prompt", { prompt: [{ type: "text", text: "Hello" }] }],
    ["session/set_config_option", { configId: "agent", value: "plain" }],
  ];
  const absent = crypto.randomUUID();
  for (const [method, params] of methods) {
    const tell = async (id: string): Promise<string> => {
      const { code, message, data } = await stranger.refused(method, { ...params, sessionId: id });
      return JSON.stringify([code, message, { ...data, requestId: "" }]).replaceAll(id, "ID");
    };
    expect([method, await tell(sessionId)]).toEqual([method, await tell(absent)]);
  }
  expect((await stranger.agent.request("session/list", {})).sessions).toEqual([]);
  expect((await owner.agent.request("session/list", {})).sessions).toMatchObject([{ sessionId }]);
});
