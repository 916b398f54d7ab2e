// Access tokens of the operator's authorization server (RFC 9068): whose they are, which are refused, and how a client finds the server.

import { createHmac, type JsonWebKey } from "node:crypto";
import { discoverOAuthProtectedResourceMetadata, extractResourceMetadataUrl } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { readPublicKeys } from "../../src/app/read-public-keys.ts";
import { AccessTokens } from "../../src/platform/auth/access-tokens.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { readAuthorizationServer } from "../../src/platform/config/authorization-server.ts";
import { openEgress } from "../egress/internet.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { startService } from "../harness/service.ts";
import {
  clients,
  exceptions,
  issuer,
  nowSec,
  openKeys,
  type Pair,
  pairOf,
  resource,
  rightClaims,
  tokenOf,
} from "./authorization-server.ts";

async function openStage(pairs: readonly Pair[]) {
  const { url: jwksUrl } = await openKeys(pairs);
  const flags = { authAuthorizationServer: { issuer, jwksUrl, resource, clients }, securityCallbackAllow: exceptions };
  const service = await startService({ ...flags, rateLimitFailuresRps: 0 }, { own: true });
  const get = (path: string, headers: Record<string, string>) => fetch(`${service.url}${path}`, { headers });
  return {
    service,
    get,
    /** Returns the status of a call with a token. */
    use: async (token: string, more: Record<string, string> = {}): Promise<number> => {
      const response = await get("/v1/sessions", { authorization: `Bearer ${token}`, ...more });
      await response.body?.cancel();
      return response.status;
    },
  };
}

test("a token of a subject that the settings name is its client's credential, over REST and at /mcp", async () => {
  const pair = pairOf("k1");
  const { service, use, get } = await openStage([pair]);
  const body = JSON.stringify({ agent: { name: "mine" } });
  await fetch(`${service.url}/v1/sessions`, { method: "POST", body, headers: credentialsOf() });
  const list = async (headers: Record<string, string>) =>
    ((await (await get("/v1/sessions", headers)).json()) as { sessions?: object[] }).sessions ?? [];
  expect(await list({ authorization: `Bearer ${tokenOf(pair)}` })).toMatchObject(await list(credentialsOf()));
  expect(await list({ authorization: `Bearer ${tokenOf(pair)}` })).toHaveLength(1);
  expect(await list({ authorization: `Bearer ${tokenOf(pair, { sub: "4712" })}` })).toEqual([]);
  expect(await use(tokenOf(pair), { "x-client-id": "tenant-a" })).toBe(401);
  const call = await fetch(`${service.url}/mcp`, {
    method: "POST",
    headers: {
      ...{ authorization: `Bearer ${tokenOf(pair)}`, "content-type": "application/json" },
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } }),
  });
  expect(call.status).toBe(200);
});

test.each(["ES256", "RS256", "EdDSA"] as const)("a key of %s is taken, and so is a list of audiences", async (kind) => {
  const pair = pairOf("k1", kind);
  const { use } = await openStage([pair]);
  expect(await use(tokenOf(pair))).toBe(200);
  expect(await use(tokenOf(pair, { aud: ["https://other.example", resource] }))).toBe(200);
});

describe("a token is refused", () => {
  const rsa = pairOf("rsa", "RS256");
  const pair = pairOf("k1");
  const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  const parts = (header: object) => `${encode({ typ: "at+jwt", ...header })}.${encode(rightClaims())}`;
  const jwkOf = ({ publicKey }: Pair): JsonWebKey => publicKey.export({ format: "jwk" });

  /** Signed by the public key of the server as if it were a secret that both know. */
  function confused(): string {
    const signed = parts({ alg: "HS256", kid: "rsa" });
    const secret = rsa.publicKey.export({ type: "spki", format: "pem" });
    return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
  }

  test.each<[string, () => string]>([
    ["of another issuer", () => tokenOf(pair, { iss: "https://id.example/" })],
    ["for another service", () => tokenOf(pair, { aud: "https://runnel.example" })],
    ["for every service", () => tokenOf(pair, { aud: undefined })],
    ["that is over", () => tokenOf(pair, { exp: nowSec() - 120 })],
    ["that never ends", () => tokenOf(pair, { exp: undefined })],
    ["that ends at a text", () => tokenOf(pair, { exp: "9999999999" })],
    ["that begins later", () => tokenOf(pair, { nbf: nowSec() + 600 })],
    ["of the future", () => tokenOf(pair, { iat: nowSec() + 600 })],
    ["of an unknown subject", () => tokenOf(pair, { sub: "4713" })],
    ["of a subject like a member of every object", () => tokenOf(pair, { sub: "constructor" })],
    ["without a subject", () => tokenOf(pair, { sub: undefined })],
    ["that is an id token", () => tokenOf(pair, {}, { typ: "JWT" })],
    ["with an extension that must be understood", () => tokenOf(pair, {}, { crit: ["b64"], b64: false })],
    ["of another key", () => tokenOf(pairOf("k1"))],
    ["of a key that it brings along", () => tokenOf({ ...pairOf("k2") }, {}, { jwk: jwkOf(pairOf("k2")) })],
    ["with another algorithm than its key's", () => tokenOf(pair, {}, { alg: "RS256" })],
    ["without a signature", () => `${parts({ alg: "none", kid: "k1" })}.`],
    ["with an empty signature", () => `${parts({ alg: "ES256", kid: "k1" })}.AA`],
    ["that takes a public key for a secret", confused],
    ["with changed claims", () => tokenOf(pair).replace(/\.[^.]+\./, `.${encode({ ...rightClaims(), sub: "4712" })}.`)],
    ["that is too long", () => tokenOf(pair, { more: "x".repeat(8_192) })],
  ])("%s", async (_, make) => {
    const { use } = await openStage([rsa, pair]);
    expect(await use(make())).toBe(401);
    expect(await use(tokenOf(pair))).toBe(200);
  });
});

test("the keys are asked for seldom, whatever tokens say, and outlast an outage of their server", async () => {
  const [pair, next] = [pairOf("k1"), pairOf("k2")];
  const keys = await openKeys([pair]);
  let laterMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + laterMs };
  const server = { issuer, jwksUrl: keys.url, resource, clients };
  const egress = openEgress({ exceptions });
  const tokens = new AccessTokens({ server, clock, readKeys: () => readPublicKeys(keys.url, egress) });
  const find = async (by: Pair) => (await tokens.open(tokenOf(by)))?.clientId;
  keys.isDown = true;
  for (let count = 0; count < 5; count++) {
    await expect(find(pair)).rejects.toMatchObject({ reason: "AUTHORIZATION_SERVER_UNREACHABLE", httpStatus: 503 });
  }
  expect(keys.asked).toBe(1);
  keys.isDown = false;
  laterMs += 6_000;
  expect(await Promise.all([find(pair), find(pair)])).toEqual(["local", "local"]);
  expect(keys.asked).toBe(2);
  for (let count = 0; count < 20; count++) {
    expect(await find(pairOf(`unknown-${count}`))).toBeUndefined();
  }
  expect(keys.asked).toBe(2);
  keys.pairs = [pair, next];
  laterMs += 31_000;
  expect(await find(next)).toBe("local");
  expect(keys.asked).toBe(3);
  keys.isDown = true;
  laterMs += 3_600_000;
  expect(await find(pair)).toBe("local");
  expect(await find(next)).toBe("local");
  keys.isDown = false;
  keys.pairs = [next];
  laterMs += 601_000;
  expect(await find(pair)).toBeUndefined();
  expect(await find(next)).toBe("local");
});

test("a client finds the authorization server by the metadata that a refusal names", async () => {
  const { service, get } = await openStage([pairOf("k1")]);
  const refused = await fetch(`${service.url}/mcp`, { method: "POST", body: "{}" });
  expect(refused.status).toBe(401);
  const named = "https://runnel.example/.well-known/oauth-protected-resource/mcp";
  expect(refused.headers.get("www-authenticate")).toBe(`Bearer realm="runnel", resource_metadata="${named}"`);
  expect(extractResourceMetadataUrl(refused)?.href).toBe(named);
  const metadata = {
    ...{ resource, authorization_servers: [issuer] },
    ...{ bearer_methods_supported: ["header"], resource_name: "Runnel" },
  };
  // The official client asks at the address of this service: the test's has no such name.
  expect(await discoverOAuthProtectedResourceMetadata(`${service.url}/mcp`)).toEqual(metadata);
  expect(await (await get("/.well-known/oauth-protected-resource", {})).json()).toEqual(metadata);
});

test("without an authorization server no client goes looking for one", async () => {
  const { url } = await startService();
  const refused = await fetch(`${url}/mcp`, { method: "POST", body: "{}" });
  expect(refused.headers.get("www-authenticate")).toBe('Bearer realm="runnel"');
  expect((await fetch(`${url}/.well-known/oauth-protected-resource/mcp`)).status).toBe(404);
  const token = tokenOf(pairOf("k1"));
  expect((await fetch(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
});

test.each([
  "{}",
  "no object",
  JSON.stringify({ issuer, jwks_url: `${issuer}/jwks`, resource, clients: {} }),
  JSON.stringify({ issuer, jwks_url: "http://id.example/jwks", resource, clients: { 1: "a" } }),
  JSON.stringify({ issuer, jwks_url: "file:///etc/passwd", resource, clients: { 1: "a" } }),
  JSON.stringify({ issuer, jwks_url: `${issuer}/jwks`, resource: `${resource}#part`, clients: { 1: "a" } }),
  JSON.stringify({ issuer, jwks_url: `${issuer}/jwks`, resource, clients: { 1: 2 } }),
  JSON.stringify({ issuer, jwks_url: `${issuer}/jwks`, resource, clients: { 1: "a" }, more: 1 }),
])("the setting %s is invalid", (text) => {
  expect(readAuthorizationServer(text)).toBeUndefined();
});
