// Rerankers behind `POST <base URL>/rerank`, in the form of Jina, Cohere, vLLM and many others. The request has `model`,
// `query`, `documents` and `top_n`; the answer has `results` of `index` and `relevance_score`.

import { parseJson } from "../../../platform/base/json/parse-object.ts";
import type { ModelFailure } from "../model.ts";
import { type Account, bearerHeaders, openAccount } from "../wire/account.ts";
import { describeCut, describeUnreadable, findFailure, hideKey } from "../wire/failures.ts";
import { asCount, asRecord } from "../wire/frame.ts";
import type { Transport } from "../wire/transport.ts";
import type { RankedDocument, Ranking, Reranker, RerankRequest } from "./reranker.ts";

/** An account at a reranking server. */
export interface RerankProvider {
  /** Returns the reranker of this name. Never fails: only the provider knows its models. */
  reranker(name: string): Reranker;
  /** Ends the active calls and closes the socket pool. */
  close(): void;
}

/** Creates the provider of rerankers. A key that is not empty is sent as a bearer token. */
export function createHttpReranker(account: Account): RerankProvider {
  const transport = openAccount(account);
  return {
    reranker: (name) => ({
      provider: account.name,
      name,
      rerank: (request, signal) => rerank(name, { ...account, transport }, request, signal),
    }),
    close: transport.close,
  };
}

interface Connected extends Account {
  readonly transport: Transport;
}

async function rerank(
  model: string,
  { name, apiKey, transport }: Connected,
  { query, documents, resultsMax }: RerankRequest,
  signal: AbortSignal,
): Promise<Ranking | ModelFailure> {
  const headers = bearerHeaders(apiKey);
  const body = JSON.stringify({ model, query, documents, top_n: resultsMax });
  try {
    const text = await transport.ask("/rerank", { headers, body, signal });
    const documentsRanked = readResults(text, documents.length);
    return documentsRanked === undefined
      ? describeUnreadable(name, "expected `results` with an `index` and a `relevance_score` each")
      : { type: "ranking", documents: documentsRanked.slice(0, resultsMax), tokens: readTokens(text) };
  } catch (error) {
    const failure = findFailure(error);
    if (failure === undefined && !signal.aborted && !(error instanceof Error && "code" in error)) {
      throw error;
    }
    return hideKey(apiKey, failure ?? describeCut(name, error));
  }
}

/** Returns the ranked documents, best first, or undefined when the answer does not fit a request with so many documents. */
function readResults(text: string, documentsCount: number): RankedDocument[] | undefined {
  const { results } = readAnswer(text);
  if (!Array.isArray(results)) {
    return undefined;
  }
  const ranked = results.map(readResult);
  const indexes = new Set(ranked.map(({ index }) => index));
  const isRight = ranked.every(
    ({ index, relevanceScore }) =>
      Number.isInteger(index) && index >= 0 && index < documentsCount && Number.isFinite(relevanceScore),
  );
  return isRight && indexes.size === ranked.length
    ? ranked.toSorted((one, other) => other.relevanceScore - one.relevanceScore)
    : undefined;
}

function readResult(value: unknown): RankedDocument {
  const { index, relevance_score: score } = asRecord(value);
  return {
    index: typeof index === "number" ? index : Number.NaN,
    relevanceScore: typeof score === "number" ? score : Number.NaN,
  };
}

/** Returns the token count, which Jina sends in `usage`; undefined for other servers. */
function readTokens(text: string): number | undefined {
  const { total_tokens: tokens } = asRecord(readAnswer(text).usage);
  return asCount(tokens);
}

function readAnswer(text: string): Readonly<Record<string, unknown>> {
  return asRecord(parseJson(text));
}
