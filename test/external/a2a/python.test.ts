// A2A's official client for Python, unmodified, does the acceptance list over the three bindings. `test/fault/a2a.test.ts` has the
// killed replica, `test/a2a/fold.test.ts` the turn that begins again, and `tck.test.ts` the compatibility kit.

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { completed, delta, failed, type Run } from "../../../clients/typescript/src/worker/runner.ts";
import { modelFlags } from "../../conformance/stage.ts";
import { answer, callTools, type Script } from "../../fakes/provider.ts";
import { openProvider } from "../../fixtures.ts";
import { keyOf } from "../../harness/credentials.ts";
import { startService } from "../../harness/service.ts";
import { offer } from "../../mcp/stage.ts";
import { runProgram } from "../program.ts";
import { type Environment, makeEnvironment } from "../runners/environment.ts";

const programs = join(import.meta.dirname, "python");

/** More than the items need. */
const turnsMax = 100;

let python: Environment;

beforeAll(async () => {
  python = await makeEnvironment();
  await python.install("-r", join(programs, "requirements.txt"));
  return () => python.remove();
}, 600_000);

test("the client passes each item over each binding", { timeout: 300_000 }, async () => {
  const model: Script = (wire, request) => {
    const { tools, messages } = request.body;
    const isAsked = tools !== undefined && messages.at(-1)?.role === "user";
    const script = isAsked ? callTools({ id: "c1", name: "list_dir", arguments: "{}" }) : answer("not allowed");
    return script(wire, request);
  };
  const provider = await openProvider(...Array.from({ length: turnsMax }, () => model));
  const careful = JSON.stringify({ tools: { builtin: ["list_dir"], approve: ["list_dir"] } });
  const flags = { ...modelFlags(provider), agentPresets: [`careful=${careful}`, 'assistant={"model":"gpt-4o"}'] };
  const service = await startService({ ...flags, securityAllowPrivateNetworks: true, rateLimitRps: 0 }, { own: true });
  const guarded = await startService({ rateLimitRps: 0 }, { own: true });
  await offer(service, {
    words: async function* () {
      yield delta("one ");
      yield delta("two ");
      yield delta("three");
      yield completed("one two three");
    },
    slow: wait(2_000),
    silent: async function* ({ signal }: Run) {
      await delay(20_000, undefined, { signal });
      yield completed("late");
    },
  });
  const script = join(programs, "acceptance.py");
  const args = [script, service.url, service.target, keyOf(), keyOf("stranger"), guarded.url];
  const { stdout } = await runProgram(python.program("python"), args);
  // 13 items over three bindings, the silent one over one, and unknown members over two.
  expect(stdout.toString().match(/^passed /gm), stdout.toString()).toHaveLength(13 * 3 + 1 + 2);
});

function wait(ms: number) {
  return async function* ({ signal }: Run) {
    yield delta("one ");
    await delay(ms, undefined, { signal }).catch(() => undefined);
    yield delta("two");
    yield signal.aborted ? failed("cancelled", { code: "cancelled" }) : completed("one two");
  };
}
