// Resources: the logs of the caller's runs, and the artifacts in them.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { printMessage } from "../../platform/base/json/print.ts";
import { artifactIdOf, readArtifact } from "../in-process/agents.ts";
import { invalidParams, RpcError, requireText, wrongParam } from "../in-process/json-rpc.ts";
import { isReason } from "../rest/failure.ts";
import { answer, cacheable, type McpCall } from "./call.ts";
import { contentsOf } from "./fold.ts";

const runs = RunService.method;

const logType = "application/x-ndjson";

/** `resources/list`: the logs of the caller's runs, newest first. */
export async function listResources(call: McpCall): Promise<void> {
  const { cursor: pageToken = "" } = call.params;
  if (typeof pageToken !== "string") {
    throw wrongParam("cursor", "must be a text");
  }
  const page = await call.calls.call(runs.listRuns, { pageToken }).catch((error: unknown) => {
    throw isReason(error, "CURSOR_INVALID", "INVALID_ARGUMENT") ? wrongParam("cursor", "is of another list") : error;
  });
  const resources = page.runs.map(({ runId, createTime }) => ({
    uri: `runnel://runs/${runId}/log`,
    name: `log of run ${runId}`,
    mimeType: logType,
    ...(createTime && { annotations: { lastModified: timestampDate(createTime).toISOString() } }),
  }));
  const { nextPageToken } = page;
  answer(call, cacheable(call, { resources, ...(nextPageToken !== "" && { nextCursor: nextPageToken }) }));
}

/** `resources/templates/list`. */
export async function listTemplates(call: McpCall): Promise<void> {
  const resourceTemplates = [
    {
      uriTemplate: "runnel://runs/{run_id}/log",
      name: "log of a run",
      description: "What a run did, one entry a line.",
      mimeType: logType,
    },
    {
      uriTemplate: "runnel://runs/{run_id}/artifacts/{artifact_id}",
      name: "artifact of a run",
      description: "A file or an image that a run made.",
    },
  ];
  answer(call, cacheable(call, { resourceTemplates }));
}

/** `resources/read`. */
export async function readResource(call: McpCall): Promise<void> {
  const uri = requireText(call.params, "uri");
  const [, runId = "", artifactId] = /^runnel:\/\/runs\/([0-9a-f-]{36})\/(?:log|artifacts\/([^/]+))$/.exec(uri) ?? [];
  try {
    const contents =
      artifactId === undefined ? await readLog(call, uri, runId) : await readStored(call, uri, runId, artifactId);
    if (contents !== undefined) {
      answer(call, cacheable(call, { contents: [contents] }));
      return;
    }
  } catch (error) {
    if (!isReason(error, "RUN_NOT_FOUND", "INVALID_ARGUMENT")) {
      throw error;
    }
  }
  throw new RpcError(call.isModern ? invalidParams : resourceNotFound, "resource not found", {
    status: 200,
    data: { uri },
  });
}

/** The code of older revisions. */
const resourceNotFound = -32002;

/** The maximum characters of a log that a client gets: larger ones are read over the contract. */
const logCharsMax = 1_048_576;

async function readLog(call: McpCall, uri: string, runId: string): Promise<object> {
  let text = "";
  for await (const result of listResults(call, runId)) {
    const line = `${printMessage(RunResultSchema, result)}\n`;
    if (text.length + line.length > logCharsMax) {
      break;
    }
    text += line;
  }
  return { uri, mimeType: logType, text };
}

async function readStored(call: McpCall, uri: string, runId: string, encoded: string): Promise<object | undefined> {
  for await (const { sequence, payload } of listResults(call, runId)) {
    if (payload.case !== "artifactCreated") {
      continue;
    }
    const artifactId = artifactIdOf(sequence, payload.value);
    if (encodeURIComponent(artifactId) === encoded) {
      const contentBase64 =
        payload.value.contentBase64 ?? (await readArtifact(call.server.agents, call.values, runId, artifactId));
      return contentBase64 === undefined ? undefined : contentsOf(uri, payload.value, contentBase64);
    }
  }
  return undefined;
}

async function* listResults({ calls }: McpCall, runId: string): AsyncGenerator<RunResult> {
  let pageToken = "";
  do {
    const page = await calls.call(runs.listRunResults, { runId, pageSize: resultsPage, pageToken });
    yield* page.results;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

const resultsPage = 250;
