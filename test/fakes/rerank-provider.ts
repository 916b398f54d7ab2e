// A reranking server in Jina's format: `POST /v1/rerank`. The score of a document is the number of words that it shares with
// the query, so its answers are right without a script. A queued script answers instead.

import { type RecordedRequest, type Script, startWireServer, type WireServer } from "./wire-server.ts";

export interface FakeReranker extends Omit<WireServer, "origin"> {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
}

export async function startFakeReranker(): Promise<FakeReranker> {
  const server = await startWireServer(rank);
  return {
    baseUrl: `${server.origin}/v1`,
    requests: server.requests,
    get connections() {
      return server.connections;
    },
    respond: server.respond,
    request: server.request,
    close: server.close,
    [Symbol.asyncDispose]: server.close,
  };
}

/** Sends these results as the answer to a request. */
export function answerRanking(results: readonly unknown[], more: object = {}): Script {
  return (wire) => wire.reply(200, JSON.stringify({ model: "fake", results, ...more }));
}

function rank({ path, body }: RecordedRequest): Script {
  if (path !== "/v1/rerank") {
    return (wire) => wire.reply(404, '{"detail":"Not Found"}');
  }
  const { query, documents, top_n: topN } = body as unknown as { query: string; documents: string[]; top_n: number };
  const words = new Set(query.toLowerCase().split(/\W+/));
  const results = documents.map((text, index) => {
    const shared = text.split(/\W+/).filter((word) => words.has(word.toLowerCase()));
    return { index, relevance_score: shared.length / (words.size + 1), document: { text } };
  });
  const best = results.toSorted((one, other) => other.relevance_score - one.relevance_score).slice(0, topN);
  const tokens = Math.ceil((query + documents.join("")).length / 4);
  return answerRanking(best, { usage: { total_tokens: tokens } });
}
