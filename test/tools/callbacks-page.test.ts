// The host that docs/callbacks.md shows.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test as base, expect, onTestFinished } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { openEgress, post } from "../egress/internet.ts";
import { signV1 } from "../harness/signing.ts";
import { until } from "../harness/wait.ts";

const secret = "the secret of the page's reader";

const test = base.extend("shownHost", async (): Promise<string> => {
  const child = spawn(process.execPath, [join(repositoryRoot, "examples/own-tool.js")], {
    env: { AGENT_SECRET: secret, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const port = await until("the host to listen", () => /listening on (\d+)/.exec(said)?.[1]);
  return `http://127.0.0.1:${port}/api/agent-runner`;
});

test("the host answers a signed call once, and refuses all others", async ({ shownHost: baseUrl }) => {
  const egress = openEgress({ exceptions: ["127.0.0.1@127.0.0.1/32"] });
  const body = '{"arguments":{"query":"auth"},"session_id":"s","tool_name":"search_docs"}';
  const call = async (name: string, headers: Readonly<Record<string, string>>) => {
    const { status, text } = await post(egress, `${baseUrl}/tools/${name}`, { body, headers });
    return [status, JSON.parse(text)];
  };
  const sign = (given = secret) => ({ ...signV1({ secret: given, path: "/", body }), "idempotency-key": "k" });
  const found = [200, { success: true, content: "No documents about auth." }];
  const signed = sign();
  expect(await call("search_docs", signed)).toEqual(found);
  expect(await call("search_docs", signed)).toEqual([401, {}]);
  expect(await call("search_docs", sign())).toEqual(found);
  expect(await call("search_docs", sign("another secret"))).toEqual([401, {}]);
  expect(await call("search_docs", {})).toEqual([401, {}]);
  const unknown = { ...sign(), "idempotency-key": "other" };
  expect(await call("toString", unknown)).toEqual([404, { success: false, error: "unknown tool" }]);
});
