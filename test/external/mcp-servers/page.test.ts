// The commands of docs/mcp-servers.md, as they are except for the port: npm brings the servers, `runnel dev` runs them, curl and
// `runnel mcp` ask.

import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { repositoryRoot } from "../../../scripts/run-command.ts";
import { answer, callTools, startFakeProvider } from "../../fakes/provider.ts";
import { openFolder } from "../../fixtures.ts";
import { until } from "../../harness/wait.ts";
import { runProgram, startProgram } from "../program.ts";

/** Two packages with their dependencies, from a registry that may be slow. */
const testMaxMs = 600_000;

test("the page leads to an agent with a server of files", { timeout: testMaxMs }, async () => {
  await using provider = await startFakeProvider();
  const page = await readFile(join(repositoryRoot, "docs/mcp-servers.md"), "utf8");
  const [prepare = "", ask = "", look = "", fillIn = ""] = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(
    ([, code = ""]) => code,
  );
  const folder = await realpath(await openFolder());
  // A home in the folder would keep `runnel dev` from working there.
  const environment = { ...process.env, HOME: await openFolder(), NODE_DISABLE_COMPILE_CACHE: "1" };
  const bash = (code: string) => runProgram("bash", ["-euc", code], { directory: folder, environment });
  expect(prepare).toMatch(/\nrunnel dev\n$/);
  await bash(prepare.replace("runnel dev\n", ""));

  const service = startProgram(process.execPath, [join(repositoryRoot, "src/main.ts"), "dev", "--port", "0"], {
    directory: folder,
    environment: {
      ...environment,
      RUNNEL_PROVIDERS_OPENAI_KEY: "a-key",
      RUNNEL_PROVIDERS_OPENAI_BASE_URL: provider.baseUrl,
    },
  });
  onTestFinished(async () => {
    process.kill(service.pid, "SIGTERM");
    await service.finished;
  });
  const said = () => `${service.stdout()}${service.stderr()}`;
  const [url = ""] = await until("the service", () => /http:\/\/127\.0\.0\.1:\d+/.exec(said()) ?? false);
  const text = "Meet at the harbour at one.";
  provider.respond(
    callTools({ id: "c1", name: "files_read_text_file", arguments: '{"path":"today.txt"}' }),
    callTools({
      id: "c2",
      name: "files_write_file",
      arguments: JSON.stringify({ path: "tomorrow.txt", content: text }),
    }),
    callTools({ id: "c3", name: "everything_echo", arguments: '{"message":"written"}' }),
    answer("Done."),
  );
  const { stdout } = await bash(ask.replace("http://127.0.0.1:8090", url));
  const shown = stdout.toString();
  expect(shown).toContain("Meet at the harbour at noon.");
  expect(shown).toContain("Echo: written");
  expect(shown).toContain(text);

  const main = join(repositoryRoot, "src/main.ts");
  const command = `export RUNNEL_URL=${url}\nrunnel() { "${process.execPath}" "${main}" "$@"; }\n`;
  const tried = (await bash(`${command}${look}`)).stdout.toString();
  expect(tried).toMatch(/^everything +stdio +–$/m);
  expect(tried).toMatch(/^get-sum +a b /m);
  expect(tried).toMatch(/^Echo: hello\nThe sum of 2 and 3 is 5/m);

  provider.respond(
    callTools({ id: "c4", name: "everything_trigger-elicitation-request", arguments: "{}" }),
    answer("Welcome."),
  );
  const filled = (await bash(`url=${url}\n${fillIn}`)).stdout.toString();
  expect(filled).toContain("Name: Ada");
  expect(filled).toContain("Welcome.");
});
