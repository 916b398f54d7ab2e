// The protocol's official client for Go, of the checkout in DURABLE_STREAMS_DIR, over kill -9: in each mode it has every message of a
// run once, in order.

import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, test } from "vitest";
import { runCommand } from "../../../scripts/run-command.ts";
import { expectWholeRead, modes } from "./read-over-kill.ts";

const client = "github.com/durable-streams/durable-streams/packages/client-go";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "runnel-durable-streams-go-"));
  await cp(join(import.meta.dirname, "go"), folder, { recursive: true });
  const checkout = join(process.env.DURABLE_STREAMS_DIR ?? "", "packages/client-go");
  await runCommand("go", ["-C", folder, "mod", "edit", `-replace=${client}=${checkout}`]);
  await runCommand("go", ["-C", folder, "build", "-o", "reader", "."]);
  return () => rm(folder, { recursive: true });
}, 600_000);

test.for(modes)("a run is read by %s over kill -9 of its service", async (mode) => {
  await expectWholeRead(join(folder, "reader"), [], mode);
});
