// The port to a model that orders documents by their relevance to a query.

import type { ModelFailure } from "../model.ts";

/** A reranking model of one provider. */
export interface Reranker {
  /** The name of its provider, as in `provider:model`. */
  readonly provider: string;
  /** The provider's own name for the model. */
  readonly name: string;
  /** Ranks the documents. Throws only for our own defects; an aborted call gives a failure like any other. */
  rerank(request: RerankRequest, signal: AbortSignal): Promise<Ranking | ModelFailure>;
}

/** The documents to rank. */
export interface RerankRequest {
  readonly query: string;
  readonly documents: readonly string[];
  /** The number of results, at most the number of documents. */
  readonly resultsMax: number;
}

/** The result of a request. */
export interface Ranking {
  readonly type: "ranking";
  /** The ranked documents, the best first. */
  readonly documents: readonly RankedDocument[];
  /** The tokens used; undefined when the provider did not count them. */
  readonly tokens: number | undefined;
}

/** A document of the request with its score. */
export interface RankedDocument {
  /** The document's index in the request. */
  readonly index: number;
  readonly relevanceScore: number;
}
