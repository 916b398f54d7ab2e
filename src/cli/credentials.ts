// How the commands prove who calls: by an API key, or by signing with the secret that the service on this machine has
// in its own environment. Everything comes from the environment, since arguments are seen by everybody.

import { createHash, createHmac } from "node:crypto";
import { type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import type { Interceptor, StreamRequest, UnaryRequest } from "@connectrpc/connect";
import { systemClock } from "../platform/base/clock.ts";
import { newRequestId } from "../platform/base/ids.ts";
import { CommandError } from "./command-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined when there is nothing to prove oneself with, as against `runnel dev`. */
export function createCredentials(environment: Environment): Interceptor | undefined {
  const { RUNNEL_API_KEY: apiKey = "", RUNNEL_CLIENT_ID: clientId = "" } = environment;
  if (apiKey !== "") {
    return bear(apiKey);
  }
  const secret = environment.RUNNEL_AUTH_HMAC_SECRET || environment.AGENT_RUNNER_AUTH_HMAC_SECRET || "";
  return secret === "" ? undefined : signRequests({ secret, clientId: clientId || defaultClientId });
}

/** For administration. Throws when there is no token, which no service does without. */
export function createAdminCredentials(environment: Environment): Interceptor {
  const token = environment.RUNNEL_ADMIN_TOKEN || environment.RUNNEL_AUTH_ADMIN_TOKEN || "";
  if (token === "") {
    const fix = "set RUNNEL_ADMIN_TOKEN to what the service has as RUNNEL_AUTH_ADMIN_TOKEN";
    throw new CommandError("there is no admin token to call with", { reason: "CREDENTIALS_MISSING", fix });
  }
  return bear(token);
}

function bear(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
}

const defaultClientId = "cli";

interface Signer {
  readonly secret: string;
  readonly clientId: string;
}

/** Signs each call anew, as `docs/authentication.md` describes for v2: the content is the one request message. */
function signRequests(signer: Signer): Interceptor {
  return (next) => async (request) => {
    if (!request.stream) {
      sign(request, request.message, signer);
      return await next(request);
    }
    const messages = await Array.fromAsync(request.message);
    for (const message of messages) {
      sign(request, message, signer);
    }
    return await next({ ...request, message: replay(messages) });
  };
}

function sign<I extends DescMessage>(
  request: UnaryRequest<I> | StreamRequest<I>,
  message: MessageShape<I>,
  { secret, clientId }: Signer,
): void {
  const { method, header, url } = request;
  const timestamp = String(Math.floor(systemClock.nowMs() / 1_000));
  const nonce = newRequestId();
  const digest = createHash("sha256").update(toBinary(method.input, message)).digest("hex");
  const text = ["v2", "POST", new URL(url).pathname, clientId, timestamp, nonce, digest].join("\n");
  header.set("x-client-id", clientId);
  header.set("x-timestamp", timestamp);
  header.set("x-nonce", nonce);
  header.set("x-signature", `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`);
}

async function* replay<T>(messages: readonly T[]): AsyncGenerator<T> {
  yield* messages;
}
