// Servers of the settings with credentials of the service: an access token comes from the endpoint of the settings, and goes to the server
// alone.

import { generateKeyPairSync, type KeyObject, verify } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createPrivateKeyJwtAuth } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { readMcpServers } from "../../src/platform/config/mcp-servers.ts";
import { openModernByHand } from "./modern-by-hand.ts";
import { openRun } from "./stage.ts";

interface Asked {
  readonly authorization: string;
  readonly form: Readonly<Record<string, string>>;
}

/** Opens a token endpoint. `answer` gets the number of the request. */
async function openEndpoint(answer: (count: number) => object | number) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    asked.push({ authorization: request.headers.authorization ?? "", form });
    const given = answer(asked.length);
    const headers = { "content-type": "application/json", location: "/elsewhere" };
    response.writeHead(typeof given === "number" ? given : 200, headers);
    response.end(JSON.stringify(typeof given === "number" ? { error: "invalid_client" } : given));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`, asked };
}

const secret = "a-secret-4711-of-the-service";

function settingsOf(url: string, tokenUrl: string, more: object = {}) {
  const oauth = { token_url: tokenUrl, client_id: "runnel:1", client_secret: secret, scope: "read", ...more };
  return readMcpServers(`srv=${JSON.stringify({ url, oauth })}`) ?? expect.fail("the line is valid");
}

const hi = { resultType: "complete", content: [{ type: "text", text: "hi" }] };

test("a server gets an access token, for which the service asks once", async () => {
  const endpoint = await openEndpoint((count) => ({ access_token: `token-number-${count}`, expires_in: 3_600 }));
  const server = await openModernByHand(["say"], { "tools/call": () => hi });
  const run = await openRun([{}], { settings: settingsOf(server.url, endpoint.url) });
  expect(await run.call("srv_say")).toEqual({ content: "hi" });
  expect(await run.call("srv_say")).toEqual({ content: "hi" });
  expect(new Set(server.requests.map(({ headers }) => headers.authorization))).toEqual(
    new Set(["Bearer token-number-1"]),
  );
  const basic = Buffer.from(`runnel%3A1:${secret}`).toString("base64");
  const form = { grant_type: "client_credentials", resource: server.url, scope: "read" };
  expect(endpoint.asked).toEqual([{ authorization: `Basic ${basic}`, form }]);
  expect(JSON.stringify(server.requests)).not.toContain(secret);
});

const pem = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString();

describe("a private key", () => {
  const kinds = {
    ES256: () => generateKeyPairSync("ec", { namedCurve: "prime256v1" }),
    ES384: () => generateKeyPairSync("ec", { namedCurve: "secp384r1" }),
    RS256: () => generateKeyPairSync("rsa", { modulusLength: 2_048 }),
    EdDSA: () => generateKeyPairSync("ed25519"),
  };

  /** The parts of a token, whose signature is valid. */
  function readToken(token: string, key: KeyObject) {
    const [header = "", claims = "", signature = ""] = token.split(".");
    const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
    const { alg } = read(header);
    const hash = alg === "EdDSA" ? null : `sha${alg.slice(2)}`;
    const signed = Buffer.from(`${header}.${claims}`);
    const isValid = verify(hash, signed, { key, dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url"));
    return { isValid, header: read(header), claims: read(claims) };
  }

  test.each(["ES256", "ES384", "RS256", "EdDSA"] as const)(
    "of %s signs an assertion like the official client's",
    async (alg) => {
      const { privateKey, publicKey } = kinds[alg]();
      const endpoint = await openEndpoint((count) => ({ access_token: `token-number-${count}`, expires_in: 0 }));
      const server = await openModernByHand(["say"], { "tools/call": () => hi });
      const issuer = "https://id.example";
      const proof = { client_secret: undefined, private_key: pem(privateKey), key_id: "key-1", issuer };
      await openRun([{}], { settings: settingsOf(server.url, endpoint.url, proof) });
      const assertions = endpoint.asked.map(({ form }) => form.client_assertion ?? "");
      expect(assertions.length).toBeGreaterThan(1);
      expect(new Set(assertions.map((each) => readToken(each, publicKey).claims.jti)).size).toBe(assertions.length);
      const [{ authorization, form } = expect.fail("the endpoint is asked")] = endpoint.asked;
      const own = readToken(assertions[0] ?? "", publicKey);
      const params = new URLSearchParams();
      // The official client has no Ed25519: its assertion is compared in all but the signature.
      const theirs = alg === "EdDSA" ? kinds.ES256() : { privateKey, publicKey };
      const options = { issuer: "runnel:1", subject: "runnel:1", privateKey: pem(theirs.privateKey), audience: issuer };
      const official = createPrivateKeyJwtAuth({ ...options, alg: alg === "EdDSA" ? "ES256" : alg });
      await official(new Headers(), params, endpoint.url);
      const reference = readToken(params.get("client_assertion") ?? "", theirs.publicKey);
      expect(own).toEqual({
        isValid: reference.isValid,
        header: { ...reference.header, alg, kid: "key-1" },
        claims: {
          ...reference.claims,
          ...{ jti: expect.any(String), iat: expect.any(Number), exp: own.claims.iat + 120 },
        },
      });
      expect(Math.abs(own.claims.iat - reference.claims.iat)).toBeLessThan(60);
      expect(authorization).toBe("");
      expect(form).toEqual({
        ...{ grant_type: "client_credentials", resource: server.url, scope: "read" },
        client_assertion_type: params.get("client_assertion_type"),
        client_assertion: expect.any(String),
      });
      expect(JSON.stringify([endpoint.asked, server.requests])).not.toContain(pem(privateKey).split("\n")[1]);
    },
  );

  test("is in no result", async () => {
    const { privateKey } = kinds.ES256();
    const [, line = ""] = pem(privateKey).split("\n");
    const endpoint = await openEndpoint(() => ({ access_token: "a-token-0815-of-the-endpoint" }));
    const server = await openModernByHand(["leak"], {
      "tools/call": () => ({ resultType: "complete", content: [{ type: "text", text: `I know ${line}` }] }),
    });
    const proof = { client_secret: undefined, private_key: pem(privateKey), issuer: "https://id.example" };
    const run = await openRun([{}], { settings: settingsOf(server.url, endpoint.url, proof) });
    expect(await run.call("srv_leak")).toEqual({ content: "I know [redacted]" });
  });

  const issuer = "https://id.example";
  const weak = generateKeyPairSync("rsa", { modulusLength: 1_024 });
  const unsuited = generateKeyPairSync("x25519");
  test.each([
    ["no key", { private_key: "secret", issuer }],
    ["a public key", { private_key: kinds.ES256().publicKey.export({ type: "spki", format: "pem" }), issuer }],
    ["a weak key", { private_key: pem(weak.privateKey), issuer }],
    ["a key that signs nothing", { private_key: pem(unsuited.privateKey), issuer }],
    ["no issuer", { private_key: pem(kinds.ES256().privateKey) }],
    ["a secret, too", { private_key: pem(kinds.ES256().privateKey), issuer, client_secret: "b" }],
  ])("is refused in the settings: %s", (_, proof) => {
    const oauth = { token_url: "https://id.example/token", client_id: "a", ...proof };
    expect(readMcpServers(`srv=${JSON.stringify({ url: "https://mcp.example", oauth })}`)).toBeUndefined();
  });
});

test("a token that the server refuses is replaced once, and one that is over before it is used", async () => {
  const endpoint = await openEndpoint((count) => ({ access_token: `token-number-${count}`, expires_in: 3_600 }));
  let isValid = (token: string): boolean => token.endsWith("1");
  const server = await openModernByHand(["say"], { "tools/call": () => hi }, {}, ({ headers }) =>
    isValid(headers.authorization ?? "") ? undefined : 401,
  );
  const run = await openRun([{}], { settings: settingsOf(server.url, endpoint.url) });
  isValid = (token) => token.endsWith("2");
  expect(await run.call("srv_say")).toEqual({ content: "hi" });
  isValid = () => false;
  expect(await run.call("srv_say")).toEqual({ error: expect.stringContaining("the server answered 401") });
  expect(endpoint.asked).toHaveLength(3);
  isValid = () => true;
  for (const expires_in of [0, "0"]) {
    const short = await openEndpoint((count) => ({ access_token: `short-number-${count}`, expires_in }));
    await openRun([{}], { settings: settingsOf(server.url, short.url) });
    expect(short.asked).toHaveLength(2);
  }
});

test("a result hides the token and the secret", async () => {
  const endpoint = await openEndpoint(() => ({ access_token: "a-token-0815-of-the-endpoint" }));
  const told = `a-token-0815-of-the-endpoint and ${secret}`;
  const server = await openModernByHand(["leak"], {
    "tools/call": () => ({ resultType: "complete", content: [{ type: "text", text: told }] }),
  });
  const run = await openRun([{}], { settings: settingsOf(server.url, endpoint.url) });
  expect(await run.call("srv_leak")).toEqual({ content: "[redacted] and [redacted]" });
});

test.each([
  [() => 401, "the token endpoint answered 401: check oauth in mcp.servers"],
  [() => ({ token: "wrong" }), "the token endpoint answered without an access_token"],
])("an endpoint that gives no token fails the run with the reason", async (answer, problem) => {
  const endpoint = await openEndpoint(answer);
  const server = await openModernByHand(["say"], {});
  const opening = openRun([{}], { settings: settingsOf(server.url, endpoint.url) });
  await expect(opening).rejects.toThrow(`mcp server "srv": ${problem}`);
  expect(server.requests).toEqual([]);
});

test("an endpoint that leads elsewhere, or to a private address, gets nothing more", async () => {
  const endpoint = await openEndpoint(() => 307);
  const server = await openModernByHand(["say"], {});
  const opening = openRun([{}], { settings: settingsOf(server.url, endpoint.url) });
  await expect(opening).rejects.toThrow("the server answered 307: redirects are not followed");
  expect(endpoint.asked).toHaveLength(1);
  await expect(openRun([{}], { settings: settingsOf(server.url, "http://169.254.169.254/token") })).rejects.toThrow(
    "not allowed",
  );
});

test.each([
  { oauth: {} },
  { oauth: { token_url: "no url", client_id: "a", client_secret: "b" } },
  { oauth: { token_url: "https://id.example/token", client_id: "a", client_secret: "b", password: "c" } },
  {
    oauth: { token_url: "https://id.example/token", client_id: "a", client_secret: "b" },
    headers: { Authorization: "c" },
  },
])("the setting %j is invalid", (fields) => {
  expect(readMcpServers(`srv=${JSON.stringify({ url: "https://mcp.example", ...fields })}`)).toBeUndefined();
});
