// What programs written for the Agent Runner document send beyond its examples, and what they get.

import { describe, expect, test } from "vitest";
import { answer } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import type { TestService } from "../harness/service.ts";
import { setStage } from "./stage.ts";
import { findSurface } from "./surfaces.ts";

const rest = findSurface("REST");

async function call(service: TestService, method: string, path: string, body?: string): Promise<number> {
  const init = { method, headers: credentialsOf(), ...(body !== undefined && { body }) };
  const response = await fetch(`${service.url}${path}`, init);
  await response.text();
  return response.status;
}

const create = '{"session_id":"s-1","agent":{"name":"a"}}';

describe("a query parameter that the service does not know", () => {
  test("is ignored on every route of sessions", async () => {
    const { service, provider } = await setStage(rest);
    provider.respond(answer("hello"));
    const query = "_=1700000000&lastEventId=7&x&%ff=1";
    expect(await call(service, "POST", `/v1/sessions?${query}`, create)).toBe(201);
    expect(await call(service, "GET", `/v1/sessions?${query}`)).toBe(200);
    expect(await call(service, "GET", `/v1/sessions/s-1?${query}&session_id=other`)).toBe(200);
    expect(await call(service, "POST", `/v1/sessions/s-1/messages?${query}`, '{"message":"go"}')).toBe(202);
    expect(await call(service, "GET", `/v1/sessions/s-1/stream?${query}`)).toBe(200);
    expect(await call(service, "DELETE", `/v1/sessions/s-1?${query}`)).toBe(200);
  });

  test("leaves the known ones checked, and is refused on routes of other services", async () => {
    const { service } = await setStage(rest);
    expect(await call(service, "GET", "/v1/sessions?_=1&page_size=ten")).toBe(400);
    expect(await call(service, "GET", "/v1/sessions?page_size=1&page_size=2")).toBe(400);
    expect(await call(service, "GET", "/v1/runs?_=1")).toBe(400);
  });
});

describe("a session without a message", () => {
  const foreignId = "01890a5d-ac96-774b-bcce-b302099a8057.12";

  async function readAfter(query: string, headers: Record<string, string>): Promise<readonly [number, string]> {
    const { service, provider } = await setStage(rest);
    provider.respond(answer("hello"));
    await call(service, "POST", "/v1/sessions", create);
    const url = `${service.url}/v1/sessions/s-1/stream${query}`;
    const response = await fetch(url, { headers: { ...credentialsOf(), ...headers } });
    if (response.status === 200) {
      await call(service, "POST", "/v1/sessions/s-1/messages", '{"message":"go"}');
    }
    return [response.status, await response.text()];
  }

  test.each([
    ["?after_seq=0", {}],
    ["?after=7", {}],
    [`?after=${foreignId}`, {}],
    ["", { "last-event-id": "0" }],
    ["", { "last-event-id": foreignId }],
    ["", { "last-event-id": "of another server" }],
  ])("takes the position %s %o, and its reader gets everything", async (query, headers) => {
    const [status, events] = await readAfter(query, headers);
    expect(status).toBe(200);
    expect(events).toMatch(/event: text\ndata: \{"content":"hello"\}\n\n[\s\S]*event: done\n/);
  });

  test("refuses an `after` of another form", async () => {
    expect(await readAfter("?after=soon", {})).toEqual([400, expect.stringContaining("invalid after")]);
  });
});
