// Resolves the name of a reranker: `rerank:<name>`, when a reranking server is configured.

import { Fault } from "../../../platform/base/fault.ts";
import type { RerankProvider } from "./http-reranker.ts";
import type { Reranker } from "./reranker.ts";

const prefix = "rerank:";

/** Returns a function that resolves names. It throws Fault MODEL_UNSUPPORTED for an invalid name or a missing server. */
export function createRerankRouter(provider: RerankProvider | undefined): (name: string) => Reranker {
  return (name) => {
    if (!name.startsWith(prefix) || name === prefix) {
      throw new Fault("MODEL_UNSUPPORTED", `${JSON.stringify(name)} is not a valid reranker: expected ${prefix}<name>`);
    }
    if (provider === undefined) {
      throw new Fault("MODEL_UNSUPPORTED", `no rerank server is configured for ${name}: set providers.rerank_base_url`);
    }
    return provider.reranker(name.slice(prefix.length));
  };
}
