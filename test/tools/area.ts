// A directory with a work directory in it, for tests of the file tools. `outside` beside it holds files that no tool may show.

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
import { afterAll, afterEach, expect } from "vitest";
import type { Tool, ToolContext, ToolOutcome } from "../../src/agent/tools/tool.ts";
import { sessionOwner } from "../../src/engine/sessions/session-owner.ts";
import { isRoot } from "../../src/platform/base/owner.ts";
import { defaultClientId } from "../harness/credentials.ts";

export class Area implements Disposable {
  readonly base: string = realpathSync(mkdtempSync(join(tmpdir(), "runnel-tools-")));
  readonly root: string = join(this.base, "area", "s1");
  readonly outside: string = join(this.base, "outside");

  constructor() {
    // As root the service runs commands as another user, who must be able to enter the directory.
    chmodSync(this.base, 0o711);
    this.clear();
  }

  /** Leaves the two directories empty. */
  clear(): void {
    for (const name of readdirSync(this.base)) {
      rmSync(join(this.base, name), { recursive: true, force: true });
    }
    mkdirSync(this.root, { recursive: true });
    mkdirSync(this.outside);
  }

  get context(): ToolContext {
    return {
      client: defaultClientId,
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

  /** Gives the files to the owner that they would have under root, where commands run as the owner of their directory. */
  giveToSession(): void {
    if (isRoot()) {
      execFileSync("chown", ["-hR", `${sessionOwner.uid}:${sessionOwner.gid}`, this.root]);
    }
  }

  /** The number of descriptors of this process that lead to this area or its former contents. */
  countDescriptors(): number {
    return readdirSync("/proc/self/fd").filter((fd) => describeDescriptor(fd).startsWith(this.base)).length;
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** An area that each test of a file gets empty. No test may leave a descriptor open. */
export function areaOfEachTest(): Area {
  const area = new Area();
  afterEach(() => {
    const leaked = area.countDescriptors();
    area.clear();
    expect(leaked).toBe(0);
  });
  afterAll(() => area[Symbol.dispose]());
  return area;
}

function describeDescriptor(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    // The descriptor that listed the directory is closed by now.
    return "";
  }
}
