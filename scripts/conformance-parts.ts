// The parts of `npm run conformance`: what judges us, in which files, and the programs that they need.

import { globSync } from "node:fs";
import type { ProgramName } from "../test/external/programs.ts";

export interface Part {
  readonly about: string;
  /** The test files, as patterns; none for the suite of Connect, which is no test of vitest. */
  readonly files: readonly string[];
  /** Without them the part is left out. */
  readonly needs: readonly ProgramName[];
}

export const parts = {
  wire: {
    about: "curl, openssl, nginx, grpcio and grpc-go against the port",
    files: ["broken-line", "contract", "curl", "first-calls", "nginx"].map((name) => `test/external/${name}.test.ts`),
    needs: ["curl", "openssl", "nginx", "go", "python"],
  },
  browser: {
    about: "readers in Chromium, and the chat to embed",
    files: ["browser", "browser-chat", "chat/chat", "clients/browser"].map((name) => `test/external/${name}.test.ts`),
    needs: ["chromium"],
  },
  docs: {
    about: "the site of the documentation in Chromium",
    files: ["test/external/docs-site.test.ts"],
    needs: ["chromium"],
  },
  console: { about: "the console in Chromium", files: ["test/console/browser/**/*.test.ts"], needs: ["chromium"] },
  signers: {
    about: "JobSpecs signed in Go, Python and a browser",
    files: ["test/external/signers/*.test.ts"],
    needs: ["chromium", "go", "python"],
  },
  runners: {
    about: "runners in TypeScript, Go and Python, and plugins of LangBot",
    files: ["test/external/runners/{langbot,runners}.test.ts"],
    needs: ["go", "python"],
  },
  openai: {
    about: "OpenAI's Python client",
    files: ["test/external/openai/*.test.ts"],
    needs: ["python"],
  },
  anthropic: {
    about: "Anthropic's Python client",
    files: ["test/external/anthropic/clients.test.ts"],
    needs: ["python"],
  },
  "claude-code": {
    about: "Claude Code over every restart",
    files: ["test/external/anthropic/claude-code.test.ts"],
    needs: [],
  },
  codex: {
    about: "Codex by OpenAI's API: a task with two commands, and a death in its last answer",
    files: ["test/external/openai/codex/codex.test.ts"],
    needs: [],
  },
  "workflow-engines": {
    about: "a run as an activity of Temporal and as a step of DBOS, with their libraries",
    files: ["test/external/workflow-engines/engines.test.ts"],
    needs: [],
  },
  "openai-clients": {
    about: "programs in Python and Node for OpenAI's API, feature by feature",
    files: ["test/external/openai/clients/clients.test.ts"],
    needs: ["openai-clients"],
  },
  "anthropic-clients": {
    about: "programs in Python and Node for Anthropic's API, feature by feature",
    files: ["test/external/anthropic/clients/programs.test.ts"],
    needs: ["openai-clients"],
  },
  "ag-ui-clients": {
    about: "programs in Python and Node for AG-UI, CopilotKit among them, feature by feature",
    files: ["test/external/ag-ui/programs.test.ts"],
    needs: ["openai-clients", "python"],
  },
  mcp: {
    about: "the conformance suite of MCP in both roles, its inspector and its TypeScript client",
    files: ["test/external/mcp/mcp.test.ts"],
    needs: [],
  },
  a2a: {
    about: "A2A's compatibility kit, over three bindings",
    files: ["test/external/a2a/tck.test.ts"],
    needs: ["a2a-tck"],
  },
  "a2a-python": {
    about: "A2A's official client for Python does the acceptance list, over three bindings",
    files: ["test/external/a2a/python.test.ts"],
    needs: ["python"],
  },
  "mcp-servers": {
    about: "MCP servers of others as tools of an agent, in the jail, also as the page says",
    files: ["test/external/mcp-servers/{page,servers}.test.ts"],
    needs: ["bubblewrap", "curl"],
  },
  "mcp-python": {
    about: "the Python client of MCP in its three modes, and a server in Python as a tool of an agent, in the jail",
    files: ["test/external/{mcp,mcp-servers}/python.test.ts"],
    needs: ["bubblewrap", "mcp-python"],
  },
  "durable-streams": {
    about: "the cases of the suite of Durable Streams that read, and its Python client over kill -9",
    files: ["test/external/durable-streams/{durable-streams,python}.test.ts"],
    needs: ["python"],
  },
  "durable-streams-go": {
    about: "the Go client of Durable Streams over kill -9",
    files: ["test/external/durable-streams/go.test.ts"],
    needs: ["go", "durable-streams"],
  },
  acp: {
    about: "Claude's and Codex's adapters for ACP as runners, in the jail",
    files: ["test/external/acp/agents.test.ts"],
    needs: ["bubblewrap"],
  },
  skills: {
    about: "Anthropic's public skills, unmodified, with a script of one in the jail",
    files: ["test/external/skills.test.ts"],
    needs: ["anthropic-skills", "bubblewrap"],
  },
  openapi: {
    about: "validators and generators of OpenAPI",
    files: ["test/external/openapi.test.ts"],
    needs: ["python"],
  },
  image: {
    about: "the image's steps without a container engine",
    files: ["test/external/image.test.ts"],
    needs: ["bubblewrap", "tini"],
  },
  packages: {
    about: "the npm packages, installed into empty folders",
    files: ["package", "chat/package", "clients/typescript"].map((name) => `test/external/${name}.test.ts`),
    needs: [],
  },
  binary: {
    about: "the single-file binary, without Node on the path",
    files: ["test/external/binary.test.ts"],
    needs: [],
  },
  runtimes: {
    about: "the TypeScript client under Deno and Bun",
    files: ["test/external/clients/runtimes.test.ts"],
    needs: [],
  },
  go: { about: "the Go client", files: ["test/external/go-client.test.ts"], needs: ["go"] },
  python: {
    about: "the Python client, and the adapters for LangBot, LangChain and Pydantic AI, as pip installs them",
    files: ["test/external/{python-client,python-adapters}.test.ts", "test/external/runners/install.test.ts"],
    needs: ["python"],
  },
  recipes: {
    about: "the recipes in Python",
    files: ["test/external/recipes.test.ts"],
    needs: ["python"],
  },
  java: { about: "the Java client", files: ["test/external/java-client.test.ts"], needs: ["java"] },
  rust: { about: "the Rust client", files: ["test/external/clients/rust.test.ts"], needs: ["rust"] },
  providers: {
    about: "what we send to providers, by their official SDKs",
    files: ["test/external/requests/*.test.ts"],
    needs: [],
  },
  "public-runners": {
    about: "public runners of LangBot, unmodified",
    files: ["test/external/runners/public-runners.test.ts"],
    needs: ["langbot", "python"],
  },
  suite: { about: "the Connect conformance suite", files: [], needs: ["go"] },
} as const satisfies Readonly<Record<string, Part>>;

export type PartName = keyof typeof parts;

export const partNames = Object.keys(parts) as readonly PartName[];

/** Returns the test files of a part. */
export function filesOf(name: PartName): readonly string[] {
  return globSync([...parts[name].files]);
}
