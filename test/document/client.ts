// A client written from the Agent Runner document alone: it signs as the document's JavaScript does, makes a session, sends a
// task and prints the events of its EventSource. `node client.ts <url> <secret> <task>`

import { EventSource } from "eventsource";
import { signRequest } from "./sign-request.ts";

const [url = "", secret = "", task = ""] = process.argv.slice(2);
const clientId = { "X-Client-ID": "my-app" };

async function post(path: string, request: object): Promise<{ session_id: string }> {
  const body = JSON.stringify(request);
  const headers = { "Content-Type": "application/json", ...clientId, ...signRequest(secret, body) };
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body });
  if (!response.ok) {
    throw new Error(`${response.status}: ${await response.text()}`);
  }
  return (await response.json()) as { session_id: string };
}

const { session_id: sessionId } = await post("/v1/sessions", {
  agent: { name: "sample", tools: { builtin: ["list_dir"] } },
});
await post(`/v1/sessions/${sessionId}/messages`, { message: task });

const headers = { ...clientId, ...signRequest(secret, "") };
const eventSource = new EventSource(`${url}/v1/sessions/${sessionId}/stream`, {
  fetch: (target, init) => fetch(target, { ...init, headers: { ...init.headers, ...headers } }),
});

eventSource.addEventListener("text", (event) => {
  const { content } = JSON.parse(event.data);
  process.stdout.write(content);
});

eventSource.addEventListener("tool_call", (event) => {
  const { tool } = JSON.parse(event.data);
  process.stdout.write(`\n[Calling ${tool}]\n`);
});

eventSource.addEventListener("done", (event) => {
  const { status, turns, duration_ms: durationMs } = JSON.parse(event.data);
  process.stdout.write(`\nDone: ${status} in ${turns} turns (${durationMs}ms)\n`);
  eventSource.close();
});

eventSource.addEventListener("error", (event) => {
  const { message } = JSON.parse((event as MessageEvent).data);
  process.stderr.write(`Agent error: ${message}\n`);
  eventSource.close();
});
