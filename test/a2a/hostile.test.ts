// Bodies, paths and headers that no client sends: each gets an error of A2A, none an internal one, and none starts a task. Every error
// has its name and its domain.

import { expect, test } from "vitest";
import { credentialsOf } from "../harness/credentials.ts";
import { setMcpStage } from "../mcp/stage.ts";
import { postRpc } from "./stage.ts";

const odd: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  1e308,
  "\u0000",
  "\ud800",
  "../../etc/passwd",
  "x".repeat(10_000),
  [null],
  { __proto__: null, constructor: 1 },
];
const part = { text: "x" };
const message = { messageId: "m", role: "ROLE_USER", parts: [part] };
const id = crypto.randomUUID();

const places: readonly (readonly [method: string, paramsOf: (value: unknown) => unknown])[] = [
  ["SendMessage", (value) => value],
  ["SendMessage", (value) => ({ message: value })],
  ["SendMessage", (value) => ({ message: { ...message, role: value } })],
  ["SendMessage", (value) => ({ message: { ...message, parts: value } })],
  ["SendMessage", (value) => ({ message: { ...message, parts: [part, value] } })],
  ["SendMessage", (value) => ({ message: { ...message, parts: [{ raw: value, url: value }] } })],
  ["SendMessage", (value) => ({ message: { ...message, taskId: value === null ? "x" : value } })],
  ["SendMessage", (value) => ({ message, tenant: value === null ? "x" : value })],
  ["SendMessage", (value) => ({ message, configuration: { historyLength: value === null ? -1 : value } })],
  ["SendStreamingMessage", (value) => ({ message: { ...message, messageId: "", contextId: value } })],
  ["GetTask", (value) => ({ id: value })],
  ["GetTask", (value) => ({ id, historyLength: value })],
  ["CancelTask", (value) => ({ id: value, metadata: {} })],
  ["SubscribeToTask", (value) => ({ id: value })],
  ["ListTasks", (value) => ({ pageSize: value === null ? 0 : value })],
  ["ListTasks", (value) => ({ pageToken: value === null ? "x" : value })],
  ["ListTasks", (value) => ({ status: value === null || value === -1 ? "x" : value })],
  ["GetExtendedAgentCard", (value) => ({ tenant: value === null ? "x" : value })],
  ["CreateTaskPushNotificationConfig", (value) => ({ url: value, taskId: value })],
  ["GetTaskPushNotificationConfig", (value) => ({ id: value, taskId: value })],
];

test("nothing gives an internal error or starts a task", { timeout: 120_000 }, async () => {
  const { service } = await setMcpStage({ rateLimitRps: 10_000, rateLimitBurst: 10_000 });
  const { url } = service;
  let count = 0;
  for (const [method, paramsOf] of places) {
    for (const value of odd) {
      const response = await postRpc(url, method, paramsOf(value));
      const body = (await response.json()) as { readonly error?: { readonly code: number } };
      expect([method, value, response.status, body]).toEqual([
        method,
        value,
        200,
        {
          jsonrpc: "2.0",
          id: 1,
          error: expect.objectContaining({ code: expect.any(Number), message: expect.any(String) }),
        },
      ]);
      expect([method, value, body.error?.code]).not.toEqual([method, value, -32603]);
      count += 1;
    }
  }
  const json = { "content-type": "application/json", "a2a-version": "1.0", ...credentialsOf() };
  for (const [path, httpMethod, body, headers, status, reason] of paths) {
    const answered = await fetch(url + path, {
      method: httpMethod,
      headers: { ...json, ...headers },
      ...(body !== undefined && { body }),
    });
    const text = await answered.text();
    expect([path, body, answered.status, text]).toEqual([path, body, status, expect.stringContaining(reason)]);
    count += 1;
  }
  expect(count).toBeGreaterThan(200);
  const listed = await postRpc(url, "ListTasks", {});
  expect(await listed.json()).toEqual({
    jsonrpc: "2.0",
    id: 1,
    result: { tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 },
  });
});

const none = undefined;
const paths: readonly (readonly [string, string, string | undefined, Record<string, string>, number, string])[] = [
  ["/a2a", "POST", "", {}, 200, "-32700"],
  ["/a2a", "POST", "{", {}, 200, "-32700"],
  ["/a2a/", "POST", "{", {}, 200, "-32700"],
  ["/a2a", "POST", "[".repeat(500), {}, 200, "-32700"],
  ["/a2a", "POST", "[]", {}, 200, "-32600"],
  ["/a2a", "POST", '{"jsonrpc":"1.0","id":1,"method":"GetTask"}', {}, 200, "-32600"],
  ["/a2a", "POST", '{"jsonrpc":"2.0","method":"GetTask"}', {}, 200, "-32600"],
  ["/a2a", "POST", '{"jsonrpc":"2.0","id":1,"method":"constructor"}', {}, 200, "-32601"],
  ["/a2a", "POST", "{}", { "content-type": "text/plain" }, 415, "-32005"],
  ["/a2a", "POST", "{}", { "a2a-version": "9.9" }, 200, "VERSION_NOT_SUPPORTED"],
  ["/a2a", "POST", "{}", { "a2a-version": "" }, 200, "VERSION_NOT_SUPPORTED"],
  ["/a2a", "POST", "{}", { authorization: "Bearer x" }, 401, "-32600"],
  ["/a2a", "GET", none, {}, 404, ""],
  ["/a2a/tasks", "GET", none, { authorization: "Bearer x" }, 401, '"status":"UNAUTHENTICATED"'],
  [
    "/a2a/tasks",
    "GET",
    none,
    { "a2a-version": "" },
    400,
    '"reason":"VERSION_NOT_SUPPORTED","domain":"a2a-protocol.org"',
  ],
  ["/a2a/tasks?pageSize=101", "GET", none, {}, 400, "pageSize"],
  ["/a2a/tasks?includeArtifacts=perhaps", "GET", none, {}, 400, "includeArtifacts"],
  ["/a2a/tasks?statusTimestampAfter=today", "GET", none, {}, 400, "RFC 3339"],
  [`/a2a/tasks/${id}`, "GET", none, {}, 404, '"reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"'],
  ["/a2a/tasks/%ff", "GET", none, {}, 404, "TASK_NOT_FOUND"],
  [`/a2a/tasks/${id}:cancel`, "POST", none, {}, 404, "TASK_NOT_FOUND"],
  [`/a2a/tasks/${id}:subscribe`, "GET", none, {}, 404, "TASK_NOT_FOUND"],
  [`/a2a/poet/tasks/${id}:subscribe`, "POST", "{}", {}, 404, "TASK_NOT_FOUND"],
  ["/a2a/message:send", "POST", "[]", {}, 400, "INVALID_ARGUMENT"],
  ["/a2a/message:send", "POST", "null", {}, 400, "message"],
  ["/a2a/message:send", "POST", "{}", { "content-type": "text/plain" }, 415, "CONTENT_TYPE_NOT_SUPPORTED"],
  ["/a2a/poet/message:stream", "POST", JSON.stringify({ message }), {}, 400, "tenant"],
  [
    "/a2a/message:send",
    "POST",
    JSON.stringify({ message, configuration: { taskPushNotificationConfig: { url: "file:///etc/passwd" } } }),
    {},
    400,
    "configuration.taskPushNotificationConfig.url",
  ],
  ...odd
    .slice(1)
    .map((url): (typeof paths)[number] => [
      "/a2a/message:send",
      "POST",
      JSON.stringify({ message, configuration: { taskPushNotificationConfig: { url } } }),
      {},
      400,
      "INVALID_ARGUMENT",
    ]),
  [`/a2a/tasks/${id}/pushNotificationConfigs`, "POST", '{"url":"https://a.example"}', {}, 404, "TASK_NOT_FOUND"],
  [`/a2a/tasks/${id}/pushNotificationConfigs`, "GET", none, {}, 404, "TASK_NOT_FOUND"],
  [`/a2a/tasks/${id}/pushNotificationConfigs/1`, "GET", none, {}, 404, "TASK_NOT_FOUND"],
  [`/a2a/tasks/${id}/pushNotificationConfigs/1`, "DELETE", none, {}, 404, "TASK_NOT_FOUND"],
  ["/a2a/x/y/z", "GET", none, {}, 404, "RESOURCE_NOT_FOUND"],
];
