// The caller of a cell: creates a session and sends one message, each with a request id, and repeats requests without an
// answer. A caller that signs also sends its first signature again.
//
// I8  A signature is valid once: not again after the crash if it was taken before, and never twice.

import { randomUUID } from "node:crypto";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { defaultClientId, keyOf } from "../../harness/credentials.ts";
import { signV2 } from "../../harness/signing.ts";
import type { Crew, Member } from "./crew.ts";
import { isUnavailable } from "./reading.ts";
import type { Scenario } from "./scenarios.ts";

export interface Sent {
  readonly sessionId: string;
  readonly runId: string;
}

export class Caller {
  readonly #message: string;
  readonly #firstSignature: Scenario["firstSignature"];
  readonly #requestIds = { session: randomUUID(), message: randomUUID() };
  #firstHeaders: Record<string, string> | undefined;
  #isAnswered = false;

  constructor(options: { readonly message: string; readonly firstSignature: Scenario["firstSignature"] }) {
    this.#message = options.message;
    this.#firstSignature = options.firstSignature;
  }

  /** Returns the same session and the same run at every call. */
  async send(crew: Crew, wanted: Member | undefined): Promise<Sent> {
    const { sessionId } = await crew.ask(wanted, (member) => this.#create(member), isUnavailable);
    const runId = this.#firstSignature
      ? await crew.ask(wanted, ({ url }) => this.#sendSigned(url, sessionId), isCutOff)
      : await crew.ask(wanted, (member) => this.#send(member, sessionId), isUnavailable);
    return { sessionId, runId };
  }

  #create({ client }: Member): Promise<{ readonly sessionId: string }> {
    const agent = { name: "crash", tools: { builtin: ["read_file"] } };
    return client.call(SessionService.method.createSession, { agent, requestId: this.#requestIds.session });
  }

  async #send({ client }: Member, sessionId: string): Promise<string> {
    const request = { sessionId, message: this.#message, requestId: this.#requestIds.message };
    return (await client.call(SessionService.method.sendMessage, request)).runId;
  }

  /** Sends the first signature until it is answered, and a new one when the first is used up. */
  async #sendSigned(url: string, sessionId: string): Promise<string> {
    const body = JSON.stringify({ sessionId, message: this.#message, requestId: this.#requestIds.message });
    this.#firstHeaders ??= this.#sign(body);
    const first = await post(url, this.#firstHeaders, body);
    const isUsed = this.#isAnswered || this.#firstSignature === "used";
    this.#isAnswered = true;
    if (first.status !== (isUsed ? 401 : 200)) {
      throw new Error(`I8 a signature that is ${isUsed ? "used" : "unused"} was answered with ${first.status}`);
    }
    const { status, text } = isUsed ? await post(url, this.#sign(body), body) : first;
    if (status !== 200) {
      throw new Error(`a signed message was answered with ${status}: ${text}`);
    }
    return String(JSON.parse(text).runId);
  }

  #sign(body: string): Record<string, string> {
    return signV2({ secret: keyOf(), clientId: defaultClientId, method: "POST", path: sendPath, body });
  }
}

const sendPath = `/${SessionService.typeName}/${SessionService.method.sendMessage.name}`;

async function post(
  url: string,
  signature: Readonly<Record<string, string>>,
  body: string,
): Promise<{ status: number; text: string }> {
  const headers = { ...signature, "content-type": "application/json" };
  const response = await fetch(`${url}${sendPath}`, { method: "POST", headers, body });
  return { status: response.status, text: await response.text() };
}

/** True for fetch's error when the connection was lost. */
function isCutOff(error: unknown): boolean {
  return error instanceof TypeError;
}
