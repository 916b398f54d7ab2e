// What the service logs about remote tools with wrong schemas.

import { expect, test } from "vitest";
import { authEnvironment, credentialsOf } from "../harness/credentials.ts";
import { testDatabase } from "../harness/database.ts";
import { startProcess } from "../harness/process.ts";
import { until } from "../harness/wait.ts";

test("a message logs one line with the parts left out of its tools, at most ten problems", async () => {
  const environment = { ...authEnvironment, RUNNEL_DEFAULTS_MODEL: "demo", DATABASE_URL: await testDatabase() };
  const service = await startProcess(environment);
  const post = async (path: string, body: object) =>
    await fetch(`${service.url}${path}`, { method: "POST", headers: credentialsOf(), body: JSON.stringify(body) });
  const broken = Array.from({ length: 12 }, (_, n) => [`p${n}`, { $ref: "http://app.example/s" }]);
  const remote = [
    { name: "listed", parameters: { type: "array" } },
    { name: "linked", parameters: { properties: Object.fromEntries(broken) } },
  ];
  const agent = { name: "a", tools: { remote } };
  await post("/v1/sessions", { session_id: "s-1", agent, callback: { base_url: "https://app.example" } });
  const sent = await post("/v1/sessions/s-1/messages", { message: "hello" });
  expect([sent.status, await sent.json()]).toMatchObject([202, { tools_registered: ["linked"] }]);
  const line = await until("the line", () => /.*tools\.mended.*/.exec(service.log())?.[0]);
  const dead = 'linked: $ref "http://app.example/s" points to no schema in this document: it was left out';
  expect(JSON.parse(line)).toMatchObject({
    level: 40,
    client: "key/local",
    session: "s-1",
    problems: [
      'listed: the tool was left out: parameters must be of an object, not of "array"',
      ...Array(9).fill(dead),
    ],
  });
  await until("the run to be over", () => service.log().includes("run.finished"));
  expect(service.log().match(/tools\.mended/g)).toHaveLength(1);
});
