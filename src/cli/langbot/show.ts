// Prints runners, bindings and approvals for people.

import type { DescEnum } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type Approval,
  Approval_DecisionSchema,
  Approval_State,
  Approval_StateSchema,
} from "#gen/runnel/runner/v1/approval_pb.js";
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
import { enumShape } from "../../platform/base/json/shape.ts";
import type { Paint } from "../output.ts";
import { shorten } from "../show.ts";
import { showTime } from "../table.ts";

/** The columns of runners. */
export const runnerColumns = ["RUNNER", "STATE", "WORKER", "ERA", "REGISTERED"] as const;
/** The columns of bindings. */
export const bindingColumns = ["BINDING", "RUNNER", "SCOPE", "EVENTS", "ENABLED", "APPROVAL", "UPDATED"] as const;
/** The columns of verdicts. */
export const verdictColumns = ["RESULT", "TYPE", "DISPOSITION", "REASON"] as const;
/** The columns of audit entries. */
export const auditColumns = ["TIME", "RUN", "ACTION", "RESOURCE", "SCOPE", "RESULT", "REASON"] as const;
/** The columns of approvals. */
export const approvalColumns = ["APPROVAL", "STATE", "ACTION", "RUN", "EXPIRES"] as const;

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

/** Returns the row of an approval. */
export function approvalRow({ approvalId, state, action, runId, expireTime }: Approval): string[] {
  return [approvalId, wordOf(Approval_StateSchema, state), action, runId, timeOf(expireTime)];
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

/** Prints an approval, and the command that approves it while it is pending. */
export function showApproval(approval: Approval, paint: Paint): string {
  const { approvalId, action, state, runnerId, decidedBy, digest } = approval;
  const decision = wordOf(Approval_DecisionSchema, approval.decision);
  const decided = approval.decideTime && `${decision} by ${decidedBy}, ${timeOf(approval.decideTime)}`;
  return [
    sheet(paint, `approval ${approvalId}  ${wordOf(Approval_StateSchema, state)}`, [
      ["action", action],
      // Printed whole, on one line: the person who decides has to see all of it.
      ["request", approval.request, "whole"],
      ["digest", digest],
      ["run", `${approval.runId}, result ${approval.runnerSequence}`],
      ["runner", runnerId],
      ["time", `asked ${timeOf(approval.createTime)}, until ${timeOf(approval.expireTime)}`],
      ["decided", decided],
      ["comment", approval.comment],
      ["used", approval.useTime && timeOf(approval.useTime)],
    ]),
    ...(state === Approval_State.PENDING ? [`\nrunnel runners approve ${approvalId} --digest ${digest}`] : []),
  ].join("\n");
}

/** Returns the states of approvals, except "unspecified". */
export function stateWords(): string[] {
  return [...enumShape(Approval_StateSchema).texts].filter(([number]) => number !== 0).map(([, text]) => text);
}

/** Returns the name of a value, or its number when it is from a newer service. */
function wordOf(desc: DescEnum, number: number): string {
  return enumShape(desc).texts.get(number) ?? String(number);
}

function timeOf(time: Timestamp | undefined): string {
  return showTime(time && timestampDate(time));
}

type Line = readonly [title: string, text: string | undefined, length?: "whole"];

/** Prints a title and its lines; empty lines are left out. */
function sheet(paint: Paint, head: string, lines: readonly Line[]): string {
  const present = lines.filter(([, text]) => text !== undefined && text !== "");
  const show = ([title, text = "", length]: Line): string =>
    `  ${paint("bold", title.padEnd(9))}  ${length === "whole" ? withoutControls(text) : shorten(text)}`;
  return [head, ...present.map(show)].join("\n");
}

/** Escapes control characters. A runner wrote the text: it must not act on a terminal or hide a part of the request. */
function withoutControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
