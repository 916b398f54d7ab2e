// Reads the settings of the model in a request as fields of an agent.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { type AgentSchema, ToolChoice_Mode, Verbosity } from "#gen/runnel/v1/session_pb.js";
import { isObject } from "../../platform/base/json/parse-object.ts";
import { serverToolNameOf } from "../../platform/base/mcp-names.ts";
import { invalid, unsupported } from "./errors.ts";
import { Fields } from "./fields.ts";
import { findLocalTool } from "./local-tools.ts";
import { readChatLogprobs, readLogprobs } from "./logprobs.ts";
import { modelNameOf } from "./namespaces.ts";
import { findAllowed, serverLabel } from "./tools.ts";

/** Fields of an agent. */
export type Settings = Extract<MessageInitShape<typeof AgentSchema>, { readonly $typeName?: never }>;

/** Reads the settings that Chat Completions and Responses write alike. */
function readSettings(request: Fields): Settings {
  return present({
    temperature: request.findNumber("temperature"),
    topP: request.findNumber("top_p"),
    parallelToolCalls: request.findFlag("parallel_tool_calls"),
    serviceTier: readTier(request),
    toolChoice: readChoice(request),
  });
}

/** Reads the settings of a chat completion. */
export function readChatSettings(request: Fields): Settings {
  return {
    ...readSettings(request),
    ...present({
      stop: readStop(request),
      topK: readTopK(request),
      seed: readSeed(request),
      frequencyPenalty: request.findNumber("frequency_penalty"),
      presencePenalty: request.findNumber("presence_penalty"),
      verbosity: readVerbosity(request),
      responseFormat: readChatFormat(request),
      topLogprobs: readChatLogprobs(request),
      logitBias: readJson(request, "logit_bias"),
      prediction: readJson(request, "prediction"),
    }),
  };
}

/** Reads the settings of a response, without those in its `text`. */
export function readResponseSettings(request: Fields): Settings {
  const own = { topLogprobs: readLogprobs(request), maxProviderCalls: request.findCount("max_tool_calls") };
  return { ...readSettings(request), ...present(own) };
}

function readObject(request: Fields, name: string): object | undefined {
  return request.findObject(name) === undefined ? undefined : { [name]: request.find(name) };
}

function readJson(request: Fields, name: string): string | undefined {
  return request.findObject(name) === undefined ? undefined : JSON.stringify(request.find(name));
}

/** Reads `text` of the Responses API: the form of the answer, which `owner` has, and how long it is. */
export function readTextSettings(request: Fields, owner: Fields): Settings {
  const text = request.findObject("text");
  text?.ignore("format");
  const format = owner.findObject("text")?.findObject("format");
  const settings = present({
    verbosity: text && readVerbosity(text),
    responseFormat: format && readFormat(format, () => format),
  });
  format?.assertAllRead();
  text?.assertAllRead();
  return settings;
}

/**
 * Reads the fields that are left. Servers that are compatible with OpenAI's API have many of their own, which go to them as they are.
 * @throws ApiError that names such a field of a request to another model.
 */
export function readExtras(request: Fields, model: string): Settings {
  const search = readObject(request, "web_search_options");
  if (!model.startsWith("compatible:")) {
    request.assertAllRead();
    return search === undefined ? {} : { providerOptions: JSON.stringify({ openai: search }) };
  }
  const own = request.unread.flatMap((name) =>
    request.get(name) === null ? [] : [[name, request.get(name)] as const],
  );
  const extras = { ...search, ...Object.fromEntries(own) };
  return Object.keys(extras).length === 0 ? {} : { providerOptions: JSON.stringify({ compatible: extras }) };
}

/** Returns the fields that have a value. */
function present(fields: { readonly [Name in keyof Settings]: Settings[Name] | undefined }): Settings {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function readTier(request: Fields): string | undefined {
  const tier = request.findText("service_tier");
  return tier === "auto" || tier === "default" ? undefined : tier;
}

/** Reads a choice: a mode, some of the tools with a mode, or one tool by its name, which Chat Completions writes into a field of its own. */
function readChoice(request: Fields): Settings["toolChoice"] | undefined {
  const choice = request.find("tool_choice");
  if (choice === undefined || typeof choice === "string") {
    return choice === undefined ? undefined : { mode: readMode(request.at("tool_choice"), choice) };
  }
  const fields = new Fields(choice, request.at("tool_choice"));
  const allowed = findAllowed(fields);
  if (allowed !== undefined) {
    const mode = readMode(allowed.at("mode"), allowed.findText("mode") ?? "auto");
    allowed.ignore("type", "tools");
    allowed.assertAllRead();
    fields.assertAllRead();
    return { mode };
  }
  return { name: readChosenTool(fields) };
}

function readChosenTool(choice: Fields): string {
  const type = choice.requireText("type");
  if (findLocalTool({ type, execution: "client" }) !== undefined) {
    choice.assertAllRead();
    return type;
  }
  if (type !== "function" && type !== "custom" && type !== "mcp") {
    const fix = `use function, custom, allowed_tools, or none, auto or required in place of the object, not ${type}`;
    throw unsupported(choice.at("type"), fix);
  }
  const name = choice.findText("name") ?? choice.findObject(type)?.requireText("name");
  const namespace = choice.findText("namespace");
  const server = choice.findText("server_label") ?? serverLabel;
  choice.assertAllRead();
  if (name === undefined) {
    throw invalid(choice.at("name"), "is missing");
  }
  return server === serverLabel ? modelNameOf(name, namespace) : serverToolNameOf(`${server}_`, name);
}

function readMode(param: string, choice: string): ToolChoice_Mode {
  const mode = modes[choice];
  if (mode === undefined) {
    throw invalid(param, "must be none, auto, required or a function");
  }
  return mode;
}

const modes: Readonly<Record<string, ToolChoice_Mode>> = {
  auto: ToolChoice_Mode.AUTO,
  none: ToolChoice_Mode.NONE,
  required: ToolChoice_Mode.REQUIRED,
};

/** Servers that know the field take 0 and -1 for all tokens. They get such a number as it is. */
function readTopK(request: Fields): number | undefined {
  const given = isObject(request.value) ? request.value.top_k : undefined;
  return typeof given === "number" && given < 1 ? undefined : request.findCount("top_k");
}

function readStop(request: Fields): string[] {
  const stop = request.find("stop") ?? [];
  const texts: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  return texts.map((text) => {
    if (typeof text !== "string") {
      throw invalid(request.at("stop"), "must be a string or a list of strings");
    }
    return text;
  });
}

function readSeed(request: Fields): bigint | undefined {
  const seed = request.findNumber("seed");
  if (seed !== undefined && !Number.isSafeInteger(seed)) {
    throw invalid(request.at("seed"), "must be a whole number of at most 53 bits");
  }
  return seed === undefined ? undefined : BigInt(seed);
}

function readVerbosity(fields: Fields): Verbosity | undefined {
  const word = fields.findText("verbosity");
  const verbosity = word === undefined ? undefined : verbosities[word];
  if (word !== undefined && verbosity === undefined) {
    throw invalid(fields.at("verbosity"), "must be low, medium or high");
  }
  return verbosity;
}

const verbosities: Readonly<Record<string, Verbosity>> = {
  low: Verbosity.LOW,
  medium: Verbosity.MEDIUM,
  high: Verbosity.HIGH,
};

function readChatFormat(request: Fields): Settings["responseFormat"] | undefined {
  const format = request.findObject("response_format");
  return (
    format &&
    readFormat(format, () => {
      const schema = format.findObject("json_schema");
      format.assertAllRead();
      if (schema === undefined) {
        throw invalid(format.at("json_schema"), "is missing");
      }
      return schema;
    })
  );
}

/** Reads a format of either API. `place` returns the object that has the schema. */
function readFormat(format: Fields, place: () => Fields): Settings["responseFormat"] | undefined {
  const type = format.requireText("type");
  switch (type) {
    case "text":
      return undefined;
    case "json_object":
      return {};
    case "json_schema": {
      const fields = place();
      const schema = fields.find("schema");
      const described = {
        name: fields.findText("name") ?? "",
        description: fields.findText("description") ?? "",
        schema: schema === undefined ? "" : JSON.stringify(schema),
        strict: fields.findFlag("strict") ?? false,
      };
      fields.assertAllRead();
      return described;
    }
    default:
      throw unsupported(format.at("type"), `use text, json_object or json_schema, not ${type}`);
  }
}
