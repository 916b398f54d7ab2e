// Child runs in an editor, by the client of the official package: their calls are shown, and what they wait for is asked.

import { expect, test } from "vitest";
import { boss, callOf, openStage, resultsOf } from "../child-runs/team.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { until } from "../harness/wait.ts";
import { startEditor } from "./acp-stage.ts";

const writer = {
  name: "writer",
  agent: { system_prompt: "writer", max_turns: 5, tools: { builtin: ["write_file"] } },
};
const middle = {
  name: "middle",
  agent: { system_prompt: "middle", max_turns: 5, tools: { builtin: ["write_file"], agents: [writer] } },
};
const preset = (approve: readonly string[]) =>
  `boss=${JSON.stringify({
    ...{ system_prompt: "boss", max_turns: 5 },
    tools: { builtin: ["write_file"], approve, agents: [middle] },
  })}`;

const parts = {
  boss: boss(callOf("c1", "middle", { message: "write" })),
  middle: boss(callOf("m1", "writer", { message: "write" })),
  writer: ((messages, turn) =>
    turn === 0
      ? callTools(callOf("w1", "write_file", { file_path: "note.txt", content: "Paris" }))
      : answer(`it says: ${resultsOf(messages).join()}`)) satisfies Parameters<typeof openStage>[0][string],
};

test("a call two levels below waits for the editor's permission, also for an editor that comes later", async () => {
  const stage = await openStage(parts, { agentPresets: [preset(["write_file"])] });
  const open = new Promise<never>(() => {});
  const first = await startEditor(stage.service.url, { decide: () => open });
  const sessionId = await first.begin();
  void first.prompt(sessionId, "go").catch(() => {});
  await until("the question", () => first.permissions.length === 1);
  first.child.kill("SIGKILL");
  const decide = () => ({ outcome: { outcome: "selected", optionId: "allow" } }) as const;
  const editor = await startEditor(stage.service.url, { decide });
  await editor.agent.request("session/load", { sessionId, cwd: "/project", mcpServers: [] });
  await editor.textWith("they said:");
  expect(editor.permissions).toHaveLength(1);
  const [asked] = editor.permissions;
  expect(asked?.toolCall).toMatchObject({ name: "write_file", kind: "edit" });
  const calls = editor.updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call");
  expect(calls).toMatchObject([
    { title: "middle" },
    { title: "middle: writer" },
    { title: "writer: write_file note.txt", toolCallId: asked?.toolCall.toolCallId },
  ]);
  // The text of the agents below is that of their calls alone.
  expect(editor.text()).toMatch(/^they said: they said: it says: [^\n]*$/);
  await until("the end of each call", () => {
    const ended = editor.updates.filter((each) => "status" in each && each.status === "completed");
    return ended.length === 3;
  });
}, 60_000);
