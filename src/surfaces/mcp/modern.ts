// The rules of revision 2026-07-28: each request names its version and what its client can do, and its headers repeat the body.

import { isObject } from "../../platform/base/json/parse-object.ts";
import { invalidParams, type Params, RpcError } from "../in-process/json-rpc.ts";
import { headerOf } from "../in-process/visit.ts";
import type { RestRequest } from "../rest/respond.ts";
import type { Abilities } from "./call.ts";

/** The revision. */
export const modernVersion = "2026-07-28";

/** The name of the extension for tasks. */
export const tasksExtension = "io.modelcontextprotocol/tasks";

const versionKey = "io.modelcontextprotocol/protocolVersion";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

const headerMismatch = -32020;
const missingCapability = -32021;
const unsupportedVersion = -32022;

/** Returns whether a message is of this revision or a later one. */
export function isModern(request: RestRequest, params: Params): boolean {
  const version = headerOf(request, "mcp-protocol-version") ?? "";
  return versionOf(params) !== undefined || version >= modernVersion;
}

/** Checks the headers and the `_meta` of a request. Returns what its client can do. Throws RpcError with status 400. */
export function readEnvelope(request: RestRequest, method: string, params: Params): Abilities {
  const meta = isObject(params._meta) ? params._meta : {};
  const version = versionOf(params);
  const capabilities = meta[capabilitiesKey];
  if (version === undefined || !isObject(capabilities)) {
    const name = version === undefined ? versionKey : capabilitiesKey;
    throw new RpcError(invalidParams, `params._meta lacks ${name}`);
  }
  assertHeader(request, "mcp-protocol-version", version);
  if (version !== modernVersion) {
    const data = { supported: [modernVersion], requested: version };
    throw new RpcError(unsupportedVersion, `version ${version} is not supported`, { data });
  }
  assertHeader(request, "mcp-method", method);
  const name = params[namedBy[method] ?? ""];
  if (typeof name === "string") {
    assertHeader(request, "mcp-name", name);
  }
  return readAbilities(capabilities);
}

/** Returns what the capabilities of a client mean here. */
export function readAbilities(capabilities: unknown): Abilities {
  const { elicitation, extensions } = isObject(capabilities) ? capabilities : {};
  // A client that names no mode takes forms.
  const isForm = isObject(elicitation) && (elicitation.form !== undefined || elicitation.url === undefined);
  return { elicitation: isForm, tasks: isObject(extensions) && isObject(extensions[tasksExtension]) };
}

/** Returns the refusal of a client that cannot do what its request needs. */
export function lacksTasks(): RpcError {
  const data = { requiredCapabilities: { extensions: { [tasksExtension]: {} } } };
  return new RpcError(missingCapability, `the client does not declare ${tasksExtension}`, { data });
}

/** The parameter that the header `Mcp-Name` repeats. */
const namedBy: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "resources/read": "uri",
  "prompts/get": "name",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

function versionOf(params: Params): string | undefined {
  const meta = params._meta;
  const version = isObject(meta) ? meta[versionKey] : undefined;
  return typeof version === "string" ? version : undefined;
}

function assertHeader(request: RestRequest, name: string, expected: string): void {
  const given = headerOf(request, name);
  if (given === undefined || decodeHeader(given) !== expected.trim()) {
    const found = given === undefined ? "is missing" : `is ${JSON.stringify(given)}`;
    throw new RpcError(headerMismatch, `the header ${name} ${found}: it must repeat ${JSON.stringify(expected)}`);
  }
}

/** Values that a header cannot have travel as `=?base64?…?=`. */
function decodeHeader(value: string): string {
  const [, encoded] = /^=\?base64\?(.*)\?=$/i.exec(value.trim()) ?? [];
  return encoded === undefined ? value.trim() : Buffer.from(encoded, "base64").toString().trim();
}
