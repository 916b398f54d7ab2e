// Runners and bindings in words.

import { reflect } from "@bufbuild/protobuf/reflect";
import { type Binding, BindingScope_Kind } from "#gen/runnel/runner/v1/binding_pb.js";
import { type Runner, RunnerCapabilitiesSchema } from "#gen/runnel/runner/v1/runner_pb.js";

/** No stream tells of runners and their records. */
export const refreshMs = 5_000;

/** Example: `worker support-1`, or `dialled at https://runners.example`. */
export function kindOf({ url, workerId }: Runner): string {
  return url === "" ? `worker ${workerId}` : `dialled at ${url}`;
}

/** Returns the capabilities that the manifest declares, by the names of the contract. */
export function capabilitiesOf({ manifest }: Runner): string[] {
  const capabilities = reflect(RunnerCapabilitiesSchema, manifest?.capabilities);
  return capabilities.fields.filter((field) => capabilities.get(field) === true).map(({ name }) => name);
}

/** Returns the types of the events that a binding takes. */
export function eventTypesOf({ eventTypes }: Binding): readonly string[] {
  return eventTypes.length === 0 ? ["message.received"] : eventTypes;
}

const scopeWords = {
  [BindingScope_Kind.UNSPECIFIED]: "all events",
  [BindingScope_Kind.GLOBAL]: "all events",
  [BindingScope_Kind.WORKSPACE]: "workspace",
  [BindingScope_Kind.BOT]: "bot",
  [BindingScope_Kind.AGENT]: "agent",
} as const satisfies Record<BindingScope_Kind, string>;

/** Example: `bot helpdesk`, or `all events`. */
export function scopeOf({ scope }: Binding): string {
  return `${scopeWords[scope?.kind ?? BindingScope_Kind.GLOBAL] ?? "unknown"} ${scope?.id ?? ""}`.trimEnd();
}
