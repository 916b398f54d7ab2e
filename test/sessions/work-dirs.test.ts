// Which directories sessions may name, and which paths their tools must avoid.

import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { sessionOwner } from "../../src/engine/sessions/session-owner.ts";
import { WorkDirs } from "../../src/engine/sessions/work-dirs.ts";
import { isRoot } from "../../src/platform/base/owner.ts";

const session = { id: "s1", client: "key/app" };

function openHouse(permitted: (base: string) => readonly string[] = () => ["/"]) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "runnel-house-")));
  onTestFinished(() => rmSync(base, { recursive: true }));
  for (const name of ["data/work", "program/src", "projects/one", "other"]) {
    mkdirSync(join(base, name), { recursive: true });
  }
  const at = (name: string): string => join(base, name);
  const reserved = [at("program"), at("data"), at("settings.yaml")];
  return { at, dirs: new WorkDirs({ root: at("data/work"), reserved, permitted: permitted(base), claims: undefined }) };
}

describe("a session may not name", () => {
  test.each(["/", "/etc", "/usr/local", "/proc/self", "/dev", "/run", "/sys", "/boot"].filter(isThere))(
    "the system's %s",
    async (named) => {
      const message = /^invalid work_dir: not permitted: \S+ belongs to the system; name a/;
      expect(await refusalOf(openHouse().dirs, named)).toMatch(message);
    },
  );

  test("a directory of the service or of another session", async () => {
    const { at, dirs } = openHouse();
    const { workDir } = await dirs.open(session, undefined);
    for (const named of [at("program"), at("program/src"), at("data"), at("data/work"), workDir]) {
      expect(await refusalOf(dirs, named)).toMatch(/not permitted: .* belongs to the service; name another directory/);
    }
  });

  test("a link to a forbidden directory", async () => {
    const { at, dirs } = openHouse();
    symlinkSync(at("program"), at("other/link"));
    expect(await refusalOf(dirs, at("other/link"))).toMatch("belongs to the service");
    expect(await refusalOf(dirs, at("other/link/src"))).toMatch("belongs to the service");
  });

  test("a directory outside of the operator's list", async () => {
    const { at, dirs } = openHouse((base) => [join(base, "projects")]);
    expect(await refusalOf(dirs, at("projects"))).toBeUndefined();
    expect(await refusalOf(dirs, at("projects/one"))).toBeUndefined();
    mkdirSync(at("projects2"));
    for (const named of [at("other"), at("projects2"), at(".")]) {
      expect(await refusalOf(dirs, named)).toMatch(/is outside the directories that this service permits/);
    }
  });
});

describe("tools work", () => {
  test.runIf(isRoot())("in a directory of the user of commands, or of root where that user cannot come", async () => {
    const { at, dirs } = openHouse();
    const ownerBelow = async (mode: number): Promise<number> => {
      chmodSync(at("."), mode);
      return statSync((await dirs.open(session, undefined)).realPath).uid;
    };
    expect(await ownerBelow(0o700)).toBe(0);
    expect(await ownerBelow(0o711)).toBe(sessionOwner.uid);
    expect(await ownerBelow(0o700)).toBe(0);
  });

  test("in a directory of the session's own, under its real path", async () => {
    const { at, dirs } = openHouse();
    const place = await dirs.open(session, undefined);
    expect(place.realPath).toBe(place.workDir);
    expect(place.workDir.startsWith(at("data/work/"))).toBe(true);
    expect(statSync(place.workDir).mode & 0o777).toBe(0o700);
    expect(place.hidden).toEqual([at("program"), at("settings.yaml")]);
    expect((await dirs.open({ ...session, client: "key/other" }, undefined)).workDir).not.toBe(place.workDir);
    await dirs.remove(session);
    expect(isThere(place.workDir)).toBe(false);
  });

  test("in a named directory, with the service's directories inside it hidden", async () => {
    const { at, dirs } = openHouse();
    expect(await dirs.open(session, at("."))).toEqual({
      client: session.client,
      workDir: at("."),
      realPath: realpathSync(at(".")),
      hidden: [at("program"), at("data"), at("settings.yaml"), at("data/work")],
    });
  });

  test("nowhere once the directory is missing or a link leads to a forbidden one", async () => {
    const { at, dirs } = openHouse();
    symlinkSync(at("projects"), at("current"));
    expect(await dirs.open(session, at("current/one"))).toMatchObject({ realPath: at("projects/one") });
    rmSync(at("current"));
    expect(await dirs.open(session, at("current/one"))).toMatchObject({
      refusal: expect.stringContaining("no such file"),
    });
    symlinkSync("/etc", at("current"));
    expect(await dirs.open(session, at("current"))).toMatchObject({
      refusal: expect.stringContaining("belongs to the system"),
    });
  });
});

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

async function refusalOf(dirs: WorkDirs, named: string): Promise<string | undefined> {
  return (await dirs.open(session, named)).refusal;
}
