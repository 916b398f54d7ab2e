// The circuit breakers of one account at a provider. Clients share the account, so the failures of one client's requests must
// not stop the others.
//
// C1  Each client has a breaker for each model, which its own failures open. A complete response to any client forgets the
//     failures of all clients with this model.
// C2  A model opens for all clients after the configured number of failures since it last completed a response. They come from
//     two clients at least, and each client counts for at most half of them, until it has not failed for ten reset times. A
//     rate limit does not count here: one client may have used up the account's rate.
// C3  After the reset time each client sends one request as its probe. The first part of any client's probe, or a refusal of
//     the request as such, closes the model for all clients. A failed probe opens it again for its client alone.
// C4  Retryable failures count, also in mid-stream. A request that the provider refuses as such shows that the provider lives,
//     but not that it is healthy: it neither counts nor forgets.
// C5  A timeout does not count when the model has answered another request since this one was sent.
// C6  The number of breakers is limited. A client that names many models loses its own oldest breaker, and beyond the maximum of
//     clients the oldest of them loses its breakers. It may then send requests until its failures open them again.

import { Breaker, type BreakerOptions, type CircuitState, circuitOpenCode } from "./breaker.ts";
import type { Model, ModelFailure, ModelFinish, ModelPart, ModelRequest } from "./model.ts";

/** A change of a circuit breaker. Without a client it concerns all of them. */
export interface CircuitChange {
  readonly state: CircuitState;
  readonly model: string;
  readonly client: string | undefined;
  readonly failures: number;
}

/** Options of the circuits. */
export interface CircuitsOptions extends BreakerOptions {
  /** Called when a breaker opens, lets a probe through, or closes. */
  readonly onChange: (change: CircuitChange) => void;
}

/** The state of a circuit. */
export type CircuitStatus = Pick<Breaker, "state" | "failures" | "retryInMs">;

/** The maximum number of breakers of one client, and of models that are open for all. Few models are in use at a time. */
const modelsMax = 32;

/** The maximum number of clients with breakers, about 10 MB. */
const clientsMax = 1_000;

/** The reset times for which the failures of a client count against the model for all clients. */
const sharedResetTimes = 10;

/** The circuit breakers of an account; see C1 to C6. */
export class Circuits {
  readonly #options: CircuitsOptions;
  /** The breakers of clients and models with failures. */
  readonly #clients = new Map<string, Map<string, Circuit>>();
  /** The models that are open for all clients. */
  readonly #models = new Map<string, Breaker>();
  /** The models with active requests. */
  readonly #active = new Map<string, ActiveModel>();

  constructor(options: CircuitsOptions) {
    this.#options = options;
  }

  /** The worst circuit: an open one before one that is half open, then the one with the most failures. */
  get worst(): CircuitStatus {
    const breakers = [...this.#models.values()];
    for (const circuits of this.#clients.values()) {
      breakers.push(...Array.from(circuits.values(), ({ breaker }) => breaker));
    }
    return breakers.reduce<CircuitStatus>((worst, each) => (isWorse(each, worst) ? each : worst), healthy);
  }

  /** Asks to send a request. Returns undefined when a breaker refuses it. */
  enter(model: string, client: string): Attempt | undefined {
    const breaker = this.#find(model, client)?.breaker;
    const isProbe = breaker !== undefined && breaker.state !== "closed";
    if (isProbe && !breaker.probe()) {
      return undefined;
    }
    if (isProbe) {
      this.#tell("half-open", { model, client, failures: breaker.failures });
    }
    const active = this.#active.get(model) ?? { requests: 0, answers: 0 };
    this.#active.set(model, active);
    active.requests++;
    const answersBefore = active.answers;
    let probe = isProbe ? breaker : undefined;
    return {
      answered: () => {
        active.answers++;
        if (probe !== undefined) {
          this.#close(model, client);
        }
        probe = undefined;
      },
      end: (outcome) => {
        active.requests--;
        if (active.requests === 0) {
          this.#active.delete(model);
        }
        const isOvertaken = outcome?.type === "failure" && outcome.code === "timeout" && active.answers > answersBefore;
        if (outcome === undefined || isOvertaken) {
          probe?.leaveProbe();
        } else if (outcome.type === "finish") {
          this.#forgive(model);
        } else if (outcome.retryable) {
          this.#fail(outcome, { model, client, probe });
        } else if (probe !== undefined) {
          this.#close(model, client);
        }
      },
    };
  }

  /** Returns the circuit of a client. A model that is open for all clients is open for one without failures, too. */
  #find(model: string, client: string): Circuit | undefined {
    return this.#models.has(model) ? this.#keep(model, client) : this.#clients.get(client)?.get(model);
  }

  #keep(model: string, client: string): Circuit {
    const circuits = this.#clients.get(client) ?? new Map<string, Circuit>();
    const circuit = circuits.get(model) ?? {
      breaker: this.#models.get(model)?.copy() ?? new Breaker(this.#options),
      sharedFailures: 0,
      sharedUntilMs: 0,
    };
    setNewest(circuits, model, circuit, modelsMax);
    setNewest(this.#clients, client, circuits, clientsMax);
    return circuit;
  }

  #fail(
    { cause }: ModelFailure,
    { model, client, probe }: { model: string; client: string; probe: Breaker | undefined },
  ): void {
    const circuit = this.#keep(model, client);
    const { breaker } = circuit;
    if (breaker.fail({ isProbe: breaker === probe })) {
      this.#tell("open", { model, client, failures: breaker.failures });
    }
    if (cause !== "rate_limit" && this.#models.get(model)?.state !== "open") {
      const { clock, resetMs } = this.#options;
      const nowMs = clock.monotonicMs();
      circuit.sharedFailures = sharedAt(circuit, nowMs) + 1;
      circuit.sharedUntilMs = nowMs + sharedResetTimes * resetMs;
      this.#judge(model, nowMs);
    }
  }

  /** Opens the model for all clients when it has failed several of them; see C2. */
  #judge(model: string, nowMs: number): void {
    const { failuresMax } = this.#options;
    const shares = this.#of(model)
      .map(({ circuit }) => Math.min(sharedAt(circuit, nowMs), Math.ceil(failuresMax / 2)))
      .filter((share) => share > 0);
    const failures = shares.reduce((sum, share) => sum + share, 0);
    if (shares.length < 2 || failures < failuresMax) {
      return;
    }
    this.#forget(model);
    const breaker = new Breaker(this.#options);
    breaker.open(failures);
    setNewest(this.#models, model, breaker, modelsMax);
    this.#tell("open", { model, client: undefined, failures });
  }

  /** Closes the circuits of a model after the answer to a client's probe. */
  #close(model: string, client: string): void {
    const isShared = this.#models.delete(model);
    // The answer to the probe of another client may have closed them before.
    if (this.#forget(model) || isShared) {
      this.#tell("closed", { model, client: isShared ? undefined : client, failures: 0 });
    }
  }

  /** Forgets failures after a complete response, except those of breakers that are open. */
  #forgive(model: string): void {
    // A response that began earlier says nothing about a model that has failed several clients since.
    if (this.#models.has(model)) {
      return;
    }
    for (const { client, circuit } of this.#of(model)) {
      const { state } = circuit.breaker;
      if (state === "open") {
        continue;
      }
      this.#drop(model, client);
      if (state === "half-open") {
        this.#tell("closed", { model, client, failures: 0 });
      }
    }
  }

  /** Forgets the failures of all clients with a model. Returns false when there were no failures. */
  #forget(model: string): boolean {
    const circuits = this.#of(model);
    for (const { client } of circuits) {
      this.#drop(model, client);
    }
    return circuits.length > 0;
  }

  #drop(model: string, client: string): void {
    const circuits = this.#clients.get(client);
    circuits?.delete(model);
    if (circuits?.size === 0) {
      this.#clients.delete(client);
    }
  }

  #of(model: string): { readonly client: string; readonly circuit: Circuit }[] {
    return [...this.#clients].flatMap(([client, circuits]) => {
      const circuit = circuits.get(model);
      return circuit === undefined ? [] : [{ client, circuit }];
    });
  }

  #tell(state: CircuitState, change: Omit<CircuitChange, "state">): void {
    this.#options.onChange({ state, ...change });
  }
}

/** The circuit of one client and one model. */
interface Circuit {
  readonly breaker: Breaker;
  /** The failures that count against the model for all clients. */
  sharedFailures: number;
  /** The time from which they no longer count. */
  sharedUntilMs: number;
}

function sharedAt({ sharedFailures, sharedUntilMs }: Circuit, nowMs: number): number {
  return nowMs < sharedUntilMs ? sharedFailures : 0;
}

/** The active requests of a model, and how many of them have had a first part. */
interface ActiveModel {
  requests: number;
  answers: number;
}

/** A request that a breaker has let through. */
interface Attempt {
  /** Reports the first part of the response. */
  answered(): void;
  /** Reports the end. Undefined means that the caller has left. */
  end(outcome: ModelFinish | ModelFailure | undefined): void;
}

const healthy: CircuitStatus = { state: "closed", failures: 0, retryInMs: 0 };

const severity: Readonly<Record<CircuitState, number>> = { closed: 0, "half-open": 1, open: 2 };

function isWorse(one: CircuitStatus, other: CircuitStatus): boolean {
  const difference = severity[one.state] - severity[other.state];
  return difference === 0 ? one.failures > other.failures : difference > 0;
}

/** Sets the newest entry of a map, and removes the oldest one beyond the maximum. */
function setNewest<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) {
    map.delete(oldest);
  }
}

/** Returns the same model behind its circuits. While a breaker refuses, a request yields one retryable failure. */
export function withCircuits(model: Model, circuits: Circuits): Model {
  return { ...model, stream: (request, signal) => guard(model, circuits, request, signal) };
}

async function* guard(
  model: Model,
  circuits: Circuits,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  // Requests of the service itself have no client. They share one breaker, like those of a client.
  const attempt = circuits.enter(model.name, request.client ?? "");
  if (attempt === undefined) {
    yield refusal;
    return;
  }
  let outcome: ModelFinish | ModelFailure | undefined;
  let isAnswered = false;
  try {
    for await (const part of model.stream(request, signal)) {
      if (part.type !== "failure" && !isAnswered) {
        isAnswered = true;
        attempt.answered();
      }
      outcome = part.type === "failure" || part.type === "finish" ? part : outcome;
      yield part;
    }
  } finally {
    attempt.end(outcome);
  }
}

/** The failure of a refused request, with the text of the Agent Runner document. */
const refusal: ModelFailure = {
  type: "failure",
  cause: "unavailable",
  code: circuitOpenCode,
  message: "circuit breaker is open",
  retryable: true,
  retryAfterMs: undefined,
};
