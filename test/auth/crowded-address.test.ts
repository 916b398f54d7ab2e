// Many clients behind one address, as behind a proxy or a NAT: mistakes of some cost the others nothing.

import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { systemClock } from "../../src/platform/base/clock.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { credentialsOf, keyOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService, type TestService } from "../harness/service.ts";
import { signV1 } from "../harness/signing.ts";
import { until } from "../harness/wait.ts";

const timeoutMs = 120_000;
const adminToken = "the-admin-token-of-these-tests";
/** Stands still, so that an empty bucket stays empty. */
const stillClock = { ...systemClock, monotonicMs: () => 0 };
const limits: Partial<Config> = { rateLimitFailuresRps: 20, rateLimitBurst: 40, authAdminToken: adminToken };

const clientIds = ["local", "stranger", "tenant-a", "tenant-b"];
const path = "/v1/sessions";

async function statusOf(service: TestService, headers: Record<string, string>, body?: string): Promise<number> {
  const init = body === undefined ? { headers } : { method: "POST", headers, body };
  const response = await fetch(`${service.url}${path}`, init);
  await response.arrayBuffer();
  return response.status;
}

const wrong: readonly (() => Record<string, string>)[] = [
  () => ({}),
  () => ({ authorization: "Bearer guess" }),
  () => ({ authorization: `Bearer rk_${randomBytes(32).toString("base64url")}` }),
  () => signV1({ secret: "not the secret of anyone", clientId: "local", path, body: createBody }),
  () => ({ ...signV1({ secret: keyOf(), clientId: "local", path, body: createBody }), "x-timestamp": "1" }),
];
const createBody = '{"agent":{"name":"crowded"}}';

/** A key that the service made and stores in its database. */
async function makeKey({ target }: TestService): Promise<string> {
  const admin = new GrpcClient(target, { authorization: `Bearer ${adminToken}` });
  return (await admin.call(AuthService.method.createApiKey, { clientId: "made", displayName: "crowded" })).key;
}

test("authenticated clients are served despite any failed attempts from the same address", {
  timeout: timeoutMs,
}, async () => {
  const service = await startService(limits, { clock: stillClock });
  const made = await makeKey(service);
  const failed: number[] = [];
  const served: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const attempts = Array.from({ length: 6 }, () => wrong.map((headers) => statusOf(service, headers(), createBody)));
    const signed = clientIds.map((clientId) =>
      statusOf(service, signV1({ secret: keyOf(clientId), clientId, path, body: createBody }), createBody),
    );
    const withKeys = [{ authorization: `Bearer ${made}` }, credentialsOf()].map((headers) =>
      statusOf(service, headers),
    );
    served.push(...(await Promise.all([...signed, ...withKeys])));
    failed.push(...(await Promise.all(attempts.flat())));
  }
  expect(served.filter((status) => status !== 200 && status !== 201)).toEqual([]);
  expect(served).toHaveLength(20 * 6);
  // The bucket of 40 failures does not refill, because the clock stands still.
  expect(failed.filter((status) => status === 401)).toHaveLength(40);
  expect(failed.filter((status) => status === 429)).toHaveLength(20 * 6 * wrong.length - 40);
});

test("slow bodies with wrong signatures leave room for correctly signed requests", {
  timeout: timeoutMs,
}, async () => {
  const service = await startService(limits, { clock: stillClock });
  const peers = holdBodies(service, { count: 60, contentLength: 10_000_000, sentBytes: 2_000_000 });
  await until("the bodies to be on their way", () => peers.sentBytes() >= 60 * 2_000_000);
  for (const size of [10, 100_000, 5_000_000, 10_000_000]) {
    for (const clientId of clientIds) {
      const body = `{"agent":{"name":"crowded"},"filling":"${"x".repeat(size)}"}`;
      const status = await statusOf(service, signV1({ secret: keyOf(clientId), clientId, path, body }), body);
      expect(status, `${size} bytes of ${clientId}`).toBe(201);
      peers.trickle();
    }
  }
});

test("small bodies that never end leave room as well", { timeout: timeoutMs }, async () => {
  const service = await startService(limits, { clock: stillClock });
  const peers = holdBodies(service, { count: 1_500, contentLength: 16_000, sentBytes: 15_000 });
  await until("the bodies to be on their way", () => peers.sentBytes() >= 1_500 * 15_000);
  for (const clientId of clientIds) {
    const headers = signV1({ secret: keyOf(clientId), clientId, path, body: createBody });
    expect(await statusOf(service, headers, createBody)).toBe(201);
    peers.trickle();
  }
});

test("guesses of stored keys do not keep other clients from the database", {
  timeout: timeoutMs,
}, async () => {
  const service = await startService({ ...limits, databasePoolSize: 2 }, { clock: stillClock });
  const made = await makeKey(service);
  const guesses = Array.from({ length: 400 }, () => {
    const authorization = `Bearer rk_${randomBytes(32).toString("base64url")}`;
    return statusOf(service, { authorization });
  });
  const served = await Promise.all(
    clientIds.map((clientId) => {
      const headers = signV1({ secret: keyOf(clientId), clientId, path, body: createBody });
      return statusOf(service, headers, createBody);
    }),
  );
  expect(served).toEqual([201, 201, 201, 201]);
  expect(await statusOf(service, { authorization: `Bearer ${made}` })).toBe(200);
  expect(new Set(await Promise.all(guesses))).toEqual(new Set([401, 429]));
});

interface HeldBodies {
  sentBytes(): number;
  /** Sends one more byte of each body. */
  trickle(): void;
}

/** Peers whose signatures have the right form and whose bodies never end. */
function holdBodies(
  { url }: TestService,
  {
    count,
    contentLength,
    sentBytes,
  }: { readonly count: number; readonly contentLength: number; readonly sentBytes: number },
): HeldBodies {
  const { hostname, port } = new URL(url);
  const beginning = Buffer.alloc(sentBytes, "x");
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {}).resume();
    const signature = signV1({ secret: "not the secret of anyone", clientId: "local", path });
    const headers = Object.entries({ Host: "a", ...signature, "Content-Length": contentLength });
    socket.write(`POST ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
    socket.write(beginning);
    return socket;
  });
  onTestFinished(() => {
    for (const socket of sockets) {
      socket.destroy();
    }
  });
  return {
    sentBytes: () => sockets.reduce((sum, { bytesWritten, writableLength }) => sum + bytesWritten - writableLength, 0),
    trickle: () => {
      for (const socket of sockets) {
        if (socket.writable) {
          socket.write("x");
        }
      }
    },
  };
}
