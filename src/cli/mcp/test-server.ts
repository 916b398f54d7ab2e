// `runnel mcp test`: lists the tools of an MCP server as an agent would see them, from this machine and without a service.

import { create } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { McpServer_Transport, McpServerSchema } from "#gen/runnel/v1/session_pb.js";
import { systemClock } from "../../platform/base/clock.ts";
import { CommandError } from "../command-error.ts";
import { example } from "../example.ts";
import { listenForStop } from "../interrupt.ts";
import { outputOf } from "../output.ts";
import { showTable } from "../table.ts";

interface TestFlags {
  readonly name: string;
  readonly sse?: boolean;
}

/** Adds `mcp test` to the command. */
export function addServerTest(mcp: Command): void {
  mcp
    .command("test")
    .argument("<url>", "URL of the server")
    .description("list the tools of an MCP server as an agent would see them; RUNNEL_MCP_TOKEN is its bearer token")
    .addHelpText("after", example("runnel mcp test https://docs.example/mcp"))
    .option("--name <name>", "name of the server in the agent", "server")
    .option("--sse", "the server speaks the old transport of server-sent events")
    .action(async (url: string, flags: TestFlags, command: Command) => {
      const output = outputOf(command);
      const problems: string[] = [];
      const tools = await listTools(url, flags, (problem) => problems.push(problem));
      for (const problem of problems) {
        output.note(problem);
      }
      const shown = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
      await output.answer({ tools: shown, problems }, (paint) =>
        showTable(
          ["TOOL", "DESCRIPTION"],
          shown.map(({ name, description }) => [name, description]),
          paint,
        ),
      );
    });
}

async function listTools(url: string, { name, sse = false }: TestFlags, tell: (problem: string) => void) {
  const [{ createEgress }, { createMcpServers }, { McpPrograms }] = await Promise.all([
    import("../../platform/egress/post.ts"),
    import("../../agent/tools/mcp/servers.ts"),
    import("../../agent/tools/mcp/programs.ts"),
  ]);
  const clock = systemClock;
  const { signal } = listenForStop();
  // The person at this machine may call what the machine may call.
  const egress = createEgress({ clock, allowsPrivate: true, exceptions: [] });
  const serve = () => Promise.reject(new Error("a URL starts no program"));
  const programs = new McpPrograms({ commands: { serve }, clock, idleMs: 0, programsMax: 0 });
  const token = process.env.RUNNEL_MCP_TOKEN ?? "";
  const server = create(McpServerSchema, {
    ...{ name, url, transport: sse ? McpServer_Transport.SSE : McpServer_Transport.HTTP },
    headers: token === "" ? [] : [{ name: "authorization", value: `Bearer ${token}` }],
  });
  try {
    const servers = createMcpServers({ egress, clock, programs, settings: [] });
    const openContext = () => Promise.reject(new Error("a URL needs no work directory"));
    await using opened = await servers.open([server], {
      ...{ openContext, client: "", signal, kept: undefined, taken: [], tell },
    });
    return opened.tools;
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new CommandError(what, {
      reason: "MCP_SERVER",
      fix: "check the URL, the token and the server",
      cause: error,
    });
  } finally {
    egress.close();
  }
}
