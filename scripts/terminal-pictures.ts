// `npx node scripts/terminal-pictures.ts [demo] [chat]`: runs the demo, or a conversation with `runnel dev`, and draws what the terminal
// showed as docs/demo.svg and docs/chat.svg, line after line as it came.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { stripVTControlCharacters } from "node:util";
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
  [/^\$/, "#ffa657"],
  [/^>/, "#79c0ff"],
  [/^[→←]/, "#d2a8ff"],
];
const main = join(repositoryRoot, "src/main.ts");

async function runDemo(): Promise<Line[]> {
  const child = spawn(process.execPath, [main, "demo"], {
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

/** A question to the demo model about the files of a folder, asked on a terminal. */
async function runChat(): Promise<Line[]> {
  await using place = await mkdtempDisposable(join(tmpdir(), "runnel-"));
  // When root starts Postgres, it runs under another account, which needs to reach its data.
  await chmod(place.path, 0o711);
  const cwd = join(place.path, "shopping");
  await mkdir(cwd);
  await writeFile(join(cwd, "notes.txt"), "Buy bread.\n");
  const env = { ...process.env, NO_COLOR: "1", TERM: "xterm" };
  const dev = spawn(process.execPath, [main, "dev"], { cwd, env, stdio: ["ignore", "inherit", "pipe"] });
  const shown = ["$ runnel dev"];
  for await (const line of createInterface({ input: dev.stderr })) {
    shown.push(line);
    if (line.startsWith("  stop")) {
      break;
    }
  }
  // It writes more lines, which nothing reads.
  dev.stderr.resume();
  const lines = [...shown.filter((line) => !line.startsWith("Creating")), "", "$ runnel chat"].map((text) => ({
    text,
    atMs: 0,
  }));
  lines.push(...(await talk(cwd, env)));
  dev.kill("SIGINT");
  await once(dev, "close");
  return lines;
}

async function talk(cwd: string, env: NodeJS.ProcessEnv): Promise<Line[]> {
  const chat = spawn("script", ["-qec", `exec '${process.execPath}' '${main}' chat`, "/dev/null"], { cwd, env });
  const lines: Line[] = [];
  const startMs = performance.now();
  let text = "";
  let isAsked = false;
  for await (const chunk of chat.stdout.setEncoding("utf8")) {
    text += chunk;
    if (!isAsked && text.includes("> ")) {
      isAsked = true;
      chat.stdin.write("Which files are here?\r");
    }
    const whole = stripVTControlCharacters(text).replaceAll("\r", "").split("\n").slice(0, -1);
    const atMs = performance.now() - startMs;
    lines.push(...whole.slice(lines.length).map((each) => ({ text: each.replaceAll("\t", "  "), atMs })));
    if (lines.at(-1)?.text.startsWith("✓")) {
      break;
    }
  }
  chat.kill("SIGKILL");
  return lines;
}

function draw(lines: readonly Line[], label: string): string {
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
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">`,
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

const pictures = {
  demo: [runDemo, "Output of runnel demo"],
  chat: [runChat, "A conversation by runnel dev and runnel chat"],
} as const;
const names = Object.keys(pictures) as (keyof typeof pictures)[];
const wanted = process.argv.slice(2);
for (const name of names.filter((each) => wanted.length === 0 || wanted.includes(each))) {
  const [run, label] = pictures[name];
  await writeFile(join(repositoryRoot, `docs/${name}.svg`), draw(await run(), label));
}
