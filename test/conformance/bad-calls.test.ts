// Bad calls of every kind, as models write them, and work directories that fail: the model and every reader get the documented
// words, and the run continues.

import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answer, callInPieces, callTools, type FakeProvider } from "../fakes/provider.ts";
import { openFolder as openEmptyFolder } from "../fixtures.ts";
import { canMount, openSmallDisk } from "../harness/small-disk.ts";
import { readSession, type Stage, setStage } from "./stage.ts";
import type { Plain, SessionEvent, Surface } from "./surface.ts";
import { findSurface } from "./surfaces.ts";

const rest = findSurface("REST");
const fileTools = ["read_file", "write_file", "edit_file", "list_dir", "glob", "grep"];

interface BadCall {
  readonly tool: string;
  /** The text that the model wrote; an object is written as JSON. */
  readonly args: string | object;
  readonly told: { readonly error: string | RegExp } | { readonly content: string | RegExp };
}

function refused(tool: string, args: string | object, error: string | RegExp): BadCall {
  return { tool, args, told: { error } };
}

function taken(tool: string, args: string | object, content: string | RegExp): BadCall {
  return { tool, args, told: { content } };
}

test("every invalid call of a file tool gets the documented message, and the run continues", async () => {
  const stage = await setStage(rest);
  const workDir = await openFolder();
  await expectTold(stage, workDir, [...badReads(workDir), ...badWrites(workDir), ...badSearches(workDir)]);
});

function badReads(at: string): BadCall[] {
  const read = (file_path: unknown, error: string | RegExp) => refused("read_file", { file_path }, error);
  return [
    refused("read_file", {}, "file_path is required"),
    ...["", 7, null, ["a.txt"], { path: "a.txt" }].map((path) => read(path, "file_path is required")),
    read("missing", `stat ${at}/missing: no such file or directory`),
    read("a.txt/below", `stat ${at}/a.txt/below: no such file or directory`),
    read("sub", `read error: read ${at}/sub: is a directory`),
    read("/etc/passwd", 'path "/etc/passwd" is outside work directory'),
    read("../outside", /^path ".*\/outside" is outside work directory$/),
    read("link", `path "${at}/link" is outside work directory`),
    read(".ssh/id_ed25519", 'access to sensitive path "/.ssh/" is blocked'),
    read("a\0b", /NUL/),
    read("x".repeat(5_000), "path is too long (5000 bytes, max 4096)"),
    taken("read_file", { file_path: "a.txt", offset: "2", limit: {} }, "     1\tone\n     2\ttwo\n"),
    taken("read_file", { file_path: "a.txt", offset: 1e308, limit: -1 }, "(empty file or offset beyond end)"),
    taken("read_file", { file_path: "binary" }, /^ {5}1\t.*\uFFFD/s),
    refused("list_dir", { path: "a.txt" }, `open ${at}/a.txt: not a directory`),
    refused("list_dir", { path: "missing" }, `open ${at}/missing: no such file or directory`),
    refused("list_dir", { path: "/" }, 'path "/" is outside work directory'),
    taken("list_dir", { path: 5 }, /^a\.txt\t8\n/),
  ];
}

function badWrites(at: string): BadCall[] {
  return [
    ...[{}, { file_path: "" }, { file_path: 7 }, { file_path: null }].map((args) =>
      refused("write_file", { content: "x", ...args }, "file_path is required"),
    ),
    refused("write_file", { file_path: "sub", content: "x" }, `open ${at}/sub: is a directory`),
    refused("write_file", { file_path: "a.txt/x", content: "x" }, `open ${at}/a.txt/x: not a directory`),
    refused("write_file", { file_path: "/etc/runnel-test", content: "x" }, /^path ".*" is outside work directory$/),
    refused("write_file", { file_path: "link", content: "x" }, /^path ".*" is outside work directory$/),
    taken("write_file", { file_path: "none.txt", content: 5 }, `Wrote 0 bytes to ${at}/none.txt`),
    ...[{}, { file_path: "a.txt", old_string: 1 }, { file_path: "a.txt", old_string: "" }, { old_string: "a" }].map(
      (args) => refused("edit_file", args, "file_path and old_string are required"),
    ),
    refused("edit_file", { file_path: "a.txt", old_string: "six", new_string: "" }, "old_string not found in file"),
    refused(
      "edit_file",
      { file_path: "a.txt", old_string: "o", new_string: "0" },
      "old_string found 2 times; use replace_all or provide more context",
    ),
    refused(
      "edit_file",
      { file_path: "no", old_string: "a", new_string: "" },
      /^open .*\/no: no such file or directory$/,
    ),
    refused("edit_file", { file_path: "sub", old_string: "a", new_string: "" }, /is a directory$/),
  ];
}

function badSearches(at: string): BadCall[] {
  const invalid = (words: string) => `invalid regex: error parsing regexp: ${words}`;
  return [
    ...[undefined, "", 7, null, ["x"]].map((pattern) => refused("grep", { pattern }, "pattern is required")),
    refused("grep", { pattern: "(a" }, invalid("missing closing ): `(a`")),
    refused("grep", { pattern: "(?=a)" }, invalid("invalid or unsupported Perl syntax: `(?=`")),
    refused("grep", { pattern: "x", path: "missing" }, `open ${at}/missing: no such file or directory`),
    refused("grep", { pattern: "x", path: "/etc" }, 'path "/etc" is outside work directory'),
    refused("grep", { pattern: "x".repeat(5_000) }, "pattern is too long (5000 bytes, max 4096)"),
    taken("grep", { pattern: "binary words", include: 7 }, "No matches found"),
    refused("grep", { pattern: "x", include: "[z-a]" }, /^invalid glob pattern "\[z-a\]": /),
    refused("glob", { pattern: 4 }, "pattern is required"),
    refused("glob", { pattern: "*".repeat(5_000) }, "pattern is too long (5000 bytes, max 4096)"),
    refused("glob", { pattern: "[z-a]" }, /^invalid glob pattern "\[z-a\]": /),
    refused("glob", { pattern: "/etc/*" }, /is outside work directory$/),
    refused("glob", { pattern: "*", path: "a.txt" }, `open ${at}/a.txt: not a directory`),
  ];
}

test("a call of an unknown tool or with invalid arguments gets an error, and the run continues", async () => {
  const stage = await setStage(rest);
  const notJson = /^invalid arguments: not valid JSON \(.+\): send one JSON object$/;
  const notObject = (what: string) => `invalid arguments: expected a JSON object, got ${what}`;
  await expectTold(stage, await openFolder(), [
    ...["zap", "Read_File", "read_file ", "bash", "__proto__", "constructor", "x".repeat(10_000)].map((tool) =>
      refused(tool, {}, new RegExp(`^unknown tool: ${tool}; this agent has the tools .*read_file`)),
    ),
    ...['{"file_path":', "{file_path: 1}", "NaN", "\ud800", '{"a":"\n"}', '{"a":1}{"b":2}'].map((text) =>
      refused("read_file", text, notJson),
    ),
    refused("list_dir", '["."]', notObject("an array")),
    refused("list_dir", '"."', notObject("string")),
    refused("list_dir", "7", notObject("number")),
    refused("list_dir", "true", notObject("boolean")),
    refused("read_file", '{"__proto__":{"file_path":"a.txt"}}', "file_path is required"),
    refused("read_file", `{"file_path":${"[".repeat(50_000)}${"]".repeat(50_000)}}`, "file_path is required"),
    taken("list_dir", "", /^a\.txt\t8\n/),
    taken("list_dir", " null ", /^a\.txt\t8\n/),
    taken("read_file", '{"file_path":"missing","file_path":"a.txt"}', "     1\tone\n     2\ttwo\n"),
  ]);
});

test("arguments of 1 and 5 MiB are accepted, and content over the maximum of a file is refused", async () => {
  const { provider, api } = await setStage(rest);
  const workDir = await openFolder();
  const sizes = [1_048_576, 5_242_880, 11_534_336];
  for (const [index, size] of sizes.entries()) {
    const json = JSON.stringify({ file_path: `${index}`, content: "x".repeat(size) });
    provider.respond(callInPieces({ id: `call_${index}`, name: "write_file", arguments: json }));
  }
  provider.respond(answer("done"));
  const events = await converse(api, workDir);
  expect(events.filter(({ type }) => type === "tool_call").map(({ payload }) => lengthOfContent(payload))).toEqual(
    sizes,
  );
  expect(resultsOf(events)).toEqual([
    { tool: "write_file", success: true, content: `Wrote 1048576 bytes to ${workDir}/0` },
    { tool: "write_file", success: true, content: `Wrote 5242880 bytes to ${workDir}/1` },
    { tool: "write_file", success: false, content: "", error: "content too large: 11534336 bytes (max 10485760)" },
  ]);
  expect((await stat(join(workDir, "1"))).size).toBe(5_242_880);
  expect(events.at(-1)?.payload).toMatchObject({ status: "completed", turns: 4 });
});

function lengthOfContent({ args }: Plain): number {
  return (args as { content: string }).content.length;
}

test("the model gets an error when the work directory is gone or has become a file, and the run continues", async () => {
  const { provider, api } = await setStage(rest);
  const workDir = await openFolder();
  const everyTool = [
    { name: "read_file", arguments: '{"file_path":"a.txt"}' },
    { name: "write_file", arguments: '{"file_path":"b.txt","content":"b"}' },
    { name: "edit_file", arguments: '{"file_path":"a.txt","old_string":"one","new_string":"1"}' },
    { name: "list_dir", arguments: "{}" },
    { name: "glob", arguments: '{"pattern":"*"}' },
    { name: "grep", arguments: '{"pattern":"one"}' },
  ];
  const callAll = (turn: number) => callTools(...everyTool.map((call, index) => ({ id: `${turn}-${index}`, ...call })));
  provider.respond(
    async (wire, request) => {
      await rm(workDir, { recursive: true });
      await callAll(0)(wire, request);
    },
    async (wire, request) => {
      await writeFile(workDir, "a file");
      await callAll(1)(wire, request);
    },
    answer("done"),
  );
  const events = await converse(api, workDir);
  const results = resultsOf(events);
  expect(results).toHaveLength(12);
  for (const [index, result] of results.entries()) {
    const why = index < 6 ? "no such file or directory" : "not a directory";
    expect
      .soft(result, `${index} ${result.tool}`)
      .toMatchObject({ success: false, error: expect.stringContaining(why) });
  }
  expect(events.at(-1)?.payload).toMatchObject({ status: "completed", output: "done" });
});

test("the directory of a session is created again when it is gone", async () => {
  const sessionsWorkRoot = await openFolder();
  const { provider, api } = await setStage(rest, { sessionsWorkRoot });
  const list = (id: string) => callTools({ id, name: "list_dir", arguments: "{}" });
  provider.respond(
    callTools({ id: "0", name: "write_file", arguments: '{"file_path":"a","content":"a"}' }),
    async (wire, request) => {
      await rm(sessionsWorkRoot, { recursive: true });
      await list("1")(wire, request);
    },
    answer("done"),
  );
  const events = await converse(api);
  expect(resultsOf(events)).toMatchObject([{ success: true }, { success: true, content: "" }]);
  expect(events.at(-1)?.payload).toMatchObject({ status: "completed" });
});

test.runIf(canMount())(
  "a full disk gives the model an error and damages no file, and the run continues once there is room",
  async () => {
    const { provider, api } = await setStage(rest);
    const disk = openSmallDisk(4_194_304);
    const workDir = disk.folder;
    const content = "one line\n".repeat(20_000);
    await writeFile(join(workDir, "a.txt"), content);
    const change = (turn: string) =>
      callTools(
        {
          id: `${turn}-edit`,
          name: "edit_file",
          arguments: JSON.stringify({
            file_path: "a.txt",
            old_string: "one",
            new_string: "another",
            replace_all: true,
          }),
        },
        { id: `${turn}-write`, name: "write_file", arguments: JSON.stringify({ file_path: "new/b.txt", content }) },
      );
    const kept: string[] = [];
    provider.respond(
      async (wire, request) => {
        disk.fill();
        await change("full")(wire, request);
      },
      async (wire, request) => {
        kept.push(await readFile(join(workDir, "a.txt"), "utf8"));
        disk.empty();
        await change("empty")(wire, request);
      },
      answer("done"),
    );
    const events = await converse(api, workDir);
    const full = expect.stringMatching(/^(?:open|write) .*: no space left on device$/);
    expect(resultsOf(events)).toEqual([
      { tool: "edit_file", success: false, content: "", error: full },
      { tool: "write_file", success: false, content: "", error: full },
      { tool: "edit_file", success: true, content: "File edited successfully" },
      { tool: "write_file", success: true, content: `Wrote ${content.length} bytes to ${workDir}/new/b.txt` },
    ]);
    expect(kept[0] === content).toBe(true);
    expect((await readdir(workDir)).sort()).toEqual(["a.txt", "new"]);
    expect(events.at(-1)?.payload).toMatchObject({ status: "completed", output: "done" });
  },
);

async function openFolder(): Promise<string> {
  const folder = await openEmptyFolder();
  await writeFile(join(folder, "a.txt"), "one\ntwo\n");
  await writeFile(join(folder, "binary"), Buffer.concat([Buffer.from([0, 255, 254]), Buffer.from("binary words")]));
  await mkdir(join(folder, "sub"));
  await symlink("/etc/passwd", join(folder, "link"));
  return folder;
}

const callsPerTurn = 10;

/** Starts one run that makes all of these calls, a few in a turn, and then ends with a text. */
async function expectTold({ provider, api }: Stage, workDir: string, calls: readonly BadCall[]): Promise<void> {
  const turns = Math.ceil(calls.length / callsPerTurn);
  for (let turn = 0; turn < turns; turn++) {
    provider.respond(callTools(...calls.slice(turn * callsPerTurn, (turn + 1) * callsPerTurn).map(pieceOf)));
  }
  provider.respond(answer("done"));
  const events = await converse(api, workDir);
  const results = resultsOf(events);
  const read = await toldToModel(provider, turns);
  expect(results).toHaveLength(calls.length);
  for (const [index, { tool, args, told }] of calls.entries()) {
    const what = `${tool} ${typeof args === "string" ? args : JSON.stringify(args)}`.slice(0, 100);
    const [text, words] = "error" in told ? [told.error, "error"] : [told.content, "content"];
    expect.soft(results[index], what).toMatchObject({ tool, success: "content" in told, [words]: matching(text) });
    const said = (results[index] as Plain)[words];
    expect.soft(read[index], what).toBe("error" in told ? `Error: ${said}` : said);
  }
  expect(events.at(-1)?.payload).toMatchObject({ status: "completed", output: "done", turns: turns + 1 });
}

/** Returns every event of a run whose agent has the file tools. */
async function converse(api: Surface, workDir?: string): Promise<SessionEvent[]> {
  const agent = { name: "clumsy", tools: { builtin: fileTools } };
  const { session_id: sessionId } = await api.createSession({ ...(workDir !== undefined && { workDir }), agent });
  await api.sendMessage({ sessionId, message: "hello" });
  return await readSession(api, sessionId);
}

function resultsOf(events: readonly SessionEvent[]): Plain[] {
  return events.filter(({ type }) => type === "tool_result").map(({ payload }) => payload);
}

function pieceOf({ tool, args }: BadCall, index: number) {
  return { id: `call_${index}`, name: tool, arguments: typeof args === "string" ? args : JSON.stringify(args) };
}

async function toldToModel(provider: FakeProvider, turns: number): Promise<unknown[]> {
  const { messages } = (await provider.request(turns)).body;
  return messages.filter(({ role }) => role === "tool").map(({ content }) => content);
}

function matching(text: string | RegExp): unknown {
  return typeof text === "string" ? text : expect.stringMatching(text);
}
