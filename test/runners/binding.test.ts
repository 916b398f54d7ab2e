// Which binding takes an event, and which bindings are valid.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { type Binding, BindingSchema, BindingScope_Kind } from "#gen/runnel/runner/v1/binding_pb.js";
import { AgentEventSchema } from "#gen/runnel/runner/v1/event_pb.js";
import { Fault } from "../../src/platform/base/fault.ts";
import {
  assertBinding,
  resolveBinding,
  scopeKeyOf,
  scopesOfEvent,
  timeoutOf,
} from "../../src/protocols/langbot/runners/binding.ts";
import { faultOf } from "../harness/fault-of.ts";
import { runnerId } from "./manifests.ts";

function bindingOf(changes: MessageInitShape<typeof BindingSchema> = {}): Binding {
  return create(BindingSchema, { bindingId: "b", runnerId, ...changes });
}

function eventOf(changes: MessageInitShape<typeof AgentEventSchema> = {}) {
  return create(AgentEventSchema, { eventId: "e", eventType: "message.received", ...changes });
}

/** The id of the binding that takes the event, or the reason of the refusal. */
function resolve(bindings: readonly Binding[], event = eventOf()): string {
  try {
    return resolveBinding(bindings, event).bindingId;
  } catch (error) {
    if (error instanceof Fault) {
      return error.reason;
    }
    throw error;
  }
}

const { GLOBAL, WORKSPACE, BOT, AGENT } = BindingScope_Kind;

describe("an event", () => {
  test("goes to a binding without event types only when it is a message", () => {
    expect(resolve([bindingOf()])).toBe("b");
    expect(resolve([bindingOf()], eventOf({ eventType: "schedule.triggered" }))).toBe("BINDING_NOT_FOUND");
    expect(resolve([bindingOf({ eventTypes: ["a", "b"] })], eventOf({ eventType: "b" }))).toBe("b");
  });

  test("with several bindings is refused, and the error names them all", () => {
    const bindings = [
      bindingOf({ bindingId: "two", scope: { kind: BOT, id: "x" } }),
      bindingOf({ bindingId: "one" }),
      bindingOf({ bindingId: "off", enabled: false }),
    ];
    const fault = faultOf(() => resolveBinding(bindings, eventOf({ botId: "x" })));
    expect(fault.reason).toBe("BINDING_AMBIGUOUS");
    expect(fault.message).toContain("one, two");
    expect(fault.message).not.toContain("off");
    expect(fault.metadata).toEqual({ binding_ids: "one, two" });
  });

  test("with very many bindings is refused with a message of limited size", () => {
    const bindings = Array.from({ length: 200 }, (_, index) => bindingOf({ bindingId: `${index}`.padStart(128, "b") }));
    const fault = faultOf(() => resolveBinding(bindings, eventOf()));
    expect(fault.message).toContain("and 190 more");
    expect(Buffer.byteLength(JSON.stringify([fault.message, fault.metadata]))).toBeLessThan(4_096);
  });

  test("is looked up by every scope that its binding can have", () => {
    const event = eventOf({ botId: "x", workspaceId: "y", agentId: "z" });
    for (const scope of [
      { kind: GLOBAL },
      { kind: WORKSPACE, id: "y" },
      { kind: BOT, id: "x" },
      { kind: AGENT, id: "z" },
    ]) {
      const binding = bindingOf({ scope });
      expect(resolve([binding], event)).toBe("b");
      expect(scopesOfEvent(event)).toContainEqual(scopeKeyOf(binding));
    }
    expect(scopesOfEvent(eventOf({ botId: "" }))).toEqual([{ kind: "global", id: "" }]);
  });
});

describe("the timeout of a run", () => {
  test.each([
    [undefined, 300_000],
    ["{}", 300_000],
    ['{"timeout":null}', 3_600_000],
    ['{"timeout":30}', 30_000],
    ['{"timeout":0.5}', 500],
    ['{"timeout":3600}', 3_600_000],
    ['{"timeout":3601}', 3_600_000],
    ['{"timeout":1e400}', 3_600_000],
    ['{"timeout":1e-9}', 1],
  ])("with the configuration %s is %d ms", (runnerConfig, timeoutMs) => {
    expect(timeoutOf(bindingOf(runnerConfig === undefined ? {} : { runnerConfig }))).toBe(timeoutMs);
  });

  test.each(["0", "-1", "-0", '"abc"', '"30"', "true", "[]", "{}"])("cannot be %s", (timeout) => {
    const fault = faultOf(() => assertBinding(bindingOf({ runnerConfig: `{"timeout":${timeout}}` })));
    expect(fault.reason).toBe("INVALID_ARGUMENT");
    expect(fault.violations[0]?.field).toBe("binding.runner_config.timeout");
  });
});

describe("a binding", () => {
  test("with any JSON object as configuration is valid", () => {
    const binding = bindingOf({ runnerConfig: '{"a":[1.0,{"b":9007199254740993}]}' });
    expect(() => assertBinding(binding)).not.toThrow();
  });

  test.each<[string, MessageInitShape<typeof BindingSchema>, string]>([
    ["a configuration that is a list", { runnerConfig: "[]" }, "binding.runner_config"],
    ["a configuration that is not JSON", { runnerConfig: '{"a":NaN}' }, "binding.runner_config"],
    ["an empty configuration", { runnerConfig: "" }, "binding.runner_config"],
    ["U+0000 in its configuration", { runnerConfig: '{"a":"\\u0000"}' }, "binding.runner_config"],
    ["half a surrogate pair in a key", { runnerConfig: '{"\\ud800":1}' }, "binding.runner_config"],
    [
      "a configuration without end",
      { runnerConfig: `${'{"a":'.repeat(101)}1${"}".repeat(101)}` },
      "binding.runner_config",
    ],
    ["a runner that is not an id", { runnerId: "default" }, "binding.runner_id"],
    ["a scope without its id", { scope: { kind: BOT } }, "binding.scope.id"],
    ["an id of no scope", { scope: { kind: GLOBAL, id: "x" } }, "binding.scope.id"],
    ["a scope of no known kind", { scope: { kind: 9 as BindingScope_Kind, id: "x" } }, "binding.scope.kind"],
    ["U+0000 in an event type", { eventTypes: ["a\0"] }, "binding.event_types[0]"],
    [
      "U+0000 in a skill",
      { resourcePolicy: { skills: [{ skillName: "\0" }] } },
      "binding.resource_policy.skills[0].skill_name",
    ],
    ["very much of it", { runnerConfig: JSON.stringify({ a: "x".repeat(600_000) }) }, "binding"],
  ])("with %s is refused", (_, changes, field) => {
    const fault = faultOf(() => assertBinding(bindingOf(changes)));
    expect(fault.reason).toBe("INVALID_ARGUMENT");
    expect(fault.violations[0]?.field).toBe(field);
  });
});
