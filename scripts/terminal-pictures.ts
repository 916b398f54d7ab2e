// `node scripts/demo-picture.ts`: runs the demo and draws its output as docs/demo.svg, line after line as it came.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { repositoryRoot } from "./run-command.ts";

interface Line {
  readonly text: string;
  readonly atMs: number;
}

const lineHeight = 18;
const margin = 14;
const width = 760;
/** The picture starts again after this pause at its end. */
const pauseMs = 4_000;

const colors: readonly (readonly [RegExp, string])[] = [
  [/^── kill/, "#ff7b72"],
  [/^──/, "#ffa657"],
  [/^gRPC/, "#79c0ff"],
  [/^ +SSE/, "#d2a8ff"],
  [/^✓/, "#7ee787"],
];

async function runDemo(): Promise<Line[]> {
  const child = spawn(process.execPath, ["src/main.ts", "demo"], {
    cwd: repositoryRoot,
    env: { ...process.env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: Line[] = [];
  let startMs: number | undefined;
  createInterface({ input: child.stdout }).on("line", (text) => {
    // The start of Postgres is no part of the picture.
    startMs ??= text.startsWith("ready") ? performance.now() : undefined;
    if (startMs !== undefined) {
      lines.push({ text, atMs: performance.now() - startMs });
    }
  });
  const [code] = await once(child, "close");
  if (code !== 0) {
    throw new Error(`the demo ended with ${code}`);
  }
  return lines;
}

function draw(lines: readonly Line[]): string {
  const totalMs = (lines.at(-1)?.atMs ?? 0) + pauseMs;
  const height = lines.length * lineHeight + 2 * margin;
  const rules = lines.map(({ atMs }, index) => {
    const share = ((100 * atMs) / totalMs).toFixed(2);
    return `@keyframes l${index}{0%,${share}%{opacity:0}${(Number(share) + 0.01).toFixed(2)}%,100%{opacity:1}}#l${index}{animation:l${index} ${Math.round(totalMs)}ms infinite}`;
  });
  const texts = lines.map(({ text }, index) => {
    const y = margin + (index + 0.75) * lineHeight;
    return `<text id="l${index}" x="${margin}" y="${y}" fill="${colorOf(text)}" xml:space="preserve">${escapeXml(text)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Output of npm run demo">`,
    `<style>text{font:13px ui-monospace,Menlo,Consolas,monospace}@media (prefers-reduced-motion:no-preference){${rules.join("")}}</style>`,
    `<rect width="100%" height="100%" rx="8" fill="#0d1117"/>`,
    ...texts,
    "</svg>",
    "",
  ].join("\n");
}

function colorOf(text: string): string {
  return colors.find(([pattern]) => pattern.test(text))?.[1] ?? "#c9d1d9";
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

await writeFile(join(repositoryRoot, "docs/demo.svg"), draw(await runDemo()));
