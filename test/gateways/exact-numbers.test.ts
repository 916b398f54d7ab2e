// Integers above 2^53 in the tools and schemas of a caller go to the provider, and back to the caller, as they were written.

import { expect, test } from "vitest";
import { modelFlags } from "../conformance/stage.ts";
import { answer, startFakeProvider } from "../fakes/provider.ts";
import { keyOf } from "../harness/credentials.ts";
import { startService } from "../harness/service.ts";

const schema = '{"type":"object","properties":{"id":{"type":"integer","maximum":2512292042121000001,"default":1e400}}}';
const described = `"name":"find","description":"Finds","parameters":${schema}`;
const input = '"model":"gpt-4o","input":"Hi"';
const messages = '"messages":[{"role":"user","content":"Hi"}]';
const agUi =
  '"threadId":"t1","runId":"r1","state":{},"messages":[{"id":"m1","role":"user","content":"Hi"}],"context":[]';
const format = (fields: string) => `{"type":"json_schema",${fields}}`;

test.each([
  ["/v1/chat/completions", `{"model":"gpt-4o",${messages},"tools":[{"type":"function","function":{${described}}}]}`],
  [
    "/v1/chat/completions",
    `{"model":"gpt-4o",${messages},"response_format":${format(`"json_schema":{"name":"x","schema":${schema}}`)}}`,
  ],
  ["/v1/responses", `{${input},"tools":[{"type":"function",${described}}]}`],
  ["/v1/responses", `{${input},"text":{"format":${format(`"name":"x","schema":${schema}`)}}}`],
  ["/v1/ag-ui/default", `{${agUi},"tools":[{${described}}]}`],
])("%s %s", async (path, body) => {
  await using provider = await startFakeProvider();
  const service = await startService(modelFlags(provider));
  provider.respond(answer("{}"));
  const headers = { authorization: `Bearer ${keyOf()}`, "content-type": "application/json" };
  const response = await fetch(`${service.url}${path}`, { method: "POST", headers, body });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  expect((await provider.request(0)).text).toContain(schema);
  if (path === "/v1/responses") {
    expect(text).toContain(schema);
    const again = await fetch(`${service.url}${path}/${JSON.parse(text).id}`, { headers });
    expect(await again.text()).toContain(schema);
  }
});
