// Every route of the Agent Runner document, called by a program that uses only the document: one line for each answer. `node
// whole-life.ts <url> <secret>`

import { signRequest } from "./sign-request.ts";

const [url = "", secret = ""] = process.argv.slice(2);
const path = "/v1/sessions/my-custom-id";

async function call(method: string, target: string, headers: Record<string, string>, body = ""): Promise<void> {
  const response = await fetch(`${url}${target}`, { method, headers, ...(body !== "" && { body }) });
  const text = await response.text();
  process.stdout.write(`${method} ${target} ${response.status} ${response.headers.get("content-type")}\n${text}\n`);
}

async function callSigned(method: string, target: string, request?: object): Promise<void> {
  const body = request === undefined ? "" : JSON.stringify(request);
  await call(method, target, { "X-Client-ID": "my-app", ...signRequest(secret, body) }, body);
}

await call("GET", "/health", {});
await call("POST", "/v1/sessions", { "X-Client-ID": "my-app" }, '{"agent":{"name":"unsigned"}}');
await callSigned("POST", "/v1/sessions", { session_id: "my-custom-id", agent: { name: "code-reviewer" } });
await callSigned("POST", "/v1/sessions", { session_id: "my-custom-id", agent: { name: "code-reviewer" } });
await callSigned("GET", path);
await callSigned("POST", `${path}/messages`, { message: "" });
await callSigned("POST", `${path}/messages`, { message: "Look — ünïcödé <&> \u2028 too" });
await callSigned("GET", `${path}/stream`);
await callSigned("GET", path);
await callSigned("DELETE", path);
await callSigned("GET", path);
const once = { "X-Client-ID": "my-app", ...signRequest(secret, "") };
await call("GET", path, once);
await call("GET", path, once);
