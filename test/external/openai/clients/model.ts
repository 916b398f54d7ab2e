// A model that does what a request asks for: it calls the tools, follows the schema, describes the image, or fails as its name says.
// So programs of any kind reach their end.

import { callTools, type Script } from "../../../fakes/provider.ts";
import type { RecordedRequest } from "../../../fakes/wire-server.ts";

type Json = Readonly<Record<string, unknown>>;

interface Body {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters?: Json } }[];
  readonly tool_choice?: string | { readonly function: { readonly name: string } };
  readonly response_format?: { readonly type: string; readonly json_schema?: { readonly schema?: Json } };
}

/** What the model says when nothing else is asked. */
export const greeting = "Hello there, friend.";

/** The clients whose requests to this model the service has cut, because they had left or had cancelled. */
export const cancelled: Set<string> = new Set();

/** Answers as the request asks. */
export const obey: Script = async (wire, request) => {
  const body = request.body as unknown as Body & RecordedRequest["body"];
  const slow = /-slow-(.+)$/.exec(body.model)?.[1];
  if (slow !== undefined) {
    wire.text("This takes ");
    wire.text("long.");
    if (!(await request.closed)) {
      cancelled.add(slow.replaceAll("_", " "));
    }
    return;
  }
  const failure = failures[/fail-(\w+)$/.exec(body.model)?.[1] ?? ""];
  if (failure !== undefined) {
    wire.reply(failure.status, JSON.stringify({ error: failure.error }));
    return;
  }
  const call = nextCall(body);
  if (call !== undefined) {
    await callTools({ id: `call_${body.messages.length}`, ...call })(wire, request);
    return;
  }
  for (const piece of answerOf(body).match(/[^ ]+ ?|^$/g) ?? []) {
    wire.text(piece);
  }
  wire.finish("stop");
  wire.usage({ prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 });
  wire.done();
};

const failures: Readonly<Record<string, { readonly status: number; readonly error: Json }>> = {
  bad: { status: 400, error: { message: "bad request", type: "invalid_request_error", code: "invalid_value" } },
  context: {
    status: 400,
    error: { message: "too long", type: "invalid_request_error", code: "context_length_exceeded" },
  },
  rate: { status: 429, error: { message: "slow down", type: "requests", code: "rate_limit_exceeded" } },
  quota: { status: 429, error: { message: "no credits", type: "insufficient_quota", code: "insufficient_quota" } },
};

/** Calls each offered tool once, and then the one that ends the task, where the program has one. */
function nextCall({ tools = [], tool_choice: choice, messages }: Body) {
  const last = messages.at(-1);
  // Some programs write the results of tools as words of their user.
  const isAnswered = last?.role === "tool" || JSON.stringify(last?.content ?? "").includes("Observation:");
  const named = typeof choice === "object" ? choice.function.name : undefined;
  const ending = tools.find(({ function: { name } }) => /^final_(?:result|answer)$/.test(name));
  const next = isAnswered
    ? ending
    : tools.find(({ function: { name } }) =>
        named === undefined ? tools.length === 1 || name !== ending?.function.name : name === named,
      );
  if (next === undefined || choice === "none") {
    return undefined;
  }
  const { name, parameters = {} } = next.function;
  return { name, arguments: JSON.stringify(sampleOf(parameters, parameters)) };
}

function answerOf({ messages, response_format: format }: Body): string {
  if (format?.type === "json_schema") {
    const { schema = {} } = format.json_schema ?? {};
    return JSON.stringify(sampleOf(schema, schema));
  }
  if (format?.type === "json_object") {
    return '{"city":"Rome","degrees":25}';
  }
  const last = messages.at(-1);
  if (last?.role === "tool") {
    return `The tool said ${textOf(last.content)}.`;
  }
  return JSON.stringify(last?.content ?? "").includes('"image_url"') ? "I see an image." : greeting;
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}

/** Returns a value that fits a schema. */
function sampleOf(schema: Json, root: Json): unknown {
  const { $ref: ref, anyOf, allOf, enum: values, const: only, type, properties = {}, items } = schema;
  if (typeof ref === "string") {
    const target = ref
      .split("/")
      .slice(1)
      .reduce<unknown>((at, key) => (at as Json | undefined)?.[key], root);
    return sampleOf(target as Json, root);
  }
  const [first] = [anyOf, allOf].filter(Array.isArray).flat();
  if (first !== undefined) {
    return sampleOf(first as Json, root);
  }
  if (only !== undefined || Array.isArray(values)) {
    return only ?? (values as unknown[])[0];
  }
  switch (Array.isArray(type) ? type[0] : type) {
    case "string":
      return "Rome";
    case "integer":
    case "number":
      return 25;
    case "boolean":
      return true;
    case "array":
      return items === undefined ? [] : [sampleOf(items as Json, root)];
    default:
      return Object.fromEntries(
        Object.entries(properties as Json).map(([key, each]) => [key, sampleOf(each as Json, root)]),
      );
  }
}
