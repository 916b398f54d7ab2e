// The circuit breakers of an account, with models that play back prepared responses and a manual clock.

import { expect, test } from "vitest";
import type { CircuitState } from "../../src/agent/models/breaker.ts";
import { Circuits, withCircuits } from "../../src/agent/models/circuits.ts";
import type { ModelFailure, ModelPart, ModelRequest } from "../../src/agent/models/model.ts";
import { createManualClock } from "../harness/manual-clock.ts";

const request: ModelRequest = { system: "", messages: [], tools: [], maxTokens: 1, temperature: undefined };
const text: ModelPart = { type: "text", text: "hi" };
const finish: ModelPart = { type: "finish", reason: "stop", usage: undefined };
const well = [text, finish];
const resetMs = 30_000;

function failing(code: string, retryable: boolean): ModelFailure {
  return { type: "failure", cause: "unavailable", code, message: code, retryable, retryAfterMs: undefined };
}

const ill = [failing("500", true)];
const refused = [failing("401", false)];

/** A request of one client to one model. */
interface Sender {
  readonly client?: string;
  readonly model?: string;
}

function setUp(failuresMax = 3) {
  const clock = createManualClock();
  const changes: CircuitState[] = [];
  const circuits = new Circuits({ clock, failuresMax, resetMs, onChange: ({ state }) => changes.push(state) });
  let sent = 0;
  /** Sends a request that gets this response. */
  const open = (
    parts: Iterable<ModelPart> | AsyncIterable<ModelPart>,
    { client = "alice", model: name = "tape" }: Sender = {},
  ) => {
    const model = withCircuits(
      {
        provider: "tape",
        name,
        async *stream() {
          sent++;
          yield* parts;
        },
      },
      circuits,
    );
    return model.stream({ ...request, client }, new AbortController().signal) as AsyncGenerator<ModelPart>;
  };
  const send = (parts: readonly ModelPart[], sender?: Sender): Promise<ModelPart[]> =>
    Array.fromAsync(open(parts, sender));
  return { clock, circuits, changes, open, send, countSent: () => sent };
}

const isRefusal = [
  expect.objectContaining({ type: "failure", code: "circuit_open", message: "circuit breaker is open" }),
];

test("opens after the maximum of failures in a row, and then sends nothing", async () => {
  const { circuits, changes, send, countSent } = setUp();
  for (const response of [ill, ill, well, ill, ill]) {
    await send(response);
  }
  expect(circuits.worst).toMatchObject({ state: "closed", failures: 2 });
  await send(ill);
  expect(circuits.worst).toMatchObject({ state: "open", failures: 3, retryInMs: resetMs });
  expect(await send(well)).toEqual(isRefusal);
  expect(countSent()).toBe(6);
  expect(changes).toEqual(["open"]);
});

test("counts responses that are cut in mid-stream", async () => {
  const { circuits, send } = setUp();
  const cut = [text, failing("cut", true)];
  for (const response of [cut, cut, cut]) {
    await send(response);
  }
  expect(circuits.worst.state).toBe("open");
});

test("counts neither refusals of the provider nor requests that the caller left", async () => {
  const { circuits, open, send } = setUp();
  await send(ill);
  await send(ill);
  await send(refused);
  await send([]);
  const left = open([]);
  await left.return(undefined);
  expect(circuits.worst).toMatchObject({ state: "closed", failures: 2 });
  await send(ill);
  expect(circuits.worst.state).toBe("open");
});

test("lets one request through after the reset time, and closes at the first part of its response", async () => {
  const { circuits, clock, changes, open, send, countSent } = setUp();
  for (const response of [ill, ill, ill]) {
    await send(response);
  }
  clock.advance(resetMs - 1);
  expect(circuits.worst).toMatchObject({ state: "open", retryInMs: 1 });
  clock.advance(1);
  expect(circuits.worst).toMatchObject({ state: "half-open", retryInMs: 0 });
  const probe = open(well);
  const first = probe.next();
  // Sent before the first one has received anything.
  const second = send(well);
  expect(await first).toEqual({ done: false, value: text });
  expect(await second).toEqual(isRefusal);
  expect(countSent()).toBe(4);
  expect(circuits.worst).toMatchObject({ state: "closed", failures: 0 });
  expect(changes).toEqual(["open", "half-open", "closed"]);
});

test("opens again when the probe fails", async () => {
  const { circuits, clock, send } = setUp();
  for (const response of [ill, ill, ill]) {
    await send(response);
  }
  clock.advance(resetMs);
  await send(ill);
  expect(circuits.worst).toMatchObject({ state: "open", retryInMs: resetMs });
  expect(await send(well)).toEqual(isRefusal);
});

test("closes when the provider answers the probe, even with a refusal", async () => {
  const { circuits, clock, send } = setUp();
  for (const response of [ill, ill, ill]) {
    await send(response);
  }
  clock.advance(resetMs);
  await send(refused);
  expect(circuits.worst.state).toBe("closed");
});

test("lets the next request probe when the caller left the first probe", async () => {
  const { circuits, clock, open, send } = setUp();
  for (const response of [ill, ill, ill]) {
    await send(response);
  }
  clock.advance(resetMs);
  await send([]);
  expect(circuits.worst.state).toBe("half-open");
  expect(await send(well)).toEqual(well);
  expect(circuits.worst.state).toBe("closed");
  await open(well).return(undefined);
});

test("an old request that fails late does not affect the probe", async () => {
  const { circuits, clock, open, send } = setUp();
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
  expect(circuits.worst.state).toBe("closed");
});

const bob = { client: "bob" };
const carol = { client: "carol" };

async function sendAll(send: (parts: readonly ModelPart[], sender: Sender) => Promise<unknown>, failures: Sender[]) {
  for (const sender of failures) {
    await send(ill, sender);
  }
}

test("the failures of one client open its own circuit alone, and only for their model", async () => {
  const { circuits, send } = setUp();
  await sendAll(send, [{}, {}, {}]);
  expect(circuits.worst.state).toBe("open");
  expect(await send(well)).toEqual(isRefusal);
  expect(await send(well, bob)).toEqual(well);
  expect(await send(well, { model: "other" })).toEqual(well);
});

test("one client counts for at most half of the failures that open a model for all", async () => {
  const { changes, send } = setUp(5);
  await sendAll(send, [{}, {}, {}, {}, bob]);
  expect(await send(well, { ...carol, model: "other" })).toEqual(well);
  expect(changes).toEqual([]);
  await sendAll(send, [bob]);
  expect(changes).toEqual(["open"]);
  expect(await send(well, carol)).toEqual(isRefusal);
  expect(await send(well, { ...carol, model: "other" })).toEqual(well);
});

test("a complete response to any client forgets the failures of all", async () => {
  const { circuits, send } = setUp(4);
  await sendAll(send, [{}, {}, bob]);
  await send(well, carol);
  await sendAll(send, [{}, {}, bob]);
  expect(circuits.worst).toMatchObject({ state: "closed", failures: 2 });
});

test("a rate limit opens the circuit of its client alone", async () => {
  const { send } = setUp(2);
  const limited: ModelPart[] = [{ ...failing("stream_error", true), cause: "rate_limit" }];
  await send(limited);
  await send(limited, bob);
  await send(limited);
  expect(await send(well)).toEqual(isRefusal);
  expect(await send(well, bob)).toEqual(well);
});

test("a timeout counts only when the model has answered no request meanwhile", async () => {
  const { circuits, send, open } = setUp(1);
  const late = Promise.withResolvers<void>();
  async function* timesOut(): AsyncGenerator<ModelPart> {
    await late.promise;
    yield failing("timeout", true);
  }
  const slow = Array.fromAsync(open(timesOut()));
  await send(well, bob);
  late.resolve();
  await slow;
  expect(circuits.worst).toMatchObject({ state: "closed", failures: 0 });
  await Array.fromAsync(open(timesOut()));
  expect(circuits.worst.state).toBe("open");
});

test("each client has its probe, and one that fails keeps the circuit open for its client alone", async () => {
  const { circuits, clock, changes, open, send } = setUp(2);
  await sendAll(send, [{}, bob]);
  clock.advance(resetMs);
  const waits = Promise.withResolvers<ModelPart>();
  const waiting = open(
    (async function* () {
      yield await waits.promise;
    })(),
  ).next();
  await sendAll(send, [carol]);
  expect(await send(well, carol)).toEqual(isRefusal);
  expect(await send(well, bob)).toEqual(well);
  expect(await send(well, carol)).toEqual(well);
  waits.resolve(text);
  await waiting;
  expect(circuits.worst.state).toBe("closed");
  expect(changes).toEqual(["open", "half-open", "half-open", "open", "half-open", "closed"]);
});

test("a complete response forgets the circuit of a client that has not come back for its probe", async () => {
  const { circuits, clock, changes, send } = setUp();
  await sendAll(send, [{}, {}, {}]);
  await send(well, bob);
  expect(circuits.worst.state).toBe("open");
  clock.advance(resetMs);
  await send(well, bob);
  expect(circuits.worst.state).toBe("closed");
  expect(changes).toEqual(["open", "closed"]);
});

test("a client that names many models loses its own oldest circuit, and no other client's", async () => {
  const { send } = setUp(1);
  const other = { model: "other" };
  await sendAll(send, [{}, { ...bob, ...other }]);
  await sendAll(
    send,
    Array.from({ length: 10_000 }, (_, index) => ({ model: `model-${index}` })),
  );
  expect(await send(well, { model: "model-9999" })).toEqual(isRefusal);
  expect(await send(well, { model: "model-9000" })).toEqual(well);
  expect(await send(well)).toEqual(well);
  expect(await send(well, { ...bob, ...other })).toEqual(isRefusal);
});

test("of many clients the one whose request failed longest ago loses its circuits", async () => {
  const { send } = setUp(1);
  const limited: ModelPart[] = [{ ...failing("429", true), cause: "rate_limit" }];
  for (let index = 0; index <= 1_000; index++) {
    await send(limited, { client: `client-${index}` });
  }
  expect(await send(well, { client: "client-1" })).toEqual(isRefusal);
  expect(await send(well, { client: "client-0" })).toEqual(well);
});

test("of many models that are open for all the oldest one closes", async () => {
  const { send } = setUp(2);
  const models = Array.from({ length: 33 }, (_, index) => `model-${index}`);
  await sendAll(
    send,
    models.flatMap((model) => [{ model }, { ...bob, model }]),
  );
  expect(await send(well, { ...carol, model: "model-1" })).toEqual(isRefusal);
  expect(await send(well, { ...carol, model: "model-0" })).toEqual(well);
});

test("old requests that end late neither close a circuit of all clients nor keep it open for longer", async () => {
  const { circuits, clock, changes, open, send } = setUp(2);
  const old = [well, ill, ill].map((end, index) => open([text, ...end], index === 1 ? bob : {}));
  await Promise.all(old.map((response) => response.next()));
  await sendAll(send, [{}, bob]);
  clock.advance(resetMs - 1);
  const [completes, ...fails] = old;
  await Promise.all(fails.map((response) => Array.fromAsync(response)));
  expect(circuits.worst).toMatchObject({ state: "open", retryInMs: 1 });
  expect(await send(well)).toEqual(isRefusal);
  clock.advance(1);
  await Array.fromAsync(completes ?? []);
  expect(circuits.worst.state).toBe("half-open");
  expect(changes).toEqual(["open"]);
});
