// What we send to providers, judged by their official SDKs: each body has the type that the SDK has for it, and the SDK itself sends the
// same body when it is asked to. npm installs the SDKs, as `packages` pins them, into a folder of the test.
//
// Anthropic's SDK has two versions here, because each sends its own version of the API: ours is that of version 0.

import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { runCommand } from "../../../scripts/run-command.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { type RecordedRequest, startWireServer, type WireServer } from "../../fakes/wire-server.ts";
import { caseOf } from "./cases.ts";
import { differences } from "./differences.ts";
import { formats, typeSource } from "./formats.ts";
import { type Known, knownDifferences } from "./known.ts";
import { answerTo, recordAll, type SentRequest } from "./record.ts";
import { openSdks, type Sdk } from "./sdks.ts";
import { checkTypes } from "./type-check.ts";

/** Sixty packages, from a registry that may be slow. */
const installMaxMs = 600_000;

let folder: string;
/** They stay until the end: the SDKs keep their connections, and would use them for another server at the same port. */
const servers = new AsyncDisposableStack();

beforeAll(async () => {
  // Anthropic's SDK warns of models that will end.
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  // npm would leave its compile cache behind.
  vi.stubEnv("NODE_DISABLE_COMPILE_CACHE", "1");
  folder = await mkdtemp(join(tmpdir(), "runnel-requests-"));
  await cp(join(import.meta.dirname, "packages"), folder, { recursive: true });
  await runCommand("npm", ["ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"]);
  return async () => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    await servers.disposeAsync();
    await rm(folder, { recursive: true });
  };
}, installMaxMs);

describe.each(formats)("a request in $name", (format) => {
  let requests: readonly SentRequest[];
  let server: WireServer;
  let sdk: Sdk;
  beforeAll(async () => {
    server = servers.use(await startWireServer());
    sdk = openSdks(folder, server.origin)[format.sdk];
    requests = await recordAll(format);
  });

  test("has the type that the SDK has for it", async () => {
    const bodies = requests.flatMap(({ name, types, sent: { text: json } }) =>
      types.map((type) => ({ name: `${name} (${type})`, type, json })),
    );
    const errors = await checkTypes(folder, typeSource, bodies);
    const found = bodies.flatMap(({ name }, place) => (errors[place] ?? []).map((error) => `${name}: ${error}`));
    expectOnly(knownDifferences[format.sdk].types, found);
  });

  test("is what the SDK sends when it is given the body", async () => {
    const found: string[] = [];
    for (const { name, model, sent } of requests) {
      const problems = await resend(sent, model);
      found.push(...problems.map((problem) => `${name}: ${problem}`));
    }
    expectOnly(knownDifferences[format.sdk].resendings, found);
  });

  test("with a call and its result has the form that the SDK gives to them", async () => {
    const model = format.models[0] ?? "";
    const { request } = caseOf("a call and its result", { tools: [find] });
    const before = server.requests.length;
    server.respond(format.call, format.answer, format.call, format.answer);
    await sdk.converse({ model, request, result: "ok" });

    const provider = format.open({ origin: server.origin, apiKey: "key", clock: systemClock });
    onTestFinished(() => provider.close());
    const stream = provider.model(model).stream(request, new AbortController().signal);
    const messages = answerTo(await Array.fromAsync(stream));
    await Array.fromAsync(provider.model(model).stream({ ...request, messages }, new AbortController().signal));

    const [theirFirst, theirSecond, first, second] = server.requests.slice(before).map(({ body }) => partsOf(body));
    expect(theirFirst).toMatchObject({ ...first });
    expect(theirSecond).toMatchObject({ ...second });
  });

  /** Sends a body again by the SDK. Returns the differences, or why the SDK refuses to send it. */
  async function resend(sent: RecordedRequest, model: string): Promise<readonly string[]> {
    const before = server.requests.length;
    server.respond(format.answer);
    try {
      await sdk.resend(JSON.parse(sent.text), model);
    } catch (error) {
      // Takes the answer of the request that was not sent.
      await fetch(server.origin, { method: "POST" });
      return [`refuses: ${String(error)}`];
    }
    const again = await server.request(before);
    return [
      ...differences(sent.body, again.body),
      ...differences(sent.path, again.path, "path"),
      ...headers.flatMap((name) => differences(sent.headers[name], again.headers[name], `headers.${name}`)),
    ];
  }
});

const find = { name: "find_a-b", description: "Finds.", parameters: { type: "object", properties: { query: {} } } };

const headers = ["content-type", "authorization", "x-api-key", "anthropic-version", "anthropic-beta", "x-goog-api-key"];

/** Returns the conversation and the tools of a body, without the marks for caches, which only we set. */
function partsOf({
  messages,
  input,
  contents,
  system,
  systemInstruction,
  tools: offered,
}: RecordedRequest["body"]): object {
  const parts = { messages, input, contents, system, systemInstruction, tools: offered };
  const print = (key: string, value: unknown): unknown => {
    if (key === "cache_control") {
      return undefined;
    }
    const [only, ...others] = Array.isArray(value) && textKeys.has(key) ? value : [];
    return others.length === 0 && typeof only?.text === "string" ? only.text : value;
  };
  return JSON.parse(JSON.stringify(parts, print)) as object;
}

/** Members that have a text, or a list with one part that has it. */
const textKeys: ReadonlySet<string> = new Set(["content", "system"]);

/** Expects that all differences are known, and that each known one is there. */
function expectOnly(known: readonly Known[], found: readonly string[]): void {
  expect(found.filter((each) => !known.some(({ says }) => says.test(each)))).toEqual([]);
  expect(known.filter(({ says }) => !found.some((each) => says.test(each)))).toEqual([]);
}
