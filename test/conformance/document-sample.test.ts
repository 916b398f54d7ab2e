// The Agent Runner document's own sample, as a program of its own, against a service that knows its secret.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { answer, callTools, type Script, startFakeProvider } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { startService } from "../harness/service.ts";
import { modelFlags } from "./stage.ts";

const secret = "the secret of the document's reader";
const program = fileURLToPath(new URL("document-sample.ts", import.meta.url));

/** Resolves when the program has ended by itself, which it does only after the last event. */
async function runSample(...scripts: Script[]): Promise<{ stdout: string; stderr: string }> {
  const provider = await startFakeProvider();
  onTestFinished(() => provider.close());
  provider.respond(...scripts);
  const service = await startService({ ...modelFlags(provider), authApiKeys: [], authHmacSecret: secret });
  return await promisify(execFile)(process.execPath, [program, service.url, secret, "look around"]);
}

test("prints the text, the tool calls and the end of a run", async () => {
  const { stdout, stderr } = await runSample(
    callTools({ id: "call_1", name: "list_dir", arguments: "{}" }),
    answer("There is nothing here."),
  );
  expect(stdout).toMatch(/^\n\[Calling list_dir\]\nThere is nothing here\.\nDone: completed in 2 turns \(\d+ms\)\n$/);
  expect(stderr).toBe("");
});

test("prints why a run failed", async () => {
  const { stdout, stderr } = await runSample(fail(401, "bad key"));
  expect(stdout).toBe("");
  expect(stderr).toBe("Agent error: failed to send message: API error (status 401): bad key\n");
});

test("is told why it may not call when its secret is not the service's", async () => {
  const service = await startService({ authApiKeys: [], authHmacSecret: "another secret than that" });
  const run = promisify(execFile)(process.execPath, [program, service.url, secret, "look around"]);
  await expect(run).rejects.toThrow('Error: 401: {"error":"invalid signature"}');
});
