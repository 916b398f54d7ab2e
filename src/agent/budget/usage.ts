// What a run has used: tokens as its providers counted them, our estimates where they did not, and what it all cost.

import { create } from "@bufbuild/protobuf";
import { type Usage, UsageSchema } from "#gen/runnel/v1/usage_pb.js";
import { costOf, estimateMediaTokens, estimateTokens, type Price, priceTable } from "../models/catalogue.ts";
import type { ModelMessage, ModelPart, ModelRequest, ModelUsage } from "../models/model.ts";

/** What nobody counted is not there. Plain data, so that it fits into a checkpoint. */
export interface UsageTotals {
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  readonly totalTokens?: number;
  readonly cachedTokens?: number;
  readonly reasoningTokens?: number;
  readonly costMicroUsd?: number;
  /** Some of it is our estimate. */
  readonly estimated?: boolean;
}

const figures = [
  "promptTokens",
  "completionTokens",
  "totalTokens",
  "cachedTokens",
  "reasoningTokens",
  "costMicroUsd",
] as const satisfies readonly (keyof UsageTotals)[];

/** What no provider counted stays unknown. */
export function addUsage(totals: UsageTotals, more: UsageTotals): UsageTotals {
  const sums = figures.flatMap((name) => {
    const [one, other] = [totals[name], more[name]];
    return one === undefined && other === undefined ? [] : [[name, (one ?? 0) + (other ?? 0)] as const];
  });
  const estimated = totals.estimated === true || more.estimated === true;
  return { ...Object.fromEntries(sums), ...(estimated && { estimated }) };
}

/** Undefined when nothing was counted. */
export function usageMessage(totals: UsageTotals): Usage | undefined {
  const { promptTokens, completionTokens, totalTokens, cachedTokens, reasoningTokens, costMicroUsd } = totals;
  const counts = { promptTokens, completionTokens, totalTokens, cachedTokens, reasoningTokens, costMicroUsd };
  const known = Object.entries(counts).flatMap(([name, count]) => (count === undefined ? [] : [[name, BigInt(count)]]));
  if (known.length === 0) {
    return undefined;
  }
  return create(UsageSchema, {
    ...Object.fromEntries(known),
    estimated: totals.estimated === true,
    ...(costMicroUsd !== undefined && { priceTable }),
  });
}

/** Input and output together. */
export function tokensOf({ promptTokens = 0, completionTokens = 0 }: UsageTotals): number {
  return promptTokens + completionTokens;
}

/** Counts one response while it comes. */
export class Meter {
  readonly #price: Price | undefined;
  readonly #promptTokens: number;
  #counted: ModelUsage | undefined;
  #saidTokens = 0;
  #callTokens = 0;
  #wholeCallTokens = 0;
  #began = false;

  constructor(request: ModelRequest, price: Price | undefined) {
    this.#price = price;
    this.#promptTokens = estimatePrompt(request);
  }

  /** Estimated, for what has to be known before. */
  get promptTokens(): number {
    return this.#promptTokens;
  }

  read(part: ModelPart): void {
    this.#began ||= part.type !== "failure";
    if (part.type === "text" || part.type === "reasoning") {
      this.#saidTokens += estimateTokens(part.text);
    } else if (part.type === "call-piece") {
      this.#callTokens += estimateTokens(part.text);
    } else if (part.type === "tool-call") {
      // Whole calls come after their pieces, if their provider sends any.
      this.#wholeCallTokens += estimateTokens(part.call.name + part.call.argumentsJson);
    } else if (part.type === "usage") {
      this.#counted = part.usage;
    }
  }

  /** A response that came to its end: what its provider counted, or our estimate of all of it. */
  total(usage: ModelUsage | undefined): UsageTotals {
    return usage === undefined ? this.soFar() : this.#priced(usage, false);
  }

  /** A response under way, or one that was stopped or cut: the provider's figures are not the last ones. */
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
    const cost = this.#price === undefined ? {} : { costMicroUsd: costOf(this.#price, usage) };
    return { ...Object.fromEntries(counts), ...cost, ...(estimated && { estimated }) };
  }
}

function estimatePrompt({ system, messages, tools, responseFormat }: ModelRequest): number {
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
