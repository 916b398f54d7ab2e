// `runnel dev`: the service for development, on loopback, with a quiet log and a line to paste.

import type { Command } from "commander";
import type { App } from "../app.ts";
import { type Config, isOpenAiConfigured, keys } from "../config/keys.ts";
import { loadConfig } from "../config/load.ts";
import { createLogger } from "../telemetry/logger.ts";
import { readPort } from "./arguments.ts";
import { type ServeFlags, serverFlags, startServer } from "./serve.ts";

export function addDev(program: Command): void {
  program
    .command("dev")
    .description("run the service for development: quiet log, a line to paste")
    .option("--port <number>", keys.serverPort.about, readPort)
    .action(async (flags: ServeFlags) => {
      const environment = {
        RUNNEL_LOG_LEVEL: "warn",
        RUNNEL_SERVER_DRAIN_SECONDS: "1",
        RUNNEL_SERVER_REFLECTION: "true",
        ...process.env,
      };
      const config = loadConfig(environment, { ...serverFlags(flags), serverHost: "127.0.0.1" });
      await startServer({
        config,
        logger: createLogger(config.logLevel),
        onProgress: (message) => console.error(message),
        announce: (app) => console.error(banner(app, config)),
      });
    });
}

function banner(app: App, config: Config): string {
  const url = `http://${app.host}:${app.port}`;
  const model = isOpenAiConfigured(config)
    ? `OpenAI-compatible at ${config.openaiBaseUrl}`
    : "demo (set RUNNEL_PROVIDERS_OPENAI_KEY for a real one)";
  const session = {
    session_id: "try",
    work_dir: process.cwd(),
    agent: { name: "try", tools: { builtin: ["list_dir", "read_file"] } },
  };
  return [
    `runnel ${url}   gRPC, gRPC-Web, Connect, REST and SSE on one port`,
    `  who    ${app.asksForCredentials ? "callers with credentials" : "anyone on this machine may call, without credentials"}`,
    `  api    ${url}/openapi.json`,
    `  data   ${app.databaseDirectory ?? "the database of DATABASE_URL"}`,
    `  model  ${model}`,
    app.asksForCredentials ? "  try    (with credentials added)" : "  try    (paste it)",
    `    curl -s ${url}/v1/sessions -d ${quote(JSON.stringify(session))} ; \\`,
    `    curl -s ${url}/v1/sessions/try/messages -d '{"message":"list the files and read README.md"}' ; \\`,
    `    curl -sN ${url}/v1/sessions/try/stream`,
  ].join("\n");
}

/** One word for a shell, whatever is in it. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
