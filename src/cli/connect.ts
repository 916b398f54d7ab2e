// Connects the commands to a service: gRPC over the public contract, as any client does.

import type { DescService } from "@bufbuild/protobuf";
import type { GenService } from "@bufbuild/protobuf/codegenv2";
import { type Client, Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { ReceiptService } from "#gen/runnel/v1/receipt_service_pb.js";
import { RunService, TailRunBytesSchema, type TailRunRequestSchema } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { CommandError } from "./command-error.ts";
import { createAdminCredentials, createCredentials } from "./credentials.ts";
import { findTarget, type ServiceFlags } from "./target.ts";

/** The clients of a service. */
export type Service = ReturnType<typeof connectTo>;
/** The client of SessionService. */
export type SessionClient = Service["sessions"];
/** The client of RunService. */
export type RunClient = Service["runs"];
/** The client that reads entries as they are stored. */
export type LogClient = Service["log"];

/** Connects to the service at `url`. */
export function connectTo(url: string, credentials?: Interceptor) {
  const sessionManager = new SessionManager(url);
  const interceptors = credentials === undefined ? [] : [credentials];
  const transport = createGrpcTransport({ baseUrl: url, interceptors, sessionManager });
  return {
    sessions: createClient(SessionService, transport),
    runs: createClient(RunService, transport),
    log: createClient(StoredLog, transport),
    receipts: createClient(ReceiptService, transport),
    auth: createClient(AuthService, transport),
    providers: createClient(ProviderService, transport),
    system: createClient(SystemService, transport),
    /** Returns the client of a protocol's service. */
    client: <Desc extends DescService>(service: Desc): Client<Desc> => createClient(service, transport),
    /** Closes the connection. One with a stream that was left early would keep the process alive. */
    [Symbol.dispose]: (): void => sessionManager.abort(),
  };
}

/**
 * A manager that is aborted on a failing connection removes the listener of the error, which then ends the process. Each connection keeps
 * another one.
 */
class SessionManager extends Http2SessionManager {
  override async request(
    ...call: Parameters<Http2SessionManager["request"]>
  ): ReturnType<Http2SessionManager["request"]> {
    const stream = await super.request(...call);
    if (stream.session?.listenerCount("error", ignore) === 0) {
      stream.session.on("error", ignore);
    }
    return stream;
  }
}

function ignore(): void {}

type StoredLogMethods = {
  tailRun: { methodKind: "server_streaming"; input: typeof TailRunRequestSchema; output: typeof TailRunBytesSchema };
};

const tailRunBytes = { ...RunService.method.tailRun, output: TailRunBytesSchema };
/** TailRun again, with entries as they are stored. On the wire it is the same message. */
const StoredLog = {
  ...RunService,
  methods: [tailRunBytes],
  method: { tailRun: tailRunBytes },
} as GenService<StoredLogMethods>;

/** Returns true for an error of a Runnel service. Without a reason the connection failed, or another service answered. */
export function isExplained(error: ConnectError): boolean {
  return error.findDetails(ErrorInfoSchema).length > 0;
}

/** Returns the contract's reason, or undefined when the error is not from a service. */
export function reasonOf(error: unknown): string | undefined {
  return error instanceof ConnectError ? error.findDetails(ErrorInfoSchema)[0]?.reason : undefined;
}

/** Does work that calls the service of the flags. When no service of ours answers there, the error says so and how to fix it. */
export async function withService<T>(flags: ServiceFlags, work: (service: Service) => Promise<T>): Promise<T> {
  const { url, apiKey } = await findTarget(flags, process.env);
  using service = connectTo(url, createCredentials(apiKey, process.env));
  return await explainAbsence(url, () => work(service));
}

/** Does the same with the admin token. */
export async function withAdministration<T>(flags: ServiceFlags, work: (service: Service) => Promise<T>): Promise<T> {
  const credentials = createAdminCredentials(process.env);
  const { url } = await findTarget(flags, process.env);
  using service = connectTo(url, credentials);
  return await explainAbsence(url, () => work(service));
}

/** What Node says of a peer that answers in HTTP/1.1, without TLS and with it. */
const otherProtocol = /^Protocol error$|no application protocol/;

/** Does work that calls the service at `url`, with the same errors. */
export async function explainAbsence<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConnectError) || isExplained(error)) {
      throw error;
    }
    if (error.code === Code.Unimplemented) {
      const fix = "update the service, or say with --url where a newer one is";
      throw new CommandError(`the server at ${url} does not implement this method (${error.rawMessage})`, {
        reason: "UNIMPLEMENTED",
        fix,
        cause: error,
      });
    }
    if (otherProtocol.test(error.rawMessage)) {
      throw new CommandError(`the server at ${url} does not speak HTTP/2 there`, {
        reason: "UNAVAILABLE",
        fix: "say with --url where it does: the port of server.h2_port, or a proxy that passes HTTP/2 on",
        cause: error,
      });
    }
    const fix =
      "start one with `runnel serve` or `runnel dev`, or say with --url, RUNNEL_URL or `runnel login` where it is";
    // Errors of TLS end with a line end.
    throw new CommandError(`no service at ${url} (${error.rawMessage.trim()})`, {
      reason: "UNAVAILABLE",
      fix,
      cause: error,
    });
  }
}
