// How the service serves the console: its files, its headers, its prefix; and how large the console is.

import { readdirSync, readFileSync } from "node:fs";
import { get, type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { startService } from "../harness/service.ts";

const built = join(repositoryRoot, "console/dist");
/** 60 KiB in brotli, as browsers ask for it: what a browser on a slow line waits for before it shows the list of runs. */
const firstScriptsMaxBytes = 61_440;
/** A view costs its readers only: it is loaded when it is opened. */
const allScriptsMaxBytes = 250_000;
const stylesMaxBytes = 12_000;
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; media-src blob:; frame-src blob:; font-src 'self'; " +
  "base-uri 'self'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const page = readFileSync(join(built, "index.html"), "utf8");
const firstScripts = [...page.matchAll(/(?:src|href)="\.\/assets\/([^"]+\.js)"/g)].map(([, name = ""]) => name);
const [, script = ""] = /src="\.\/(assets\/[^"]+\.js)"/.exec(page) ?? [];

test("the service without the setting has no console", async () => {
  const { url } = await startService();
  expect((await fetch(`${url}/console/`)).status).toBe(404);
  expect((await fetch(`${url}/`, { redirect: "manual" })).status).toBe(404);
});

test("the root and the bare path lead to the console, and the paths of views give its page", async () => {
  const { url } = await startService({ consoleEnabled: true });
  for (const path of ["/", "/console"]) {
    const answer = await fetch(`${url}${path}`, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/console/"]);
  }
  for (const path of ["/console/", "/console/runs", "/console/runs/01a20ed9-206f-708b-9dd4-ae465db884f4?tab=entries"]) {
    const answer = await fetch(`${url}${path}`);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    expect(await answer.text()).toBe(page);
  }
});

test("the explorer of the API is there with the console, and its unknown files are missing", async () => {
  const { url } = await startService({ consoleEnabled: true, serverPublicPath: "/tools/runnel" });
  const redirect = await fetch(`${url}/docs`, { redirect: "manual" });
  expect([redirect.status, redirect.headers.get("location")]).toEqual([302, "/tools/runnel/docs/"]);
  expect(await (await fetch(`${url}/docs/`)).text()).toContain("./swagger-ui-bundle.js");
  expect((await fetch(`${url}/docs/unknown.js`)).status).toBe(404);
  expect((await fetch(`${(await startService()).url}/docs/`)).status).toBe(404);
});

test("every answer forbids other scripts, frames and referrers", async () => {
  const { url } = await startService({ consoleEnabled: true });
  for (const path of ["/", "/console/", `/console/${script}`, "/console/assets/unknown.js", "/docs/"]) {
    const { headers } = await fetch(`${url}${path}`, { redirect: "manual" });
    expect(headers.get("content-security-policy")).toBe(policy);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
  }
});

test("an asset is compressed as asked, cached for good, and not sent again to a browser that has it", async () => {
  const { url } = await startService({ consoleEnabled: true });
  const file = readFileSync(join(built, script));
  const tags = new Set<string>();
  const codings = [
    ["br", "br", brotliDecompressSync],
    ["gzip", "gzip", gunzipSync],
    ["gzip, br;q=0", "gzip", gunzipSync],
    ["identity", undefined, (bytes: Buffer) => bytes],
  ] as const;
  for (const [accepted, coding, decode] of codings) {
    const answer = await request(`${url}/console/${script}`, { "accept-encoding": accepted });
    expect(answer.headers["content-encoding"]).toBe(coding);
    expect(answer.headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect(answer.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(answer.headers.vary).toBe("Accept-Encoding");
    expect(decode(answer.body).equals(file)).toBe(true);
    const tag = answer.headers.etag ?? "";
    expect(tag).toMatch(/^"[^"]+"$/);
    tags.add(tag);
    const known = await request(`${url}/console/${script}`, { "accept-encoding": accepted, "if-none-match": tag });
    expect([known.status, known.body.length]).toEqual([304, 0]);
  }
  expect(tags.size).toBe(3);
});

test("an unknown asset is missing, a path cannot leave the folder, and other methods are refused", async () => {
  const { url } = await startService({ consoleEnabled: true });
  expect((await fetch(`${url}/console/assets/unknown.js`)).status).toBe(404);
  const outside = await request(`${url}/console/..%2f..%2fpackage.json`, {});
  expect(outside.body.toString()).toBe(page);
  const posted = await fetch(`${url}/console/`, { method: "POST" });
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

test("behind a proxy with a prefix, the page's base and the redirect have the prefix", async () => {
  const { url } = await startService({ consoleEnabled: true, serverPublicPath: "/tools/runnel" });
  const redirect = await fetch(`${url}/`, { redirect: "manual" });
  expect(redirect.headers.get("location")).toBe("/tools/runnel/console/");
  expect(await (await fetch(`${url}/console/runs`)).text()).toContain('<base href="/tools/runnel/console/" />');
});

test("the first script describes the calls of the list, and needs no descriptor of descriptors", () => {
  const first = firstScripts.map((name) => readFileSync(join(built, "assets", name), "utf8")).join();
  expect(first).toContain("runnel/v1/run_service.proto");
  expect(first).not.toContain("runnel/v1/result.proto");
  expect(first).not.toContain("google/protobuf/descriptor.proto");
});

test("the first load is small, and so is everything together", () => {
  const files = readdirSync(join(built, "assets"));
  const sizeOf = (names: readonly string[]): number =>
    names.reduce((sum, name) => sum + brotliCompressSync(readFileSync(join(built, "assets", name))).length, 0);
  const scripts = files.filter((name) => name.endsWith(".js"));
  expect(firstScripts.length).toBeGreaterThan(0);
  expect(sizeOf(firstScripts)).toBeLessThan(firstScriptsMaxBytes);
  expect(sizeOf(scripts)).toBeLessThan(allScriptsMaxBytes);
  expect(sizeOf(files.filter((name) => name.endsWith(".css")))).toBeLessThan(stylesMaxBytes);
});

/** Sends exactly these headers, and does not decode the body: `fetch` does. */
async function request(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number | undefined; readonly headers: IncomingHttpHeaders; readonly body: Buffer }> {
  return await new Promise((resolve, reject) => {
    get(url, { headers }, (answer) => {
      buffer(answer).then((body) => resolve({ status: answer.statusCode, headers: answer.headers, body }), reject);
    }).once("error", reject);
  });
}
