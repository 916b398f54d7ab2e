// The protocol's official client for Python, unmodified, over kill -9: in each mode it has every message of a run once, in order.

import { join } from "node:path";
import { beforeAll, test } from "vitest";
import { type Environment, makeEnvironment } from "../runners/environment.ts";
import { expectWholeRead, modes } from "./read-over-kill.ts";

const programs = join(import.meta.dirname, "python");

let python: Environment;

beforeAll(async () => {
  python = await makeEnvironment();
  await python.install("--no-deps", "-r", join(programs, "requirements.txt"));
  return () => python.remove();
}, 600_000);

test.for(modes)("a run is read by %s over kill -9 of its service", async (mode) => {
  await expectWholeRead(python.program("python"), [join(programs, "reader.py")], mode);
});
