// A directory with a work directory in it, for tests of the file tools: `outside` beside it holds what no tool may show.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Tool, ToolContext, ToolOutcome } from "../../src/agent/tools/tool.ts";
import { sessionOwner } from "../../src/engine/sessions/session-owner.ts";
import { isRoot } from "../../src/platform/base/owner.ts";

export class Area implements Disposable {
  readonly base: string = realpathSync(mkdtempSync(join(tmpdir(), "runnel-tools-")));
  readonly root: string = join(this.base, "area", "s1");
  readonly outside: string = join(this.base, "outside");

  constructor() {
    // Commands of a service of root run as another user, who has to pass through.
    chmodSync(this.base, 0o711);
    mkdirSync(this.root, { recursive: true });
    mkdirSync(this.outside);
  }

  get context(): ToolContext {
    return {
      workDir: this.root,
      realPath: this.root,
      hidden: [],
      sessionId: "s1",
      signal: new AbortController().signal,
    };
  }

  /** Writes a file below the work directory. Returns its absolute path. */
  write(path: string, content: string | Uint8Array): string {
    const absolute = join(this.root, path);
    mkdirSync(dirname(absolute), { recursive: true });
    writeFileSync(absolute, content);
    return absolute;
  }

  async run(tool: Tool, args: Record<string, unknown>): Promise<ToolOutcome> {
    return await tool.run(args, this.context);
  }

  /** Makes it all belong to whom it would in a service of root, whose commands run as the owner of their directory. */
  giveToSession(): void {
    if (isRoot()) {
      execFileSync("chown", ["-hR", `${sessionOwner.uid}:${sessionOwner.gid}`, this.root]);
    }
  }

  /** How many descriptors of this process lead to this area or what was in it. */
  countDescriptors(): number {
    return readdirSync("/proc/self/fd").filter((fd) => describeDescriptor(fd).startsWith(this.base)).length;
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

function describeDescriptor(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    // The descriptor that listed the directory is gone by now.
    return "";
  }
}
