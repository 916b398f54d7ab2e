// A context that is larger than what the model takes: the oldest threads and comments are left out, as many as it takes.

import { contextTokensOf, estimateTokens } from "../../../agent/models/catalogue.ts";
import type { Model } from "../../../agent/models/model.ts";
import { listOf } from "./community.ts";

/** Estimates of tokens are off by a quarter at times, and a request that is too long is refused as a whole. */
const contextShare = 0.75;

type Context = Readonly<Record<string, unknown>>;

export function fitContext(context: Context, model: Model, maxTokens: number): Context {
  const tokensMax = contextTokensOf(model) * contextShare - maxTokens;
  let fitting = context;
  // Halved each time, so it ends soon; what is left without any of them is the service's own to answer for.
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
