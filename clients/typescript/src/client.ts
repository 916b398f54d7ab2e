// The client of a service: the generated calls, and what they do not have by themselves.

import type { DescMessage, DescMethodServerStreaming, DescMethodUnary, DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { ApprovalService } from "../../../gen/runnel/v1/approval_service_pb.js";
import { AuthService } from "../../../gen/runnel/v1/auth_service_pb.js";
import { CallbackService } from "../../../gen/runnel/v1/callback_service_pb.js";
import { FileService } from "../../../gen/runnel/v1/file_service_pb.js";
import { MemoryService } from "../../../gen/runnel/v1/memory_service_pb.js";
import { ProviderService } from "../../../gen/runnel/v1/provider_service_pb.js";
import { ReceiptService } from "../../../gen/runnel/v1/receipt_service_pb.js";
import { RunService } from "../../../gen/runnel/v1/run_service_pb.js";
import { ScheduleService } from "../../../gen/runnel/v1/schedule_service_pb.js";
import { SessionService } from "../../../gen/runnel/v1/session_service_pb.js";
import { SystemService } from "../../../gen/runnel/v1/system_service_pb.js";
import { UsageService } from "../../../gen/runnel/v1/usage_service_pb.js";
import { askRuns, type CallerFunction } from "./ask.ts";
import { type Credentials, createAuthorizer } from "./credentials.ts";
import { RunnelError } from "./error.ts";
import { type FollowOptions, followRun } from "./follow.ts";
import { repeatCalls } from "./repeat.ts";
import { RunStream } from "./run-stream.ts";
import type { SendOptions } from "./send-options.ts";
import { Deadline } from "./wait.ts";

/** Connections to a service, which an entry of the package opens. */
export interface Connections {
  readonly transport: Transport;
  /** Returns a function that makes later calls use another connection than calls of now, unless they do already. */
  mark(): () => void;
  close(): void;
}

/** Opens connections whose calls pass through these interceptors, the first one outermost. */
export type OpenConnections = (url: string, interceptors: Interceptor[]) => Connections;

/** A client of one service. Its calls throw RunnelError. */
export class Runnel {
  readonly #connections: Connections;
  readonly sessions: Client<typeof SessionService>;
  readonly runs: Client<typeof RunService>;
  readonly approvals: Client<typeof ApprovalService>;
  readonly auth: Client<typeof AuthService>;
  readonly callbacks: Client<typeof CallbackService>;
  readonly files: Client<typeof FileService>;
  readonly memory: Client<typeof MemoryService>;
  readonly providers: Client<typeof ProviderService>;
  readonly receipts: Client<typeof ReceiptService>;
  readonly schedules: Client<typeof ScheduleService>;
  readonly system: Client<typeof SystemService>;
  readonly usage: Client<typeof UsageService>;

  constructor(url: string, credentials: Credentials, open: OpenConnections) {
    this.#connections = open(url, [repeatCalls, createAuthorizer(credentials)]);
    this.sessions = this.client(SessionService);
    this.runs = this.client(RunService);
    this.approvals = this.client(ApprovalService);
    this.auth = this.client(AuthService);
    this.callbacks = this.client(CallbackService);
    this.files = this.client(FileService);
    this.memory = this.client(MemoryService);
    this.providers = this.client(ProviderService);
    this.receipts = this.client(ReceiptService);
    this.schedules = this.client(ScheduleService);
    this.system = this.client(SystemService);
    this.usage = this.client(UsageService);
  }

  /** Returns the client of any other service of the contract. */
  client<Service extends DescService>(service: Service): Client<Service> {
    return withRunnelErrors(service, createClient(service, this.#connections.transport));
  }

  /**
   * Sends a message, which starts a run, and resolves with the run's id. Repeats the call until it is answered: a message has one
   * request id for all attempts, so it starts one run.
   */
  async send(sessionId: string, message: string, options: SendOptions = {}): Promise<{ readonly runId: string }> {
    const { signal, timeoutMs, ...settings } = options;
    const deadline = new Deadline({ signal, timeoutMs });
    try {
      const request = { ...(message !== "" && { message }), ...settings, sessionId };
      const { runId } = await this.sessions.sendMessage(request, { signal: deadline.signal });
      return { runId };
    } catch (error) {
      deadline.check();
      throw error;
    }
  }

  /**
   * Follows a run to its end: all its results after `after`, each once and in order, however often the connection breaks. Waits for
   * a service that is away until the signal or the deadline ends the call.
   */
  follow(runId: string, after: bigint | number = 0n, options: FollowOptions = {}): RunStream {
    return new RunStream(this.#follow(runId, BigInt(after), options));
  }

  /**
   * Sends a message, follows its run, runs the functions that the model calls, and sends their results, until a run ends without
   * such calls. The stream has the results of all these runs; `finish()` resolves with the end of the last one.
   */
  ask(
    sessionId: string,
    message: string,
    functions: readonly CallerFunction[],
    options: SendOptions & FollowOptions = {},
  ): RunStream {
    return new RunStream(
      askRuns(
        {
          send: (text, settings) => this.send(sessionId, text, settings),
          follow: (runId, limits) => this.#follow(runId, 0n, limits),
        },
        message,
        functions,
        options,
      ),
    );
  }

  /** Closes the connections. Calls under way fail. */
  close(): void {
    this.#connections.close();
  }

  #follow(runId: string, after: bigint, options: FollowOptions) {
    // Its own reader of errors: `follow` decides by the errors of the transport.
    const runs = createClient(RunService, this.#connections.transport);
    const reader = { tailRun: runs.tailRun, getRun: runs.getRun, mark: () => this.#connections.mark() };
    return followRun(reader, runId, after, options);
  }
}

type Method = (request: unknown, options?: unknown) => unknown;

/** Returns the same client, whose calls throw RunnelError. */
function withRunnelErrors<Service extends DescService>(service: Service, client: Client<Service>): Client<Service> {
  const calls = client as Readonly<Record<string, Method>>;
  const wrapped = service.methods.map((method) => {
    const call = calls[method.localName] as Method;
    return [method.localName, wrap(method, call)];
  });
  return Object.fromEntries(wrapped) as Client<Service>;
}

function wrap(
  method:
    | DescMethodUnary<DescMessage, DescMessage>
    | DescMethodServerStreaming<DescMessage, DescMessage>
    | { methodKind: string },
  call: Method,
): Method {
  return method.methodKind === "unary"
    ? async (request, options) => {
        try {
          return await call(request, options);
        } catch (error) {
          throw RunnelError.from(error);
        }
      }
    : (request, options) => mapErrors(call(request, options) as AsyncIterable<unknown>);
}

async function* mapErrors<T>(items: AsyncIterable<T>): AsyncGenerator<T, void> {
  try {
    yield* items;
  } catch (error) {
    throw RunnelError.from(error);
  }
}
