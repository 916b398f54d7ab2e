// How the commands prove who calls: with an API key, or with signatures by the secret that the service on this machine has in
// its own environment. Credentials are no arguments, because every user of the machine can see these.

import { createHash, createHmac } from "node:crypto";
import { type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import type { Interceptor, StreamRequest, UnaryRequest } from "@connectrpc/connect";
import { systemClock } from "../platform/base/clock.ts";
import { newRequestId } from "../platform/base/ids.ts";
import { CommandError } from "./command-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns undefined without a key when the environment holds no secret either, as with `runnel dev`. */
export function createCredentials(apiKey: string, environment: Environment): Interceptor | undefined {
  if (apiKey !== "") {
    return bear(apiKey);
  }
  const { RUNNEL_CLIENT_ID: clientId = "" } = environment;
  const secret = environment.RUNNEL_AUTH_HMAC_SECRET || environment.AGENT_RUNNER_AUTH_HMAC_SECRET || "";
  return secret === "" ? undefined : signRequests({ secret, clientId: clientId || defaultClientId });
}

/** Returns the admin credentials. Throws CREDENTIALS_MISSING without a token, because every service requires one. */
export function createAdminCredentials(environment: Environment): Interceptor {
  const token = environment.RUNNEL_ADMIN_TOKEN || environment.RUNNEL_AUTH_ADMIN_TOKEN || "";
  if (token === "") {
    const fix = "set RUNNEL_ADMIN_TOKEN to what the service has as RUNNEL_AUTH_ADMIN_TOKEN";
    throw new CommandError("no admin token is set", { reason: "CREDENTIALS_MISSING", fix });
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
