// What stands around a body: paths, queries, headers, tokens and texts that are logged.

import { create } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { TrustedKeySchema } from "#gen/runnel/job/v1/trust_pb.js";
import { ListRunsRequestSchema, RunService } from "#gen/runnel/v1/run_service_pb.js";
import { CreateSessionRequestSchema } from "#gen/runnel/v1/session_service_pb.js";
import { readUpdate } from "../../../src/api/update-mask.ts";
import { mergeResults } from "../../../src/engine/log/merge.ts";
import type { ResultInit } from "../../../src/engine/log/result.ts";
import { Cursors } from "../../../src/platform/auth/cursor.ts";
import { RunTokens } from "../../../src/platform/auth/run-token.ts";
import { isSignedBy, readSignature } from "../../../src/platform/auth/signature.ts";
import { firstCharacters } from "../../../src/platform/base/first-characters.ts";
import { hideCredentials } from "../../../src/platform/base/hide-credentials.ts";
import { resolveFieldPath } from "../../../src/platform/base/json/field-path.ts";
import { parseTraceParent } from "../../../src/platform/base/trace-parent.ts";
import { validator } from "../../../src/platform/base/validator.ts";
import { createAddressPolicy } from "../../../src/platform/egress/address.ts";
import { findUrlProblem } from "../../../src/platform/egress/url.ts";
import { createScrubber } from "../../../src/platform/telemetry/scrub.ts";
import { failureOfCode } from "../../../src/platform/telemetry/traces/text.ts";
import { readClientId, readCredentials, takeTicket } from "../../../src/surfaces/http/credentials.ts";
import type { Request } from "../../../src/surfaces/http/message.ts";
import { networkOf } from "../../../src/surfaces/http/network.ts";
import { hasSeveralHosts, normalizeTarget } from "../../../src/surfaces/http/request-target.ts";
import { prefersJson } from "../../../src/surfaces/rest/accept.ts";
import { assignQuery } from "../../../src/surfaces/rest/params.ts";
import { createRouter, splitRequestTarget } from "../../../src/surfaces/rest/route.ts";
import { compileBindings } from "../../../src/surfaces/rest/rule.ts";
import { parseTemplate } from "../../../src/surfaces/rest/template.ts";
import type { GrowthCase } from "../growth.ts";
import { plainTexts } from "../inputs.ts";
import { pairs } from "./pairs.ts";

const cursors = new Cursors(Buffer.alloc(32));
const tokens = new RunTokens(Buffer.alloc(32));
const scrubber = createScrubber(["a-secret-of-the-service", "aaaaaaaaaaaaaaab"]);
const policy = createAddressPolicy({ allowsPrivate: false, exceptions: [] });
const [listRuns] = compileBindings(RunService.method.listRuns);
const router = createRouter([
  { httpMethod: "GET", template: parseTemplate("/v1/{name=a/*/**}"), target: 1 },
  { httpMethod: "GET", template: parseTemplate("/v1/runs/{run_id}:cancel"), target: 2 },
]);

function findRoute(path: string): unknown {
  const found = router.find("GET", path);
  return found.kind === "found" ? found.capture() : undefined;
}

function readQuery(query: string, lenient: boolean): void {
  if (listRuns === undefined) {
    throw new Error("ListRuns has no binding");
  }
  assignQuery(reflect(ListRunsRequestSchema), listRuns, query, { lastEventId: "", lenient });
}

export const requestCases: readonly GrowthCase[] = [
  ...pairs(plainTexts, {
    "the path of a request": (text) => [
      findRoute(`/v1/a/${text}`),
      findRoute(`/v1/runs/${text}`),
      splitRequestTarget(text),
    ],
    "the query of a request, strict": (text) => readQuery(`session_id=${text}&${text}`, false),
    "the query of a request, lenient": (text) => readQuery(`${text}&session_id=${text}`, true),
    prefersJson: (text) => prefersJson(`application/json;${text};q=1,${text}`),
    parseTraceParent: (text) => parseTraceParent(text),
    resolveFieldPath: (text) => resolveFieldPath(CreateSessionRequestSchema, text),
    "a page token": (text) => cursors.decode(["list"], text),
    "a run token": (text) => [tokens.read(text), tokens.read(`rrun_${text}`)],
    "the signature of a request": (text) => readSignature({ signature: text, timestamp: text, nonce: text }, 0),
    "the check of a signature": (text) =>
      isSignedBy(
        ["secret"],
        { mac: Buffer.alloc(32), timestamp: "1", nonce: "nonce-nonce" },
        { httpMethod: "POST", target: text, clientId: text, contents: [Buffer.from(text)] },
        { acceptV1: true },
      ),
    hideCredentials: (text) => [hideCredentials(text), hideCredentials(`sk-${text}://${text}@`)],
    "the scrubber of logs": (text) => [scrubber.scrubText(text), scrubber.scrubLine(`${text}a-secret-of-the-service`)],
    firstCharacters: (text) => firstCharacters(text, 100),
    findUrlProblem: (text) => [
      findUrlProblem(`https://${text}`, policy, "callback"),
      findUrlProblem(`https://a.com/${text}`, policy, "callback"),
    ],
    networkOf: (text) => networkOf(text),
    "the target and the ticket of a request": (text) => {
      const request = { url: `http://${text}?ticket=${text}&${text}`, headers: {} } as unknown as Request;
      normalizeTarget(request);
      return takeTicket(request);
    },
    "failureOfCode of a span": (text) => failureOfCode(text),
  }),
  ...pairs(
    {
      "many parameters": (size) => "states=1&".repeat(size / 9),
      "unknown parameters": (size) => "nothing=1&".repeat(size / 10),
      "long dotted keys": (size) => "session_id.a.b.c.".repeat(size / 17),
      escapes: (size) => `a=${"%41".repeat(size / 3)}`,
    },
    { "the query of a request": (text) => readQuery(text, true) },
  ),
  ...pairs(
    {
      "many ranges": (size) => "a/b;q=0.5,".repeat(size / 10),
      "many parameters": (size) => `a/b${";q =1".repeat(size / 5)}`,
      "secrets of others": (size) => "sk-aaaaaaaaaaaaaaaaaaaa ".repeat(size / 24),
      "what begins like secrets": (size) => "sk-rt_://bearer ".repeat(size / 16),
      "backslashes before a secret": (size) => `${"\\".repeat(size)}a-secret-of-the-service`,
    },
    {
      "prefersJson of ranges": (text) => prefersJson(text),
      "hideCredentials of secrets": (text) => hideCredentials(text),
      "the scrubber of secrets": (text) => scrubber.scrubLine(text),
    },
  ),
  {
    reader: "the rules of the contract",
    input: "many states of runs",
    prepare: (size) => {
      const message = create(ListRunsRequestSchema, { states: Array.from({ length: size }, (_, at) => at + 100) });
      return () => validator.validate(ListRunsRequestSchema, message);
    },
  },
  {
    reader: "the rules of the contract",
    input: "many regions of a key",
    prepare: (size) => {
      const message = create(TrustedKeySchema, {
        kid: "a",
        regions: Array.from({ length: size / 2 }, (_, at) => `r${at}`),
      });
      return () => validator.validate(TrustedKeySchema, message);
    },
  },
  {
    reader: "the credentials in headers",
    input: "many headers",
    prepare: (size) => {
      const rawHeaders = Array.from({ length: size / 2 }, (_, at) => (at % 2 === 0 ? `X-Header-${at}` : "value"));
      const request = { rawHeaders } as unknown as Request;
      return () => [readCredentials(request), readClientId(request), hasSeveralHosts(request)];
    },
  },
  {
    reader: "readUpdate",
    input: "a mask of many paths",
    prepare: (size) => {
      const key = create(TrustedKeySchema, {});
      const paths = Array.from({ length: size / 2 }, () => "regions");
      return () => readUpdate(TrustedKeySchema, key, { $typeName: "google.protobuf.FieldMask", paths }, ["regions"]);
    },
  },
  {
    reader: "mergeResults",
    input: "many pieces of text",
    firstSize: 16_384,
    prepare: (size) => () => {
      let merged = textOf("");
      for (let at = 0; at < size; at += 1) {
        merged = mergeResults(merged, textOf("ab")) ?? textOf("");
      }
      return merged;
    },
  },
];

function textOf(content: string): ResultInit {
  return { payload: { case: "reasoningDelta" as const, value: { content } } };
}
