// Programs written from the Agent Runner document alone, run by plain Node against a service that was started as the document
// says.

import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "vitest";
import { modelFlags } from "../conformance/stage.ts";
import { answer, callTools, type FakeProvider, type Script } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { openFolder, openProvider, test } from "../fixtures.ts";
import { testDatabase } from "../harness/database.ts";
import { type ServiceProcess, startProcess } from "../harness/process.ts";
import { startService } from "../harness/service.ts";
import { signRequest } from "./sign-request.ts";

const secret = "the secret of the document's reader";

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** Resolves when the program has ended by itself. */
async function run(program: string, ...args: readonly string[]): Promise<Output> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  return await promisify(execFile)(process.execPath, [path, ...args]);
}

/** Runs the document's client against a model with these scripts. */
async function runClient(...scripts: Script[]): Promise<Output> {
  const provider = await openProvider(...scripts);
  const service = await startService({ ...modelFlags(provider), authApiKeys: [], authHmacSecret: secret });
  return await run("client.ts", service.url, secret, "look around");
}

/** Starts a service with the document's variables, and one more for the address of its OpenAI. */
async function startAsDocumented({ baseUrl }: FakeProvider): Promise<ServiceProcess> {
  const directory = await openFolder();
  const [secretFile, keyFile] = [join(directory, "hmac_secret"), join(directory, "openai_key")] as const;
  await Promise.all([writeFile(secretFile, `${secret}\n`), writeFile(keyFile, "  sk-test \n")]);
  return await startProcess({
    DATABASE_URL: await testDatabase(),
    RUNNEL_AUTH_API_KEYS: "",
    RUNNEL_DEFAULTS_MODEL: "",
    RUNNEL_PROVIDERS_OPENAI_BASE_URL: baseUrl,
    AGENT_RUNNER_AUTH_HMAC_SECRET_FILE: secretFile,
    AGENT_RUNNER_PROVIDERS_OPENAI_KEY_FILE: keyFile,
    AGENT_RUNNER_CALLBACK_BASE_URL: "https://your-app.example/api/agent-runner",
  });
}

test("the quick start: variables and files of secrets are enough, and health needs no credentials", async () => {
  const provider = await openProvider(answer("Hello."));
  const service = await startAsDocumented(provider);
  const health = await fetch(`${service.url}/health`);
  expect(await health.json()).toEqual({ status: "ok" });
  const known = await fetch(`${service.url}/health`, { headers: signRequest(secret, "") });
  expect(await known.json()).toEqual({ status: "ok", active_sessions: 0, total_sessions: 0 });
  const { stdout } = await run("client.ts", service.url, secret, "say hello");
  expect(stdout).toMatch(/^Hello\.\nDone: completed in 1 turns \(\d+ms\)\n$/);
  const { headers, body } = await provider.request(0);
  expect([headers.authorization, body.model]).toEqual(["Bearer sk-test", "gpt-4o-mini"]);
  // The log does not contain the secrets.
  expect(service.log()).not.toMatch(/sk-test|the secret of/);
});

test("the document's JavaScript calls every route, signed, and gets the documented answers", async () => {
  const provider = await openProvider(answer("I found 3 issues"));
  const service = await startService({ ...modelFlags(provider), authApiKeys: [], authHmacSecret: secret });
  const { stdout, stderr } = await run("whole-life.ts", service.url, secret);
  expect(stderr).toBe("");
  const seen = stdout
    .replaceAll(/"duration_ms":\d+/g, '"duration_ms":1')
    .replaceAll(/"created_at":"[^"]+"/g, '"created_at":"T"')
    .replaceAll(/"usage":\{[^}]+\}/g, '"usage":{}')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}(?:\.\d+)?/g, "RUN");
  const session = "/v1/sessions/my-custom-id";
  const json = "application/json";
  const reviewer = '{"session_id":"my-custom-id","name":"code-reviewer","model":"","status"';
  expect(seen.replaceAll(/\n+/g, "\n").trimEnd().split("\n")).toEqual([
    ...[`GET /health 200 ${json}`, '{"status":"ok"}'],
    ...[`POST /v1/sessions 401 ${json}`, '{"error":"missing signature, timestamp, or nonce"}'],
    ...[`POST /v1/sessions 201 ${json}`, '{"session_id":"my-custom-id","status":"created"}'],
    ...[`POST /v1/sessions 409 ${json}`, '{"error":"session \\"my-custom-id\\" already exists"}'],
    ...[`GET ${session} 200 ${json}`, `${reviewer}:"created","created_at":"T"}`],
    ...[`POST ${session}/messages 400 ${json}`, '{"error":"message is required"}'],
    `POST ${session}/messages 202 ${json}`,
    '{"session_id":"my-custom-id","status":"running","tools_registered":[],"run_id":"RUN"}',
    `GET ${session}/stream 200 text/event-stream`,
    ": open",
    ...["id: RUN", "event: text", 'data: {"content":"I found 3 issues"}'],
    ...["id: RUN", "event: done"],
    'data: {"status":"completed","output":"I found 3 issues","turns":1,"duration_ms":1}',
    `GET ${session} 200 ${json}`,
    `${reviewer}:"completed","output":"I found 3 issues","turns":1,"duration_ms":1,"created_at":"T","latest_run_id":"RUN","usage":{}}`,
    ...[`DELETE ${session} 200 ${json}`, '{"status":"deleted"}'],
    ...[`GET ${session} 404 ${json}`, '{"error":"session not found"}'],
    ...[`GET ${session} 404 ${json}`, '{"error":"session not found"}'],
    ...[`GET ${session} 401 ${json}`, '{"error":"replayed request"}'],
  ]);
  expect((await provider.request(0)).body.messages.at(-1)?.content).toBe("Look — ünïcödé <&> \u2028 too");
});

test("the document's client prints the text, the tool calls and the end of a run", async () => {
  const { stdout, stderr } = await runClient(
    callTools({ id: "call_1", name: "list_dir", arguments: "{}" }),
    answer("There is nothing here."),
  );
  expect(stdout).toMatch(/^\n\[Calling list_dir\]\nThere is nothing here\.\nDone: completed in 2 turns \(\d+ms\)\n$/);
  expect(stderr).toBe("");
});

test("the document's client prints why a run failed", async () => {
  const { stdout, stderr } = await runClient(fail(401, "bad key"));
  expect(stdout).toBe("");
  expect(stderr).toBe("Agent error: failed to send message: API error (status 401): bad key\n");
});

test("the document's client prints the reason of a refusal when its secret is wrong", async () => {
  const service = await startService({ authApiKeys: [], authHmacSecret: "another secret than that" });
  await expect(run("client.ts", service.url, secret, "look around")).rejects.toThrow(
    'Error: 401: {"error":"invalid signature"}',
  );
});

// The client sends the message before it opens the stream, as every client of the document does. The model has sent everything
// long before the client reads.
test("two hundred pieces at once arrive whole, every time", async () => {
  const words = Array.from({ length: 200 }, (_, index) => `word${index} `);
  const burst: Script = (wire) => {
    words.forEach(wire.text);
    wire.done("stop");
  };
  const provider = await openProvider(...Array<Script>(5).fill(burst));
  const service = await startService({ ...modelFlags(provider), authApiKeys: [], authHmacSecret: secret });
  for (let round = 0; round < 5; round++) {
    const { stdout, stderr } = await run("client.ts", service.url, secret, "speak");
    expect(stderr).toBe("");
    expect(stdout.startsWith(words.join(""))).toBe(true);
    expect(stdout.slice(words.join("").length)).toMatch(/^\nDone: completed in 1 turns \(\d+ms\)\n$/);
  }
});

test("a reader of an idle session does not delay a stop", async ({ provider }) => {
  const service = await startAsDocumented(provider);
  const body = '{"session_id":"idle","agent":{"name":"idle"}}';
  const sign = (text: string) => ({ "X-Client-ID": "my-app", ...signRequest(secret, text) });
  await fetch(`${service.url}/v1/sessions`, { method: "POST", headers: sign(body), body });
  const stream = await fetch(`${service.url}/v1/sessions/idle/stream`, { headers: sign("") });
  expect(stream.status).toBe(200);
  expect(await service.stop()).toBe(0);
  expect(await stream.text()).toBe(": open\n\n");
});
