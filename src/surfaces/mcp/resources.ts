// Resources: the logs of the caller's runs, and the artifacts in them.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { type ListRunResultsResponse, RunService } from "#gen/runnel/v1/run_service_pb.js";
import { printMessage } from "../../platform/base/json/print.ts";
import { firstFilledPage } from "../../platform/base/lists.ts";
import { artifactIdOf, readArtifact } from "../in-process/agents.ts";
import { invalidParams, RpcError, requireText, wrongParam } from "../in-process/json-rpc.ts";
import { isReason } from "../rest/failure.ts";
import { answer, cacheable, type McpCall } from "./call.ts";
import { contentsOf } from "./fold.ts";

const runs = RunService.method;

const logType = "application/x-ndjson";

/** `resources/list`: the logs of the caller's runs, newest first. */
export async function listResources(call: McpCall): Promise<void> {
  const pageToken = call.params.cursor ?? "";
  if (typeof pageToken !== "string") {
    throw wrongParam("cursor", "must be a text");
  }
  const page = await firstFilledPage(
    pageToken,
    (token) => call.calls.call(runs.listRuns, { pageToken: token }),
    (each) => each.runs,
  ).catch((error: unknown) => {
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
  const [, runId = "", page = "", artifactId] = resourceUris.exec(uri) ?? [];
  try {
    const contents =
      artifactId === undefined ? await readLog(call, uri, runId, page) : await readStored(call, uri, runId, artifactId);
    if (contents !== undefined) {
      answer(call, cacheable(call, { contents: [contents] }));
      return;
    }
  } catch (error) {
    if (!isReason(error, "RUN_NOT_FOUND", "INVALID_ARGUMENT", "CURSOR_INVALID")) {
      throw error;
    }
  }
  throw new RpcError(call.isModern ? invalidParams : resourceNotFound, "resource not found", {
    status: 200,
    data: { uri },
  });
}

const resourceUris = /^runnel:\/\/runs\/([0-9a-f-]{36})\/(?:log(?:\?page=([\w-]{1,1024}))?|artifacts\/([^/]+))$/;

/** The code of older revisions. */
const resourceNotFound = -32002;

/** After so many characters the rest of a log is a resource of its own. */
const logCharsMax = 1_048_576;

async function readLog(call: McpCall, uri: string, runId: string, page: string): Promise<object> {
  let text = "";
  for await (const { results, nextPageToken } of listPages(call, runId, page)) {
    text += results.map((result) => `${printMessage(RunResultSchema, result)}\n`).join("");
    if (text.length > logCharsMax && nextPageToken !== "") {
      text += `${JSON.stringify({ next: `runnel://runs/${runId}/log?page=${nextPageToken}` })}\n`;
      break;
    }
  }
  return { uri, mimeType: logType, text };
}

async function readStored(call: McpCall, uri: string, runId: string, encoded: string): Promise<object | undefined> {
  for await (const { results } of listPages(call, runId)) {
    for (const { sequence, payload } of results) {
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
  }
  return undefined;
}

async function* listPages({ calls }: McpCall, runId: string, first = ""): AsyncGenerator<ListRunResultsResponse> {
  let pageToken = first;
  do {
    const page = await calls.call(runs.listRunResults, { runId, pageSize: resultsPage, pageToken });
    yield page;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

const resultsPage = 250;
