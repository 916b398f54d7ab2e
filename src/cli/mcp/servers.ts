// `runnel mcp servers`, `tools` and `call`: the MCP servers that agents of a service may have, as the service reaches them.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Command, InvalidArgumentError } from "commander";
import {
  CallMcpToolResponseSchema,
  KnownMcpServer_TransportSchema,
  KnownMcpServerSchema,
  McpService,
  type McpTool,
  McpToolSchema,
} from "#gen/runnel/v1/mcp_service_pb.js";
import { type McpServer, McpServer_Transport, McpServerSchema } from "#gen/runnel/v1/session_pb.js";
import { isObject, parseJson, parseObject } from "../../platform/base/json/parse-object.ts";
import { answerOne } from "../answer.ts";
import { CommandError } from "../command-error.ts";
import { type Service, withService } from "../connect.ts";
import { example } from "../example.ts";
import { exitCodes } from "../exit-codes.ts";
import { type ListView, printList } from "../list-view.ts";
import { outputOf, printsIds } from "../output.ts";
import { wordOf } from "../sheet.ts";
import type { ServiceFlags } from "../target.ts";

/** The service is that of the flags of `mcp`, which all its commands have. */
interface ServerFlags extends ServiceFlags {
  readonly sse?: boolean;
}

const aboutCharsMax = 80;

/** Adds `mcp servers`, `mcp tools` and `mcp call` to the command. */
export function addServers(mcp: Command): void {
  printsIds(mcp.command("servers"))
    .description("list the servers of the service's settings that agents may name")
    .addHelpText("after", example("runnel mcp servers"))
    .action((_, command: Command) =>
      withService(command.optsWithGlobals<ServerFlags>(), async ({ client }) => {
        const { servers } = await client(McpService).listMcpServers({});
        await printList(outputOf(command), serverList, servers);
      }),
    );
  addServer(printsIds(mcp.command("tools")))
    .description("list the tools of a server, as the service reaches it; RUNNEL_MCP_TOKEN is the bearer token of a URL")
    .addHelpText("after", example("runnel mcp tools docs"))
    .action((name: string, _, command: Command) => listTools(name, command));
  addServer(mcp.command("call"))
    .argument("<tool>", "name of the tool, as the server writes it")
    .argument("[arguments]", "arguments as a JSON object")
    .option("--arg <name=value>", "an argument in place of JSON; may be repeated", readArgument)
    .description("call a tool of a server, without a model and a run; RUNNEL_MCP_TOKEN is the bearer token of a URL")
    .addHelpText("after", example("runnel mcp call docs search --arg query=harbour"))
    .action((name: string, tool: string, json: string | undefined, _, command: Command) =>
      callTool(name, { tool, json }, command),
    );
}

function addServer(command: Command): Command {
  return command
    .argument("<server>", "name of a server of the settings, or a URL")
    .option("--sse", "the server of the URL speaks the old transport of server-sent events");
}

/** Returns the server that a person names. The token goes to a URL alone. */
function serverOf(text: string, { sse = false }: ServerFlags): McpServer {
  if (!text.includes("://")) {
    return create(McpServerSchema, { name: text });
  }
  const token = process.env.RUNNEL_MCP_TOKEN ?? "";
  return create(McpServerSchema, {
    ...{ name: "server", url: text, transport: sse ? McpServer_Transport.SSE : McpServer_Transport.HTTP },
    headers: token === "" ? [] : [{ name: "authorization", value: `Bearer ${token}` }],
  });
}

async function listTools(name: string, command: Command): Promise<void> {
  const flags = command.optsWithGlobals<ServerFlags>();
  const { tools, problems } = await withService(flags, ({ client }) =>
    client(McpService).listMcpTools({ server: serverOf(name, flags) }),
  );
  const output = outputOf(command);
  for (const problem of problems) {
    output.note(problem, { note: "left_out", problem });
  }
  await printList(output, toolList, tools);
}

const serverList: ListView<typeof KnownMcpServerSchema> = {
  ...{ name: "servers", schema: KnownMcpServerSchema, id: ({ name }) => name },
  columns: ["SERVER", "TRANSPORT", "HOST"],
  row: ({ name, transport, origin }) => [name, wordOf(KnownMcpServer_TransportSchema, transport), origin || "–"],
};

const toolList: ListView<typeof McpToolSchema> = {
  ...{ name: "tools", schema: McpToolSchema, id: ({ name }) => name },
  columns: ["TOOL", "ARGUMENTS", "DESCRIPTION"],
  row: (tool, cut) => [tool.name, showParameters(tool), cut(tool.description || tool.title, aboutCharsMax)],
  wide: { "MODEL SEES": ({ toolName }) => toolName, EFFECTS: showEffects },
};

/** Returns the names of the arguments; the optional ones have a question mark. */
function showParameters({ inputSchema }: McpTool): string {
  const { properties, required } = parseObject(inputSchema) ?? {};
  const names = isObject(properties) ? Object.keys(properties) : [];
  return names.map((name) => (Array.isArray(required) && required.includes(name) ? name : `${name}?`)).join(" ") || "–";
}

function showEffects({ annotations }: McpTool): string {
  const { readOnly, destructive, idempotent, openWorld } = annotations ?? {};
  const said = { "read only": readOnly, destructive, idempotent, "open world": openWorld };
  const words = Object.entries(said).flatMap(([word, value]) => (value === true ? [word] : []));
  return words.join(", ") || "–";
}

type Argument = readonly [name: string, value: string];

/** Reads `name=value`. Throws an `InvalidArgumentError`. */
function readArgument(text: string, before: readonly Argument[] = []): readonly Argument[] {
  const at = text.indexOf("=");
  if (at < 1) {
    throw new InvalidArgumentError("expected name=value");
  }
  return [...before, [text.slice(0, at), text.slice(at + 1)]];
}

interface Call {
  readonly tool: string;
  readonly json: string | undefined;
}

async function callTool(name: string, { tool, json }: Call, command: Command): Promise<void> {
  const flags = command.optsWithGlobals<ServerFlags & { readonly arg?: readonly Argument[] }>();
  const { arg: named = [] } = flags;
  if (json !== undefined && (named.length > 0 || parseObject(json) === undefined)) {
    throw new CommandError(named.length > 0 ? "arguments come twice" : "the arguments are no JSON object", {
      ...{ reason: "USAGE", exitCode: exitCodes.invalidUsage },
      fix: `give them as JSON, such as '{"query": "harbour"}', or each with --arg`,
    });
  }
  const server = serverOf(name, flags);
  const answer = await withService(flags, async (service) => {
    const args = named.length > 0 ? await typeArguments(service, { server, tool }, named) : (json ?? "");
    return await service.client(McpService).callMcpTool({ server, tool, arguments: args });
  });
  if (answer.error !== undefined) {
    const fix = `see its arguments with: runnel mcp tools ${name}`;
    throw new CommandError(answer.error || "the tool failed", { reason: "MCP_TOOL_FAILED", fix });
  }
  await answerOne(command, {
    ...{ schema: CallMcpToolResponseSchema, message: answer, id: () => "" },
    show: ({ result = "" }) => showResult(result),
  });
}

/** Returns named arguments as JSON. The schema says which are texts; any other value is JSON where it can be. */
async function typeArguments(
  { client }: Service,
  { server, tool }: { readonly server: MessageInitShape<typeof McpServerSchema>; readonly tool: string },
  named: readonly Argument[],
): Promise<string> {
  const { tools } = await client(McpService).listMcpTools({ server });
  const schema = parseObject(tools.find((each) => each.name === tool)?.inputSchema ?? "");
  const properties = isObject(schema?.properties) ? schema.properties : {};
  const typed = named.map(([name, value]) => {
    const property = properties[name];
    const isText = isObject(property) && property.type === "string";
    return [name, isText ? value : (parseJson(value) ?? value)] as const;
  });
  return JSON.stringify(Object.fromEntries(typed));
}

/** Returns the text of a result, and a line for each image or recording. */
function showResult(json: string): string {
  const { content = "", media = [] } = (parseObject(json) ?? {}) as { content?: string; media?: readonly Media[] };
  const lines = media.map(({ mime_type: type, data }) => `[${type}, ${Buffer.byteLength(data, "base64")} bytes]`);
  return [...(content === "" ? [] : [content]), ...lines].join("\n") || "(the result is empty)";
}

interface Media {
  readonly mime_type: string;
  readonly data: string;
}
