// The port to a model that orders documents by how well they answer a query.

import type { ModelFailure } from "../model.ts";

export interface Reranker {
  /** Whose it is, as in `provider:model`. */
  readonly provider: string;
  /** As the provider calls it. */
  readonly name: string;
  /** Throws only for defects of ours; an aborted call is a failure like any other. */
  rerank(request: RerankRequest, signal: AbortSignal): Promise<Ranking | ModelFailure>;
}

export interface RerankRequest {
  readonly query: string;
  readonly documents: readonly string[];
  /** How many to return, at most as many as there are documents. */
  readonly resultsMax: number;
}

export interface Ranking {
  readonly type: "ranking";
  /** The best first. */
  readonly documents: readonly RankedDocument[];
  /** Undefined when the provider did not count. */
  readonly tokens: number | undefined;
}

export interface RankedDocument {
  /** Its index in the request. */
  readonly index: number;
  readonly relevanceScore: number;
}
