// The way from a provider's socket to the parts of a response, in this process, for each wire format; beside the least that any reader
// does with the same bytes: lines, and JSON.parse of each frame.

import { request as open } from "node:http";
import { createAnthropic } from "../../../src/agent/models/anthropic/provider.ts";
import { createGemini } from "../../../src/agent/models/gemini/provider.ts";
import type { ModelPart } from "../../../src/agent/models/model.ts";
import { createOpenAiCompatible } from "../../../src/agent/models/openai-compatible/provider.ts";
import { createOpenAiResponses } from "../../../src/agent/models/openai-responses/provider.ts";
import type { Account, ModelProvider } from "../../../src/agent/models/wire/account.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import type { Bench, Variant } from "../bench.ts";
import { startChild } from "../harness/child.ts";
import { measure } from "../harness/meter.ts";
import { deltasOfStream, word } from "../harness/streams.ts";

interface Way {
  readonly name: string;
  readonly open: (account: Account) => ModelProvider;
  readonly path: string;
}

const ways: readonly Way[] = [
  { name: "Chat Completions", open: createOpenAiCompatible, path: "/chat/completions" },
  { name: "Responses", open: createOpenAiResponses, path: "/responses" },
  { name: "Messages", open: createAnthropic, path: "/messages" },
  { name: "Gemini", open: createGemini, path: "/models/m:streamGenerateContent" },
];

/** Short turns that alternate, so that both meet the same moments of the machine. */
const streamsOfRound = 4;

export const providerStreams: Bench = {
  name: "provider-streams",
  title: `Responses of ${deltasOfStream.toLocaleString("en")} deltas at once, from the socket of each provider to parts`,
  notMeasured:
    "the way from the parts to the log and its readers; deltas that arrive one by one, where a read of the socket is most of the cost; TLS, compression, calls, thoughts.",
  roundsMax: 5,
  async *measure({ quick }) {
    const program = new URL("../bare/streams.ts", import.meta.url);
    await using server = await startChild({ program, announcement: /streams on (http:\/\/\S+)/ });
    const streams = quick ? 2 : streamsOfRound;
    for (let isWarm = false; ; isWarm = true) {
      const variants: Variant[] = [];
      for (const way of ways) {
        variants.push(await compare(way, server.url, streams));
      }
      if (isWarm) {
        yield variants;
      }
    }
  },
};

async function compare({ name, open: openProvider, path }: Way, url: string, streams: number): Promise<Variant> {
  const provider = openProvider({ name: "bench", baseUrl: url, apiKey: "", clock: systemClock });
  const faults = new Set<string>();
  const seconds = { ours: 0, bare: 0 };
  try {
    for (let stream = 0; stream < streams; stream += 1) {
      const { cost: ours } = await measure({}, async () => {
        const chars = await readParts(provider);
        if (chars !== deltasOfStream * word.length) {
          faults.add(`${chars} characters arrived instead of ${deltasOfStream * word.length}`);
        }
      });
      const { cost: bare } = await measure({}, async () => {
        const frames = await readFrames(`${url}${path}`);
        if (frames < deltasOfStream) {
          faults.add(`${frames} frames arrived instead of ${deltasOfStream} and more`);
        }
      });
      seconds.ours += ours.client;
      seconds.bare += bare.client;
    }
  } finally {
    provider.close();
  }
  const microseconds = 1_000_000 / (streams * deltasOfStream);
  return {
    name,
    metrics: {
      "CPU per delta, µs": seconds.ours * microseconds,
      "bare, CPU per delta, µs": seconds.bare * microseconds,
      "CPU, ratio to bare": seconds.ours / seconds.bare,
    },
    faults: [...faults],
  };
}

/** Reads a response as a run does: it takes what it can without a pull. Returns the characters of its text; NaN unless it is whole. */
async function readParts(provider: ModelProvider): Promise<number> {
  let chars = 0;
  let isWhole = false;
  const take = (part: ModelPart): boolean => {
    chars += part.type === "text" ? part.text.length : 0;
    isWhole ||= part.type === "finish";
    return part.type === "text";
  };
  const request = { system: "", messages: [], tools: [], maxTokens: 1, temperature: undefined, takePart: take };
  for await (const part of provider.model("m").stream(request, new AbortController().signal)) {
    take(part);
  }
  return isWhole ? chars : Number.NaN;
}

/** Returns the number of frames that are JSON. */
async function readFrames(url: string): Promise<number> {
  const response = await new Promise<AsyncIterable<string>>((resolve, reject) => {
    open(url, { method: "POST" }, (incoming) => resolve(incoming.setEncoding("utf8")))
      .on("error", reject)
      .end("{}");
  });
  let frames = 0;
  let rest = "";
  for await (const piece of response) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data: {")) {
        JSON.parse(line.slice("data: ".length));
        frames += 1;
      }
    }
  }
  return frames;
}
