// Bindings: they decide which runner takes an event. Exactly one enabled binding must fit. Without one, and with several, the
// event is refused with the reason. An event never goes to more than one runner.

import { clone, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AgentProfileSchema } from "#gen/runnel/runner/v1/agent_profile_pb.js";
import { type Binding, BindingSchema, BindingScope_Kind } from "#gen/runnel/runner/v1/binding_pb.js";
import type { AgentEvent } from "#gen/runnel/runner/v1/event_pb.js";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { parseFreeObject } from "../../../platform/base/json/free.ts";
import { reasons } from "../reasons.ts";
import type { BindingRow, BindingScopeKey } from "../storage/binding.ts";
import { assertStorable } from "./free-fields.ts";
import { parseRunnerId, runnerIdForm } from "./runner-id.ts";
import { readTimeoutMs } from "./timeout.ts";

/** The event types of a binding that lists no types. */
const eventTypesDefault: readonly string[] = ["message.received"];

/** The maximum bytes: configurations are read for every event. Larger data belongs in storage or files. */
const termsBytesMax = 524_288;

const scopeKinds = {
  [BindingScope_Kind.UNSPECIFIED]: "global",
  [BindingScope_Kind.GLOBAL]: "global",
  [BindingScope_Kind.WORKSPACE]: "workspace",
  [BindingScope_Kind.BOT]: "bot",
  [BindingScope_Kind.AGENT]: "agent",
} as const satisfies Record<BindingScope_Kind, string>;

/** Checks what the validation of single fields cannot. Throws Fault INVALID_ARGUMENT, which names the field. */
export function assertBinding(binding: Binding): void {
  if (binding.agentId === "") {
    assertRunnerTerms(BindingSchema, binding, "binding");
  } else {
    assertNothingOfRunner(binding);
    assertStorable(BindingSchema, binding, "binding");
  }
  assertScope(binding);
}

/** Checks the runner's settings in a binding or an agent profile. Throws Fault INVALID_ARGUMENT, which names the field. */
export function assertRunnerTerms<S extends typeof BindingSchema | typeof AgentProfileSchema>(
  schema: S,
  terms: MessageShape<S>,
  field: string,
): void {
  if (toBinary(schema, terms).length > termsBytesMax) {
    throw invalidField(field, `must be at most ${termsBytesMax} bytes`);
  }
  assertStorable(schema, terms, field);
  if (parseRunnerId(terms.runnerId) === undefined) {
    throw invalidField(`${field}.runner_id`, `must be ${runnerIdForm}`);
  }
  timeoutOf(terms, field);
}

const termsOfRunner = [
  ["runner_id", "runnerId"],
  ["runner_config", "runnerConfig"],
  ["resource_policy", "resourcePolicy"],
  ["state_policy", "statePolicy"],
  ["delivery_policy", "deliveryPolicy"],
  ["approval_policy", "approvalPolicy"],
] as const satisfies readonly (readonly [string, keyof Binding])[];

/** Refuses runner settings beside an agent: it would be unclear which of the two count. */
function assertNothingOfRunner(binding: Binding): void {
  for (const [name, key] of termsOfRunner) {
    if (binding[key] !== undefined && binding[key] !== "") {
      throw invalidField(`binding.${name}`, "must be unset when agent_id is set: the agent defines it");
    }
  }
}

/** Returns the scope of a binding as it is stored. */
export function scopeKeyOf({ scope }: Binding): BindingScopeKey {
  return { kind: scopeKinds[scope?.kind ?? BindingScope_Kind.GLOBAL] ?? "", id: scope?.id ?? "" };
}

/** Returns the timeout of a binding's runs in milliseconds. Throws Fault INVALID_ARGUMENT when it is invalid. */
export function timeoutOf(terms: Pick<Binding, "runnerConfig">, field = "binding"): number {
  const text = configOf(terms);
  return readTimeoutMs(text, parseFreeObject(text), `${field}.runner_config`);
}

/** Returns the runner's configuration as a JSON object. */
export function configOf({ runnerConfig }: Pick<Binding, "runnerConfig">): string {
  return runnerConfig ?? "{}";
}

/** Encodes a binding. Its times are left out, since they are columns of the row. */
export function bindingToBytes(binding: Binding): Uint8Array {
  const body = clone(BindingSchema, binding);
  delete body.createTime;
  delete body.updateTime;
  return toBinary(BindingSchema, body);
}

/** Decodes a binding, with the times of its row. */
export function bindingFromRow(row: BindingRow): Binding {
  const binding = fromBinary(BindingSchema, row.body);
  binding.createTime = timestampFromDate(row.create_time);
  binding.updateTime = timestampFromDate(row.update_time);
  return binding;
}

/** Returns the scopes of the bindings that can fit an event. */
export function scopesOfEvent({ botId, workspaceId, agentId }: AgentEvent): BindingScopeKey[] {
  const named = { workspace: workspaceId, bot: botId, agent: agentId };
  const own = Object.entries(named).flatMap(([kind, id]) => (id === undefined || id === "" ? [] : [{ kind, id }]));
  return [{ kind: "global", id: "" }, ...own];
}

/** Returns the binding that takes the event. Throws Fault BINDING_NOT_FOUND or BINDING_AMBIGUOUS. */
export function resolveBinding(bindings: readonly Binding[], event: AgentEvent): Binding {
  const fitting = bindings.filter((binding) => fits(binding, event));
  const [binding] = fitting;
  if (binding === undefined) {
    const fix = "put one with a matching scope and event_types, or enable it";
    throw new Fault(
      reasons.BINDING_NOT_FOUND,
      `no binding matches the event ${JSON.stringify(event.eventType)}: ${fix}`,
    );
  }
  if (fitting.length > 1) {
    throw ambiguous(fitting.map(({ bindingId }) => bindingId).toSorted());
  }
  return binding;
}

function fits(binding: Binding, event: AgentEvent): boolean {
  const { kind, id } = scopeKeyOf(binding);
  const types = binding.eventTypes.length === 0 ? eventTypesDefault : binding.eventTypes;
  return (
    binding.enabled !== false &&
    types.includes(event.eventType) &&
    scopesOfEvent(event).some((scope) => scope.kind === kind && scope.id === id)
  );
}

function ambiguous(ids: readonly string[]): Fault {
  const names = ids.slice(0, shownIdsMax).join(", ");
  const more = ids.length > shownIdsMax ? ` and ${ids.length - shownIdsMax} more` : "";
  const message = `several bindings match the event: ${names}${more}; disable or delete all but one`;
  return new Fault(reasons.BINDING_AMBIGUOUS, message, { metadata: { binding_ids: `${names}${more}` } });
}

/** The maximum ids in an error, which stays below 4 KB with ids of any length. */
const shownIdsMax = 10;

function assertScope({ scope }: Binding): void {
  if (scope === undefined) {
    return;
  }
  const kind: string | undefined = scopeKinds[scope.kind];
  if (kind === undefined) {
    throw invalidField("binding.scope.kind", "must be global, workspace, bot or agent");
  }
  if (kind === "global" && scope.id !== "") {
    throw invalidField("binding.scope.id", "must be unset for scope global");
  }
  if (kind !== "global" && scope.id === "") {
    throw invalidField("binding.scope.id", `must name the ${kind}`);
  }
}
