// Which places on the disk a service keeps sessions out of, depending on its settings.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openWorkDirs } from "../../src/app/open-work-dirs.ts";
import { loadConfig } from "../../src/app/settings.ts";
import { openConnections } from "../../src/platform/database/database.ts";
import { testDatabase } from "../harness/database.ts";

test("a root of work directories that is created later, below a link, is hidden from other sessions by its real path", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "runnel-house-")));
  onTestFinished(() => rmSync(base, { recursive: true }));
  mkdirSync(join(base, "disk"));
  symlinkSync(join(base, "disk"), join(base, "link"));
  const flags = { sessionsWorkRoot: join(base, "link/data/work"), sessionsWorkDirs: ["/"] };
  const config = loadConfig({}, flags);
  const session = { id: "s1", client: "key/app" };
  const connections = openConnections(
    { connectionString: await testDatabase() },
    { poolSize: 1, onConnectionError: () => {} },
  );
  onTestFinished(connections.close);
  const dirs = openWorkDirs(config, [], connections.db);
  const { workDir } = await dirs.open(session, undefined);
  expect(workDir.startsWith(join(base, "disk/data/work/"))).toBe(true);
  for (const named of [workDir, join(base, "disk/data/work"), join(base, "link/data/work")]) {
    expect(await dirs.open(session, named)).toMatchObject({
      refusal: expect.stringContaining("belongs to the service"),
    });
  }
  expect(await dirs.open(session, join(base, "link"))).toMatchObject({ realPath: join(base, "disk") });
});

test("{client} in a listed directory is a whole name", () => {
  const read = (list: string) => loadConfig({ RUNNEL_SESSIONS_WORK_DIRS: list }).sessionsWorkDirs;
  expect(read("/srv/{client}, /srv/{client}/in,/srv/{x}")).toEqual(["/srv/{client}", "/srv/{client}/in", "/srv/{x}"]);
  for (const list of [
    "/srv/a-{client}",
    "/srv/{client}{client}",
    "/srv/{client}.d",
    "{client}",
    "/srv,/srv/{client}x",
  ]) {
    expect(() => read(list)).toThrow("with {client} only as a whole name");
  }
});
