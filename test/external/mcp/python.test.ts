// The official Python client of MCP, unmodified, in each of its modes.

import { join } from "node:path";
import { expect, test } from "vitest";
import { modelFlags } from "../../conformance/stage.ts";
import { answer, startFakeProvider } from "../../fakes/provider.ts";
import { keyOf } from "../../harness/credentials.ts";
import { startService } from "../../harness/service.ts";
import { runProgram } from "../program.ts";
import { mcpPython, programs } from "../programs.ts";

test.skipIf(!programs["mcp-python"].isHere()).each([
  ["auto", "2026-07-28"],
  ["2026-07-28", "2026-07-28"],
  ["legacy", "2025-11-25"],
])("in its mode %s it lists and calls an agent in revision %s", async (mode, version) => {
  await using provider = await startFakeProvider();
  const { url } = await startService(modelFlags(provider), { own: true });
  provider.respond(answer("Paris"));
  const args = [join(import.meta.dirname, "client.py"), `${url}/mcp`, keyOf(), mode];
  const environment = { PYTHONDONTWRITEBYTECODE: "1" };
  const said = JSON.parse((await runProgram(mcpPython, args, { environment })).stdout.toString());
  const { progress, ...others } = said;
  expect(others).toEqual({
    version,
    tools: ["default"],
    content: [{ type: "text", text: "Paris" }],
    state: "completed",
  });
  expect(progress.length).toBeGreaterThan(0);
  expect(progress).toEqual(progress.toSorted((a: number, b: number) => a - b));
});
