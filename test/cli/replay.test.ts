// `record` and `replay` as users call them.

import { expect, test } from "vitest";
import { setSignedStage } from "./signed.ts";

test("a recorded run replays without a service, and a changed file shows the place", async () => {
  const stage = await setSignedStage();
  const ran = await stage.runnel("run", "list the files pace=0 words=20", "--json");
  const { run_id: runId } = JSON.parse(ran.stderr);
  const recorded = await stage.runnel("record", runId, "--out", "run.json");
  expect(recorded).toMatchObject({ code: 0, stdout: expect.stringMatching(/^wrote run\.json: \d+ entries\n$/) });
  expect(await stage.runnel("record", runId, "--out", "run.json")).toMatchObject({ code: 1 });
  const same = await stage.runnel("replay", "run.json");
  expect(same).toMatchObject({ code: 0, stdout: expect.stringMatching(/^(\d+) of \1 entries are the same\n$/) });

  const recording = JSON.parse(await stage.read("run.json"));
  const [first, second] = recording.log;
  await stage.put("changed.json", JSON.stringify({ ...recording, log: [second, first, ...recording.log.slice(2)] }));
  const changed = await stage.runnel("replay", "changed.json");
  expect(changed.code).toBe(1);
  expect(changed.stdout).toContain("differs");
  expect(await stage.runnel("replay", "missing.json")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^runnel: cannot read missing\.json: ENOENT[^\n]+\n$/),
  });
});
