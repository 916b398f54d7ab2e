// Calls of McpService: programs of the settings in the jail, and a tool that does not answer.

import { dirname } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { McpService } from "#gen/runnel/v1/mcp_service_pb.js";
import { readMcpServers } from "../../src/platform/config/mcp-servers.ts";
import { openMcpServer } from "../fakes/mcp-server.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { hasJail } from "../tools/bash/jailed.ts";

const { callMcpTool, listMcpTools } = McpService.method;

/** Counts its calls and says where it works; with `die` it ends. */
const program = `
let count = 0;
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "p", version: "1" } }),
  "tools/list": () => ({ tools: ["count", "place", "die"].map((name) => ({ name, inputSchema: { type: "object" } })) }),
  "tools/call": ({ name }) => name === "die" ? process.exit(7)
    : { content: [{ type: "text", text: name === "count" ? String(count += 1) : process.cwd() }] },
};
for await (const line of require("node:readline").createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const answer = answers[method];
  if (id !== undefined) {
    const end = answer === undefined ? { error: { code: -32601, message: "unknown" } } : { result: answer(params) };
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...end }));
  }
}
`;

async function openStage(lines: readonly string[]) {
  const service = await startService({
    mcpServers: readMcpServers(lines.join("\n")) ?? expect.fail("the lines are valid"),
    securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"],
  });
  return {
    client: new GrpcClient(service.target),
    stranger: new GrpcClient(service.target, credentialsOf("stranger")),
  };
}

test.skipIf(!hasJail)(
  "a program keeps its state between the calls of a client, and starts anew when it has died",
  async () => {
    const args = ["-e", `(async () => {${program}})()`];
    const line = { command: process.execPath, args, folders: [dirname(process.execPath)] };
    const { client, stranger } = await openStage([`srv=${JSON.stringify(line)}`]);
    const call = async (caller: GrpcClient, tool: string) => {
      const { result, error } = await caller.call(callMcpTool, { server: { name: "srv" }, tool });
      return result === undefined ? error : JSON.parse(result).content;
    };
    const { tools } = await client.call(listMcpTools, { server: { name: "srv" } });
    expect(tools.map(({ name }) => name)).toEqual(["count", "place", "die"]);
    expect([await call(client, "count"), await call(client, "count"), await call(stranger, "count")]).toEqual([
      ...["1", "2", "1"],
    ]);
    expect(await call(client, "place")).not.toBe(await call(stranger, "place"));
    expect(await call(client, "die")).toEqual(expect.stringMatching(/./));
    expect(await call(client, "count")).toBe("1");
  },
);

test("a tool that does not answer ends with the time of its server, and the server learns it", async () => {
  const never = Promise.withResolvers<never>();
  const server = await openMcpServer((each) => {
    each.registerTool("hang", { inputSchema: z.object({}) }, () => never.promise);
  });
  const { client } = await openStage([`srv=${JSON.stringify({ url: server.url })}`]);
  const { error } = await client.call(callMcpTool, { server: { name: "srv", timeoutSec: 1 }, tool: "hang" });
  expect(error).toBe("the server did not answer in time");
  expect(await server.calls()[0]?.broken).toBe(true);
});

test("a call without credentials of a client reaches no server", async () => {
  const server = await openMcpServer(() => {});
  const { client } = await openStage([`srv=${JSON.stringify({ url: server.url })}`]);
  const refused = client.call(listMcpTools, { server: { name: "srv" } }, { authorization: "Bearer wrong" });
  expect(await refused.then(() => "taken", reasonOf)).toBe("TOKEN_INVALID");
  expect(server.requests).toEqual([]);
});
