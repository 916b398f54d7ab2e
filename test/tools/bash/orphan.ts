// A process that runs a command in a jail until it is killed itself.

import { createBash } from "../../../src/agent/tools/bash/bash.ts";
import { createCommands } from "../../../src/agent/tools/bash/commands.ts";
import { findBubblewrap } from "../../../src/agent/tools/bash/find-bubblewrap.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { workspaceAt } from "../workspace.ts";

const [, , workDir = "", sessionId = ""] = process.argv;
const jail = await findBubblewrap({ clock: systemClock, hidden: [], path: process.env.PATH ?? "" });
if ("problem" in jail) {
  throw new Error(jail.problem);
}
const bash = createBash(
  createCommands({ jail, clock: systemClock, denyList: "documented", growthBytesMax: 1_048_576 }),
);
const { signal } = new AbortController();
await bash.run({ command: "setsid sleep 60 & sleep 60" }, { ...workspaceAt(workDir), sessionId, signal });
