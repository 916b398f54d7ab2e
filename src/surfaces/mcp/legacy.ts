// The revisions before 2026-07-28: sessions begin with `initialize`. A session's id is a sealed text that says what its client can
// do, so nothing is stored and every replica knows it.

import { newUuid } from "../../platform/base/ids.ts";
import { isObject } from "../../platform/base/json/parse-object.ts";
import { invalidRequest, type Params, printResult, RpcError, type RpcId } from "../in-process/json-rpc.ts";
import { headerOf } from "../in-process/visit.ts";
import { type RestRequest, type RestResponse, sendJson } from "../rest/respond.ts";
import { type Abilities, type McpCall, type Seals, serverInfo } from "./call.ts";
import { capabilities, instructions } from "./discover.ts";
import { readAbilities } from "./modern.ts";

/** Newest first. A client that asks for another revision gets the newest. Those that ask for the first one send its messages this way, too. */
const versions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const sessionHeader = "mcp-session-id";
const purpose = "mcp session";

/** A session. */
export interface LegacySession {
  readonly name: string;
  readonly abilities: Abilities;
}

/** Answers `initialize` with a new session. */
export function initialize(
  response: RestResponse,
  { server, clock, seals, id, params }: Pick<McpCall, "server" | "clock" | "seals" | "id" | "params">,
): void {
  const { elicitation } = readAbilities(params.capabilities);
  const wanted = params.protocolVersion;
  const protocolVersion = versions.find((each) => each === wanted) ?? versions[0];
  const session = seals.seal(purpose, JSON.stringify([newUuid(clock.nowMs()), elicitation]));
  const result = { protocolVersion, capabilities, serverInfo: serverInfo(server), instructions };
  sendJson(response, 200, printResult(id, result), { [sessionHeader]: session });
}

/**
 * Returns the session that a request names. Throws RpcError with status 404 for one that is unknown, after which clients
 * initialize a new one.
 */
export function readSession(request: RestRequest, seals: Seals): LegacySession {
  const sealed = headerOf(request, sessionHeader);
  if (sealed === undefined) {
    throw new RpcError(invalidRequest, "the header mcp-session-id is missing: send initialize first");
  }
  const version = headerOf(request, "mcp-protocol-version");
  if (version !== undefined && !versions.includes(version)) {
    throw new RpcError(invalidRequest, `version ${version} is not supported`);
  }
  const text = seals.open(purpose, sealed);
  const parts: unknown = text === undefined ? undefined : JSON.parse(text);
  if (!Array.isArray(parts)) {
    throw new RpcError(invalidRequest, "session not found", { status: 404 });
  }
  const [name, elicitation] = parts;
  return { name: String(name), abilities: { elicitation: elicitation === true, tasks: false } };
}

/** Returns the place after which a client wants the rest of a stream: `<run id>.<sequence>`. Undefined for another text. */
export function readPlace(request: RestRequest): { readonly runId: string; readonly after: number } | undefined {
  const [, runId, sequence] = /^([0-9a-f-]{36})\.(\d{1,15})$/.exec(headerOf(request, "last-event-id") ?? "") ?? [];
  return runId === undefined ? undefined : { runId, after: Number(sequence) };
}

/** Returns the id of the request that a client no longer wants an answer to. */
export function readCancelled(params: Params): RpcId | undefined {
  const { requestId } = isObject(params) ? params : {};
  return typeof requestId === "string" || typeof requestId === "number" ? requestId : undefined;
}
