// Which directories clients may name for their sessions, by every door of a real service.

import { existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Door, doors, openPlace, startNamed } from "./named-directories.ts";

const given = { refusal: undefined };

describe.each(doors)("$name, without listed directories", ({ create }: Door) => {
  test("refuses every named directory, whether it exists or not, and says which setting lists them", async () => {
    const service = await startNamed([]);
    const place = openPlace();
    for (const named of [place.at("."), place.at("missing"), "/root", "/home", "/var/lib", "/", "/dev/null"]) {
      const { refusal, field } = await create(service, "tenant-a", named);
      expect(refusal).toMatch(
        /work_dir: not permitted: .*leave work_dir out .*sessions\.work_dirs \(RUNNEL_SESSIONS_WORK_DIRS\)/,
      );
      expect(field).toMatch(/work_dir$/);
    }
    expect(await create(service, "tenant-a", "")).toEqual(given);
  });
});

describe.each(doors)("$name, with a directory for each client", ({ create }: Door) => {
  test("makes the client's tree when it is named first, and takes what is in it", async () => {
    const place = openPlace();
    const service = await startNamed([place.at("work/{client}")]);
    const own = place.at("work/key-tenant-a");
    expect(await create(service, "tenant-a", own)).toEqual(given);
    expect(statSync(own).mode & 0o777).toBe(0o700);
    mkdirSync(`${own}/project`);
    symlinkSync("project", `${own}/link`);
    symlinkSync(place.at("work"), place.at("way"));
    for (const named of [`${own}/project`, `${own}/link`, place.at("way/key-tenant-a/project")]) {
      expect({ named, ...(await create(service, "tenant-a", named)) }).toEqual({ named, ...given });
    }
  });

  test("tells by a link in the client's tree nothing about what exists elsewhere", async () => {
    const place = openPlace("work/key-tenant-a", "work/key-tenant-b");
    writeFileSync(place.at("work/key-tenant-a/report.csv"), "a file");
    const service = await startNamed([place.at("work/{client}")]);
    const own = place.at("work/key-tenant-b");
    for (const [name, target] of [
      ["there", "../key-tenant-a/report.csv"],
      ["nowhere", "../key-tenant-a/none"],
      ["twice", "nowhere"],
      ["system", "/etc/hostname"],
      ["no-system", "/etc/hostnamf"],
    ] as const) {
      symlinkSync(target, `${own}/${name}`);
      for (const path of [`${own}/${name}`, `${own}/${name}/x`]) {
        const { refusal } = await create(service, "tenant-b", path);
        expect({ path, refusal }).toEqual({
          path,
          refusal: expect.stringContaining("is outside the directories that this service permits"),
        });
      }
    }
    for (const [name, target] of [
      ["loop", "loop"],
      ["doubled", "doubled/doubled"],
    ] as const) {
      symlinkSync(target, `${own}/${name}`);
      expect((await create(service, "tenant-b", `${own}/${name}`)).refusal).toContain("not accessible");
    }
  });

  // Until the tree is made, the rest of the path is judged as text: then `..` goes up from where the link leads.
  test("judges a directory again once the client's tree is there", async () => {
    const place = openPlace("work", "all/b/x", "all/b/key-tenant-a", "other/x", "other/key-tenant-a");
    const service = await startNamed([place.at("work/{client}"), place.at("all")]);
    const own = place.at("work/key-tenant-a");
    expect(await create(service, "tenant-a", own)).toEqual(given);
    expect(await create(service, "tenant-b", place.at("all/b"))).toEqual(given);
    for (const [target, refusal] of [
      ["other/x", "is outside the directories that this service permits"],
      ["all/b/x", "belongs to another client"],
    ] as const) {
      rmSync(own, { recursive: true, force: true });
      rmSync(place.at("work/link"), { force: true });
      symlinkSync(place.at(target), place.at("work/link"));
      expect((await create(service, "tenant-a", `${own}/../link/../key-tenant-a`)).refusal).toContain(refusal);
    }
  });

  test("makes the client's tree only when it is named: a refusal leaves no directory", async () => {
    const place = openPlace("work");
    const service = await startNamed([place.at("work/{client}")]);
    expect((await create(service, "tenant-a", place.at("work/key-tenant-a/x"))).refusal).toContain("not accessible");
    expect(existsSync(place.at("work/key-tenant-a"))).toBe(false);
  });

  test("says what keeps the client's tree from being made", async () => {
    const place = openPlace();
    writeFileSync(place.at("work"), "a file");
    const service = await startNamed([place.at("work/{client}")]);
    expect((await create(service, "tenant-a", place.at("work/key-tenant-a"))).refusal).toBe(
      `sessions.work_dirs: ${place.at("work/key-tenant-a")} cannot be made (EEXIST): the operator has to let the service make directories there, or to make this one`,
    );
  });

  test("refuses what leads into the tree of another client, with one text whether it exists or not", async () => {
    const place = openPlace("work/key-tenant-a/project", "work/key-tenant-b");
    const service = await startNamed([place.at("work/{client}")]);
    symlinkSync(place.at("work/key-tenant-a"), place.at("work/key-tenant-b/theirs"));
    const texts = new Set<string>();
    for (const name of [
      "work/key-tenant-a",
      "work/key-tenant-a/project",
      "work/key-tenant-a/missing",
      "work/key-tenant-b/../key-tenant-a/project",
      "work/key-tenant-b/theirs",
      "work/key-tenant-b/theirs/project",
      "work/key-tenant-b/theirs/missing",
      "work/{client}",
      "work/shared-tenant-b",
      "work",
    ]) {
      const named = place.at(name);
      const { refusal = "", field = "" } = await create(service, "tenant-b", named);
      expect(field).toMatch(/work_dir$/);
      texts.add(refusal.replace(named, "D").replace(field, "F"));
    }
    expect([...texts]).toEqual([
      `invalid F: not permitted: D is outside the directories that this service permits; name ${place.at("work/key-tenant-b")} or a directory in it, or leave work_dir out to get a new one`,
    ]);
  });
});

describe.each(doors)("$name, with directories that clients share", ({ create }: Door) => {
  test("a directory that a client has named is no other client's, nor one in it, nor one around it", async () => {
    const place = openPlace("all/a/in", "all/b", "all/a2");
    const service = await startNamed([place.at("all")]);
    symlinkSync(place.at("all/a"), place.at("all/link"));
    expect(await create(service, "tenant-a", place.at("all/a"))).toEqual(given);
    for (const name of ["a", "a/in", "a/missing", "b/../a", "", "link", "link/in", "link/missing"]) {
      const named = place.at(`all/${name}`);
      const { refusal, field } = await create(service, "tenant-b", named);
      expect({ named, refusal }).toEqual({
        named,
        refusal: `invalid ${field}: not permitted: ${named} belongs to another client; name another directory, or leave work_dir out to get a new one`,
      });
      expect(field).toMatch(/work_dir$/);
    }
    for (const [client, name] of [
      ["tenant-b", "b"],
      ["tenant-b", "a2"],
      ["tenant-a", "a"],
      ["tenant-a", "a/in"],
      ["tenant-a", "link"],
    ] as const) {
      expect({ name, ...(await create(service, client, place.at(`all/${name}`))) }).toEqual({ name, ...given });
    }
  });

  test("a client that names one around its own directory keeps all in it", async () => {
    const place = openPlace("all/a/in", "all/a/other");
    const service = await startNamed([place.at("all")]);
    expect(await create(service, "tenant-a", place.at("all/a/in"))).toEqual(given);
    expect(await create(service, "tenant-a", place.at("all/a"))).toEqual(given);
    expect((await create(service, "tenant-b", place.at("all/a/other"))).refusal).toContain("belongs to another client");
  });
});

test.each(["", "/work"])("a list with a directory around those of the clients stops the start: %j", async (around) => {
  const place = openPlace("work");
  await expect(startNamed([place.at(`.${around}`), place.at("work/{client}")])).rejects.toThrow(
    "so every client could name those of the others",
  );
  await expect(startNamed([place.at("work/{client}"), place.at("workshop")])).resolves.toBeDefined();
});
