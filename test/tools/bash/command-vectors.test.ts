// The acceptance cases for commands, each in a jail of its own and without the deny list: only the kernel protects.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { runConfined } from "../../../src/agent/tools/bash/confined.ts";
import { Growth } from "../../../src/agent/tools/bash/growth.ts";
import { endToOutcome } from "../../../src/agent/tools/bash/outcome.ts";
import { removeTree } from "../../../src/engine/sessions/remove-tree.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { Area } from "../area.ts";
import { hasJail, openJail, openListener, processesOf } from "./jailed.ts";

interface CommandCase {
  readonly id: string;
  readonly class: string;
  readonly command: string;
  readonly kernel_must: string;
}

const { cases }: { cases: CommandCase[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../vectors/command.json"), "utf8"),
);

const growthBytesMax = 64 * 1_048_576;
/** Plus the bytes that a fast disk may take until the watchdog notices, which runs late on a busy machine. */
const takenBytesMax = growthBytesMax + 1_500 * 1_048_576;
const canaryText = "CANARY-4e1f";
const secretText = "service-secret-77aa";

describe.runIf(hasJail)("in the jail", () => {
  test.each(cases)("$id $class, $command: $kernel_must", async (each) => {
    using area = new Area();
    const canary = join(area.outside, "canary.txt");
    writeFileSync(canary, canaryText);
    fill(area.root);
    area.giveToSession();
    fill(area.outside);
    process.env.RUNNEL_TEST_SECRET = secretText;
    onTestFinished(() => void delete process.env.RUNNEL_TEST_SECRET);
    const listener = await openListener();
    const command = expand(each.command, canary).replaceAll("7999", String(listener.port));
    const sessionId = `vector-${each.id}-${process.pid}`;

    const context = { ...area.context, sessionId };
    const confinement = { jail: await openJail(), growth: new Growth(growthBytesMax), clock: systemClock };
    const startedMs = performance.now();
    const follow = { clock: systemClock, timeoutMs: 2_000, signal: context.signal };
    const outcome = endToOutcome(await runConfined({ command, shell: "/bin/bash" }, context, confinement, follow));
    const tookMs = performance.now() - startedMs;

    const text = "content" in outcome ? outcome.content : outcome.error;
    expect(processesOf(sessionId)).toEqual([]);
    expect(listener.connections()).toBe(0);
    // Some commands name the canary, so only its content must not appear.
    expect(text).not.toContain(canaryText);
    expect(text).not.toContain(secretText);
    expect(text.isWellFormed()).toBe(true);
    expect(readFileSync(canary, "utf8")).toBe(canaryText);
    expect(readdirSync(area.base).sort()).toEqual(["area", "outside"]);
    expect(readdirSync("/usr/bin")).toContain("env");
    expect(bytesBelow(area.root)).toBeLessThan(takenBytesMax);
    // The limit, and the time that a busy machine needs to end a process.
    expect(tookMs).toBeLessThan(12_000);
    if (each.class === "benign") {
      expect("content" in outcome ? 0 : outcome.error).toEqual(statusOutside(command, area.outside));
    }
    await removeTree(area.root);
  });
});

test("every class has cases", () => {
  expect(new Set(cases.map((each) => each.class))).toEqual(
    new Set(["benign", "destructive-documented", "destructive-bypass", "read-bypass", "network-bypass", "resource"]),
  );
});

function fill(directory: string): void {
  writeFileSync(join(directory, "README.md"), "one\ntwo\nTODO three\nfour\n");
  mkdirSync(join(directory, "src"));
  mkdirSync(join(directory, "build"));
  cpSync(join(directory, "README.md"), join(directory, "src/notes.md"));
}

/** Zero when the same command works without a jail. */
function statusOutside(command: string, cwd: string): number | null {
  return spawnSync("/bin/bash", ["-c", command], { cwd, stdio: "ignore" }).status;
}

function expand(command: string, canary: string): string {
  const names = canary.split(sep).slice(1);
  const [first = "", second = ""] = names;
  const glob = `/${[first.replace(/^(.)./, "$1?"), ...names.slice(1, -1), "can*.txt"].join("/")}`;
  const quoted = `/${[`${first.slice(0, 1)}""${first.slice(1)}`, `${second.slice(0, 1)}''${second.slice(1)}`, ...names.slice(2)].join("/")}`;
  const values: Record<string, string> = {
    CANARY: canary,
    CANARY_REL: canary.slice(1),
    CANARY_GLOB: glob,
    CANARY_QUOTED: quoted,
  };
  return command.replaceAll(/\$\{(CANARY\w*)\}/g, (all, name) => values[name] ?? all);
}

function bytesBelow(directory: string): number {
  const { stdout } = spawnSync("du", ["-s", "-B1", directory]);
  return Number.parseInt(stdout.toString(), 10);
}
