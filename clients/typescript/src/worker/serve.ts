// A server of runners, for a service that dials them instead of being dialled: the same `Runner` as for a worker.
//
//   await serveRunners({ runners: [echo], port: 9000, credential: "long and random" });
//
// Then the service is told once where they are, and asks what there is:
//
//   runnel.runner.v1.RunnerService/RegisterRunners {"worker_id": "w", "url": "http://runners.internal:9000", "credential": "long and random"}
//
// The service dials public hosts only, unless its settings name this one (`security.callback_allow`). Over plain HTTP the credential
// can be read on the way: outside of a network of your own give `tls`. A runner asks its host where the service says that it is
// (`runners.host_url`), or at `hostUrl`.

import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createSecureServer, createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { Code, ConnectError, type ConnectRouter, type Interceptor } from "@connectrpc/connect";
import { connectNodeAdapter, type Http2SessionManager } from "@connectrpc/connect-node";
import { AgentRunnerService, type RunAgentRequest } from "../../../../gen/runnel/runner/v1/agent_runner_service_pb.js";
import { openSession } from "../node-connections.ts";
import { type Host, openHost } from "./host.ts";
import { failed, type Result, type Runner } from "./runner.ts";

export interface ServeOptions {
  readonly runners: readonly Runner[];
  /** 0 for any that is free. */
  readonly port: number;
  /** Where to listen; loopback where it does not say. */
  readonly address?: string;
  /** What the service has to send as a bearer token; anybody may call where there is none. */
  readonly credential?: string;
  /** PEM texts. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Where the service is, in place of what it says. */
  readonly hostUrl?: string;
  /** Told of what runners throw. */
  readonly onProblem?: (problem: unknown) => void;
}

export interface RunnerServer {
  readonly port: number;
  /** Ends the runs that are at work. */
  close(): Promise<void>;
}

/** Resolves when it listens. */
export async function serveRunners(options: ServeOptions): Promise<RunnerServer> {
  const hosts = new Hosts(options.hostUrl);
  const handler = connectNodeAdapter({
    routes: (router) => addRoutes(router, options, hosts),
    interceptors: options.credential === undefined ? [] : [requireCredential(options.credential)],
    connect: false,
    grpcWeb: false,
  });
  const server = options.tls === undefined ? createServer(handler) : createSecureServer(options.tls, handler);
  const sessions = trackSessions(server);
  server.listen(options.port, options.address ?? "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const session of sessions) {
        session.destroy();
      }
      await closed;
      hosts.close();
    },
  };
}

function addRoutes(router: ConnectRouter, { runners, onProblem }: ServeOptions, hosts: Hosts): void {
  router.service(AgentRunnerService, {
    listAgentRunners: () => ({ manifests: runners.map(({ manifest }) => JSON.stringify(manifest)), era: "4.11" }),
    runAgent: async function* (request, { signal }) {
      const runner = runners.find(({ manifest }) => manifest.id === request.runnerId);
      if (runner === undefined) {
        throw new ConnectError(`no runner ${request.runnerId} is served here`, Code.InvalidArgument);
      }
      for await (const { type, data, usage } of work(runner, request, { signal, hosts, onProblem })) {
        yield { type, data: JSON.stringify(data), ...(usage && { usage: JSON.stringify(usage) }) };
      }
    },
  });
}

interface Surroundings {
  readonly signal: AbortSignal;
  readonly hosts: Hosts;
  readonly onProblem: ServeOptions["onProblem"];
}

async function* work(
  runner: Runner,
  { context, runToken: token, hostUrl }: RunAgentRequest,
  { signal, hosts, onProblem }: Surroundings,
): AsyncGenerator<Result> {
  if (context === undefined) {
    throw new ConnectError("a run needs its context", Code.InvalidArgument);
  }
  const { runId } = context;
  try {
    yield* runner.run({ runId, context, host: hosts.open(hostUrl, runId, token), signal });
  } catch (error) {
    onProblem?.(error);
    yield failed(error instanceof Error ? error.message : String(error), { code: "runner.exception" });
  }
}

/** One connection to each service that runs come from. */
class Hosts {
  readonly #fixedUrl: string | undefined;
  readonly #managers = new Map<string, Http2SessionManager>();

  constructor(fixedUrl: string | undefined) {
    this.#fixedUrl = fixedUrl;
  }

  open(toldUrl: string, runId: string, token: string): Host {
    const url = this.#fixedUrl ?? toldUrl;
    if (url === "") {
      return unknownHost;
    }
    const sessionManager = this.#managers.get(url) ?? openSession(url);
    this.#managers.set(url, sessionManager);
    return openHost({ url, sessionManager, runId, token });
  }

  close(): void {
    for (const manager of this.#managers.values()) {
      manager.abort();
    }
  }
}

/** Only a runner that asks its host needs to know where it is. */
const unknownHost = new Proxy({} as Host, {
  get: () => {
    throw new Error("nobody said where the host is: set runners.host_url of the service, or hostUrl here");
  },
});

function requireCredential(credential: string): Interceptor {
  const expected = digest(`Bearer ${credential}`);
  return (next) => async (request) => {
    // Digests have one length, so nothing is told by the time that it takes.
    if (!timingSafeEqual(digest(request.header.get("authorization") ?? ""), expected)) {
      throw new ConnectError("the credential is not the one that is asked for here", Code.Unauthenticated);
    }
    return await next(request);
  };
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}

function trackSessions(server: Http2Server): ReadonlySet<ServerHttp2Session> {
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  return sessions;
}
