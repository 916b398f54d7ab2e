// The AG-UI surface: `POST /v1/ag-ui/{agent}` answers RunAgentInput with a stream of events. It calls the methods of the contract
// in process and knows nothing of the service behind them.

import { create, type DescMethod } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import { ErrorBody, RestProfileSchema } from "#gen/runnel/options/v1/options_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { Agent } from "#gen/runnel/v1/session_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { Fault } from "../../platform/base/fault.ts";
import type { LocalMethods } from "../../platform/base/local-methods.ts";
import { jsonReader, noReader } from "../http/body-weight.ts";
import { Calls } from "../in-process/calls.ts";
import { RunRefused } from "../in-process/run-refused.ts";
import { assertUncompressed, decodeBody } from "../rest/body.ts";
import { signalOf } from "../rest/disconnect.ts";
import { errorStyleOf } from "../rest/errors.ts";
import { isUnexpected } from "../rest/failure.ts";
import type { RestCall } from "../rest/gateway.ts";
import { type RestRequest, type RestResponse, sendFailure, sendJson } from "../rest/respond.ts";
import { decodeSegment, splitRequestTarget } from "../rest/route.ts";
import { runError } from "./events.ts";
import { readRunInput } from "./input.ts";
import { type AgUiCall, answerConnect, answerRun, sendAll, stopThread } from "./run.ts";

/** What the surface works with. */
export interface AgUiOptions {
  /** All methods of the core. */
  readonly methods: LocalMethods;
  /** Reports every unexpected error. */
  readonly reportError: (error: unknown) => void;
}

type Action = "run" | "connect" | "stop" | "info";

interface Target {
  readonly action: Action;
  readonly agent: string;
  readonly threadId: string;
}

const base = "/v1/ag-ui";
const errorStyle = errorStyleOf(create(RestProfileSchema, { errorBody: ErrorBody.RUNNEL }));
const { sendMessage, listPresets } = SessionService.method;
const methods: Readonly<Record<Action, DescMethod>> = {
  run: sendMessage,
  connect: RunService.method.tailRun,
  stop: RunService.method.cancelRun,
  info: listPresets,
};

/** Returns the surface of AG-UI. */
export function createAgUiSurface(options: AgUiOptions) {
  return {
    owns: (path: string): boolean => path.startsWith(`${base}/`),
    describe: (requestTarget: string, httpMethod: string) => {
      const target = findTarget(splitRequestTarget(requestTarget).path, httpMethod);
      const isRead = target?.action === "run" || target?.action === "connect";
      return { method: target && methods[target.action], isLong: true, reader: isRead ? jsonReader : noReader };
    },
    handle: async (request: RestRequest, response: RestResponse, call: RestCall = {}): Promise<void> => {
      response.on("error", () => undefined);
      const { contextValues = createContextValues() } = call;
      const { headers } = request;
      const signal = signalOf(response);
      const calls = new Calls(options.methods, { headers, signal, contextValues });
      try {
        await answer(request, response, calls, call);
      } catch (error) {
        if (error instanceof RunRefused) {
          await sendAll(response, [runError(error.code, error.message)]);
          return;
        }
        if (isUnexpected(error) && !signal.aborted) {
          options.reportError(error);
        }
        sendFailure(response, error, errorStyle);
      }
    },
    refuse: (_request: RestRequest, response: RestResponse, fault: Fault): void => {
      response.on("error", () => undefined);
      sendFailure(response, fault, errorStyle);
    },
  };
}

async function answer(
  request: RestRequest,
  response: RestResponse,
  calls: Calls,
  { body, sink }: RestCall,
): Promise<void> {
  const target = findTarget(splitRequestTarget(request.url ?? "").path, request.method ?? "");
  if (target === undefined) {
    throw new Fault(
      "RESOURCE_NOT_FOUND",
      `AG-UI has POST ${base}/{agent} and ${base}/{agent}/connect, GET ${base}/info`,
    );
  }
  const { presets } = await calls.call(listPresets, {});
  if (target.action === "info") {
    sendJson(response, 200, JSON.stringify({ agents: describeAgents(presets) }));
    return;
  }
  if (target.action === "stop") {
    await stopThread(calls, target.threadId);
    sendJson(response, 200, JSON.stringify({ stopped: true }));
    return;
  }
  const preset = presets.find(({ name }) => name === target.agent);
  if (preset === undefined) {
    throw new Fault("PRESET_NOT_FOUND", `there is no preset "${target.agent}": see ${base}/info`);
  }
  assertUncompressed(request);
  const input = readRunInput(decodeBody(body ?? new Uint8Array(), false));
  const lastEventId = request.headers["last-event-id"];
  const call: AgUiCall = {
    calls,
    response,
    sink,
    input,
    lastEventId: typeof lastEventId === "string" ? lastEventId : undefined,
  };
  await (target.action === "connect" ? answerConnect(call) : answerRun(call, preset));
}

function describeAgents(presets: readonly Agent[]): object {
  return Object.fromEntries(presets.map(({ name, model }) => [name, { name, description: model }]));
}

const routes: readonly (readonly [httpMethod: string, pattern: RegExp, action: Action])[] = [
  ["GET", /^\/info$/, "info"],
  ["POST", /^\/agent\/(?<agent>[^/]+)\/run$/, "run"],
  ["POST", /^\/agent\/(?<agent>[^/]+)\/connect$/, "connect"],
  ["POST", /^\/agent\/(?<agent>[^/]+)\/stop\/(?<thread>[^/]+)$/, "stop"],
  ["POST", /^\/(?<agent>[^/]+)\/connect$/, "connect"],
  ["POST", /^\/(?<agent>[^/]+)$/, "run"],
];

function findTarget(path: string, httpMethod: string): Target | undefined {
  const rest = path.slice(base.length);
  for (const [method, pattern, action] of routes) {
    const match = method === httpMethod ? pattern.exec(rest) : null;
    if (match !== null) {
      const { agent = "", thread = "" } = match.groups ?? {};
      return { action, agent: decodeSegment(agent), threadId: decodeSegment(thread) };
    }
  }
  return undefined;
}
