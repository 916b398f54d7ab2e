// The shared cases of the protocol through the service: parsed over REST, executed as answers to outboxes.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Plain } from "../conformance/surface.ts";
import { startService } from "../harness/service.ts";
import { type Exchanges, findTransport, transports } from "./transports.ts";
import { openWorkspace } from "./workspace.ts";

interface Block {
  readonly type: string;
  readonly path?: string;
  readonly startLine?: number;
  readonly endLine?: number;
  readonly content?: string;
  readonly command?: string;
  readonly text?: string;
  readonly message?: string;
  readonly error?: string;
}

interface ParserCase {
  readonly name: string;
  readonly inbox: string;
  readonly expect: readonly Block[];
  readonly extra_error_allowed?: boolean;
}

interface ExecutorCase {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly inbox: string;
  readonly results: readonly {
    readonly commandType: string;
    readonly summary: string;
    readonly success: boolean;
    readonly summary_match?: "prefix" | "exact";
  }[];
  readonly readFileRequests: readonly string[];
  readonly files_after: Readonly<Record<string, string>>;
}

const cases: { readonly vectors: readonly ParserCase[]; readonly executor_vectors: readonly ExecutorCase[] } =
  JSON.parse(readFileSync(join(import.meta.dirname, "../vectors/coding-agent.json"), "utf8"));

test("every parsing case holds as plain text and over one other surface, and executes nothing", async () => {
  expect(cases.vectors.length).toBeGreaterThan(50);
  const service = await startService();
  const workspace = await openWorkspace({ a: "1\n" });
  const others = transports.map(({ name, open }) => ({ name, api: open(service) }));
  const plainText = others.shift() as (typeof others)[number];
  const { exchange_id: exchangeId } = await findTransport("gRPC")
    .open(service)
    .start({ task: "x", workDir: workspace.path });
  for (const [index, each] of cases.vectors.entries()) {
    const { name, inbox, expect: expected, extra_error_allowed: mayHaveMore } = each;
    for (const way of [plainText, others[index % others.length] ?? plainText]) {
      const { commands } = (await way.api.parse(inbox)) as { commands: Plain[] };
      const last = commands.at(-1);
      const hasMore = mayHaveMore === true && String(last?.message).startsWith("unrecognised");
      const shown = hasMore ? commands.slice(0, -1) : commands;
      expect.soft(shown, `${name} over ${way.name}`).toEqual(expected.map(toShown));
    }
  }
  expect(workspace.read()).toEqual({ a: "1\n" });
  expect(await findTransport("gRPC").open(service).get(exchangeId)).toMatchObject({ sequence: 1 });
});

function toShown(block: Block): Plain {
  const { type, path, startLine, endLine, content, command, text, message, error } = block;
  if (type === "ERROR") {
    return { type: "PARSE_ERROR", message: error };
  }
  const body = content ?? command ?? text ?? message;
  const lines = startLine === undefined ? {} : { start_line: String(startLine), end_line: String(endLine) };
  const attributes = { ...(path !== undefined && { path }), ...lines };
  return { type, attributes, ...(body !== undefined && { body }) };
}

test("every execution case holds in an exchange", async () => {
  expect(cases.executor_vectors.length).toBeGreaterThan(15);
  const service = await startService();
  const apis = transports.map(({ open }) => open(service));
  await Promise.all(
    cases.executor_vectors.map(async (each, index) => {
      const { name, files, inbox, results: expected, readFileRequests, files_after } = each;
      const api = apis[index % apis.length] as Exchanges;
      const workspace = await openWorkspace(files);
      const { exchange_id: exchangeId } = await api.start({ task: name, workDir: workspace.path });
      await api.readOutbox(exchangeId);
      const { results, sequence } = await api.submit({ exchangeId, text: inbox });
      expect.soft(sequence, name).toBe(2);
      const shown = results.map(({ type, summary, success }, index) => {
        const { summary: wanted = "", summary_match: match } = expected[index] ?? {};
        return {
          commandType: type,
          summary: match === "prefix" ? String(summary).slice(0, wanted.length) : summary,
          success,
        };
      });
      expect
        .soft(shown, name)
        .toEqual(expected.map(({ commandType, summary, success }) => ({ commandType, summary, success })));
      expect.soft(workspace.read(), name).toEqual(files_after);
      const { read_file_requests: requests = [], last_results } = await api.get(exchangeId);
      expect.soft(requests, name).toEqual(readFileRequests);
      expect.soft(last_results, name).toEqual(results);
      expect.soft(await api.readOutbox(exchangeId), name).toContain("\nSequence: 2\n");
    }),
  );
});
