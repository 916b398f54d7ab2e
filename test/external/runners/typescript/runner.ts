// The conversation of the tests over the SDK in clients/typescript. `node runner.ts`, with RUNNEL_URL and RUNNEL_API_KEY.

import { ConnectError } from "@connectrpc/connect";
import {
  completed,
  delta,
  failed,
  message,
  type Result,
  type Run,
  state,
} from "../../../../clients/typescript/src/worker/runner.ts";
import { runWorker } from "../../../../clients/typescript/src/worker/worker.ts";
import { ApiErrorSchema } from "../../../../gen/runnel/host/v1/host_api_pb.js";

const manifest = {
  id: "plugin:tests/talk/default",
  name: "default",
  label: { en_US: "Talks" },
  capabilities: { streaming: true, tool_calling: true },
  permissions: { models: ["invoke", "stream"], tools: ["detail", "call"], history: ["page"] },
};

async function* run(run: Run): AsyncGenerator<Result> {
  const text = run.context.input?.text ?? "";
  if (text === "forbidden") {
    yield await callForbidden(run);
  } else if (text === "wait") {
    yield delta("waiting");
    await aborted(run.signal);
    yield failed("the run was cancelled", { code: "cancelled" });
  } else {
    yield* talk(run, text);
  }
}

async function* talk({ host, signal }: Run, text: string): AsyncGenerator<Result> {
  const kept = await host.getState({ scope: "conversation", key: "count" });
  const count = 1 + Number(JSON.parse(kept.value ?? "0"));
  yield delta(`message ${count}, after ${await countItems(host)} items: `);
  let answer = "";
  let usage = {};
  const asked = { modelId: "demo", messages: [JSON.stringify({ role: "user", content: text })] };
  for await (const { chunk, usage: used } of host.invokeModelStream(asked, { signal })) {
    const content: string = JSON.parse(chunk ?? "{}").content ?? "";
    if (content !== "") {
      answer += content;
      yield delta(content);
    }
    if (used !== undefined) {
      const { promptTokens, completionTokens, totalTokens } = used;
      usage = {
        prompt_tokens: Number(promptTokens),
        completion_tokens: Number(completionTokens),
        total_tokens: Number(totalTokens),
      };
    }
  }
  yield state("conversation", "count", count);
  yield {
    type: "artifact.created",
    data: {
      artifact_type: "note",
      artifact_id: `note-${count}`,
      mime_type: "text/plain",
      name: "note.txt",
      content_base64: Buffer.from(answer).toString("base64"),
    },
  };
  yield message(answer);
  yield completed(undefined, usage);
}

async function countItems(host: Run["host"]): Promise<number> {
  let count = 0;
  let cursor: string | undefined;
  for (;;) {
    const page = await host.pageHistory({ limit: 2, ...(cursor !== undefined && { beforeCursor: cursor }) });
    count += page.items.length;
    cursor = page.nextCursor;
    if (!page.hasMore) {
      return count;
    }
  }
}

async function callForbidden({ host }: Run): Promise<Result> {
  try {
    await host.callTool({ toolName: "bash", parameters: '{"command":"ls"}' });
  } catch (error) {
    const [told] = ConnectError.from(error).findDetails(ApiErrorSchema);
    if (told !== undefined) {
      return failed(told.message, { code: told.code, retryable: told.retryable });
    }
  }
  return failed("the tool was called");
}

async function aborted(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

const { RUNNEL_URL: url = "", RUNNEL_API_KEY: apiKey = "" } = process.env;
const ending = new AbortController();
process.once("SIGTERM", () => ending.abort());
await runWorker({ url, apiKey, workerId: "tests.talk", runners: [{ manifest, run }], signal: ending.signal });
