// The API over REST and SSE, by fetch.

import { create, type DescMessage, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { ListFilesRequestSchema } from "#gen/runnel/v1/file_service_pb.js";
import { CallMcpToolRequestSchema, ListMcpToolsRequestSchema } from "#gen/runnel/v1/mcp_service_pb.js";
import {
  CancelRunsRequestSchema,
  ListRunResultsRequestSchema,
  ListRunsRequestSchema,
} from "#gen/runnel/v1/run_service_pb.js";
import {
  CreateSessionRequestSchema,
  ListMessagesRequestSchema,
  ListSessionsRequestSchema,
  SendMessageRequestSchema,
} from "#gen/runnel/v1/session_service_pb.js";
import { ListUsageRequestSchema } from "#gen/runnel/v1/system_service_pb.js";
import { QueryUsageOfClientsRequestSchema, QueryUsageRequestSchema } from "#gen/runnel/v1/usage_service_pb.js";
import { readEvents, type SseEvent } from "../harness/sse.ts";
import { plainJson } from "./plain.ts";
import { type Plain, Refused, type Result, type Surface, type Violation } from "./surface.ts";

export function connectRest(url: string, headers: Readonly<Record<string, string>>): Surface {
  async function call<T>(method: string, path: string, body?: Plain): Promise<T> {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) {
      throw await refused(response);
    }
    return plainJson<T>(await response.text());
  }

  /** Ends properly after an event of the type `last`, or when 204 says that nothing comes after the position. */
  async function* follow(path: string, after: string, last: string): AsyncGenerator<SseEvent> {
    const leaving = new AbortController();
    const cursor = after === "" ? {} : { "last-event-id": after };
    const response = await fetch(`${url}${path}`, { headers: { ...headers, ...cursor }, signal: leaving.signal });
    if (!response.ok) {
      throw await refused(response);
    }
    if (response.body === null) {
      return;
    }
    try {
      for await (const event of readEvents(response.body)) {
        yield event;
        if (event.event === last) {
          return;
        }
      }
      throw new Refused("the stream broke off", {});
    } finally {
      leaving.abort();
    }
  }

  return {
    createSession: (request) => call("POST", "/v1/sessions", jsonOf(CreateSessionRequestSchema, request)),
    getSession: (sessionId) => call("GET", sessionPath(sessionId)),
    listSessions: (request) => call("GET", `/v1/sessions?${queryOf(ListSessionsRequestSchema, request)}`),
    deleteSession: (sessionId) => call("DELETE", sessionPath(sessionId)),
    sendMessage: (request) => {
      const { session_id, ...body } = jsonOf(SendMessageRequestSchema, request);
      return call("POST", `${sessionPath(String(session_id ?? ""))}/messages`, body);
    },
    followSession: async function* (sessionId, after = "") {
      for await (const { id, event, data } of follow(`${sessionPath(sessionId)}/stream`, after, "done")) {
        yield { id: id ?? "", type: event, payload: plainJson(data) };
      }
    },
    listMessages: (request) => {
      const { session_id, ...query } = jsonOf(ListMessagesRequestSchema, request);
      const path = `${sessionPath(String(session_id ?? ""))}/transcript`;
      return call("GET", `${path}?${new URLSearchParams(query as Record<string, string>)}`);
    },
    listFiles: (request) => {
      const { session_id, ...query } = jsonOf(ListFilesRequestSchema, request);
      const path = `${sessionPath(String(session_id ?? ""))}/files`;
      return call("GET", `${path}?${new URLSearchParams(query as Record<string, string>)}`);
    },
    readFile: async function* ({ sessionId = "", path = "" }) {
      const names = path.split("/").map(encodeURIComponent);
      const response = await fetch(`${url}${sessionPath(sessionId)}/files/${names.join("/")}`, { headers });
      if (!response.ok) {
        throw await refused(response);
      }
      yield* response.body ?? [];
    },
    getRunInput: (runId) => call("GET", `${runPath(runId)}/input`),
    getRun: (runId, outputCharsMax = 0) => call("GET", `${runPath(runId)}?output_chars_max=${outputCharsMax}`),
    listRuns: (request) => call("GET", `/v1/runs?${queryOf(ListRunsRequestSchema, request)}`),
    followRun: async function* (runId, after = 0) {
      const cursor = after === 0 ? "" : String(after);
      for await (const { event, data } of follow(`${runPath(runId)}/results:tail`, cursor, "end")) {
        if (event === "end") {
          return;
        }
        if (event === "error") {
          throw refusal(data, undefined);
        }
        yield resultOf(plainJson(data), event);
      }
    },
    listResults: async (request) => {
      const { run_id, ...query } = jsonOf(ListRunResultsRequestSchema, request);
      const path = `${runPath(String(run_id ?? ""))}/results?${new URLSearchParams(query as Record<string, string>)}`;
      const { results, ...page } = await call<{ results: Plain[]; next_page_token?: string }>("GET", path);
      return { ...page, results: results.map((each) => resultOf(each, undefined)) };
    },
    cancelRun: (runId) => call("POST", `${runPath(runId)}:cancel`),
    cancelRuns: (request) => call("POST", "/v1/runs:cancel", jsonOf(CancelRunsRequestSchema, request)),
    getVersion: () => call("GET", "/version"),
    getLimits: () => call("GET", "/v1/limits"),
    getUsage: () => call("GET", "/v1/usage"),
    listUsage: (request) => call("GET", `/v1/usage/days?${queryOf(ListUsageRequestSchema, request)}`),
    queryUsage: (request) => call("GET", `/v1/usage/points?${queryOf(QueryUsageRequestSchema, request)}`),
    listMcpServers: () => call("GET", "/v1/mcp/servers"),
    listMcpTools: (request) => call("POST", "/v1/mcp/servers/-/tools:list", jsonOf(ListMcpToolsRequestSchema, request)),
    callMcpTool: (request) => {
      const { arguments: text, ...body } = jsonOf(CallMcpToolRequestSchema, request);
      const parsed = text === undefined ? {} : { arguments: JSON.parse(String(text)) };
      return call("POST", "/v1/mcp/servers/-/tools:call", { ...body, ...parsed });
    },
    queryUsageOfClients: (request) =>
      call("GET", `/v1/clients/-/usage/points?${queryOf(QueryUsageOfClientsRequestSchema, request)}`),
    listReplicas: () => call("GET", "/v1/replicas"),
  };
}

export function sessionPath(sessionId: string): string {
  return `/v1/sessions/${encodeURIComponent(sessionId)}`;
}

export function runPath(runId: string): string {
  return `/v1/runs/${encodeURIComponent(runId)}`;
}

function jsonOf<S extends DescMessage>(schema: S, request: MessageInitShape<S>): Plain {
  return toJson(schema, create(schema, request), { useProtoFieldName: true }) as Plain;
}

function queryOf<S extends DescMessage>(schema: S, request: MessageInitShape<S>): string {
  // A list is a parameter that is given several times.
  const entries = Object.entries(jsonOf(schema, request)).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, String(each)]),
  );
  return new URLSearchParams(entries).toString();
}

/** Over REST a result is one object. Its type is the name of the event, or the one member that not every result has. */
export function resultOf(json: Plain, event: string | undefined): Result {
  const { run_id, sequence, create_time, usage, purged_sha256, ...member } = json;
  const [[name, payload] = ["", {}]] = Object.entries(member);
  return {
    sequence: sequence as number,
    usage: usage as Plain | undefined,
    type: event ?? dottedName(name),
    payload: payload as Plain,
  };
}

/** The two names of a type differ only in their separators. */
function dottedName(member: string): string {
  return member.replaceAll("_", ".");
}

export async function refused(response: Response): Promise<Refused> {
  return refusal(await response.text(), response);
}

export function refusal(body: string, response: Response | undefined): Refused {
  const parsed: { error: string; reason?: string; details?: { violations?: Violation[] } } = JSON.parse(body);
  const retryAfter = response?.headers.get("retry-after");
  return new Refused(parsed.error, {
    httpStatus: response?.status,
    reason: parsed.reason,
    violations: parsed.details?.violations,
    retryAfterSeconds: retryAfter == null ? undefined : Number(retryAfter),
  });
}
