// What handlers and the surface exchange beside the messages: the status of a success, the body as received, and its mistakes
// where the handler has other checks to make first.

import { type ContextValues, createContextKey, createContextValues, type HandlerContext } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { Validation } from "#gen/runnel/options/v1/options_pb.js";
import { type RestCallNotes, restCallNotes } from "../../src/platform/base/rest-call.ts";
import { createRestGateway, type RestCall } from "../../src/surfaces/rest/gateway.ts";
import { buildService, type MethodSpec } from "./descriptors.ts";
import { type JsonMethod, startRestServer } from "./rest-server.ts";

const json = { "content-type": "application/json" };

const getThing = { rule: { pattern: { case: "get" as const, value: "/v1/things/{id}" } } };
const putThing = { rule: { pattern: { case: "put" as const, value: "/v1/things/{id}" }, body: "*" } };

function serviceOf(method: MethodSpec, lenient = false) {
  return buildService({
    fields: [
      { name: "id", number: 1 },
      { name: "text", number: 2 },
    ],
    methods: { Do: method },
    profile: { lenient },
  });
}

async function ask(
  method: MethodSpec,
  answer: JsonMethod,
  init: RequestInit = {},
  options: { lenient?: boolean; query?: string; call?: RestCall; reported?: unknown[] } = {},
): Promise<[number, string]> {
  await using server = await startRestServer({
    own: { service: serviceOf(method, options.lenient), methods: { Do: answer } },
    bodyBytesMax: 1_000,
    gateway: { reportError: (error) => options.reported?.push(error) },
    ...(options.call && { call: options.call }),
  });
  const response = await fetch(`${server.url}/v1/things/t${options.query ?? ""}`, init);
  return [response.status, await response.text()];
}

function choose(successStatus: number): JsonMethod {
  return (_, { values }) => {
    const notes = restCallNotes(values);
    if (notes !== undefined) {
      notes.successStatus = successStatus;
    }
    return { id: "done" };
  };
}

describe("the status of a success", () => {
  const declared = { ...getThing, successStatus: 202, otherSuccessStatuses: [200, 204] };

  test("is the declared one when the handler does not choose", async () => {
    expect(await ask(declared, () => ({}))).toEqual([202, "{}\n"]);
    expect(await ask(getThing, () => ({}))).toEqual([200, "{}\n"]);
  });

  test("is the handler's choice among those declared", async () => {
    expect(await ask(declared, choose(200))).toEqual([200, '{"id":"done"}\n']);
    expect(await ask(declared, choose(202))).toEqual([202, '{"id":"done"}\n']);
    expect(await ask(declared, choose(204))).toEqual([204, ""]);
  });

  test("is never an undeclared one: that is reported as a bug", async () => {
    const reported: unknown[] = [];
    const [status, text] = await ask(declared, choose(201), {}, { reported });
    expect([status, JSON.parse(text)]).toEqual([
      500,
      { error: "internal error", code: "INTERNAL", reason: "INTERNAL" },
    ]);
    expect(reported).toMatchObject([{ cause: { message: "test.TestService.Do chose the undeclared status 201" } }]);
    expect((await ask(getThing, choose(202)))[0]).toBe(500);
  });

  test.each([
    [{ successStatus: 404 }, "test.TestService.Do declares 404"],
    [{ otherSuccessStatuses: [200, 302] }, "test.TestService.Do declares 302"],
  ])("that is no success stops the start: %j", async (statuses, problem) => {
    const service = serviceOf({ ...getThing, ...statuses });
    await expect(startRestServer({ own: { service, methods: {} } })).rejects.toThrow(problem);
  });
});

describe("the raw body", () => {
  const seen: (RestCallNotes | undefined)[] = [];
  const note: JsonMethod = (request, { values }) => {
    seen.push(restCallNotes(values));
    return request;
  };

  test("is available for every call with a body, read by the gateway or by the server", async () => {
    const body = '{ "text" :\t"a" }';
    await ask(putThing, note, { method: "PUT", headers: json, body });
    expect(Buffer.from(seen.at(-1)?.rawBody ?? []).toString()).toBe(body);
    await ask(putThing, note, { method: "PUT", headers: json, body: "x" }, { call: { body: Buffer.from("{}") } });
    expect(Buffer.from(seen.at(-1)?.rawBody ?? []).toString()).toBe("{}");
  });

  test("is missing where the contract has no body", async () => {
    await ask(getThing, note);
    expect(seen.at(-1)).toEqual({ httpMethod: "GET", target: "/v1/things/t" });
  });

  test("comes beside the server's own context values", async () => {
    const key = createContextKey("nobody");
    const values: ContextValues[] = [];
    const call = { contextValues: createContextValues().set(key, "client-1") };
    const method = (request: unknown, context: HandlerContext) => {
      values.push(context.values);
      return request as object as never;
    };
    await ask(putThing, method, { method: "PUT", headers: json, body: "{}" }, { call });
    expect(values[0]?.get(key)).toBe("client-1");
    expect(values[0] && restCallNotes(values[0])?.rawBody).toHaveLength(2);
  });
});

describe("a body that cannot be read", () => {
  const own = { ...putThing, validation: Validation.HANDLER };
  const tellFault: JsonMethod = (request, { values }) => {
    const fault = restCallNotes(values)?.inputFault;
    return { text: `${JSON.stringify(request)} ${fault?.reason}: ${fault?.message}` };
  };
  const put = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = json) => ({
    method: "PUT",
    headers,
    body,
  });

  test.each<[string, string | Uint8Array<ArrayBuffer>, string]>([
    ["is empty", "", "EOF"],
    ["is not JSON", "{", "unexpected EOF"],
    ["has a wrong type", '{"text":"a","id":5}', "id: expected a string, got 5"],
    ["has an unknown key", '{"text":"a","nope":1}', "nope: unknown key"],
    ["is not an object", "[]", "expected an object, got a list"],
    ["is not UTF-8", new Uint8Array([0xff]), "not UTF-8"],
    ["is nested too deeply", "[".repeat(101), "nested deeper than 100 levels"],
  ])("because it %s is left to a handler that validates itself, with the path alone", async (_, body, problem) => {
    const [status, text] = await ask(own, tellFault, put(body));
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({ text: `{"id":"t"} INVALID_ARGUMENT: invalid request body: ${problem}` });
    // Any other method never sees the fault.
    expect((await ask(putThing, tellFault, put(body)))[0]).toBe(400);
  });

  test("is left to the handler by a lenient service too", async () => {
    const [, text] = await ask(own, tellFault, put("{", {}), { lenient: true });
    expect(JSON.parse(text)).toMatchObject({ text: expect.stringContaining("invalid request body: unexpected EOF") });
  });

  test.each<[string, number, RequestInit, string]>([
    ["its size", 413, put("x".repeat(1_001)), ""],
    ["its media type", 415, put("{", { "content-type": "text/plain" }), ""],
    ["its compression", 415, put("{", { ...json, "content-encoding": "gzip" }), ""],
    ["the query", 400, put("{"), "?nope=1"],
  ])("is refused at once for %s, with %d", async (_, status, init, query) => {
    const unreachable: JsonMethod = () => expect.unreachable("the handler was called");
    expect((await ask(own, unreachable, init, { query }))[0]).toBe(status);
  });

  test("a readable body gives the handler no fault", async () => {
    const [, text] = await ask(own, tellFault, put('{"text":"a"}'));
    expect(JSON.parse(text)).toEqual({ text: '{"id":"t","text":"a"} undefined: undefined' });
  });
});

test("a route without a handler stops the start", () => {
  expect(() => createRestGateway({ methods: new Map(), services: [serviceOf(getThing)] })).toThrow(
    "test.TestService.Do has a REST route but no handler",
  );
});
