// The circuit breaker, with a model that plays back prepared responses and a manual clock.

import { expect, test } from "vitest";
import { Breaker, type CircuitState, withBreaker } from "../../src/agent/models/breaker.ts";
import type { ModelFailure, ModelPart, ModelRequest } from "../../src/agent/models/model.ts";
import { createManualClock } from "../harness/manual-clock.ts";

const request: ModelRequest = { system: "", messages: [], tools: [], maxTokens: 1, temperature: undefined };
const text: ModelPart = { type: "text", text: "hi" };
const finish: ModelPart = { type: "finish", reason: "stop", usage: undefined };
const well = [text, finish];
const resetMs = 30_000;

function failing(code: string, retryable: boolean): ModelFailure {
  return { type: "failure", code, message: code, retryable, retryAfterMs: undefined };
}

const ill = [failing("500", true)];
const refused = [failing("401", false)];

function setUp() {
  const clock = createManualClock();
  const changes: CircuitState[] = [];
  const breaker = new Breaker({ clock, failuresMax: 3, resetMs, onChange: (state) => changes.push(state) });
  let sent = 0;
  /** Sends a request that gets this response. */
  const open = (parts: readonly ModelPart[]): AsyncGenerator<ModelPart> => {
    const model = withBreaker(
      {
        provider: "tape",
        name: "tape",
        async *stream() {
          sent++;
          yield* parts;
        },
      },
      breaker,
    );
    return model.stream(request, new AbortController().signal) as AsyncGenerator<ModelPart>;
  };
  const send = (parts: readonly ModelPart[]): Promise<ModelPart[]> => Array.fromAsync(open(parts));
  return { clock, breaker, changes, open, send, countSent: () => sent };
}

const isRefusal = [
  expect.objectContaining({ type: "failure", code: "circuit_open", message: "circuit breaker is open" }),
];

test("opens after the maximum of failures in a row, and then sends nothing", async () => {
  const { breaker, changes, send, countSent } = setUp();
  for (const response of [ill, ill, well, ill, ill]) {
    await send(response);
  }
  expect(breaker).toMatchObject({ state: "closed", failures: 2 });
  await send(ill);
  expect(breaker).toMatchObject({ state: "open", failures: 3, retryInMs: resetMs });
  expect(await send(well)).toEqual(isRefusal);
  expect(countSent()).toBe(6);
  expect(changes).toEqual(["open"]);
});

test("counts responses that are cut in mid-stream", async () => {
  const { breaker, send } = setUp();
  const cut = [text, failing("cut", true)];
  for (const response of [cut, cut, cut]) {
    await send(response);
  }
  expect(breaker.state).toBe("open");
});

test("counts neither refusals of the provider nor requests that the caller left", async () => {
  const { breaker, open, send } = setUp();
  await send(ill);
  await send(ill);
  await send(refused);
  await send([]);
  const left = open([]);
  await left.return(undefined);
  expect(breaker).toMatchObject({ state: "closed", failures: 2 });
  await send(ill);
  expect(breaker.state).toBe("open");
});

test("lets one request through after the reset time, and closes at the first part of its response", async () => {
  const { breaker, clock, changes, open, send, countSent } = setUp();
  for (const response of [ill, ill, ill]) {
    await send(response);
  }
  clock.advance(resetMs - 1);
  expect(breaker).toMatchObject({ state: "open", retryInMs: 1 });
  clock.advance(1);
  expect(breaker).toMatchObject({ state: "half-open", retryInMs: 0 });
  const probe = open(well);
  const first = probe.next();
  // Sent before the first one has received anything.
  const second = send(well);
  expect(await first).toEqual({ done: false, value: text });
  expect(await second).toEqual(isRefusal);
  expect(countSent()).toBe(4);
  expect(breaker).toMatchObject({ state: "closed", failures: 0 });
  expect(changes).toEqual(["open", "half-open", "closed"]);
});

test("opens again when the probe fails", async () => {
  const { breaker, clock, send } = setUp();
  for (const response of [ill, ill, ill]) {
    await send(response);
  }
  clock.advance(resetMs);
  await send(ill);
  expect(breaker).toMatchObject({ state: "open", retryInMs: resetMs });
  expect(await send(well)).toEqual(isRefusal);
});

test("closes when the provider answers the probe, even with a refusal", async () => {
  const { breaker, clock, send } = setUp();
  for (const response of [ill, ill, ill]) {
    await send(response);
  }
  clock.advance(resetMs);
  await send(refused);
  expect(breaker.state).toBe("closed");
});

test("lets the next request probe when the caller left the first probe", async () => {
  const { breaker, clock, open, send } = setUp();
  for (const response of [ill, ill, ill]) {
    await send(response);
  }
  clock.advance(resetMs);
  await send([]);
  expect(breaker.state).toBe("half-open");
  expect(await send(well)).toEqual(well);
  expect(breaker.state).toBe("closed");
  await open(well).return(undefined);
});

test("an old request that fails late does not affect the probe", async () => {
  const { breaker, clock, open, send } = setUp();
  const old = open([text, failing("cut", true)]);
  await old.next();
  for (const response of [ill, ill, ill]) {
    await send(response);
  }
  clock.advance(resetMs);
  const probe = open(well);
  const first = probe.next();
  await old.next();
  await first;
  expect(breaker.state).toBe("closed");
});
