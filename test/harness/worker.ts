// Workers of the tests: the unmodified SDK for runner authors, in the test's process.

import { onTestFinished } from "vitest";
import type { Result, Run, Runner } from "../../clients/typescript/src/worker/runner.ts";
import { runWorker, type WorkerOptions } from "../../clients/typescript/src/worker/worker.ts";
import { keyOf } from "./credentials.ts";

export const testRunnerId = "plugin:tests/bench/echo";

/** Makes a runner that may do everything, as far as its binding allows it. */
export function runnerOf(
  run: (run: Run) => AsyncGenerator<Result>,
  { id = testRunnerId, ...manifest }: Readonly<Record<string, unknown>> & { readonly id?: string } = {},
): Runner {
  return {
    manifest: {
      id,
      name: id.slice(id.lastIndexOf("/") + 1),
      label: { en_US: "A runner of the tests" },
      capabilities: { streaming: true, tool_calling: true, knowledge_retrieval: true, interrupt: true },
      permissions: {
        models: ["invoke", "stream", "rerank"],
        tools: ["detail", "call"],
        knowledge_bases: ["list", "retrieve"],
        history: ["page", "search"],
        events: ["get", "page"],
        artifacts: ["metadata", "read"],
        storage: ["plugin", "workspace"],
      },
      ...manifest,
    },
    run,
  };
}

export interface TestWorker {
  readonly problems: readonly unknown[];
  stop(): Promise<void>;
}

/** Starts a worker that ends with the test. */
export function startWorker(url: string, runners: readonly Runner[], options: Partial<WorkerOptions> = {}): TestWorker {
  const stop = new AbortController();
  const problems: unknown[] = [];
  const over = runWorker({
    url,
    apiKey: keyOf(),
    workerId: "tests",
    runners,
    maxConcurrent: 300,
    onProblem: (problem) => problems.push(problem),
    ...options,
    signal: stop.signal,
  });
  const end = async (): Promise<void> => {
    stop.abort();
    await over;
  };
  onTestFinished(end);
  return { problems, stop: end };
}
