// Counts what a run has used: tokens as its providers counted them, our estimates where they did not, and the total cost.

import { create } from "@bufbuild/protobuf";
import { type Usage, UsageSchema } from "#gen/runnel/v1/usage_pb.js";
import {
  costOf,
  costOfCall,
  estimateMediaTokens,
  estimateTokens,
  type Price,
  priceTable,
} from "../models/catalogue.ts";
import type { ModelMessage, ModelPart, ModelRequest, ModelUsage } from "../models/model.ts";

/** The usage of a run or a response. Figures that were not counted are missing. Plain data that fits into a checkpoint. */
export interface UsageTotals {
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  readonly totalTokens?: number;
  readonly cachedTokens?: number;
  readonly reasoningTokens?: number;
  readonly costMicroUsd?: number;
  readonly providerCalls?: number;
  /** True when some of the figures are our estimate. */
  readonly estimated?: boolean;
}

const figures = [
  "promptTokens",
  "completionTokens",
  "totalTokens",
  "cachedTokens",
  "reasoningTokens",
  "costMicroUsd",
  "providerCalls",
] as const satisfies readonly (keyof UsageTotals)[];

/** Adds two usages. A figure that is missing in both stays missing. */
export function addUsage(totals: UsageTotals, more: UsageTotals): UsageTotals {
  const sums = figures.flatMap((name) => {
    const [one, other] = [totals[name], more[name]];
    return one === undefined && other === undefined ? [] : [[name, (one ?? 0) + (other ?? 0)] as const];
  });
  const estimated = totals.estimated === true || more.estimated === true;
  return { ...Object.fromEntries(sums), ...(estimated && { estimated }) };
}

/** Returns the usage as a message, or undefined when nothing was counted. */
export function usageMessage(totals: UsageTotals): Usage | undefined {
  const known = figures.flatMap((name) => {
    const count = totals[name];
    return count === undefined ? [] : [[name, BigInt(count)]];
  });
  if (known.length === 0) {
    return undefined;
  }
  return create(UsageSchema, {
    ...Object.fromEntries(known),
    estimated: totals.estimated === true,
    ...(totals.costMicroUsd !== undefined && { priceTable }),
  });
}

/** Returns the sum of input and output tokens. */
export function tokensOf({ promptTokens = 0, completionTokens = 0 }: UsageTotals): number {
  return promptTokens + completionTokens;
}

/** Counts one response while it streams. */
export class Meter {
  readonly #price: Price | undefined;
  readonly #promptTokens: number;
  #counted: ModelUsage | undefined;
  #saidTokens = 0;
  #callTokens = 0;
  #wholeCallTokens = 0;
  /** The number and the cost of the calls that the provider has run. */
  #providerCalls = 0;
  #callMicroUsd = 0;
  #began = false;

  constructor(request: ModelRequest, price: Price | undefined) {
    this.#price = price;
    this.#promptTokens = estimatePrompt(request);
  }

  /** The estimated size of the prompt. It is known before the request is sent. */
  get promptTokens(): number {
    return this.#promptTokens;
  }

  /** Counts one part of the response. */
  read(part: ModelPart): void {
    this.#began ||= part.type !== "failure";
    if (part.type === "text" || part.type === "reasoning") {
      this.#saidTokens += estimateTokens(part.text);
    } else if (part.type === "call-piece") {
      this.#callTokens += estimateTokens(part.text);
    } else if (part.type === "tool-call") {
      // A whole call arrives after its pieces, if the provider sends pieces.
      this.#wholeCallTokens += estimateTokens(part.call.name + part.call.argumentsJson);
    } else if (part.type === "provider-call") {
      this.#providerCalls += 1;
      this.#callMicroUsd += this.#price === undefined ? 0 : costOfCall(this.#price, part);
    } else if (part.type === "usage") {
      this.#counted = part.usage;
    }
  }

  /** Returns the usage of a complete response: the provider's figures, or our estimate of the whole. */
  total(usage: ModelUsage | undefined): UsageTotals {
    return usage === undefined ? this.soFar() : this.#priced(usage, false);
  }

  /** Returns the usage of a response that is streaming or was cut off. The provider's figures so far are not final. */
  soFar(): UsageTotals {
    if (!this.#began) {
      return {};
    }
    const promptTokens = this.#counted?.promptTokens ?? this.#promptTokens;
    const estimated = this.#saidTokens + Math.max(this.#callTokens, this.#wholeCallTokens);
    const completionTokens = Math.max(this.#counted?.completionTokens ?? 0, estimated);
    const totalTokens = promptTokens + completionTokens;
    const { cachedTokens, reasoningTokens } = this.#counted ?? {};
    return this.#priced({ promptTokens, completionTokens, totalTokens, cachedTokens, reasoningTokens }, true);
  }

  #priced(usage: ModelUsage, estimated: boolean): UsageTotals {
    const counts = Object.entries(usage).filter(([, count]) => count !== undefined);
    const cost = this.#price === undefined ? {} : { costMicroUsd: costOf(this.#price, usage) + this.#callMicroUsd };
    const calls = this.#providerCalls > 0 && { providerCalls: this.#providerCalls };
    return { ...Object.fromEntries(counts), ...cost, ...calls, ...(estimated && { estimated }) };
  }
}

/** What a model reads of a request. */
type Prompt = Pick<ModelRequest, "system" | "messages" | "tools" | "responseFormat">;

/** Returns an estimate of the input tokens of a request. */
export function estimatePrompt({ system, messages, tools, responseFormat }: Prompt): number {
  const said = messages.map((message) => {
    const calls = message.role === "assistant" ? message.toolCalls : [];
    return calls.reduce(
      (sum, call) => sum + estimateTokens(call.name + call.argumentsJson),
      estimateTokens(message.text) + estimateMedia(message),
    );
  });
  const offered = tools.map(({ name, description, parameters }) =>
    estimateTokens(name + description + JSON.stringify(parameters)),
  );
  const format = responseFormat === undefined ? 0 : estimateTokens(JSON.stringify(responseFormat));
  return [estimateTokens(system), format, ...said, ...offered].reduce((sum, tokens) => sum + tokens, 0);
}

function estimateMedia(message: ModelMessage): number {
  const media = (message.role === "assistant" ? [] : (message.parts ?? [])).filter((part) => "data" in part);
  return media.reduce(
    (sum, { type, data }) => sum + estimateMediaTokens(type, data instanceof URL ? undefined : data.length),
    0,
  );
}
