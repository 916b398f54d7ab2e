// A file system that a test can fill and empty again: one in memory, because mounting it needs no device. Only root may mount,
// and not in every container.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export interface SmallDisk {
  readonly folder: string;
  /** Takes all free space. */
  fill(): void;
  /** Frees the space again. */
  empty(): void;
}

export function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "runnel-mount-"));
  try {
    mount(folder, 1_048_576);
    execFileSync("umount", [folder]);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(folder);
  }
}

export function openSmallDisk(bytes: number): SmallDisk {
  const mountPoint = mkdtempSync(join(tmpdir(), "runnel-disk-"));
  mount(mountPoint, bytes);
  onTestFinished(() => {
    execFileSync("umount", [mountPoint]);
    rmdirSync(mountPoint);
  });
  const folder = join(mountPoint, "home");
  mkdirSync(folder, { mode: 0o711 });
  const ballast = join(mountPoint, "ballast");
  return {
    folder,
    fill: () => {
      // Runs before the service closes, because nothing closes well on a full disk.
      onTestFinished(() => rmSync(ballast, { force: true }));
      // Space that others take meanwhile is as good.
      while (freeBytes(mountPoint) > 0) {
        appendUntilFull(ballast, freeBytes(mountPoint));
      }
    },
    empty: () => rmSync(ballast),
  };
}

function mount(folder: string, bytes: number): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes},mode=711`, "runnel-test", folder], { stdio: "ignore" });
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function appendUntilFull(file: string, bytes: number): void {
  try {
    writeFileSync(file, Buffer.alloc(bytes, 1), { flag: "a" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) {
      throw error;
    }
  }
}
