// The Agent Runner document's PHP, run as programs: a client, and the application that contains it. Left out on a machine
// without PHP, which the test run reports in a line.

import { fileURLToPath } from "node:url";
import { expect, inject } from "vitest";
import { readSchema } from "../../src/agent/tools/schema.ts";
import { modelFlags } from "../conformance/stage.ts";
import { runProgram, startProgram } from "../external/program.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { test as base, openFolder } from "../fixtures.ts";
import { startService } from "../harness/service.ts";
import { signV1 } from "../harness/signing.ts";
import { until } from "../harness/wait.ts";

const test = base.extend("application", () => startApplication());

const secret = "the secret of the document's reader";
const hasPhp = inject("hasPhp");

function pathOf(program: string): string {
  return fileURLToPath(new URL(program, import.meta.url));
}

interface Application {
  /** The URL at which it receives callbacks. */
  readonly baseUrl: string;
  readonly stderr: () => string;
}

async function startApplication(): Promise<Application> {
  const nonces = await openFolder();
  const environment = { SECRET: secret, NONCES: nonces };
  const { stderr } = startProgram("php", ["-S", "127.0.0.1:0", pathOf("application.php")], { environment });
  const origin = await until("the application to listen", () => /\((http:\S+)\) started/.exec(stderr())?.[1]);
  return { baseUrl: `${origin}/api/agent-runner`, stderr };
}

test.runIf(hasPhp)(
  "the document's PHP creates a session, follows its run and gets its callbacks, signed both ways",
  async ({ application, provider }) => {
    provider.respond(
      callTools(
        { id: "c-1", name: "search_docs", arguments: '{"query":"Größe <&>"}' },
        { id: "c-2", name: "forget_all", arguments: "" },
      ),
      answer("Two documents."),
    );
    const service = await startService({
      ...modelFlags(provider),
      authApiKeys: [],
      authHmacSecret: secret,
      securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"],
    });
    const args = [pathOf("client.php"), service.url, secret, application.baseUrl, "find it"];
    const { stdout, stderr } = await runProgram("php", args);
    expect(stderr).toBe("");
    const told = stdout.toString().trimEnd().split("\n");
    expect(told.map((line) => JSON.parse(line))).toEqual([
      ["tools", ["search_docs", "forget_all"]],
      ["tool_call", { tool: "search_docs", args: { query: "Größe <&>" } }],
      // PHP reads {} as an empty array.
      ["tool_call", { tool: "forget_all", args: [] }],
      ["tool_result", { tool: "search_docs", success: true, content: "2 documents about Größe <&>" }],
      [
        "tool_result",
        {
          tool: "forget_all",
          success: false,
          content: "",
          error: 'callback returned 404: {"success":false,"error":"Unknown tool"}',
        },
      ],
      ["text", { content: "Two documents." }],
      ["done", { status: "completed", output: "Two documents.", turns: 2 }],
      ["session", "completed"],
      ["deletion", "deleted"],
    ]);
    await until("the application to be told", () => application.stderr().includes("completed"));
    expect(
      application
        .stderr()
        .match(/told: .*/g)
        ?.map((line) => line.trim()),
    ).toEqual(["told: my-app created", "told: my-app running", "told: my-app completed Two documents."]);
  },
);

test.runIf(hasPhp)("the document's PHP gets the reason of a refusal", async () => {
  const service = await startService({ authApiKeys: [], authHmacSecret: "another secret than that" });
  const args = [pathOf("client.php"), service.url, secret, "https://app.example", "find it"];
  await expect(runProgram("php", args)).rejects.toThrow('php ended with 1: 401: {"error":"invalid signature"}');
});

test.runIf(hasPhp)("schemas from PHP are repaired before a model reads them", async () => {
  const { stdout } = await runProgram("php", [pathOf("schemas.php")]);
  const written = Object.entries(JSON.parse(stdout.toString()) as Record<string, unknown>);
  const read = written.map(([name, schema]) => [name, readSchema(JSON.stringify(schema), 20_000)]);
  expect(read.map(([, schema]) => schema)).toEqual(
    read.map(() => ({ parameters: expect.anything(), problems: [], findProblem: expect.any(Function) })),
  );
  expect(Object.fromEntries(read)).toMatchObject({
    no_arguments: { parameters: { type: "object", properties: {}, required: [] } },
    reflected: {
      parameters: {
        properties: {
          id: { type: "integer" },
          note: { type: ["string", "null"] },
          all: { type: "boolean" },
          tags: { type: "array", items: {} },
        },
        required: ["id", "note"],
      },
    },
    filtered: {
      parameters: {
        properties: { id: { type: "integer" }, tags: { type: "array", items: {} } },
        required: ["id", "tags"],
      },
    },
    old_draft: { parameters: { properties: { price: { type: "number", exclusiveMinimum: 0 } } } },
    tree: { parameters: { properties: { children: { type: "array", items: { $ref: "#" } } } } },
  });
});

test.runIf(hasPhp)("a controller like the document's answers a signed call once, and refuses all others", async () => {
  const { baseUrl } = await startApplication();
  const call = async (name: string, headers: Readonly<Record<string, string>>) => {
    const response = await fetch(`${baseUrl}/tools/${name}`, { method: "POST", headers, body: bodyOf(name) });
    return [response.status, await response.json()];
  };
  const sign = (name: string, given = secret) => signV1({ secret: given, path: "/", body: bodyOf(name) });
  const refused = (error: string) => [401, { success: false, error }];
  const signed = sign("search_docs");
  expect(await call("search_docs", signed)).toEqual([200, { success: true, content: "2 documents about auth" }]);
  expect(await call("search_docs", signed)).toEqual(refused("replayed"));
  expect(await call("search_docs", sign("search_docs", "another secret"))).toEqual(refused("invalid signature"));
  expect(await call("search_docs", {})).toEqual(refused("stale or malformed"));
  expect(await call("zap", sign("zap"))).toEqual([404, { success: false, error: "Unknown tool" }]);
});

function bodyOf(name: string): string {
  return JSON.stringify({ arguments: { query: "auth" }, session_id: "abc123", tool_name: name });
}
