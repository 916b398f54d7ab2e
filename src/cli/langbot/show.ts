// Prints runners and bindings for people.

import { type Binding, BindingScope_Kind, BindingScope_KindSchema } from "#gen/runnel/runner/v1/binding_pb.js";
import {
  type Runner,
  Runner_StateSchema,
  RunnerCapabilitiesSchema,
  RunnerPermissionsSchema,
} from "#gen/runnel/runner/v1/runner_pb.js";
import {
  type AuditEntry,
  ResultDispositionSchema,
  type ResultVerdict,
} from "#gen/runnel/runner/v1/runner_service_pb.js";
import type { Paint } from "../output.ts";
import { sheet, timeOf, wordOf } from "../sheet.ts";

/** The columns of runners. */
export const runnerColumns = ["RUNNER", "STATE", "WORKER", "ERA", "REGISTERED"] as const;
/** The columns of bindings. */
export const bindingColumns = ["BINDING", "RUNNER", "SCOPE", "EVENTS", "ENABLED", "APPROVAL", "UPDATED"] as const;
/** The columns of verdicts. */
export const verdictColumns = ["RESULT", "TYPE", "DISPOSITION", "REASON"] as const;
/** The columns of audit entries. */
export const auditColumns = ["TIME", "RUN", "ACTION", "RESOURCE", "SCOPE", "RESULT", "REASON"] as const;

/** Returns the row of a runner. */
export function runnerRow(runner: Runner): string[] {
  const { runnerId, workerId, era, updateTime } = runner;
  return [runnerId, wordOf(Runner_StateSchema, runner.state), workerId, era, timeOf(updateTime)];
}

/** Returns the row of a binding. */
export function bindingRow({ bindingId, runnerId, scope, eventTypes, enabled, ...binding }: Binding): string[] {
  const kind = scope?.kind || BindingScope_Kind.GLOBAL;
  const { required = false } = binding.approvalPolicy ?? {};
  return [
    bindingId,
    runnerId,
    `${wordOf(BindingScope_KindSchema, kind)} ${scope?.id ?? ""}`.trimEnd(),
    eventTypes.join(" ") || "message.received",
    enabled === false ? "no" : "yes",
    required ? "required" : "–",
    timeOf(binding.updateTime),
  ];
}

/** Returns the row of a verdict. */
export function verdictRow({ sequence, type, disposition, diagnostics }: ResultVerdict): string[] {
  return [String(sequence), type, wordOf(ResultDispositionSchema, disposition), diagnostics.join("; ") || "–"];
}

/** Returns the row of an audit entry. */
export function auditRow({ createTime, runId, action, resource, scope, result, reason }: AuditEntry): string[] {
  return [timeOf(createTime), runId, action, resource || "–", scope || "–", result, reason || "–"];
}

/** Prints a runner and its manifest. */
export function showRunner(runner: Runner, paint: Paint): string {
  const { manifest, url } = runner;
  const permissions = RunnerPermissionsSchema.fields.flatMap(({ localName, name }) => {
    const granted = (manifest?.permissions as unknown as Record<string, string[]> | undefined)?.[localName] ?? [];
    return granted.length === 0 ? [] : [`${name} ${granted.join(" ")}`];
  });
  const capabilities = RunnerCapabilitiesSchema.fields
    .filter(({ localName }) => manifest?.capabilities?.[localName as "streaming"] === true)
    .map(({ name }) => name);
  return sheet(paint, `${runner.runnerId}  ${wordOf(Runner_StateSchema, runner.state)}`, [
    ["label", manifest?.label],
    ["about", manifest?.description],
    ["worker", runner.workerId],
    ["era", runner.era],
    ["url", url],
    ["can", capabilities.join(", ")],
    ["asks for", permissions.join(", ")],
    ["config", manifest?.configSchema],
    ["time", `registered ${timeOf(runner.createTime)}, last ${timeOf(runner.updateTime)}`],
  ]);
}
