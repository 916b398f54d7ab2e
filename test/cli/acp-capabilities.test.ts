// What `runnel acp` announces to an editor is what it does: each capability is used by the official client, and every other one is refused.

import type { AgentCapabilities } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { answer } from "../fakes/provider.ts";
import { setMcpStage } from "../mcp/stage.ts";
import { startEditor, type TestEditor } from "./acp-stage.ts";

const methodNotFound = -32_601;
const invalidParams = -32_602;

type Own<T> = Exclude<keyof NonNullable<T>, "_meta">;

/** Every capability of an agent. */
type Capability =
  | "loadSession"
  | `prompt.${Own<AgentCapabilities["promptCapabilities"]>}`
  | `mcp.${Own<AgentCapabilities["mcpCapabilities"]>}`
  | `session.${Own<AgentCapabilities["sessionCapabilities"]>}`
  | `auth.${Own<AgentCapabilities["auth"]>}`;

interface Stage {
  readonly url: string;
  readonly editor: TestEditor;
  /** The session with one prompt. */
  readonly sessionId: string;
  /** The bodies of the requests to the provider, as text. */
  readonly sent: () => string;
}

interface Case {
  readonly isAnnounced: boolean;
  /** Uses the capability, or shows its refusal. */
  readonly check: (stage: Stage) => Promise<void>;
}

const place = { cwd: "/project", mcpServers: [] };
const uses = (check: Case["check"]): Case => ({ isAnnounced: true, check });
const refuses = (code: number, method: string, params: (sessionId: string) => object, words = ""): Case => ({
  isAnnounced: false,
  check: async ({ editor, sessionId }) => {
    const error = await editor.refused(method as never, params(sessionId));
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) });
  },
});
const promptOf = (block: object) => (sessionId: string) => ({ sessionId, prompt: [block] });
const withServer = (type: string) => () => ({
  cwd: "/project",
  mcpServers: [{ type, name: "a", url: "https://a.example/mcp", headers: [] }],
});

/** Opens the session in another editor, and returns the texts of the user that come back. */
async function reopen(
  { url, sessionId }: Stage,
  method: "session/load" | "session/resume",
): Promise<readonly string[]> {
  const other = await startEditor(url);
  await other.agent.request(method, { sessionId, ...place });
  expect(await other.prompt(sessionId, "again")).toEqual({ stopReason: "end_turn" });
  return other.updates.flatMap((update) =>
    update.sessionUpdate === "user_message_chunk" && update.content.type === "text" ? [update.content.text] : [],
  );
}

/** A capability that the SDK adds does not compile here. */
const cases: Record<Capability, Case> = {
  loadSession: uses(async (stage) => expect(await reopen(stage, "session/load")).toEqual(["hello"])),
  "session.resume": uses(async (stage) => expect(await reopen(stage, "session/resume")).toEqual([])),
  "session.list": uses(async ({ editor, sessionId }) => {
    const { sessions } = await editor.agent.request("session/list", {});
    expect(sessions).toMatchObject([{ sessionId }]);
  }),
  "session.delete": uses(async ({ editor, sessionId }) => {
    await editor.agent.request("session/delete", { sessionId });
    expect(await editor.agent.request("session/list", {})).toMatchObject({ sessions: [] });
  }),
  "session.close": refuses(methodNotFound, "session/close", (sessionId) => ({ sessionId })),
  "session.additionalDirectories": refuses(
    invalidParams,
    "session/new",
    () => ({ ...place, additionalDirectories: ["/other"] }),
    "additionalDirectories",
  ),
  "prompt.image": uses(async ({ editor, sessionId, sent }) => {
    const prompt = [{ type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" } as const];
    await editor.agent.request("session/prompt", { sessionId, prompt });
    expect(sent()).toContain("data:image/png;base64,iVBORw0KGgo=");
  }),
  "prompt.embeddedContext": uses(async ({ editor, sessionId, sent }) => {
    const resource = { uri: "file:///a.ts", text: "const answer = 42;" };
    await editor.agent.request("session/prompt", { sessionId, prompt: [{ type: "resource", resource }] });
    expect(sent()).toContain("file:///a.ts:\\n\\nconst answer = 42;");
  }),
  "prompt.audio": refuses(
    invalidParams,
    "session/prompt",
    promptOf({ type: "audio", mimeType: "audio/wav", data: "AA==" }),
    "audio",
  ),
  "mcp.http": refuses(invalidParams, "session/new", withServer("http"), "mcpServers[0]"),
  "mcp.sse": refuses(invalidParams, "session/new", withServer("sse"), "mcpServers[0]"),
  "auth.logout": refuses(methodNotFound, "logout", () => ({})),
};

async function setStage(): Promise<Stage> {
  const { service, provider } = await setMcpStage();
  provider.respond(answer("Hi."), answer("Hi again."), answer("Hi again."));
  const editor = await startEditor(service.url);
  const sessionId = await editor.begin();
  await editor.prompt(sessionId, "hello");
  const sent = () => JSON.stringify(provider.requests.map(({ body }) => body));
  return { url: service.url, editor, sessionId, sent };
}

test("initialize announces these capabilities, and no way to log in", async () => {
  const { editor } = await setStage();
  const initialize = await editor.agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { agentCapabilities: known = {}, authMethods = [] } = initialize;
  const groups = {
    prompt: known.promptCapabilities,
    mcp: known.mcpCapabilities,
    session: known.sessionCapabilities,
    auth: known.auth,
  };
  const announced = Object.entries(groups).flatMap(([group, names]) =>
    Object.entries(names ?? {}).flatMap(([name, has]) => (has === false || has === null ? [] : [`${group}.${name}`])),
  );
  const expected = Object.entries(cases).flatMap(([name, { isAnnounced }]) => (isAnnounced ? [name] : []));
  expect([...(known.loadSession === true ? ["loadSession"] : []), ...announced].toSorted()).toEqual(
    expected.toSorted(),
  );
  expect(authMethods).toEqual([]);
  expect(await editor.refused("authenticate", { methodId: "any" })).toMatchObject({ code: methodNotFound });
  // Modes are not announced by a session.
  const { sessionId, modes } = await editor.agent.request("session/new", { cwd: "/project", mcpServers: [] });
  expect(modes).toBeUndefined();
  const mode = { sessionId, modeId: "any" };
  expect(await editor.refused("session/set_mode", mode)).toMatchObject({ code: methodNotFound });
});

test.each(Object.entries(cases))("%s", async (_, { check }) => {
  await check(await setStage());
});
