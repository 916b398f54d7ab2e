// RUN_COMMAND: how results describe the ends of commands, and that inbox commands use the same jail as agent commands.

import { existsSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createBash } from "../../../src/agent/tools/bash/bash.ts";
import { type Commands, createCommands } from "../../../src/agent/tools/bash/commands.ts";
import type { KillLimit } from "../../../src/agent/tools/bash/limits.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import type { Command, CommandResult } from "../../../src/protocols/exchange/command.ts";
import { createExecutor } from "../../../src/protocols/exchange/execute/executor.ts";
import { createManualClock } from "../../harness/manual-clock.ts";
import { until } from "../../harness/wait.ts";
import { Area } from "../../tools/area.ts";
import { hasJail, openCommands, processesOf } from "../../tools/bash/jailed.ts";
import { type Stage, setStage } from "./stage.ts";

function command(text: string): Command {
  return { type: "RUN_COMMAND", command: text };
}

function ran(text: string, code: number, output: string): CommandResult {
  const summary = `Ran '${text}' (exit code ${code})`;
  return { type: "RUN_COMMAND", success: code === 0, summary, output };
}

function refused(text: string, reason: string): CommandResult {
  return { type: "RUN_COMMAND", success: false, summary: `Failed to run '${text}': ${reason}`, output: "" };
}

/** Commands that end as given without running anything, to test how results describe them. */
function endsWith(end: Partial<Awaited<ReturnType<Commands["run"]>>>): Pick<Commands, "run"> {
  const nothing = { text: "", isCut: false };
  const whole = "words" in end ? end : { stdout: nothing, stderr: nothing, exit: { status: 0 }, ...end };
  return { run: async () => whole as Awaited<ReturnType<Commands["run"]>> };
}

function kept(text: string): { readonly text: string; readonly isCut: boolean } {
  return { text, isCut: false };
}

describe("the output of a command", () => {
  test.each([
    ["out\n", "", "out\n"],
    ["out\n", "err\n", "out\n\nerr\n"],
    ["", "err", "\nerr"],
    ["out", " \n\t", "out"],
    ["x".repeat(4_000), "", "x".repeat(4_000)],
    ["x".repeat(4_001), "", `${"x".repeat(4_000)}\n... (output truncated)`],
    ["x".repeat(3_990), "123456789", `${"x".repeat(3_990)}\n123456789`],
    ["x".repeat(3_990), "1234567890", `${"x".repeat(3_990)}\n123456789\n... (output truncated)`],
    [`${"x".repeat(3_999)}😀`, "", `${"x".repeat(3_999)}\n... (output truncated)`],
    [`${"x".repeat(3_998)}😀y`, "", `${"x".repeat(3_998)}😀\n... (output truncated)`],
  ])("%#: stdout, then stderr on a new line, cut between characters", async (stdout, stderr, output) => {
    const { run } = setStage(endsWith({ stdout: kept(stdout), stderr: kept(stderr) }));
    expect(await run(command("c"))).toEqual(ran("c", 0, output));
  });

  test("ends with the reason of the kill, unless it was the timeout", async () => {
    const end = { stdout: kept("x".repeat(5_000)), exit: { signal: 9 }, killed: "memory", limit: "too much" } as const;
    const { run } = setStage(endsWith(end));
    expect(await run(command("c"))).toEqual(
      ran("c", 137, `${"x".repeat(4_000)}\n... (output truncated)\n... (killed: too much)`),
    );
  });
});

test("results do not name the host: why there is no jail, or no working directory", async () => {
  const reasons = {
    workspace: "commands cannot work in this workspace",
    no_jail: "there is no jail to run commands in",
    not_started: "the jail did not start",
  } as const;
  for (const kind of ["workspace", "no_jail", "not_started"] as const) {
    const { run } = setStage(endsWith({ kind, words: "/opt/host/place" }));
    expect(await run(command("c"))).toEqual(refused("c", reasons[kind]));
  }
});

test("disabled commands are not run", async () => {
  const { run } = setStage({ run: () => expect.fail("was run") }, false);
  expect(await run(command("ls"))).toEqual(refused("ls", "commands are disabled"));
});

test("a long command is cut in its summary, and refused", async () => {
  const commands = createCommands({ jail: undefined, clock: systemClock, denyList: "documented", growthBytesMax: 0 });
  const { run } = setStage(commands);
  expect(await run(command("x".repeat(5_000)))).toEqual(
    refused(`${"x".repeat(4_096)}…`, "command too long (max 4096 bytes)"),
  );
});

test("without a jail, which must be configured, a command is still one argument of /bin/sh", async () => {
  const commands = createCommands({ jail: undefined, clock: systemClock, denyList: "documented", growthBytesMax: 0 });
  const { run } = setStage(commands);
  expect(await run(command(`printf '%s|' "a \\"b" 'c $d'`))).toEqual(
    ran(`printf '%s|' "a \\"b" 'c $d'`, 0, `a "b|c $d|`),
  );
  expect(await run(command("readlink /proc/$$/exe"))).toMatchObject({ output: `${realpathSync("/bin/sh")}\n` });
});

describe.runIf(hasJail)("in the jail", () => {
  let commands: Commands;
  const killed: KillLimit[] = [];

  beforeAll(async () => {
    commands = await openCommands({ onKilled: (limit) => killed.push(limit) });
  });

  function openStage(): Stage {
    const stage = setStage(commands);
    stage.area.giveToSession();
    return stage;
  }

  test("a command is one argument of /bin/sh, with any characters", async () => {
    const { run } = openStage();
    const cases: [string, number, string][] = [
      ["", 0, ""],
      [`printf '%s|' "a \\"b" 'c $d' e\\ f`, 0, `a "b|c $d|e f|`],
      ["echo one\necho two", 0, "one\ntwo\n"],
      ["echo 'ü 😀' # rest", 0, "ü 😀\n"],
      ["printf out; printf err >&2", 0, "out\nerr"],
      ["printf err >&2; exit 3", 3, "\nerr"],
      ["false", 1, ""],
      ["kill -9 $$", 137, ""],
      ["kill -TERM $$", 143, ""],
      ["sh -c 'kill -SEGV $$'; exit $?", 139, expect.any(String)],
      ["cat <<'E'\n$HOME `x`\nE", 0, "$HOME `x`\n"],
    ];
    for (const [text, code, output] of cases) {
      expect(await run(command(text))).toEqual(ran(text, code, output));
    }
    expect(await run(command("readlink /proc/$$/exe"))).toMatchObject({ output: `${realpathSync("/bin/sh")}\n` });
    // The text is a command, not an option of the shell.
    expect(await run(command("-c 'echo hi'"))).toMatchObject({ summary: "Ran '-c 'echo hi'' (exit code 127)" });
    expect(killed).toEqual([]);
  });

  test("a command works in the workspace, and its files belong to the workspace's owner", async () => {
    const { area, run, read } = openStage();
    await run(command("mkdir d && echo made > d/f && pwd > p"));
    expect(read("d/f")).toBe("made\n");
    // The workspace has the same path within the jail as outside.
    expect(read("p")).toBe(`${area.root}\n`);
    expect(statSync(join(area.root, "d/f")).uid).toBe(statSync(area.root).uid);
  });

  test("a command sees neither the environment of the service nor its processes", async () => {
    process.env.RUNNEL_TEST_SECRET = "secret-of-the-service-51c0";
    onTestFinished(() => void delete process.env.RUNNEL_TEST_SECRET);
    const { run } = openStage();
    const { output } = await run(command("env"));
    expect(output).toContain("PATH=/usr/local/bin:/usr/bin:/bin\n");
    expect(output).not.toContain("RUNNEL");
    const count = "cat /proc/*/environ | tr '\\0' '\\n' | grep -c ^RUNNEL";
    expect(await run(command(count))).toEqual(ran(count, 1, "0\n"));
  });

  test("commands that are blocked for agents are blocked for inboxes", async () => {
    const { run } = openStage();
    expect(await run(command("rm -rf /"))).toMatchObject({
      success: false,
      summary: expect.stringMatching(/^Failed to run 'rm -rf \/': blocked dangerous pattern: rm -rf \/ /),
    });
    expect(await run(command("echo \0"))).toEqual(refused("echo \0", "command contains a NUL byte"));
    expect(await run(command("ls"), { refusal: "not here" })).toEqual(
      refused("ls", "commands cannot work in this workspace"),
    );
  });

  test("endless output is cut, and its beginning is shown", async () => {
    const { run } = openStage();
    const text = "head -c 20000000 /dev/zero | tr '\\0' a; echo late >&2; exit 4";
    expect(await run(command(text))).toEqual(ran(text, 4, `${"a".repeat(4_000)}\n... (output truncated)`));
  });

  test("bytes that are not UTF-8 are replaced", async () => {
    const { run } = openStage();
    expect(await run(command("printf 'a\\377b'"))).toMatchObject({ output: "a\uFFFDb" });
  });

  test("after 30 seconds a command and its child processes are killed, and its output is shown", async () => {
    const clock = createManualClock();
    const { area, run } = setStage(await openCommands({ clock: sleepLong(clock) }));
    area.giveToSession();
    const sessionId = `slow-${process.pid}`;
    const text = "echo some; setsid sleep 600 & (trap '' TERM; sleep 600) & : > began; sleep 600";
    const result = run(command(text), { sessionId });
    await until("the command has begun", () => existsSync(join(area.root, "began")));
    expect(processesOf(sessionId).length).toBeGreaterThan(0);
    expect(clock.delaysMs).toEqual([30_000]);
    clock.advance(30_000);
    expect(await result).toEqual({
      type: "RUN_COMMAND",
      success: false,
      summary: `Command timed out (30s): ${text}`,
      output: "some\n",
    });
    expect(processesOf(sessionId)).toEqual([]);
  });

  test("the timeout is configurable", async () => {
    using area = new Area();
    area.giveToSession();
    const executor = createExecutor({ commands, mayRun: true, commandTimeoutMs: 200 });
    const { summary } = await executor.run(command("sleep 600"), area.context);
    expect(summary).toBe("Command timed out (0.2s): sleep 600");
  });

  test("a stopped run kills its command and throws instead of returning a result", async () => {
    const { area, run } = openStage();
    const stop = new AbortController();
    const sessionId = `stopped-${process.pid}`;
    const result = run(command("sleep 600 & : > began; sleep 600"), { sessionId, signal: stop.signal });
    const thrown = expect(result).rejects.toThrow("stopped");
    await until("the command has begun", () => existsSync(join(area.root, "began")));
    stop.abort(new Error("stopped"));
    await thrown;
    expect(processesOf(sessionId)).toEqual([]);
  });

  test("bytes written by agent commands and inbox commands count together", async () => {
    const shared = await openCommands({ growthMb: 4 });
    const { area, run } = setStage(shared);
    area.giveToSession();
    const fill = "head -c 9000000 /dev/urandom > f; sleep 600";
    expect(await area.run(createBash(shared), { command: fill })).toEqual({
      error: "... (killed: more than 4 MiB written to disk)\nExit: signal: killed",
    });
    const text = "head -c 3000000 /dev/urandom > g; sleep 600";
    expect(await run(command(text))).toEqual(ran(text, 137, "\n... (killed: more than 1 MiB written to disk)"));
  });
});

/** The monitor of a command polls often and in real time; only long sleeps use the test's clock. */
function sleepLong(clock: ReturnType<typeof createManualClock>): ReturnType<typeof createManualClock> {
  return {
    ...clock,
    sleep: (delayMs, signal) => (delayMs < 1_000 ? systemClock : clock).sleep(delayMs, signal),
  };
}
