// The files of a session: what an agent has written is listed and read the same over every surface, and nothing outside its work
// directory or refused to its tools is.

import { randomBytes } from "node:crypto";
import { link, mkdir, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { answer, callTools } from "../fakes/provider.ts";
import { openFolder } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { startService } from "../harness/service.ts";
import { expectRefused, type Refusal, sessionNotFound, test } from "./stage.ts";
import type { Surface } from "./surface.ts";
import { findSurface, surfaces } from "./surfaces.ts";

const refusal = (reason: string, text: string | RegExp): Refusal => ({
  ...(reason === "INVALID_ARGUMENT"
    ? { grpcCode: reason, httpStatus: 400 }
    : reason === "FILE_NOT_FOUND"
      ? { grpcCode: "NOT_FOUND", httpStatus: 404 }
      : { grpcCode: "FAILED_PRECONDITION", httpStatus: 409 }),
  ...{ reason, text },
});

const noDirectory = refusal("WORK_DIR_UNAVAILABLE", /^this replica has no work directory of the session: /);

async function read(api: Surface, sessionId: string, path: string): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(api.readFile({ sessionId, path })));
}

/** Creates a session that works in a new folder. */
async function openSession(api: Surface): Promise<{ readonly sessionId: string; readonly workDir: string }> {
  const workDir = await openFolder();
  const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" }, workDir });
  return { sessionId, workDir };
}

describe.each(surfaces)("over $name", (kind) => {
  test.override("kind", kind);

  test("what an agent has written is listed and read", async ({ stage }) => {
    const { api, provider, service } = stage;
    const { session_id: sessionId } = await api.createSession({
      agent: { name: "tester", tools: { builtin: ["write_file"] } },
    });
    await expectRefused(api.listFiles({ sessionId }), noDirectory);
    await expectRefused(read(api, sessionId, "a.txt"), noDirectory);
    provider.respond(
      callTools({ id: "1", name: "write_file", arguments: '{"file_path":"out/résumé 1.txt","content":"done\\n"}' }),
      answer("ok"),
    );
    const { run_id: runId } = await api.sendMessage({ sessionId, message: "write" });
    await Array.fromAsync(api.followRun(runId));
    expect((await api.listFiles({ sessionId })).files).toMatchObject([{ path: "out", type: "directory" }]);
    expect(await api.listFiles({ sessionId, path: "out" })).toEqual({
      files: [{ path: "out/résumé 1.txt", type: "file", size_bytes: 5, update_time: expect.any(String) }],
    });
    expect(String(await read(api, sessionId, "out/résumé 1.txt"))).toBe("done\n");
    const stranger = kind.connect(service, "stranger");
    await expectRefused(stranger.listFiles({ sessionId }), sessionNotFound);
    await expectRefused(read(stranger, sessionId, "out/résumé 1.txt"), sessionNotFound);
    await api.deleteSession(sessionId);
    await expectRefused(api.listFiles({ sessionId }), sessionNotFound);
  });

  test("files of every size arrive whole, and directories page by page", async ({ api }) => {
    const { sessionId, workDir } = await openSession(api);
    const files = { empty: Buffer.alloc(0), piece: randomBytes(65_536), several: randomBytes(300_001) };
    for (const [name, bytes] of Object.entries(files)) {
      await writeFile(join(workDir, name), bytes);
      expect((await read(api, sessionId, name)).equals(bytes)).toBe(true);
    }
    await symlink("several", join(workDir, "link"));
    expect((await read(api, sessionId, "link")).equals(files.several)).toBe(true);
    const paths: unknown[] = [];
    let pageToken: string | undefined = "";
    do {
      const page = await api.listFiles({ sessionId, pageSize: 3, pageToken });
      paths.push(page.files.map(({ path, type }) => [path, type]));
      pageToken = page.next_page_token;
    } while (pageToken !== undefined && pageToken !== "");
    expect(paths).toEqual([
      [
        ["empty", "file"],
        ["link", "link"],
        ["piece", "file"],
      ],
      [["several", "file"]],
    ]);
  });

  test("a hostile path is refused as the tools refuse it", async ({ api }) => {
    const { sessionId, workDir } = await openSession(api);
    await mkdir(join(workDir, ".ssh"));
    await mkdir(join(workDir, "sub"));
    await writeFile(join(workDir, ".ssh/id_ed25519"), "secret");
    await writeFile(join(workDir, "a.txt"), "one");
    await link(join(workDir, "a.txt"), join(workDir, "twice"));
    await symlink("/etc", join(workDir, "etc"));
    await symlink("loop", join(workDir, "loop"));
    await symlink("/dev/zero", join(workDir, "device"));
    await symlink("/proc/self/environ", join(workDir, "environ"));
    const outside = /outside work directory$/;
    const cases: [path: string, ...refusal: Parameters<typeof refusal>][] = [
      ["missing", "FILE_NOT_FOUND", "open missing: no such file or directory"],
      ["a.txt/below", "FILE_NOT_FOUND", /no such file/],
      ["sub", "FILE_REFUSED", "open sub: is a directory"],
      ["etc/passwd", "INVALID_ARGUMENT", outside],
      ["device", "INVALID_ARGUMENT", outside],
      ["environ", "INVALID_ARGUMENT", outside],
      ["loop", "FILE_REFUSED", /too many levels/],
      ["twice", "FILE_REFUSED", /2 hard links/],
      [".ssh/id_ed25519", "FILE_REFUSED", 'access to sensitive path "/.ssh/" is blocked'],
      ["x".repeat(300), "FILE_REFUSED", /file name too long/],
      [`${"x/".repeat(2_048)}x`, "INVALID_ARGUMENT", /^invalid path: /],
      ["a\0b", "INVALID_ARGUMENT", /^invalid path: must not contain a NUL/],
    ];
    for (const [path, ...told] of cases) {
      await expectRefused(read(api, sessionId, path), refusal(...told));
    }
    for (const path of ["..", "/", "/etc", "etc"]) {
      await expectRefused(api.listFiles({ sessionId, path }), refusal("INVALID_ARGUMENT", outside));
    }
    await expectRefused(
      api.listFiles({ sessionId, path: "a.txt" }),
      refusal("FILE_REFUSED", "open a.txt: not a directory"),
    );
    await expectRefused(api.listFiles({ sessionId, path: ".ssh" }), refusal("FILE_REFUSED", /sensitive/));
    await rm(workDir, { recursive: true });
    await expectRefused(read(api, sessionId, "a.txt"), refusal("WORK_DIR_UNAVAILABLE", /no such file/));
  });
});

test("over REST a file is a download that no browser shows, with its type and its name", async ({ api, service }) => {
  const { sessionId, workDir } = await openSession(api);
  await mkdir(join(workDir, "sub"));
  await writeFile(join(workDir, 'sub/é"1".html'), "<script>alert(1)</script>");
  const url = `${service.url}/v1/sessions/${sessionId}/files`;
  const response = await fetch(`${url}/sub/${encodeURIComponent('é"1".html')}`, { headers: credentialsOf() });
  expect([response.status, await response.text()]).toEqual([200, "<script>alert(1)</script>"]);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/html",
    "content-disposition": `attachment; filename="?\\"1\\".html"; filename*=UTF-8''%C3%A9%221%22.html`,
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox",
    "cache-control": "no-store",
  });
  expect((await fetch(`${url}/sub`)).status).toBe(401);
});

test("a path that climbs out of the directory is refused, however it is written", async ({ api, service }) => {
  const { sessionId, workDir } = await openSession(api);
  await mkdir(join(workDir, "sub"));
  const climbing = ["..", "sub/../../secret", "../../../../etc/passwd", `../${workDir.split("/").at(-1)}x/a`];
  for (const path of climbing) {
    await expectRefused(read(api, sessionId, path), refusal("INVALID_ARGUMENT", /outside work directory$/));
  }
  for (const path of [...climbing, "%2e%2e", "sub/%2e%2e/%2E%2E/secret"]) {
    // Unlike fetch, it sends the path as it is.
    const url = new URL(service.url);
    const status = await new Promise((resolve, reject) => {
      const options = { host: url.hostname, port: url.port, path: `/v1/sessions/${sessionId}/files/${path}` };
      httpRequest({ ...options, headers: credentialsOf() }, (response) => resolve(response.resume().statusCode))
        .on("error", reject)
        .end();
    });
    expect([path, status]).toEqual([path, 400]);
  }
});

test("a name that becomes a link while it is read leads nowhere else", async ({ api }) => {
  const { sessionId, workDir } = await openSession(api);
  const outside = join(await openFolder(), "secret");
  await writeFile(outside, "secret");
  const name = join(workDir, "name");
  let isOver = false;
  const swapping = (async () => {
    while (!isOver) {
      await writeFile(name, "inside");
      await rm(name);
      await symlink(outside, name);
      await rm(name);
    }
  })();
  try {
    for (let round = 0; round < 300; round += 1) {
      const text = await read(api, sessionId, "name").then(String, () => "");
      expect(["", "inside"]).toContain(text);
    }
  } finally {
    isOver = true;
    await swapping;
  }
});

test("a path of the service is refused by the words of the caller, without the place of the service on the machine", async () => {
  const workDir = await openFolder();
  await mkdir(join(workDir, "own"));
  await symlink("own", join(workDir, "link"));
  const service = await startService({ sessionsWorkRoot: join(workDir, "own") });
  const api = findSurface("gRPC").connect(service);
  const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" }, workDir });
  for (const path of ["own", "link"]) {
    const words = `access to ${path} is blocked: it belongs to the service`;
    await expectRefused(api.listFiles({ sessionId, path }), refusal("FILE_REFUSED", words));
  }
});

test("a file that shrinks breaks its answer off, and a giant one is refused", async ({ api, service }) => {
  const { sessionId, workDir } = await openSession(api);
  const path = join(workDir, "holes");
  await writeFile(path, "");
  await truncate(path, 1_073_741_825);
  await expectRefused(read(api, sessionId, "holes"), refusal("FILE_REFUSED", /^holes has 1073741825 bytes/));
  await truncate(path, 1_073_741_824);
  await expectRefused(
    (async () => {
      // A reader that has one piece keeps the rest of a gibibyte on the disk.
      for await (const _ of api.readFile({ sessionId, path })) {
        await truncate(path, 1);
      }
    })(),
    {
      grpcCode: "ABORTED",
      httpStatus: 409,
      reason: "BUSY",
      text: `${path} became shorter while it was read: read it again`,
    },
  );
  await truncate(path, 1_073_741_824);
  const url = `${service.url}/v1/sessions/${sessionId}/files/holes`;
  const response = await fetch(url, { headers: credentialsOf() });
  await truncate(path, 1);
  await expect(response.arrayBuffer()).rejects.toThrow("terminated");
});

test("a file whose time has no form in the contract is listed without it", async ({ api }) => {
  const { sessionId, workDir } = await openSession(api);
  await writeFile(join(workDir, "old"), "x");
  await utimes(join(workDir, "old"), 0, 300_000_000_000);
  expect((await api.listFiles({ sessionId })).files).toMatchObject([{ path: "old", size_bytes: 1 }]);
});

test("of two replicas with disks of their own, the one without the directory says so", async () => {
  const api = findSurface("gRPC");
  const first = await startService();
  const second = await startService({ databaseUrl: first.databaseUrl });
  const { session_id: sessionId } = await api.connect(first).createSession({ agent: { name: "tester" } });
  await expectRefused(api.connect(second).listFiles({ sessionId }), noDirectory);
});
