// The official Python client calls Runnel: only the base URL and the key are ours.

import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { keyOf } from "../../harness/credentials.ts";
import { setOpenAiStage } from "../../openai/stage.ts";
import { runProgram } from "../program.ts";

const python = inject("python");

test.skipIf(python === "")("the official Python client passes the acceptance list", async () => {
  const { service } = await setOpenAiStage();
  const script = join(import.meta.dirname, "acceptance.py");
  const { stdout } = await runProgram(python, [script, `${service.url}/v1`, keyOf(), keyOf("stranger")]);
  expect(stdout.toString().match(/^passed /gm)).toHaveLength(16);
});
