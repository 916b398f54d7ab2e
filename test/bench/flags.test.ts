// The command line of the benches: which ones it chooses, and its error for an unknown name.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { benches } from "./benches.ts";
import { readFlags } from "./flags.ts";

const known = ["ready", "burst", "append"];

test("names are arguments, and --only means the same", () => {
  expect(readFlags(["burst", "--quick", "append"], known)).toMatchObject({ names: ["burst", "append"], quick: true });
  expect(readFlags(["--only", "burst,append"], known)).toMatchObject({ names: ["burst", "append"], quick: false });
  expect(readFlags(["--profile", "folder", "--json"], known)).toEqual({
    names: [],
    quick: false,
    json: true,
    profileDirectory: "folder",
  });
});

test("an unknown name is refused with the list of known ones", () => {
  expect(() => readFlags(["burts", "append"], known)).toThrow("no bench named burts: there are ready, burst, append");
  expect(() => readFlags(["--only", "x"], known)).toThrow("no bench named x");
});

test("the program ends with 2 before it starts anything", () => {
  const program = fileURLToPath(new URL("run.ts", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "nonsense"], { encoding: "utf8" });
  expect({ status, stdout, stderr: stderr.trim() }).toEqual({
    status: 2,
    stdout: "",
    stderr: `no bench named nonsense: there are ${benches.map(({ name }) => name).join(", ")}`,
  });
});
