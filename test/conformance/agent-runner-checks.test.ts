// The checks of the Agent Runner document's routes, in its order and words, where they differ from plain validation.

import { tmpdir } from "node:os";
import { describe, expect } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { test } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService, type TestService } from "../harness/service.ts";

async function post(service: TestService, path: string, body: unknown): Promise<[number, unknown]> {
  const response = await fetch(`${service.url}${path}`, {
    method: "POST",
    headers: credentialsOf(),
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return [response.status, await response.json()];
}

const agent = { name: "checks" };

describe("creating a session", () => {
  test("checks in the document's order", async ({ service }) => {
    const create = (body: object) => post(service, "/v1/sessions", body);
    const wrong = {
      session_id: "not valid",
      work_dir: "relative",
      callback: { base_url: "ftp://example.com" },
      agent: { name: "" },
    };
    const prefix = "invalid callback.base_url: ";
    expect(await create(wrong)).toEqual([400, { error: "agent.name is required" }]);
    expect(await create({ ...wrong, agent })).toEqual([
      400,
      { error: "invalid session_id: must be 1-128 alphanumeric/dash/underscore characters" },
    ]);
    const { session_id: _, ...named } = { ...wrong, agent };
    expect(await create(named)).toEqual([400, { error: "invalid work_dir: must be an absolute path" }]);
    expect(await create({ ...named, work_dir: "/nowhere/at/all" })).toEqual([
      400,
      { error: "invalid work_dir: not accessible: stat /nowhere/at/all: no such file or directory" },
    ]);
    expect(await create({ ...named, work_dir: "/dev/null" })).toEqual([
      400,
      { error: "invalid work_dir: not a directory" },
    ]);
    expect(await create({ ...named, work_dir: tmpdir() })).toEqual([
      400,
      { error: `${prefix}scheme must be http or https` },
    ]);
    expect((await create({ session_id: "taken", agent }))[0]).toBe(201);
    const taken = { session_id: "taken", agent };
    expect(await create({ ...taken, callback: { base_url: "http://localhost/" } })).toEqual([
      400,
      { error: `${prefix}localhost callbacks are not allowed` },
    ]);
    expect(await create(taken)).toEqual([409, { error: 'session "taken" already exists' }]);
  });

  describe("checks the callback's address", () => {
    const cases = [
      ["https://app.example/api", undefined],
      ["http://app.example:8080", undefined],
      ["https://8.8.8.8/", undefined],
      ["", undefined],
      ["no url", /^invalid URL: /],
      ["/api/agent-runner", /^invalid URL: /],
      ["https://", /^host is required$/],
      ["https:///app.example/", /^host is required$/],
      ["https:app.example", /^host is required$/],
      ["https://?x", /^host is required$/],
      ["ftp://app.example", /^scheme must be http or https$/],
      ["javascript:alert(1)", /^scheme must be http or https$/],
      ["https://user:secret@app.example", /^invalid URL: /],
      ["https://app.example/#x", /^invalid URL: /],
      ["https://app.example/#", /^invalid URL: /],
      ["https://app.example:22/", /^invalid URL: port 22 is not allowed$/],
      ["http://app.example\\@10.0.0.8/", /^invalid URL: /],
      ["http://app.example/\r\nx: 1", /^invalid URL: /],
      ["http://localhost:8000/api", /^localhost callbacks are not allowed$/],
      ["http://LOCALHOST./", /^localhost callbacks are not allowed$/],
      ["http://a.localhost/", /^localhost callbacks are not allowed$/],
      ["http://127.0.0.1/", /^private IP callbacks are not allowed$/],
      ["http://10.0.0.8/", /^private IP callbacks are not allowed$/],
      ["http://[::1]/", /^private IP callbacks are not allowed$/],
      ["http://[::ffff:10.0.0.1]/", /^private IP callbacks are not allowed$/],
      ["http://2130706433/", /^private IP callbacks are not allowed$/],
      ["http://0x7f.1/", /^private IP callbacks are not allowed$/],
      [`https://app.example/${"x".repeat(2_000)}`, /^callback URL too long$/],
    ] as const;

    test("and names its problem", async ({ service }) => {
      for (const [baseUrl, problem] of cases) {
        const [status, body] = await post(service, "/v1/sessions", { agent, callback: { base_url: baseUrl } });
        const error = (body as { error?: string }).error?.replace(/^invalid callback\.base_url: /, "");
        expect
          .soft([status, error], baseUrl)
          .toEqual(problem === undefined ? [201, undefined] : [400, expect.stringMatching(problem)]);
      }
    });

    test("but allows a host that the settings list", async () => {
      const service = await startService({
        securityCallbackAllow: ["127.0.0.1@127.0.0.0/8", "localhost@127.0.0.1/32"],
      });
      const create = (baseUrl: string) => post(service, "/v1/sessions", { agent, callback: { base_url: baseUrl } });
      for (const baseUrl of ["http://127.0.0.1:8000/", "http://2130706433/", "http://localhost:8000/api"]) {
        expect.soft((await create(baseUrl))[0], baseUrl).toBe(201);
      }
      for (const baseUrl of ["http://127.0.0.2/", "http://a.localhost/", "http://10.0.0.8/", "http://[::1]/"]) {
        expect.soft((await create(baseUrl))[0], baseUrl).toBe(400);
      }
    });

    test("but allows any host when private networks are allowed", async () => {
      const service = await startService({ securityAllowPrivateNetworks: true });
      for (const [baseUrl, problem] of cases) {
        const isPrivate = problem !== undefined && /are not allowed/.test(problem.source);
        const [status] = await post(service, "/v1/sessions", { agent, callback: { base_url: baseUrl } });
        expect.soft(status, baseUrl).toBe(problem === undefined || isPrivate ? 201 : 400);
      }
    });
  });
});

describe("sending a message", () => {
  test("looks up the session before it checks the body", async ({ service }) => {
    expect((await post(service, "/v1/sessions", { session_id: "here", agent }))[0]).toBe(201);
    const notFound = [404, { error: "session not found" }];
    for (const body of ['{"message":', "", "[]", '{"message":1}', "{}"]) {
      expect(await post(service, "/v1/sessions/nowhere/messages", body), body).toEqual(notFound);
    }
    const problem = expect.stringMatching(/^invalid request body: /);
    for (const body of ['{"message":', "", "[]", '{"message":1}']) {
      expect(await post(service, "/v1/sessions/here/messages", body), body).toEqual([400, { error: problem }]);
    }
    expect(await post(service, "/v1/sessions/here/messages", "{}")).toEqual([400, { error: "message is required" }]);
    expect((await post(service, "/v1/sessions/here/messages", { message: "hello pace=0 words=3" }))[0]).toBe(202);
  });

  test("keeps that order over gRPC", async ({ service: { target } }) => {
    const client = new GrpcClient(target);
    const { sendMessage, createSession } = SessionService.method;
    await expect(client.call(sendMessage, { sessionId: "nowhere" })).rejects.toMatchObject({
      details: "session not found",
    });
    await client.call(createSession, { sessionId: "here", agent });
    await expect(client.call(sendMessage, { sessionId: "here" })).rejects.toMatchObject({
      code: 3,
      details: "message is required",
    });
  });

  test("is limited to one message where the service is set so", async () => {
    const service = await startService({ sessionsSingleMessage: true });
    await post(service, "/v1/sessions", { session_id: "once", agent });
    const path = "/v1/sessions/once/messages";
    expect((await post(service, path, { message: "hello pace=50 words=20" }))[0]).toBe(202);
    expect(await post(service, path, { message: "again", queue_if_busy: true })).toEqual([
      409,
      { error: "session already running" },
    ]);
    const stream = await fetch(`${service.url}/v1/sessions/once/stream`, { headers: credentialsOf() });
    expect(await stream.text()).toContain("event: done");
    expect(await post(service, path, { message: "again" })).toEqual([
      409,
      { error: 'session "once" cannot be started (status: completed)' },
    ]);
  });
});
