// Reported results for tests, and an Ingest that takes them.

import { create } from "@bufbuild/protobuf";
import { type ReportedResult, ReportedResultSchema } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import type { Grant } from "../../../src/protocols/langbot/runners/grant.ts";
import {
  Ingest,
  type IngestLimits,
  type IngestOutcome,
} from "../../../src/protocols/langbot/runners/results/ingest.ts";
import type { RunScope } from "../../../src/protocols/langbot/runners/scope.ts";

export const runId = "0199aaaa-0000-7000-8000-000000000001";

export const grant: Grant = {
  models: {},
  tools: {},
  knowledgeBases: {},
  files: [],
  pluginStorage: false,
  workspaceStorage: false,
  apis: [],
  stateScopes: ["conversation", "actor", "runner"],
  delivery: { streaming: true, reply: true },
  announcesStreaming: true,
};

const scope: RunScope = {
  client: "c",
  runnerId: "plugin:a/b/c",
  bindingId: "b",
  eventId: "e",
  conversationId: "talk",
  actor: { type: "person", id: "p" },
  subject: { type: "page", id: "s" },
};

const limits: IngestLimits = { resultsMax: 10_000, bytesMax: 67_108_864, repeatedVerdictsMax: 1_000 };

export interface IngestChanges {
  readonly runId?: string;
  readonly grant?: Partial<Grant>;
  readonly scope?: Partial<RunScope>;
  readonly limits?: Partial<IngestLimits>;
}

export function openIngest(changes: IngestChanges = {}): Ingest {
  let made = 0;
  return new Ingest({
    runId: changes.runId ?? runId,
    grant: { ...grant, ...changes.grant },
    scope: { ...scope, ...changes.scope },
    limits: { ...limits, ...changes.limits },
    newArtifactId: () => `made-${++made}`,
    stampApproval: () => ({ approvalId: `asked-${++made}`, createMs: 1_000 }),
    refuseArtifact: () => undefined,
  });
}

interface ItemChanges {
  readonly usage?: string;
  readonly runId?: string;
}

/** `data` is an object, or the text that a runner sends. */
export function item(
  sequence: number,
  type: string,
  data: object | string = {},
  changes: ItemChanges = {},
): ReportedResult {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return create(ReportedResultSchema, { sequence: BigInt(sequence), type, data: text, ...changes });
}

export function piece(sequence: number, content: string): ReportedResult {
  return item(sequence, "message.delta", { chunk: { role: "assistant", content } });
}

export function message(sequence: number, content: unknown): ReportedResult {
  return item(sequence, "message.completed", { message: { role: "assistant", content } });
}

/** The `disposition` of each item, followed by its diagnostics. */
export function told({ verdicts }: IngestOutcome): string[] {
  return verdicts.map(({ disposition, diagnostics }) => [disposition, ...diagnostics].join(" | "));
}

/** The verdict on a single result. */
export function toldOf(type: string, data: object | string, changes: IngestChanges = {}): string | undefined {
  return told(openIngest(changes).take([item(1, type, data)]))[0];
}

/** The log entries: the runner's numbers and the types of the payloads. */
export function logged({ results }: IngestOutcome): (readonly [number, string | undefined])[] {
  return results.map(({ runnerSequence, payload }) => [Number(runnerSequence), payload?.case] as const);
}
