// Fits a context into a model's limit by leaving out the oldest threads and comments.

import { contextTokensOf, estimateTokens } from "../../../agent/models/catalogue.ts";
import type { Model } from "../../../agent/models/model.ts";
import { listOf } from "./community.ts";

/**
 * The share of the model's context to use. Token estimates can be off by a quarter, and the provider refuses a request that is
 * too long.
 */
const contextShare = 0.75;

type Context = Readonly<Record<string, unknown>>;

/** Returns the context, with its lists of threads and comments halved until its estimated tokens fit. */
export function fitContext(context: Context, model: Model, maxTokens: number): Context {
  const tokensMax = contextTokensOf(model) * contextShare - maxTokens;
  let fitting = context;
  // Halving ends soon. The rest is not cut: the size of a context without entries is the service's own responsibility.
  while (estimateTokens(JSON.stringify(fitting)) > tokensMax && hasEntries(fitting)) {
    fitting = { ...fitting, communities: listOf(fitting.communities).map(halve) };
  }
  return fitting;
}

function halve(community: Context): Context {
  const [threads, recentComments] = [listOf(community.threads), listOf(community.recentComments)];
  return {
    ...community,
    threads: threads.slice(0, Math.floor(threads.length / 2)),
    recentComments: recentComments.slice(0, Math.floor(recentComments.length / 2)),
  };
}

function hasEntries({ communities }: Context): boolean {
  return listOf(communities).some(
    ({ threads, recentComments }) => listOf(threads).length + listOf(recentComments).length > 0,
  );
}
