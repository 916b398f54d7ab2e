// A forum with a community, agents with their tokens, and runners that sign as documented.

import { createHash, createHmac } from "node:crypto";
import type { DescMethod } from "@bufbuild/protobuf";
import type { ServiceError } from "@grpc/grpc-js";
import type { Clock } from "../../src/platform/base/clock.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { stableStringify } from "../../src/protocols/community/forum/signing/body.ts";
import { deriveKey, payloadV2, signPayload } from "../../src/protocols/community/forum/signing/signature.ts";
import { test as base } from "../fixtures.ts";
import { query } from "../harness/database.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { startService, type TestService } from "../harness/service.ts";

export const adminToken = "the-admin-token-of-the-forum";
export const asAdmin = { authorization: `Bearer ${adminToken}` };

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it stands in the test.
  readonly body: any;
  readonly headers: Headers;
}

export interface Agent {
  readonly id: string;
  readonly token: string;
}

export interface Forum {
  readonly service: TestService;
  readonly communityId: string;
  /** Adds an agent, to the community unless `more` is given. */
  addAgent(handle: string, more?: object): Promise<Agent>;
  addCommunity(slug: string, more?: object): Promise<string>;
  admin(method: string, path: string, body?: unknown): Promise<Answer>;
  query(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
}

export async function openForum(flags: Partial<Config> = {}, options: { clock?: Clock } = {}): Promise<Forum> {
  const service = await startService({ authAdminToken: adminToken, forumNoncesPerMinute: 0, ...flags }, options);
  const admin: Forum["admin"] = (method, path, body) =>
    send(service, method, path, {
      headers: { ...asAdmin, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const addCommunity: Forum["addCommunity"] = async (slug, more = {}) => {
    return (await admin("POST", "/v1/communities", { slug, name: `The ${slug}`, ...more })).body.id;
  };
  const communityId = await addCommunity("home");
  return {
    service,
    communityId,
    admin,
    addCommunity,
    addAgent: async (handle, more = { community_id: communityId }) => {
      const { id } = (
        await admin("POST", "/v1/forum-agents", { handle, owner_wallet: `0xOwner-of-${handle}`, ...more })
      ).body;
      const { runnerToken } = (await admin("POST", `/v1/forum-agents/${id}/credentials`)).body;
      return { id, token: runnerToken };
    },
    query: (text, values) => query(service.databaseUrl, text, values),
  };
}

export const test = base.extend("forum", () => openForum());

export async function send(
  { url }: Pick<TestService, "url">,
  method: string,
  path: string,
  { headers, body }: { headers: Record<string, string>; body?: string | Uint8Array<ArrayBuffer> },
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, { method, headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text), headers: response.headers };
}

export function readHeaders({ id, token }: Agent): Record<string, string> {
  return { "x-runner-token": token, "x-agent-id": id };
}

export async function takeNonce(service: Pick<TestService, "url">, agent: Agent): Promise<string> {
  return (await send(service, "POST", "/api/agents/nonce", { headers: readHeaders(agent) })).body.nonce;
}

/** Signs as documented; only the stable text comes from our code. */
export function signedHeaders(
  { id, token }: Agent,
  { nonce, body, timestamp = String(Date.now()) }: { nonce: string; body: unknown; timestamp?: string },
): Record<string, string> {
  const bodyHash = createHash("sha256").update(stableStringify(body)).digest("hex");
  const signature = createHmac("sha256", token).update(`${nonce}.${timestamp}.${bodyHash}.${id}`).digest("hex");
  return {
    "content-type": "application/json",
    "x-runner-token": token,
    "x-agent-id": id,
    "x-agent-nonce": nonce,
    "x-agent-timestamp": timestamp,
    "x-agent-signature": signature,
  };
}

/** The full documented flow: takes a nonce, and sends a signed request with it. */
export async function write(
  service: Pick<TestService, "url">,
  agent: Agent,
  method: string,
  path: string,
  body: unknown,
): Promise<Answer> {
  const nonce = await takeNonce(service, agent);
  return await send(service, method, path, {
    headers: signedHeaders(agent, { nonce, body }),
    body: JSON.stringify(body),
  });
}

/** Headers of version 2, without the token. */
export function boundHeaders(
  { id, token }: Agent,
  request: { nonce?: string; method: string; target: string; body?: string; timestamp?: string; keyId?: string },
): Record<string, string> {
  const { nonce = "", method, target, body = "", timestamp = String(Date.now()), keyId } = request;
  const payload = payloadV2({ nonce, timestamp, agentId: id }, { method, target, body: Buffer.from(body) });
  return {
    "x-agent-id": id,
    ...(nonce !== "" && { "x-agent-nonce": nonce }),
    "x-agent-timestamp": timestamp,
    "x-agent-signature": signPayload(deriveKey(token).key, payload),
    "x-agent-signature-version": "2",
    ...(keyId !== undefined && { "x-agent-key-id": keyId }),
  };
}

/** Calls over gRPC, with no metadata. */
export async function callForum(
  service: Pick<TestService, "target">,
  method: DescMethod,
  request: Record<string, unknown>,
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it stands in the test.
): Promise<{ answer?: any; code?: number; reason?: string; message?: string }> {
  try {
    return { answer: await new GrpcClient(service.target, {}).call(method, request) };
  } catch (error) {
    const { code, details } = error as ServiceError;
    const reason = reasonOf(error as ServiceError);
    return { code, message: details, ...(reason !== undefined && { reason }) };
  }
}

/** The fields about the sender in a gRPC write. */
export function proofOf(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries({
      runnerToken: headers["x-runner-token"],
      agentId: headers["x-agent-id"],
      nonce: headers["x-agent-nonce"],
      timestamp: headers["x-agent-timestamp"],
      signature: headers["x-agent-signature"],
      signatureVersion: headers["x-agent-signature-version"],
      keyId: headers["x-agent-key-id"],
    }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

export async function newThread(
  { service, communityId }: Pick<Forum, "service" | "communityId">,
  agent: Agent,
  more: object = {},
): Promise<string> {
  const body = { communityId, title: "Hello", body: "World", type: "DISCUSSION", ...more };
  return (await write(service, agent, "POST", "/api/threads", body)).body.thread.id;
}
