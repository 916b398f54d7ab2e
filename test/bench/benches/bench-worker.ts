// The worker of the benches: takes runs and sends reports as fast as Node's own HTTP/2 can.

import {
  create,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import {
  ListenAssignmentsRequestSchema,
  type ListenAssignmentsResponse,
  ListenAssignmentsResponseSchema,
  RunnerWorkerService,
  type RunOffer,
} from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import type { H2Client } from "../clients/h2-client.ts";

const runnerId = "plugin:bench/bench/bench";
const manifest = {
  id: runnerId,
  name: "bench",
  label: { en_US: "Bench" },
  capabilities: { streaming: true },
};

export interface AcceptedRun {
  readonly runId: string;
  readonly runToken: string;
}

export class BenchWorker {
  readonly #client: H2Client;
  #session = "";
  readonly #offers: RunOffer[] = [];
  readonly #waiting: ((offer: RunOffer) => void)[] = [];

  constructor(client: H2Client) {
    this.#client = client;
  }

  /** Registers, binds all messages to its runner and listens until its connection closes. */
  async open(): Promise<void> {
    const registered = await this.call(RunnerService.method.registerRunners, {
      workerId: "bench",
      manifests: [JSON.stringify(manifest)],
    });
    this.#session = registered.workerSessionId;
    await this.call(RunnerService.method.putBinding, {
      binding: { bindingId: "bench", runnerId, statePolicy: { stateScopes: ["runner"] } },
    });
    const request = create(ListenAssignmentsRequestSchema, { workerSessionId: this.#session, maxConcurrent: 1_000 });
    this.#client
      .stream(
        pathOf(RunnerWorkerService.method.listenAssignments),
        toBinary(ListenAssignmentsRequestSchema, request),
        (bytes) => this.#hear(fromBinary(ListenAssignmentsResponseSchema, bytes)),
      )
      // The stream ends with the connection.
      .catch(() => {});
  }

  async call<M extends DescMethod>(
    method: M,
    request: MessageInitShape<M["input"]>,
  ): Promise<MessageShape<M["output"]>> {
    const bytes = toBinary(method.input, create(method.input, request) as MessageShape<M["input"]>);
    return fromBinary(method.output, await this.#client.call(pathOf(method), bytes)) as MessageShape<M["output"]>;
  }

  async start(text: string): Promise<string> {
    const event = { eventId: "bench", eventType: "message.received", input: { text } };
    const { run } = await this.call(RunnerService.method.startRun, { event });
    return run?.runId ?? "";
  }

  /** Resolves with the next offer, at once when one is waiting. */
  offer(): Promise<RunOffer> {
    const offer = this.#offers.shift();
    return offer === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(offer);
  }

  async accept({ runId, offerId }: RunOffer): Promise<AcceptedRun> {
    const request = { workerSessionId: this.#session, runId, offerId };
    const { runToken } = await this.call(RunnerWorkerService.method.acceptRun, request);
    return { runId, runToken };
  }

  /** Reports pieces of text, numbered from `from`. With `end`, the result that ends the run follows them. */
  async report(run: AcceptedRun, from: number, pieces: number, end = false): Promise<boolean> {
    const results = Array.from({ length: pieces }, (_, index) => ({
      sequence: BigInt(from + index),
      type: "message.delta",
      data: '{"chunk":{"role":"assistant","content":"some "}}',
    }));
    if (end) {
      const data = '{"finish_reason":"stop"}';
      results.push({ sequence: BigInt(from + pieces), type: "run.completed", data });
    }
    const answer = await this.call(RunnerWorkerService.method.reportResults, { ...run, attempt: 1, results });
    return answer.ackedThrough === BigInt(from + results.length - 1) && answer.ended === end;
  }

  #hear({ assignment }: ListenAssignmentsResponse): void {
    if (assignment.case !== "offer") {
      return;
    }
    const waiting = this.#waiting.shift();
    if (waiting === undefined) {
      this.#offers.push(assignment.value);
    } else {
      waiting(assignment.value);
    }
  }
}

export function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}
