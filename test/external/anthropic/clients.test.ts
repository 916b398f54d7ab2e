// Programs that were written for Anthropic's API call Runnel: only the base URL and the key are ours.

import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { modelFlags } from "../../conformance/stage.ts";
import { startFakeProvider } from "../../fakes/provider.ts";
import { keyOf } from "../../harness/credentials.ts";
import { startService } from "../../harness/service.ts";
import { runProgram } from "../program.ts";

const python = inject("python");

test.skipIf(python === "")("the official Python client passes the acceptance list", async () => {
  await using provider = await startFakeProvider();
  const { url } = await startService(modelFlags(provider), { own: true });
  const script = join(import.meta.dirname, "acceptance.py");
  const { stdout } = await runProgram(python, [script, url, keyOf(), keyOf("stranger")]);
  expect(stdout.toString().match(/^passed /gm)).toHaveLength(9);
});
