// `node scripts/performance-page.ts <file>`: puts a run of the benches, as `npm run bench -- --json` printed it, into
// docs/performance.md and draws its charts beside it. Text of the page that was written by hand stays unchanged.

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BenchRun } from "../test/bench/report/bench-run.ts";
import { drawCharts } from "../test/bench/report/charts.ts";
import { fillPage } from "../test/bench/report/page.ts";
import { repositoryRoot } from "./run-command.ts";

const pageFile = join(repositoryRoot, "docs/performance.md");
const chartFolder = join(repositoryRoot, "docs/performance");

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error("usage: node scripts/performance-page.ts <file of `npm run -s bench -- --json`>");
  process.exit(2);
}
const run = await readRun(file);
const charts = drawCharts(run);
await writeFile(pageFile, fillPage(await readFile(pageFile, "utf8"), run, charts));
await mkdir(chartFolder, { recursive: true });
// Removes all earlier charts: one of a bench that no longer exists would show a run that cannot be repeated.
for (const name of await readdir(chartFolder)) {
  if (name.endsWith(".svg")) {
    await rm(join(chartFolder, name));
  }
}
for (const { name, svg } of charts) {
  await writeFile(join(chartFolder, name), svg);
}
console.log(`docs/performance.md and ${charts.length} charts, from ${run.benches.length} benches`);

async function readRun(path: string): Promise<BenchRun> {
  const value = JSON.parse(await readFile(path, "utf8")) as BenchRun;
  if (!Array.isArray(value.benches) || value.benches.length === 0) {
    throw new Error(`${path} holds no run of the benches`);
  }
  return value;
}
