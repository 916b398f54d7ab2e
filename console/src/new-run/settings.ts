// The folded settings of a new run: what their texts mean to the service, and which of them are wrong.

import { clone, create } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { BadRequestSchema } from "#gen/google/rpc/error_details_pb.js";
import {
  type Agent,
  AgentSchema,
  AgentToolsSchema,
  BudgetSchema,
  type ResponseFormat,
  ResponseFormatSchema,
} from "#gen/runnel/v1/session_pb.js";
import { type Draft, emptyDraft, type Settings } from "./draft.ts";

/** The problems of a form, by its field. */
export type Problems = Readonly<Partial<Record<keyof Settings, string>>>;

const microsPerUsd = 1_000_000;

/** The fields of the form, by the names of the contract. */
const formFields: Readonly<Record<string, keyof Problems>> = {
  "agent.max_turns": "maxTurns",
  "agent.max_tokens": "maxTokens",
  "agent.temperature": "temperature",
  "agent.budget.tokens": "budgetTokens",
  "agent.budget.cost_micro_usd": "budgetUsd",
  "agent.response_format.schema": "schema",
  start_time: "startTime",
  annotations: "annotations",
};

const wholeNumber = [/^(?:[1-9]\d{0,8})?$/, "Enter a whole number from 1 to 999,999,999."] as const;

/** The texts that a number can be made of. The service checks ranges and JSON. */
const forms = {
  maxTurns: wholeNumber,
  maxTokens: wholeNumber,
  budgetTokens: wholeNumber,
  budgetUsd: [/^(?:\d{1,6}(?:\.\d{1,6})?)?$/, "Enter US dollars, such as 0.50."],
  temperature: [/^(?:\d(?:\.\d{1,6})?)?$/, "Enter a number from 0 to 2, such as 0.7."],
} as const satisfies Partial<Record<keyof Settings, readonly [RegExp, string]>>;

/** Returns the problems that are known before anything is sent. */
export function findProblems(draft: Draft): Problems {
  const names = Object.keys(forms) as (keyof typeof forms)[];
  const wrong = names.filter((name) => !forms[name][0].test(draft[name].trim()));
  return {
    ...Object.fromEntries(wrong.map((name) => [name, forms[name][1]])),
    ...(draft.format === "schema" && draft.schema.trim() === "" && { schema: "Enter a JSON Schema." }),
  };
}

/** Returns what the service has refused, by the field; empty when the error is about something else. */
export function problemsOf(error: unknown): Problems {
  const violations = ConnectError.from(error)
    .findDetails(BadRequestSchema)
    .flatMap(({ fieldViolations }) => fieldViolations);
  return Object.fromEntries(
    violations.flatMap(({ field, description }) => {
      const name = formFields[field];
      return name === undefined ? [] : [[name, description]];
    }),
  );
}

/** Returns the settings of an agent as the form shows them. */
export function settingsOf(agent: Agent | undefined): Partial<Draft> {
  const schema = agent?.responseFormat?.schema ?? "";
  return {
    maxTurns: textOf(agent?.maxTurns),
    maxTokens: textOf(agent?.maxTokens),
    temperature: agent?.temperature === undefined ? "" : String(agent.temperature),
    budgetTokens: textOf(Number(agent?.budget?.tokens ?? 0)),
    budgetUsd: textOf(Number(agent?.budget?.costMicroUsd ?? 0) / microsPerUsd),
    format: agent?.responseFormat === undefined ? "text" : schema === "" ? "json" : "schema",
    schema,
    approve: agent?.tools?.approve ?? emptyDraft.approve,
  };
}

/** Returns the agent of a draft without problems. It keeps the settings of `origin` that the form does not show. */
export function makeAgent(draft: Draft, origin: Agent | undefined): Agent {
  const agent = origin === undefined ? create(AgentSchema) : clone(AgentSchema, origin);
  const { name, model, systemPrompt, temperature, tools } = draft;
  const [maxTurns, maxTokens, tokens] = [draft.maxTurns, draft.maxTokens, draft.budgetTokens].map(Number);
  Object.assign(agent, { name, model, systemPrompt, maxTurns, maxTokens });
  agent.temperature = temperature.trim() === "" ? undefined : Number(temperature);
  const costMicroUsd = microUsdOf(draft);
  agent.budget =
    tokens === 0 && costMicroUsd === 0
      ? undefined
      : create(BudgetSchema, { tokens: BigInt(tokens ?? 0), costMicroUsd: BigInt(costMicroUsd) });
  agent.responseFormat = formatOf(draft, agent.responseFormat);
  if (tools.length > 0 || agent.tools !== undefined) {
    agent.tools ??= create(AgentToolsSchema);
    const { builtin, approve } = agent.tools;
    const hidden = approve.filter((each) => !builtin.includes(each));
    Object.assign(agent.tools, { builtin: [...tools], approve: [...askingOf(draft), ...hidden] });
  }
  return agent;
}

/** Returns when the run begins; undefined for at once. */
export function startTimeOf({ startTime }: Draft): Timestamp | undefined {
  return startTime === "" ? undefined : timestampFromMs(Date.parse(startTime));
}

/** Returns the budget in millionths of a dollar; 0 without one. */
export function microUsdOf({ budgetUsd }: Draft): number {
  return Math.round(Number(budgetUsd) * microsPerUsd);
}

/** Returns the chosen tools whose calls wait for a person. */
export function askingOf({ tools, approve }: Draft): readonly string[] {
  return tools.filter((tool) => approve.includes(tool));
}

function formatOf({ format, schema }: Draft, origin: ResponseFormat | undefined): ResponseFormat | undefined {
  return format === "text"
    ? undefined
    : create(ResponseFormatSchema, {
        ...(origin ?? create(ResponseFormatSchema)),
        schema: format === "schema" ? schema : "",
      });
}

function textOf(value: number | undefined): string {
  return value !== undefined && value > 0 ? String(value) : "";
}
