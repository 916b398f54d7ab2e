// Reads the MCP servers of a request: tools of the type `mcp` with a `server_url`. One with a connector or a tunnel is OpenAI's own.

import { isObject } from "../../platform/base/json/parse-object.ts";
import { addressOf, bearer, type ServerFields, serverNameProblem, serverNames } from "../in-process/mcp-servers.ts";
import { invalid, unsupported } from "./errors.ts";
import type { Fields } from "./fields.ts";

/** Reads a server that this service connects to. Throws an ApiError that names a field. */
export function readServer(tool: Fields): ServerFields {
  const name = tool.requireText("server_label");
  if (!serverNames.test(name)) {
    throw invalid(tool.at("server_label"), serverNameProblem);
  }
  const allowedTools = readAllowed(tool);
  tool.ignore("type", "server_description", "defer_loading", "allowed_callers");
  return {
    name,
    ...addressOf(tool.requireText("server_url"), readHeaders(tool)),
    allowedTools,
    approve: readApproved(tool, allowedTools),
  };
}

/** Returns a tool of a request without its secrets, as a response repeats it. */
export function withoutSecrets(tool: unknown): unknown {
  if (!isObject(tool) || tool.type !== "mcp") {
    return tool;
  }
  const { authorization: _, headers, ...shown } = tool;
  const names = isObject(headers) ? Object.keys(headers) : [];
  return {
    ...shown,
    ...(names.length > 0 && { headers: Object.fromEntries(names.map((name) => [name, "<redacted>"])) }),
  };
}

function readHeaders(tool: Fields): Readonly<Record<string, string>> {
  const token = tool.findText("authorization");
  const given = tool.findObject("headers");
  const headers: Record<string, string> = { ...bearer(token) };
  for (const name of given?.unread ?? []) {
    if (token !== undefined && name.toLowerCase() === "authorization") {
      throw invalid(tool.at("authorization"), "leave it out, or the header of this name");
    }
    headers[name] = given?.requireText(name) ?? "";
  }
  return headers;
}

/** Empty means all. */
function readAllowed(tool: Fields): string[] {
  const allowed = tool.find("allowed_tools");
  return Array.isArray(allowed) || allowed === undefined
    ? readNames(tool, "allowed_tools")
    : readFilter(tool.findObject("allowed_tools"));
}

/** Returns the tools that ask for approval: all of them, unless the request says otherwise. */
function readApproved(tool: Fields, allowed: readonly string[]): string[] {
  const rule = tool.find("require_approval");
  if (rule === undefined || rule === "always") {
    return ["*"];
  }
  if (rule === "never") {
    return [];
  }
  const filters = tool.findObject("require_approval");
  const always = readFilter(filters?.findObject("always"));
  const never = filters?.findObject("never");
  const free = new Set(readFilter(never));
  filters?.assertAllRead();
  if (never === undefined) {
    return always;
  }
  if (allowed.length === 0) {
    throw unsupported(
      tool.at("require_approval.never"),
      "name all tools in allowed_tools, or use require_approval.always",
    );
  }
  return allowed.filter((name) => !free.has(name));
}

/** What a server says of its tools decides nothing. */
function readFilter(filter: Fields | undefined): string[] {
  if (filter?.find("read_only") !== undefined) {
    throw unsupported(filter.at("read_only"), "name the tools in tool_names");
  }
  const names = filter === undefined ? [] : readNames(filter, "tool_names");
  filter?.assertAllRead();
  return names;
}

function readNames(fields: Fields, field: string): string[] {
  return (fields.findItems(field) ?? []).map((name, index) => {
    if (typeof name !== "string") {
      throw unsupported(fields.at(`${field}[${index}]`), "name the tools as strings");
    }
    return name;
  });
}
