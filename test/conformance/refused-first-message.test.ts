// A refused first message, over each door that makes a session for it. Clients repeat refused calls, so each refusal would leave one more
// empty session.

import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { postRpc } from "../a2a/stage.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { ask } from "../mcp/stage.ts";
import { startConversation, startWithProvider } from "./stage.ts";
import { findSurface } from "./surfaces.ts";

const hello = { role: "user", content: "Hi" };
const post = (url: string, body: object) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...credentialsOf() },
    body: JSON.stringify(body),
  });

const doors: readonly (readonly [name: string, call: (url: string) => Promise<unknown>])[] = [
  ["OpenAI's Responses", async (url) => (await post(`${url}/v1/responses`, { model: "gpt-4o", input: "Hi" })).json()],
  [
    "a thread of Anthropic",
    async (url) => {
      const body = { model: "gpt-4o", max_tokens: 9, messages: [hello], thread: { type: "create" } };
      return (await post(`${url}/v1/messages`, body)).json();
    },
  ],
  ["MCP", async (url) => await ask(url, "tools/call", { name: "default", arguments: { message: "Hi" } })],
  [
    "A2A",
    async (url) => {
      const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "Hi" }] };
      return (await postRpc(url, "SendMessage", { message })).json();
    },
  ],
];

test.each(doors)("%s leaves no session behind", async (_, call) => {
  const { provider, service, client } = await startWithProvider({
    ...{ sessionsMaxConcurrent: 1, agentPresets: ['default={"model":"gpt-4o"}'] },
  });
  provider.respond((wire) => wire.hang());
  const { sessionId } = await startConversation(findSurface("gRPC").connect(service));
  expect(JSON.stringify(await call(service.url))).toContain("max concurrent");
  const { sessions } = await client.call(SessionService.method.listSessions, {});
  expect(sessions.map((session) => session.sessionId)).toEqual([sessionId]);
});
