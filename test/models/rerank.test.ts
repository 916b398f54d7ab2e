// Rerankers over HTTP, against a server that speaks their wire format.

import { test as base, expect, onTestFinished } from "vitest";
import { createHttpReranker } from "../../src/agent/models/rerank/http-reranker.ts";
import { createRerankRouter } from "../../src/agent/models/rerank/route.ts";
import { answerBytesMax } from "../../src/agent/models/wire/transport.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { answerRanking, startFakeReranker } from "../fakes/rerank-provider.ts";
import { fail } from "../fakes/wire-server.ts";

const test = base.extend("stage", () => openStage());

async function openStage(apiKey = "the-secret-key") {
  const fake = await startFakeReranker();
  onTestFinished(() => fake.close());
  const provider = createHttpReranker({ name: "rerank", baseUrl: fake.baseUrl, apiKey, clock: systemClock });
  onTestFinished(() => provider.close());
  return { fake, reranker: provider.reranker("small"), provider };
}

const request = { query: "red fox", documents: ["a blue cat", "a red fox", "a red cat"], resultsMax: 3 };
const never = new AbortController().signal;

test("the request has the wire format, and the best document comes first", async ({ stage: { fake, reranker } }) => {
  const ranking = await reranker.rerank({ ...request, resultsMax: 2 }, never);
  expect(ranking).toMatchObject({ type: "ranking", documents: [{ index: 1 }, { index: 2 }], tokens: 9 });
  const [sent] = fake.requests;
  expect(sent).toMatchObject({ path: "/v1/rerank", headers: { authorization: "Bearer the-secret-key" } });
  expect(sent?.body).toEqual({ model: "small", query: "red fox", documents: request.documents, top_n: 2 });
});

test("more results than requested, in any order, are sorted and cut", async ({ stage: { fake, reranker } }) => {
  fake.respond(answerRanking([0.1, 0.9, 0.5].map((relevance_score, index) => ({ index, relevance_score }))));
  expect(await reranker.rerank({ ...request, resultsMax: 2 }, never)).toEqual({
    type: "ranking",
    documents: [
      { index: 1, relevanceScore: 0.9 },
      { index: 2, relevanceScore: 0.5 },
    ],
    tokens: undefined,
  });
});

test.for([
  ["an index that no document has", [{ index: 3, relevance_score: 1 }]],
  ["a document that comes twice", [1, 1].map((index) => ({ index, relevance_score: 1 }))],
  ["a score that is not a number", [{ index: 0, relevance_score: "1" }]],
  ["an index that is not an integer", [{ index: 0.5, relevance_score: 1 }]],
] as const)("%s is not a valid answer", async ([_, results], { stage: { fake, reranker } }) => {
  fake.respond(answerRanking(results));
  expect(await reranker.rerank(request, never)).toMatchObject({
    type: "failure",
    code: "unreadable",
    retryable: false,
  });
});

test("an answer that is not JSON or is too long is invalid", async ({ stage: { fake, reranker } }) => {
  fake.respond(
    (wire) => wire.reply(200, "<html>", { "content-type": "text/html" }),
    (wire) => wire.reply(200, " ".repeat(answerBytesMax + 1)),
  );
  for (let attempt = 0; attempt < 2; attempt++) {
    expect(await reranker.rerank(request, never)).toMatchObject({ type: "failure", code: "unreadable" });
  }
});

test("a refusal reports its status and hides the key, a cut may be retried, and an abort closes the socket", async () => {
  const { fake, reranker } = await openStage();
  fake.respond(fail(401, '{"error":"the-secret-key is wrong"}'), (wire) => wire.cut());
  expect(await reranker.rerank(request, never)).toMatchObject({
    code: "401",
    retryable: false,
    message: 'API error (status 401): {"error":"[redacted] is wrong"}',
  });
  expect(await reranker.rerank(request, never)).toMatchObject({ code: "network", retryable: true });
  fake.respond((wire) => wire.hang());
  const stop = new AbortController();
  const ranking = reranker.rerank(request, stop.signal);
  const hanging = await fake.request(2);
  stop.abort();
  expect(await ranking).toMatchObject({ type: "failure" });
  expect(await hanging.closed).toBe(false);
});

test("names are `rerank:<name>`, and are unknown without a server", async ({ stage: { provider } }) => {
  expect(createRerankRouter(provider)("rerank:small")).toMatchObject({ provider: "rerank", name: "small" });
  for (const name of ["gpt-4o", "rerank:", "small"]) {
    expect(() => createRerankRouter(provider)(name)).toThrow(/is not a valid reranker/);
  }
  expect(() => createRerankRouter(undefined)("rerank:small")).toThrow(/set providers.rerank_base_url/);
});
