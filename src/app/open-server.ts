// Opens the ports and connects them: admission first, then the surfaces, then the handlers behind the router.

import { sign } from "node:crypto";
import { type ContextValues, createContextValues } from "@connectrpc/connect";
import { A2AService } from "#gen/lf/a2a/v1/a2a_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { ResolveSubagent } from "../agent/loop/child-runs.ts";
import type { Core } from "../api/core.ts";
import { faultToConnectError } from "../api/faults.ts";
import { createRunFeed } from "../api/feeds.ts";
import { OpenWatches } from "../api/open-watches.ts";
import { type OpenProtocol, part } from "../api/protocol.ts";
import { serializeFiles } from "../api/reflection/descriptor-index.ts";
import { createHandlers, routerLimits } from "../api/router.ts";
import type { OfferedRunner } from "../api/runners.ts";
import { createScheduleLoop } from "../api/schedule-loop.ts";
import { compileRules } from "../api/validation.ts";
import { createPushConfigs } from "../engine/callbacks/push-configs.ts";
import type { Wakeup } from "../engine/log/wakeup.ts";
import { loadSigningKey } from "../engine/receipts/receipt-keys.ts";
import { TextLoop } from "../engine/search/text-loop.ts";
import { countSessions } from "../engine/storage/session.ts";
import { AccessTokens } from "../platform/auth/access-tokens.ts";
import { Authenticator } from "../platform/auth/authenticate.ts";
import { requireClient, setAdmission } from "../platform/auth/caller.ts";
import { Cursors } from "../platform/auth/cursor.ts";
import { FairTurns } from "../platform/auth/fair-turns.ts";
import { OpenCredentials, type OpenCredentialsOptions } from "../platform/auth/open-credentials.ts";
import { RateLimit } from "../platform/auth/rate-limit.ts";
import { loadSecret } from "../platform/auth/storage/secret.ts";
import { type Clock, dayMs } from "../platform/base/clock.ts";
import { joined } from "../platform/base/joined.ts";
import type { LocalMethods } from "../platform/base/local-methods.ts";
import type { PrintPush } from "../platform/base/pushes.ts";
import { version } from "../platform/base/version.ts";
import { type AuthorizationServer, metadataUrlOf, printMetadata } from "../platform/config/authorization-server.ts";
import { type AppContext, runTimeoutOf } from "../platform/context.ts";
import type { Db } from "../platform/database/database.ts";
import { createA2aMethods } from "../surfaces/a2a/grpc.ts";
import { createPrintPush } from "../surfaces/a2a/push.ts";
import { createA2aSurface } from "../surfaces/a2a/surface.ts";
import { createAgUiSurface } from "../surfaces/ag-ui/surface.ts";
import { createAnthropicSurface } from "../surfaces/anthropic/surface.ts";
import { openConsole } from "../surfaces/console/surface.ts";
import { createDurableStreamsSurface } from "../surfaces/durable-streams/surface.ts";
import { mountFeeds } from "../surfaces/feed/feed-handler.ts";
import type { AdmissionOptions } from "../surfaces/http/admission.ts";
import { isKnownCaller } from "../surfaces/http/known-caller.ts";
import { Bodies } from "../surfaces/http/request-body.ts";
import { createRequestListener } from "../surfaces/http/request-listener.ts";
import { createMcpSurface } from "../surfaces/mcp/surface.ts";
import { createOpenAiSurface } from "../surfaces/openai/surface.ts";
import { printOpenApiDocument } from "../surfaces/openapi/document.ts";
import { createRestGateway } from "../surfaces/rest/gateway.ts";
import { requestRunsOf } from "./mcp-requests.ts";
import { type Address, openMetricsPort, openPorts } from "./open-ports.ts";
import type { Runs } from "./open-runs.ts";
import { errorForms, examples, files, reasons, retention, services } from "./protocols.ts";
import { readPublicKeys } from "./read-public-keys.ts";

/** The addresses of an open server, and its switch to draining. */
export interface OpenServer extends Address {
  /** Prints runs for the delivery of pushes. */
  readonly printPush: PrintPush;
  /** The port of the metrics endpoint; undefined when it is off. */
  readonly metricsPort: number | undefined;
  /** Makes readiness probes answer "draining". */
  leave(): void;
}

/** Options of `openServer`. */
export interface ServerOptions {
  readonly core: Core;
  readonly runs: Runs;
  /** The runners of all protocols. */
  readonly runners: readonly OfferedRunner[];
  readonly resolveSubagent: ResolveSubagent;
  readonly protocols: readonly OpenProtocol[];
  /** Returns why this replica cannot serve; null while it can. */
  readonly whyUnfit: () => string | null;
  readonly plainStreams: boolean;
}

/** Builds the handlers and opens the ports. */
export async function openServer(
  {
    config,
    explainedSettings,
    settingSecrets,
    clock,
    events,
    metrics,
    connections,
    keyRing,
    egress,
    closers,
  }: AppContext,
  { core, runs, runners, resolveSubagent, protocols, whyUnfit, plainStreams }: ServerOptions,
): Promise<OpenServer> {
  const { db } = connections;
  // `leaving` only changes readiness. `drain` ends open streams, a while later.
  const leaving = new AbortController();
  const drain = new AbortController();
  const whyNotReady = (): string | null => (leaving.signal.aborted ? "draining" : whyUnfit());
  const deps = {
    ...core,
    ...runs,
    db,
    clock,
    events,
    config,
    explainedSettings,
    settingSecrets,
    egress,
    cursors: new Cursors(await loadSecret(db, "cursor")),
    watches: new OpenWatches(),
    concurrentRunsMax: config.sessionsMaxConcurrent,
    clientRunsMax: config.sessionsClientMaxConcurrent,
    timeoutMs: runTimeoutOf(config),
    selectTools: core.toolbox.select,
    runners,
    resolveSubagent,
    retention,
    whyNotReady,
    drain: drain.signal,
    version,
  };
  const served = protocols.map((protocol) => protocol.serve(deps));
  const agents = served.flatMap(({ agents: offered = [] }) => offered);
  const a2a = {
    version,
    agents,
    questions: served.flatMap(({ questions = [] }) => questions),
    clock,
    publicPath: config.serverPublicPath,
    grpcPort: config.serverH2Port,
    loadCardKey: cardKeys(db, clock),
    pushConfigs: createPushConfigs({ db, wakeup: deps.wakeup, egress }),
  };
  // The methods of A2A call those of the contract, which are made with them.
  const a2aMethods = createA2aMethods(a2a, (): LocalMethods => methods);
  const parts = [...served.flatMap((each) => each.services), part(A2AService, a2aMethods)];
  const feeds = plainStreams ? [] : [createRunFeed(deps), ...served.flatMap((each) => each.feeds ?? [])];
  const { handlers: plain, methods } = createHandlers(deps, { parts, services });
  const handlers = mountFeeds(plain, feeds, routerLimits);
  const reportError = (error: unknown): void => events.requestFailed({ method: "REST", error });
  const rest = createRestGateway({
    methods,
    services,
    feeds,
    errorForms,
    reportError,
  });
  const metricsPort = await openMetricsPort(config, metrics, closers);
  const rateOf = (requestsPerSecond: number, times = 1): RateLimit =>
    new RateLimit({ clock, requestsPerSecond: requestsPerSecond * times, burst: config.rateLimitBurst * times });
  const server = config.authAuthorizationServer;
  const admission: AdmissionOptions = {
    authenticator: new Authenticator({
      db,
      clock,
      events,
      keyRing,
      runTokens: core.runTokens,
      accessTokens:
        server && new AccessTokens({ server, readKeys: () => readPublicKeys(server.jwksUrl, egress), clock }),
      acceptV1: config.authHmacV1,
    }),
    clock,
    unverifiedBodies: new Bodies(),
    bodies: new Bodies(),
    callerRate: rateOf(config.rateLimitRps),
    frequentRate: rateOf(config.rateLimitRps, 100),
    failureRate: rateOf(config.rateLimitFailuresRps),
    // Lookups of guessed tokens take at most a quarter of the pool; the rest is for calls.
    lookups: new FairTurns(Math.ceil(config.databasePoolSize / 4)),
  };
  const credentials = openCredentials({ db, clock, events }, core.wakeup, closers);
  const showsCounts = keyRing.isOpen || config.serverHealthCounts === "always";
  const handler = createRequestListener({
    handlers,
    rest,
    surfaces: [
      createAnthropicSurface({
        methods,
        clock,
        reportError: (error) => events.requestFailed({ method: "Anthropic", error }),
      }),
      createOpenAiSurface({
        methods,
        clock,
        reportError: (error) => events.requestFailed({ method: "OpenAI", error }),
      }),
      createDurableStreamsSurface({
        methods,
        clock,
        reportError: (error) => events.requestFailed({ method: "DurableStreams", error }),
      }),
      createAgUiSurface({
        methods,
        reportError: (error) => events.requestFailed({ method: "AG-UI", error }),
      }),
      createA2aSurface({
        methods,
        server: a2a,
        reportError: (error) => events.requestFailed({ method: "A2A", error }),
      }),
      createMcpSurface({
        methods,
        clock,
        reportError: (error) => events.requestFailed({ method: "MCP", error }),
        version,
        agents,
        retentionMs: config.retentionDays * dayMs,
        callerOf: (values) => {
          const { client } = requireClient(values);
          return { client, seals: sealsOf(deps.cursors, client), requestRuns: requestRunsOf(db, client) };
        },
        corsOrigins: config.serverCorsOrigins,
        metadataUrl: server && metadataUrlOf(server).href,
      }),
    ],
    // Clients without credentials may ask too, and one answer counts all sessions.
    probes: {
      whyNotReady,
      countSessions: joined(() => countSessions(db)),
      seesCounts: async (request) => showsCounts || (await isKnownCaller(request, admission)),
    },
    documents: new Map<string, { readonly contentType: string; readonly print: () => string | Uint8Array }>([
      [
        "/openapi.json",
        {
          contentType: "application/json",
          print: once(() => printOpenApiDocument({ services, reasons, errorForms, examples, version })),
        },
      ],
      ...(server === undefined ? [] : documentsOf(server)),
      ["/descriptors.binpb", { contentType: "application/protobuf", print: once(() => serializeFiles(files)) }],
    ]),
    answerPage: config.consoleEnabled ? await openConsole(config.serverPublicPath) : () => false,
    admission,
    credentials,
    corsOrigins: config.serverCorsOrigins,
    isOpen: keyRing.isOpen,
    bodyBytesMax: config.serverMaxBodyBytes,
    writeTimeoutMs: config.serverWriteTimeoutSec * 1_000,
    clock,
    events,
  });
  const ports = await openPorts(config, { clock, handler, closers });
  // Streams end with RESUME before the ports wait for their calls to end.
  closers.defer(() => drain.abort());
  const schedules = createScheduleLoop(deps);
  closers.defer(() => schedules.close());
  closers.defer(deps.wakeup.subscribe("schedule", () => schedules.wake()));
  schedules.open();
  if (config.runsSearch) {
    const texts = new TextLoop({ db, clock, events, wakeup: deps.wakeup });
    closers.defer(() => texts.close());
    texts.open();
  }
  for (const { start } of served) {
    start?.();
  }
  void compileRules([SessionService, RunService]);
  return { ...ports, metricsPort, leave: () => leaving.abort(), printPush: createPrintPush(a2a, methods, valuesOf) };
}

/** Opens the watch of the credentials of streams, which wake-ups and gaps between them wake. */
function openCredentials(
  deps: Omit<OpenCredentialsOptions, "toError">,
  wakeup: Wakeup,
  closers: AsyncDisposableStack,
): OpenCredentials {
  const credentials = new OpenCredentials({ ...deps, toError: faultToConnectError });
  closers.defer(() => credentials.close());
  closers.defer(wakeup.subscribe("credential", () => credentials.wake()));
  closers.defer(wakeup.onGap(() => credentials.wake()));
  credentials.open();
  return credentials;
}

/** The metadata of the protected resource, at its own path and at that of a client that looks in one place alone. */
function documentsOf(server: AuthorizationServer) {
  const document = { contentType: "application/json", print: () => printMetadata(server) };
  return ["/.well-known/oauth-protected-resource", metadataUrlOf(server).pathname].map(
    (path) => [path, document] as const,
  );
}

/** Returns values that name a client, for work of the service on its behalf. */
function valuesOf(client: string): ContextValues {
  const values = createContextValues();
  setAdmission(values, { caller: { kind: "client", client }, network: "" });
  return values;
}

/** Returns the seals of the caller: tokens that open for no other client. */
function sealsOf(cursors: Cursors, client: string) {
  return {
    seal: (purpose: string, text: string): string => cursors.encode([purpose, client], text),
    open: (purpose: string, sealed: string): string | undefined => {
      try {
        return cursors.decode([purpose, client], sealed);
      } catch {
        return undefined;
      }
    },
  };
}

/** How long a replica signs cards with a key that was rotated: clients without credentials cause no more queries. */
const cardKeyMs = 60_000;

/** Returns the key that signs agent cards: that of receipts. */
function cardKeys(db: Db, clock: Clock) {
  let known: { readonly untilMs: number; readonly key: ReturnType<typeof loadCardKey> } | undefined;
  return () => {
    const nowMs = clock.nowMs();
    if (known === undefined || known.untilMs < nowMs) {
      const key = loadCardKey(db);
      known = { untilMs: nowMs + cardKeyMs, key };
      key.catch(() => {
        known = undefined;
      });
    }
    return known.key;
  };
}

async function loadCardKey(db: Db) {
  const { kid, createTime, privateKey } = await loadSigningKey(db);
  return { kid, createTime, sign: (bytes: Uint8Array) => sign(null, bytes, privateKey) };
}

/** Prints when the first client asks: printing takes 200 ms of CPU, which every start would pay otherwise. */
function once<T>(print: () => T): () => T {
  let printed: T | undefined;
  return () => (printed ??= print());
}
