// `runnel acp`: the agents of a service in an editor that speaks the Agent Client Protocol over standard input and output.

import { type AgentApp, agent, methods, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import type { Command } from "commander";
import { version } from "../../platform/base/version.ts";
import { connectTo, explainAbsence } from "../connect.ts";
import { createCredentials } from "../credentials.ts";
import { example } from "../example.ts";
import { addServiceFlags, findTarget, type ServiceFlags, type Target } from "../target.ts";
import { sayLine } from "../terminal.ts";
import { Editor } from "./editor.ts";
import { answering } from "./refusals.ts";
import { openStdio } from "./stdio.ts";

interface AcpFlags extends ServiceFlags {
  readonly inProject?: boolean;
}

/** Defines `acp`. */
export function defineAcp(command: Command): void {
  addServiceFlags(command)
    .addHelpText("after", example("RUNNEL_API_KEY=the-key runnel acp --url http://127.0.0.1:8090"))
    .option(
      "--in-project",
      "let the tools work in the directory of the editor's project, for a service on this machine that permits it",
    )
    .action(async (flags: AcpFlags) => {
      const target = await findTarget(flags, process.env);
      await serveEditor(target, flags).connect(openStdio()).closed;
    });
}

function serveEditor({ url, apiKey }: Target, { inProject = false }: AcpFlags): AgentApp {
  const gone = new AbortController();
  const service = connectTo(url, createCredentials(apiKey, process.env));
  const editor = new Editor({ service, inProject, signal: gone.signal });
  const answer = <T>(work: () => Promise<T>, sessionId?: string): Promise<T> =>
    answering(() => explainAbsence(url, work), sessionId);
  const { session } = methods.agent;
  return agent({ name: "runnel" })
    .onConnect(({ signal }) => signal.addEventListener("abort", () => gone.abort()))
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "runnel", title: "Runnel", version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, delete: {} },
      },
    }))
    .onRequest(session.new, ({ params, client }) => answer(() => editor.begin(params, client)))
    .onRequest(session.load, ({ params, client }) =>
      answer(() => editor.reopen(params.sessionId, params, client, true), params.sessionId),
    )
    .onRequest(session.resume, ({ params, client }) =>
      answer(() => editor.reopen(params.sessionId, params, client, false), params.sessionId),
    )
    .onRequest(session.list, ({ params }) =>
      answer(() => editor.list(params.cwd ?? undefined, params.cursor ?? undefined)),
    )
    .onRequest(session.delete, ({ params }) => answer(() => editor.delete(params.sessionId), params.sessionId))
    .onRequest(session.setConfigOption, async ({ params: { sessionId, configId, value } }) => ({
      configOptions: await answer(() => editor.choose(sessionId, configId, value), sessionId),
    }))
    .onRequest(session.prompt, async ({ params, client }) => ({
      stopReason: await answer(() => editor.prompt(params, client), params.sessionId),
    }))
    .onNotification(session.cancel, ({ params }) =>
      editor.cancel(params.sessionId).catch((error: unknown) => sayLine(`cannot cancel: ${String(error)}`)),
    );
}
