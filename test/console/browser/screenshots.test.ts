// The pictures of the views that need no stage of their own.

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { openHost } from "../../callbacks/stage.ts";
import { endOfRun } from "../../conformance/stage.ts";
import { answer, callTools, type Script } from "../../fakes/provider.ts";
import { fail } from "../../fakes/wire-server.ts";
import { takePicture } from "./pictures.ts";
import { setConsoleStage } from "./stage.ts";

const summary = `The service reads its settings in three steps:

1. **Defaults** come from \`docs/settings.md\`.
2. **The file** that \`--config\` names replaces them.
3. **Variables** have the last word: \`PORT\` sets the port.

| setting | default | variable |
|---|---|---|
| port | 8090 | \`PORT\` |
| log level | info | \`LOG_LEVEL\` |

Two places disagree about the port, and the tests cover neither.`;

test("every view in light and in dark makes a picture that is small enough for a page", {
  timeout: 300_000,
}, async () => {
  const { provider, service, client } = await setConsoleStage({ securityAllowPrivateNetworks: true });
  const workDir = makeProject();
  const start = async (name: string, message: string, ...scripts: readonly Script[]): Promise<string> => {
    provider.respond(...scripts);
    const agent = { name, tools: { builtin: ["list_dir", "read_file", "grep"] } };
    const { sessionId } = await client.call(SessionService.method.createSession, { agent, workDir });
    return (await client.call(SessionService.method.sendMessage, { sessionId, message })).runId;
  };
  const end = (runId: string) => endOfRun(client, runId);
  await end(
    await start("triage", "Sort the new issues.", answer("Sorted 14 issues: 3 bugs, 9 questions, 2 duplicates.")),
  );
  await end(await start("writer", "Write the notes.", fail(400, '{"error":{"message":"context is too long"}}')));
  const shown = await start(
    "reviewer",
    "How does this service read its settings? Look at the files before you answer.",
    callTools({ id: "one", name: "list_dir", arguments: "{}" }),
    callTools(
      { id: "two", name: "read_file", arguments: '{"file_path":"docs/settings.md"}' },
      { id: "three", name: "grep", arguments: '{"pattern":"PORT"}' },
    ),
    answer(summary),
  );
  await end(shown);
  await end(
    await start("triage", "Answer the oldest question.", answer("Answered: retries are safe with a request id.")),
  );
  await start("migrator", "Move the tests.", (wire) => {
    wire.text("Moving the tests of the parser first: ");
    return new Promise(() => {});
  });
  provider.respond(
    callTools({
      id: "one",
      name: "write_file",
      arguments: '{"file_path":"docs/settings.md","content":"# Settings\\n"}',
    }),
  );
  const tools = { builtin: ["write_file"], approve: ["write_file"] };
  const careful = await client.call(SessionService.method.createSession, { agent: { name: "editor", tools }, workDir });
  await client.call(SessionService.method.sendMessage, { sessionId: careful.sessionId, message: "Tidy the settings." });
  const host = await openHost();
  const reporter = { agent: { name: "reporter", model: "demo" }, callback: { baseUrl: host.baseUrl } };
  await client.call(SessionService.method.createSession, reporter);
  await client.call(SessionService.method.createSession, {
    ...reporter,
    callback: { baseUrl: "http://127.0.0.1:9/hooks" },
  });
  const { exchangeId } = await client.call(ExchangeService.method.startExchange, {
    task: "Write a poem about copy and paste.",
  });
  const text = '[CREATE_FILE path="poem.txt"]\nThe board between them.\n[/CREATE_FILE]\n[DELETE_FILE path="draft.txt"]';
  await client.call(ExchangeService.method.submitInbox, { exchangeId, text });
  const views = [
    { name: "runs", path: "runs", text: /^live$/ },
    { name: "run", path: `runs/${shown}`, text: "Two places disagree" },
    { name: "new-run", path: `new?from=${shown}`, text: "The same call" },
    { name: "receipt", path: `runs/${shown}/receipt`, text: "The log is the one that was signed" },
    { name: "signatures", path: "signatures?tab=request", text: "3. Authenticate the text" },
    { name: "approvals", path: "approvals", text: "SHA-256" },
    { name: "callbacks", path: "callbacks", text: "connection refused" },
    { name: "exchange", path: `exchanges/${exchangeId}`, text: "Created 'poem.txt'" },
    { name: "explorer", path: "../docs", text: "SessionService" },
  ];
  for (const view of views) {
    await takePicture(service.url, view);
  }
  // A page full of text makes a large picture.
  const entries = { name: "entries", path: `runs/${shown}?tab=entries&seq=4`, text: "entry 4" };
  await takePicture(service.url, entries, { viewport: { width: 1280, height: 640 } });
});

function makeProject(): string {
  const folder = mkdtempSync(join(tmpdir(), "runnel-project-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "docs"));
  writeFileSync(join(folder, "docs/settings.md"), "# Settings\n\nport: 8090\nlog_level: info\n");
  writeFileSync(join(folder, "README.md"), "# Example\n\nSet PORT to another port.\n");
  return folder;
}
