// What the service signs for others is no credential for the service: a receiver cannot send it back, at any route, as any client.

import { request } from "node:http";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { openHost } from "../callbacks/stage.ts";
import { type CallbackCall, type CallbackHost, startCallbackHost } from "../fakes/callback-host.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { openProvider } from "../fixtures.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { type Route, routes } from "../harness/routes.ts";
import { startService, type TestService } from "../harness/service.ts";
import { signV1, signV2 } from "../harness/signing.ts";
import { until } from "../harness/wait.ts";

const secret = "the-secret-that-all-callers-of-this-test-share";
const authAdminToken = "the-admin-token-of-these-tests";
const carol = "carol";

interface Stage {
  readonly service: TestService;
  readonly host: CallbackHost;
}

let stage: Stage;

beforeEach(async () => {
  const provider = await openProvider();
  const host = await startCallbackHost({ secret });
  onTestFinished(() => host[Symbol.asyncDispose]());
  const service = await startService({
    authHmacSecret: secret,
    authAdminToken,
    securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"],
    openaiBaseUrl: provider.baseUrl,
    openaiKey: "key-of-the-provider",
  });
  provider.respond(callTools({ id: "call_1", name: "look_up", arguments: "{}" }), answer("done"));
  stage = { service, host };
});

/** Sends a request of the shared client `clientId`, signed as the document says. */
async function call(path: string, body: object, clientId: string): Promise<Record<string, string>> {
  const text = JSON.stringify(body);
  const headers = { ...signV1({ secret, clientId, path, body: text }), "content-type": "application/json" };
  const response = await fetch(`${stage.service.url}${path}`, { method: "POST", headers, body: text });
  expect(response.ok).toBe(true);
  return (await response.json()) as Record<string, string>;
}

/** Lets the service send a remote tool call and status callbacks for a session of bob. */
async function collectSigned(): Promise<readonly CallbackCall[]> {
  const { host } = stage;
  const tools = { remote: [{ name: "look_up", description: "looks up", parameters: { type: "object" } }] };
  const agent = { name: "bob's", model: "gpt-4o", tools };
  const { session_id } = await call("/v1/sessions", { agent, callback: { base_url: host.baseUrl } }, "bob");
  await call(`/v1/sessions/${session_id}/messages`, { message: "find it" }, "bob");
  await until("all callbacks", async () => host.told.some(({ body }) => body.includes('"completed"')));
  expect(host.calls).toHaveLength(1);
  expect(host.told.length).toBeGreaterThan(1);
  return [...host.calls, ...host.told];
}

/** The request of the attack: what was received, sent to a route of the service in the name of another client. */
async function replay({ httpMethod, path, contentType }: Route, { headers, body }: CallbackCall): Promise<number> {
  const hasBody = httpMethod !== "GET" && httpMethod !== "HEAD";
  const response = await fetch(`${stage.service.url}${path}`, {
    method: httpMethod,
    headers: {
      "content-type": contentType,
      "x-client-id": carol,
      "x-signature": String(headers["x-signature"]),
      "x-timestamp": String(headers["x-timestamp"]),
      "x-nonce": String(headers["x-nonce"]),
    },
    ...(hasBody && { body }),
  });
  // A stream of Connect has its error in its last envelope.
  const isRefused = response.status === 401 || (await response.text()).includes('"code":"unauthenticated"');
  return isRefused ? 401 : response.status;
}

describe("a signed request of the service", () => {
  test("is refused at every route that needs credentials, in the name of any client", async () => {
    const signed = await collectSigned();
    const accepted: string[] = [];
    for (const route of routes.filter(({ isPublic }) => !isPublic)) {
      for (const request of signed) {
        const status = await replay(route, request);
        if (status !== 401) {
          accepted.push(`${status} ${route.httpMethod} ${route.path}`);
        }
      }
    }
    expect(accepted).toEqual([]);
  });

  test("is never made for a client whose key AuthService created, and remote tools are refused to her", async () => {
    const { service } = stage;
    const admin = new GrpcClient(service.target, { authorization: `Bearer ${authAdminToken}` });
    const { key } = await admin.call(AuthService.method.createApiKey, { clientId: "mallory" });
    const mallory = new GrpcClient(service.target, { authorization: `Bearer ${key}` });
    const host = await openHost();
    const { sessionId } = await mallory.call(SessionService.method.createSession, {
      agent: { name: "mallory's", model: "demo" },
      callback: { baseUrl: host.baseUrl },
    });
    await mallory.call(SessionService.method.sendMessage, { sessionId, message: "hello pace=0 words=3" });
    await until("all callbacks", async () => host.told(sessionId).includes("completed"));
    expect(host.requests.map(({ headers }) => headers["x-signature"])).toEqual(host.requests.map(() => undefined));
    const remote = [{ name: "look_up", description: "looks up", parameters: '{"type":"object"}' }];
    const toolSession = await mallory.call(SessionService.method.createSession, {
      agent: { name: "mallory's", model: "demo", tools: { remote } },
      callback: { baseUrl: host.baseUrl },
    });
    await expect(
      mallory.call(SessionService.method.sendMessage, { sessionId: toolSession.sessionId, message: "find it" }),
    ).rejects.toMatchObject({ details: expect.stringContaining("auth.api_keys") });
  });
});

describe("a signed request", () => {
  test.each(["v1", "v2"] as const)("whose body nothing reads is refused (%s)", async (scheme) => {
    const { session_id } = await call("/v1/sessions", { agent: { name: "a" } }, carol);
    const sign = scheme === "v1" ? signV1 : signV2;
    const send = async (method: string, path: string, body: string | undefined): Promise<number> => {
      const signed = sign({ secret, clientId: carol, method, path, ...(body !== undefined && { body }) });
      const headers = { ...signed, ...(body !== undefined && { "content-length": Buffer.byteLength(body) }) };
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      // Not by fetch, which sends no body with a GET. `request` needs the length to frame one.
      const sent = request(`${stage.service.url}${path}`, { method, headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sent.on("error", reject);
      sent.end(body);
      return await promise;
    };
    const path = `/v1/sessions/${session_id}`;
    expect(await send("GET", path, '{"status":"running"}')).toBe(400);
    expect(await send("DELETE", path, '{"status":"running"}')).toBe(400);
    expect(await send("POST", `${path}:purge`, '{"status":"running"}')).toBe(400);
    const message = encodeURIComponent(JSON.stringify({ sessionId: session_id }));
    const rpc = `/${SessionService.typeName}/GetSession?connect=v1&encoding=json&message=${message}`;
    expect(await send("GET", rpc, '{"status":"running"}')).toBe(400);
    expect(await send("GET", rpc, undefined)).toBe(200);
    expect(await send("GET", path, undefined)).toBe(200);
    expect(await send("POST", `${path}:purge`, undefined)).toBe(200);
  });
});
