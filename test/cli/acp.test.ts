// `runnel acp` by the client of the official package: prompts, tools, approvals, cancels, sessions that outlive editor and service.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { answer, callTools, hangAfter, type Script } from "../fakes/provider.ts";
import { type Member, openCluster, openProvider } from "../fault/cluster.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { until } from "../harness/wait.ts";
import { startEditor, type TestEditor } from "./acp-stage.ts";
import { ownFolder, runCommand } from "./command.ts";

const presets = [
  "plain={}",
  'writer={"tools": {"builtin": ["write_file", "read_file"]}}',
  'careful={"tools": {"builtin": ["write_file"], "approve": ["write_file"]}}',
].join("\n");

async function openService() {
  const { provider, environment } = await openProvider();
  const [port] = await findFreePorts(1);
  const cluster = await openCluster({
    ...environment,
    RUNNEL_SERVER_PORT: String(port),
    RUNNEL_AGENTS_PRESETS: presets,
  });
  return { provider, cluster, service: await cluster.start() };
}

/** Begins a session of an agent. */
async function beginAs(editor: TestEditor, agent: string, cwd?: string): Promise<string> {
  const sessionId = await editor.begin(cwd);
  await editor.agent.request("session/set_config_option", { sessionId, configId: "agent", value: agent });
  return sessionId;
}

const writeNote = callTools({
  id: "call-1",
  name: "write_file",
  arguments: JSON.stringify({ file_path: "note.txt", content: "Paris" }),
});

test("an editor gets reasoning, text and calls with their diffs, and has them again after a restart of both", async () => {
  const { provider, cluster, service } = await openService();
  const folder = await ownFolder();
  const editor = await startEditor(service.url, { flags: ["--in-project"] });
  const { sessionId, configOptions } = await editor.agent.request("session/new", { cwd: folder, mcpServers: [] });
  expect(configOptions).toMatchObject([
    { id: "agent", currentValue: "plain", options: [{ value: "plain" }, { value: "writer" }, { value: "careful" }] },
    { id: "model", currentValue: "default" },
  ]);
  await editor.agent.request("session/set_config_option", { sessionId, configId: "agent", value: "writer" });
  const thinking: Script = (wire) => {
    wire.reasoning("Hm.");
    wire.text("It is ");
    wire.text("Paris.");
    wire.done("length");
  };
  provider.respond(writeNote, thinking);
  const image = { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" } as const;
  const link = { type: "resource_link", name: "map", uri: "file:///map" } as const;
  const prompt = [{ type: "text", text: "The capital of France?" } as const, image, link];
  expect(await editor.agent.request("session/prompt", { sessionId, prompt })).toEqual({ stopReason: "max_tokens" });
  expect(await readFile(join(folder, "note.txt"), "utf8")).toBe("Paris");
  expect(JSON.stringify(provider.requests[0]?.body.messages)).toContain("iVBORw0KGgo=");
  const path = join(folder, "note.txt");
  const shown = [
    {
      sessionUpdate: "tool_call",
      title: "write_file note.txt",
      kind: "edit",
      rawInput: { file_path: "note.txt", content: "Paris" },
      locations: [{ path }],
      content: [{ type: "diff", path, newText: "Paris" }],
    },
    { sessionUpdate: "tool_call_update", status: "completed" },
    { sessionUpdate: "agent_thought_chunk", content: { text: "Hm." } },
  ];
  expect(editor.updates.slice(0, 5)).toMatchObject([
    { sessionUpdate: "session_info_update", title: "The capital of France?" },
    { sessionUpdate: "config_option_update", configOptions: [{ options: [{ value: "writer" }] }, { id: "model" }] },
    ...shown,
  ]);
  expect(editor.text()).toBe("It is Paris.");
  editor.child.stdin?.end();
  expect(await editor.ended).toMatchObject({ code: 0, stderr: "" });
  for (const line of editor.stdout().trim().split("\n")) {
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  }
  await service.kill();
  const { url } = await cluster.start();
  const next = await startEditor(url);
  await next.begin("/elsewhere");
  expect(await next.agent.request("session/list", { cwd: folder })).toEqual({
    sessions: [{ sessionId, cwd: folder, title: "The capital of France?" }],
    nextCursor: null,
  });
  await next.agent.request("session/load", { sessionId, cwd: folder, mcpServers: [] });
  expect(next.updates.slice(0, 6)).toMatchObject([
    { sessionUpdate: "user_message_chunk", content: { text: "The capital of France?" } },
    { sessionUpdate: "user_message_chunk", content: image },
    { sessionUpdate: "user_message_chunk", content: { text: "[map](file:///map)" } },
    ...shown,
  ]);
  expect(next.text()).toBe("It is Paris.");
  provider.respond(answer("Madrid."));
  await next.agent.request("session/set_config_option", { sessionId, configId: "model", value: "gpt-4o" });
  expect(await next.prompt(sessionId, "And of Spain?")).toEqual({ stopReason: "end_turn" });
  expect(provider.requests.at(-1)?.body.model).toBe("gpt-4o");
  await next.agent.request("session/delete", { sessionId });
  expect((await next.agent.request("session/list", { cwd: folder })).sessions).toEqual([]);
}, 120_000);

test.each([
  { optionId: "allow", kind: "allow_once", written: true },
  { optionId: "reject", kind: "reject_once", written: false },
])(
  "a call waits for the editor's permission: $kind",
  async ({ optionId, kind, written }) => {
    const { provider, service } = await openService();
    const folder = await ownFolder();
    const decide = () => ({ outcome: { outcome: "selected", optionId } }) as const;
    const editor = await startEditor(service.url, { flags: ["--in-project"], decide });
    const sessionId = await beginAs(editor, "careful", folder);
    provider.respond(writeNote, answer("Done."));
    expect(await editor.prompt(sessionId, "Write a note.")).toEqual({ stopReason: "end_turn" });
    expect(editor.permissions).toMatchObject([
      {
        toolCall: { kind: "edit", content: [{ type: "diff", newText: "Paris" }] },
        options: expect.arrayContaining([expect.objectContaining({ optionId, kind })]),
      },
    ]);
    const ends = editor.updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call_update");
    expect(ends).toMatchObject([{ status: "pending" }, { status: written ? "completed" : "failed" }]);
    const read = readFile(join(folder, "note.txt"), "utf8").catch(() => undefined);
    expect(await read).toBe(written ? "Paris" : undefined);
  },
  120_000,
);

test.each([
  ["session/load", 1],
  ["session/resume", 0],
] as const)(
  "an open approval is asked again after %s, and the console may decide it",
  async (method, replayed) => {
    const { provider, service } = await openService();
    const open = new Promise<never>(() => {});
    const first = await startEditor(service.url, { decide: () => open });
    const sessionId = await beginAs(first, "careful");
    provider.respond(writeNote, answer("Done."));
    void first.prompt(sessionId, "Write a note.").catch(() => {});
    await until("the question", () => first.permissions.length === 1);
    first.child.kill("SIGKILL");
    const next = await startEditor(service.url, { decide: () => open });
    const place = { sessionId, cwd: "/", mcpServers: [] };
    await next.agent.request(method, place);
    // Opened once more, the session has one reader.
    await next.agent.request("session/resume", place);
    const asked = next.updates.filter(({ sessionUpdate }) => sessionUpdate === "user_message_chunk");
    expect(asked).toHaveLength(replayed);
    await until("the question again", () => next.permissions.length > 0);
    const list = await runCommand(["approvals", "list", "--json", "--url", service.url]);
    const [{ approval_id: approvalId, digest }] = JSON.parse(list.stdout).approvals;
    await runCommand(["approvals", "approve", approvalId, "--digest", digest, "--url", service.url]);
    expect(await next.textWith("Done.")).toBe("Done.");
    await until("the withdrawal", () => next.stdout().includes("$/cancel_request"));
    expect(next.text()).toBe("Done.");
  },
  120_000,
);

test("a cancel ends the prompt, also when nothing was said yet", async () => {
  const { provider, service } = await openService();
  const editor = await startEditor(service.url);
  const sessionId = await editor.begin();
  const half: Script = hangAfter("Par");
  provider.respond(half);
  const ended = editor.prompt(sessionId, "The capital of France?");
  await editor.textWith("Par");
  await editor.agent.notify("session/cancel", { sessionId });
  expect(await ended).toEqual({ stopReason: "cancelled" });
  provider.respond(half);
  const again = editor.prompt(sessionId, "And now?");
  await editor.agent.notify("session/cancel", { sessionId });
  expect(await again).toEqual({ stopReason: "cancelled" });
}, 120_000);

test("each refusal says its cause and its fix", async () => {
  const { provider, service } = await openService();
  const editor = await startEditor(service.url);
  const sessionId = await editor.begin();
  const place = { cwd: "/project", mcpServers: [] };
  const audio = { sessionId, prompt: [{ type: "audio", data: "", mimeType: "audio/wav" }] };
  const choice = { sessionId, configId: "agent", value: "nobody" };
  const refusals: [method: Parameters<TestEditor["refused"]>[0], params: object, code: number, message: RegExp][] = [
    ["session/load", { sessionId: "nobody", ...place }, -32_002, /session not found/],
    ["session/prompt", { sessionId: "nobody", prompt: [] }, -32_002, /load it/],
    ["session/prompt", audio, -32_602, /no audio/],
    ["session/prompt", { sessionId, prompt: [] }, -32_602, /message/],
    ["session/set_config_option", choice, -32_602, /plain, writer, careful/],
    ["session/set_config_option", { ...choice, configId: "mood" }, -32_602, /"agent" or "model"/],
    ["session/list", { cursor: "?" }, -32_602, /page_token/],
  ];
  for (const [method, params, code, message] of refusals) {
    expect({ method, error: await editor.refused(method, params) }).toEqual({
      method,
      error: expect.objectContaining({ code, message: expect.stringMatching(message) }),
    });
  }
  provider.respond((wire) => wire.reply(401, '{"error":{"message":"wrong key"}}'));
  const failed = await editor.refused("session/prompt", { sessionId, prompt: [{ type: "text", text: "Hello" }] });
  expect(failed).toMatchObject({ code: -32_603, message: expect.stringMatching(/401.*: change/) });
  const stranger = await startEditor(service.url, { key: "a-wrong-key-of-nobody" });
  const wrongKey = { code: -32_000, message: expect.stringMatching(/RUNNEL_API_KEY/) };
  expect(await stranger.refused("session/new", place)).toMatchObject(wrongKey);
  const nowhere = await startEditor("http://127.0.0.1:1");
  const absent = { message: expect.stringMatching(/no service at .*: start one/), data: { reason: "UNAVAILABLE" } };
  expect(await nowhere.refused("session/new", place)).toMatchObject(absent);
}, 120_000);

test("a session of another program keeps its annotations", async () => {
  const { service } = await openService();
  const { createSession, getSession } = SessionService.method;
  const { sessionId } = await service.client.call(createSession, { preset: "plain", annotations: '{"mine":1}' });
  const editor = await startEditor(service.url);
  await editor.agent.request("session/load", { sessionId, cwd: "/project", mcpServers: [] });
  await editor.agent.request("session/set_config_option", { sessionId, configId: "model", value: "gpt-4o" });
  const { session } = await service.client.call(getSession, { sessionId });
  expect(JSON.parse(session?.annotations ?? "")).toEqual({ mine: 1, acp: { cwd: "/project", model: "gpt-4o" } });
}, 120_000);

test("a line that is no message is answered, and the end of standard input ends the command", async () => {
  const { code, stdout } = await runCommand(["acp", "--url", "http://127.0.0.1:1"], { input: "no message\n" });
  expect({ code, answer: JSON.parse(stdout) }).toMatchObject({
    code: 0,
    answer: { id: null, error: { code: -32_700 } },
  });
});

test("kill -9 of the service in mid-sentence: no piece is lost, and none comes twice", async () => {
  const { provider, cluster, service } = await openService();
  const editor = await startEditor(service.url);
  const sessionId = await editor.begin();
  const restart = async (ended: Promise<unknown>, dying: Member): Promise<Member> => {
    await dying.kill();
    const next = await cluster.start();
    await ended;
    return next;
  };
  const speak =
    (...pieces: readonly string[]): Script =>
    async (wire) => {
      for (const piece of pieces) {
        wire.text(piece);
      }
      await wire.hang();
    };
  provider.respond(speak("Par", "is is"), answer("Paris is a city."));
  const first = editor.prompt(sessionId, "Paris?");
  await editor.textWith("is is");
  const second = await restart(first, service);
  expect(editor.text()).toBe("Paris is a city.");
  // A different text cannot be taken back: it is another message.
  const said = editor.updates.length;
  provider.respond(speak("Rome"), answer("Berlin."));
  const other = editor.prompt(sessionId, "Berlin?");
  await editor.textWith("Rome");
  await restart(other, second);
  const chunks = editor.updates.slice(said).flatMap((each) => ("messageId" in each ? [each] : []));
  expect(chunks).toMatchObject([{ content: { text: "Rome" } }, { content: { text: "Berlin." } }]);
  expect(chunks[0]?.messageId).not.toBe(chunks[1]?.messageId);
  expect(editor.stderr()).toContain("going on after");
  const next = await startEditor(service.url);
  await next.agent.request("session/load", { sessionId, cwd: "/", mcpServers: [] });
  expect(next.text()).toBe("Paris is a city.Berlin.");
}, 120_000);
