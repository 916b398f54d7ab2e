// Tools that OpenAI names and callers run: a shell, patches of files, and a search over tools that are not offered yet. Models know
// them as functions, so every provider's model has them. Callers get and answer the calls in OpenAI's own items.

import { isObject } from "../../platform/base/json/parse-object.ts";
import type { Fields } from "./fields.ts";
import { namesIn } from "./namespaces.ts";

type Json = Readonly<Record<string, unknown>>;

/** A tool that the caller runs. Its function has the name of its type. */
export interface LocalTool {
  readonly callType: LocalCallType;
  /** The prefix of the ids of its calls. */
  readonly prefix: string;
  readonly outputType: string;
  /** What a model reads of the tool, unless the caller describes it. */
  readonly description: string;
  readonly parameters: object;
  /** Returns the own fields of the item of a call. */
  readonly shown: (parsed: Json) => Json;
  /** Returns the arguments of the call that an item is. */
  readonly argumentsOf: (item: Fields) => unknown;
  /** Returns what a model reads of the item of a result. */
  readonly resultOf: (item: Fields) => string;
}

export type LocalCallType = "apply_patch_call" | "local_shell_call" | "shell_call" | "tool_search_call";

/** The name under which models know a search. */
const searchName = "tool_search";

const text = { type: "string" };
const milliseconds = { type: "integer", description: "The time limit in milliseconds." };

const shell: LocalTool = {
  ...{ callType: "shell_call", prefix: "sh", outputType: "shell_call_output" },
  description: "Runs commands in a shell on the user's machine, and returns the output of each.",
  parameters: objectOf(["commands"], {
    commands: { type: "array", items: text, description: "The commands, each as a line for the shell." },
    timeout_ms: milliseconds,
    max_output_length: { type: "integer", description: "The maximum characters of each output." },
  }),
  shown: ({ commands, timeout_ms = null, max_output_length = null }) => ({
    action: { commands: textsOf(commands), timeout_ms, max_output_length },
    environment: { type: "local" },
  }),
  argumentsOf: (item) => {
    item.ignore("environment");
    return withoutNulls(item.requireObject("action").value);
  },
  resultOf: (item) => {
    item.ignore("max_output_length");
    return (item.findObjects("output") ?? []).map(outputOfCommand).join("\n");
  },
};

const localShell: LocalTool = {
  ...{ callType: "local_shell_call", prefix: "lsh", outputType: "local_shell_call_output" },
  description: "Runs a program on the user's machine, and returns its output.",
  parameters: objectOf(["command"], {
    command: { type: "array", items: text, description: "The program and its arguments." },
    env: { type: "object", additionalProperties: text, description: "Variables of the environment." },
    working_directory: text,
    timeout_ms: milliseconds,
    user: text,
  }),
  shown: ({ command, env, ...others }) => ({
    action: { type: "exec", ...others, command: textsOf(command), env: isObject(env) ? env : {} },
  }),
  argumentsOf: (item) => {
    const { type: _, ...action } = item.requireObject("action").value as Json;
    return withoutNulls(action);
  },
  resultOf: (item) => item.requireText("output"),
};

const applyPatch: LocalTool = {
  ...{ callType: "apply_patch_call", prefix: "apc", outputType: "apply_patch_call_output" },
  description:
    "Creates, updates or deletes one file on the user's machine. The diff of a new file has all its lines, each after `+`. The diff of " +
    "an update has hunks: a line `@@`, or `@@ ` and a line that stands before, then lines after ` ` that stay, after `-` that go and " +
    "after `+` that come.",
  parameters: objectOf(["type", "path"], {
    type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
    path: text,
    diff: { type: "string", description: "The diff; none for `delete_file`." },
  }),
  shown: ({ type = "update_file", path = "", diff = "" }) => ({
    operation: type === "delete_file" ? { type, path } : { type, path, diff },
  }),
  argumentsOf: (item) => item.requireObject("operation").value,
  resultOf: (item) => {
    const output = item.findText("output") ?? "";
    return item.find("status") === "failed" ? `The patch failed. ${output}`.trim() : output || "The patch is applied.";
  },
};

const search: LocalTool = {
  ...{ callType: "tool_search_call", prefix: "tsc", outputType: "tool_search_output" },
  ...{ description: "", parameters: objectOf([], {}) },
  shown: (parsed) => ({ execution: "client", arguments: parsed }),
  argumentsOf: (item) => item.find("arguments") ?? {},
  resultOf: (item) => {
    const names = namesIn(item.findObjects("tools") ?? []);
    return names.length === 0 ? "No tool was found." : `These tools are available now: ${names.join(", ")}`;
  },
};

const localTools: ReadonlyMap<unknown, LocalTool> = new Map([
  ["shell", shell],
  ["local_shell", localShell],
  ["apply_patch", applyPatch],
  [searchName, search],
]);

/** Returns the tool that a declaration names, unless OpenAI runs it. */
export function findLocalTool({ type, execution, environment }: Json): LocalTool | undefined {
  const isOfOpenAi =
    (type === searchName && execution !== "client") || (isObject(environment) && environment.type !== "local");
  return isOfOpenAi ? undefined : localTools.get(type);
}

const byCall = new Map([...localTools].map(([name, tool]) => [tool.callType as string, { name: String(name), tool }]));
const byOutput = new Map([...localTools.values()].map((tool) => [tool.outputType, tool]));

export const localCallTypes: ReadonlySet<string> = new Set(byCall.keys());

/** The tool of a call's item, with the name of its function. */
export function localToolOfCall(type: string): { readonly name: string; readonly tool: LocalTool } | undefined {
  return byCall.get(type);
}

/** The tool of a result's item. */
export function localToolOfOutput(type: string): LocalTool | undefined {
  return byOutput.get(type);
}

/** Whether an item says that OpenAI has run its tool: a search, or a shell in a container. */
export function isRunByOpenAi(type: string, item: Fields): boolean {
  if (type === search.callType || type === search.outputType) {
    return item.find("execution") !== "client";
  }
  const environment = type === shell.callType ? item.find("environment") : undefined;
  return isObject(environment) && environment.type !== "local";
}

function objectOf(required: readonly string[], properties: object): object {
  return { type: "object", properties, required, additionalProperties: false };
}

function outputOfCommand(output: Fields): string {
  const outcome = output.findObject("outcome");
  const end =
    outcome?.find("type") === "timeout" ? "timed out" : `exit code ${outcome?.find("exit_code") ?? "unknown"}`;
  const said = [output.findText("stdout"), output.findText("stderr")].filter((each) => each);
  return [...said, `[${end}]`].join("\n");
}

/** Models may write a single text in place of a list. */
function textsOf(value: unknown): string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((each) => typeof each === "string");
}

function withoutNulls(value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null)) : value;
}
