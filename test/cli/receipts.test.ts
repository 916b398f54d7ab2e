// `receipt` and `verify`: receipts and logs of real runs, fetched as users do it, damaged in every way, and checked offline.

import { generateKeyPairSync } from "node:crypto";
import { mkdir, readdir } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { signText } from "../../src/engine/receipts/jws.ts";
import { printStatement, readStatement, type Statement } from "../../src/engine/receipts/statement.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { until } from "../harness/wait.ts";
import { openWire } from "../harness/wire.ts";
import { runInTerminal } from "./command.ts";
import { type SignedStage, setSignedStage } from "./signed.ts";

const words = "list the files pace=0 words=60";
/** The demo model repeats it, and many programs break lines at U+2028. */
const brokenWords = "hello \u2028 there pace=0 words=60";

interface Fetched {
  readonly runId: string;
  readonly receipt: { readonly jws: string; readonly statement: Statement };
  readonly lines: readonly string[];
}

async function fetchReceipt(stage: SignedStage, message = words): Promise<Fetched> {
  const runId = await run(stage, message);
  const fetched = await stage.runnel("receipt", runId, "--out", "receipt.json", "--log", "log.jsonl");
  const lines = (await stage.read("log.jsonl")).trimEnd().split("\n");
  expect(fetched).toEqual({
    code: 0,
    stdout: `wrote receipt.json\nwrote log.jsonl: ${lines.length} entries\n`,
    stderr: "",
  });
  return { runId, receipt: JSON.parse(await stage.read("receipt.json")), lines };
}

async function run(stage: SignedStage, message: string): Promise<string> {
  const { code, stderr } = await stage.runnel("run", message, "--json");
  expect(code).toBe(0);
  return JSON.parse(stderr).run_id;
}

async function verify(stage: SignedStage, ...words: string[]) {
  const { code, stdout, stderr } = await stage.runnel("verify", ...words, "--json");
  return { code, answer: stdout === "" ? undefined : JSON.parse(stdout), failure: stderr && JSON.parse(stderr) };
}

async function putKeys(stage: SignedStage, name = "jwks.json"): Promise<string> {
  const response = await fetch(`${stage.service.url}/.well-known/jwks.json`);
  return await stage.put(name, await response.text());
}

describe("receipt", () => {
  test("writes the receipt as REST returns it, and the log with its stored bytes; both verify without a service", async () => {
    const stage = await setSignedStage();
    const { runId, receipt, lines } = await fetchReceipt(stage, brokenWords);
    const rest = await fetch(`${stage.service.url}/v1/runs/${runId}/receipt`, { headers: credentialsOf() });
    const { statement: answered } = (await rest.json()) as Fetched["receipt"];
    expect({ ...receipt.statement, issued_at: "" }).toEqual({ ...answered, issued_at: "" });
    expect(lines).toHaveLength(receipt.statement.entries);
    expect(lines.join("")).toContain("\u2028");
    await putKeys(stage);
    await stage.service.close();
    const { code, stdout, stderr } = await stage.runnel("verify", "receipt.json", "log.jsonl", "--jwks", "jwks.json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { entries, counts, first_hash, last_hash, started_at, ended_at, issued_at } = receipt.statement;
    expect(stdout.split("\n")).toEqual([
      "✓ the receipt's signature is right",
      expect.stringMatching(/^ {2}signed by {3}kid \S{43}, key \S{44}$/),
      "  issuer      runnel",
      `  run         ${runId}`,
      "  status      completed (stop)",
      `  time        ${started_at} to ${ended_at}, receipt of ${issued_at}`,
      `  entries     ${entries}`,
      ...Object.entries(counts).map(([type, count]) => `              ${count} ${type}`),
      `  first hash  ${first_hash}`,
      `  last hash   ${last_hash}`,
      "✓ the key is one that the service publishes",
      "✓ log.jsonl is the log that was signed",
      "",
    ]);
    const { marks: _marks, ...statement } = receipt.statement;
    expect(await verify(stage, "receipt.json", "log.jsonl")).toEqual({
      code: 0,
      answer: {
        ...{ kind: "receipt", verify: "ok", kid: expect.any(String), public_key: expect.any(String), key: "claimed" },
        ...{ statement, copy: "same", log: { file: "log.jsonl", misquoted: [] } },
      },
      failure: "",
    });
  });

  test("is printed alone on standard output, where verify reads it, also as a bare JWS", async () => {
    const stage = await setSignedStage();
    const runId = await run(stage, words);
    const { code, stdout, stderr } = await stage.runnel("receipt", runId);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const receipt = JSON.parse(stdout);
    const json = await stage.runnel("receipt", runId, "--json", "--log", "log.jsonl");
    expect(json.stdout).toMatch(/^[^\n]+\n$/);
    expect(Object.keys(JSON.parse(json.stdout))).toEqual(["jws", "statement"]);
    expect(JSON.parse(json.stderr)).toEqual({ note: "wrote", log: "log.jsonl", entries: receipt.statement.entries });
    const forms = {
      asItWasPrinted: stdout,
      bare: receipt.jws,
      bareWithAnEnd: `${receipt.jws}\r\n`,
      withTheTextOfGrpc: JSON.stringify({ ...receipt, statement: JSON.stringify(receipt.statement) }),
    };
    for (const [name, text] of Object.entries(forms)) {
      const { code, answer } = await verify(stage, await stage.put("form", text), "log.jsonl");
      const copy = name.startsWith("bare") ? "none" : "same";
      expect({ name, code, answer }).toMatchObject({ name, code: 0, answer: { verify: "ok", copy } });
    }
  });

  // The story: the connection breaks twice while the command reads a long log. The command keeps what arrived completely and
  // reads the rest from there.
  test("resumes the download after a broken connection", async () => {
    const stage = await setSignedStage();
    const questions = Array.from({ length: 40 }, (_, index) => `question ${index}? pace=0 words=4000`);
    const file = await stage.sign("signed.json", { questions, constraints: { regions: ["EU"] } });
    const submitted = await stage.runnel("jobs", "submit", file, "--watch", "--json");
    expect(submitted).toMatchObject({ code: 0 });
    const runId = JSON.parse(submitted.stdout.trimEnd().split("\n").at(-1) ?? "").executions[0].run_id;
    expect(await stage.runnel("receipt", runId, "--out", "receipt.json", "--log", "whole.jsonl")).toMatchObject({
      code: 0,
    });
    const { hostname, port } = new URL(stage.service.url);
    let passed = 0;
    let cuts = 0;
    const wire = await openWire({
      connectFar: () => connect(Number(port), hostname),
      inspect: (link, data, from) => {
        passed += from === "far" ? data.length : 0;
        // A page has 256 KiB: two pages have arrived by then.
        if (passed > 700_000 && cuts < 2) {
          passed = 0;
          cuts += 1;
          link.cut();
          return false;
        }
        return true;
      },
    });
    const url = `http://${wire.host}:${wire.port}`;
    const broken = await stage.runnel(
      "receipt",
      runId,
      "--out",
      "again.json",
      "--log",
      "broken.jsonl",
      "--url",
      url,
      "--json",
    );
    expect({ code: broken.code, cuts }).toEqual({ code: 0, cuts: 2 });
    const notes = broken.stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(notes.map(({ note }) => note)).toEqual(["reconnecting", "reconnecting"]);
    expect(Number(notes[0].after)).toBeGreaterThan(0);
    expect(Number(notes[1].after)).toBeGreaterThan(Number(notes[0].after));
    expect(await stage.read("broken.jsonl")).toBe(await stage.read("whole.jsonl"));
    expect(await verify(stage, "again.json", "broken.jsonl")).toMatchObject({ code: 0, answer: { verify: "ok" } });
  });

  test("leaves no file behind when it is interrupted", async () => {
    const stage = await setSignedStage();
    const runId = await run(stage, words);
    const { hostname, port } = new URL(stage.service.url);
    // This proxy never sends an answer.
    const wire = await openWire({
      connectFar: () => connect(Number(port), hostname),
      inspect: (_link, _data, from) => from === "near",
    });
    const before = await readdir(stage.folder);
    const both = ["--out", "receipt.json", "--log", "log.jsonl"];
    const fetching = stage.start("receipt", runId, ...both, "--url", `http://${wire.host}:${wire.port}`, "--json");
    await until("both files to be begun", async () => (await readdir(stage.folder)).length === before.length + 2);
    fetching.child.kill("SIGINT");
    const { code, stdout, stderr } = await fetching.ended;
    expect({ code, stdout, note: JSON.parse(stderr) }).toEqual({
      code: 130,
      stdout: "",
      note: { note: "interrupted", run_id: runId },
    });
    expect(await readdir(stage.folder)).toEqual(before);
  });

  test("overwrites a file only with --force, and leaves no partial file after a failure", async () => {
    const stage = await setSignedStage();
    const { runId, receipt } = await fetchReceipt(stage);
    const before = [await stage.read("receipt.json"), await stage.read("log.jsonl")];
    const refused = await stage.runnel("receipt", runId, "--out", "receipt.json", "--log", "other.jsonl");
    expect(refused).toEqual({
      code: 1,
      stdout: "",
      stderr: "runnel: cannot write receipt.json: it exists\n  fix      name another file, or add --force\n",
    });
    const failure = async (...more: string[]) => {
      const { code, stdout, stderr } = await stage.runnel("receipt", ...more, "--json");
      expect(stdout).toBe("");
      return { code, reason: JSON.parse(stderr).reason };
    };
    await mkdir(join(stage.folder, "folder"));
    const unknown = "01890000-0000-7000-8000-000000000000";
    const both = ["--out", "new.json", "--log", "new.jsonl"];
    expect(await failure(runId, "--out", "new.json", "--log", "log.jsonl")).toEqual({ code: 1, reason: "FILE_EXISTS" });
    expect(await failure(runId, "--out", "no/such/folder")).toEqual({ code: 1, reason: "FILE_UNWRITABLE" });
    expect(await failure(runId, "--out", "folder", "--force")).toEqual({ code: 1, reason: "FILE_UNWRITABLE" });
    expect(await failure(runId, "--out", "new", "--log", "./new")).toEqual({ code: 2, reason: "USAGE" });
    expect(await failure(unknown, ...both)).toEqual({ code: 1, reason: "RUN_NOT_FOUND" });
    expect(await failure(unknown, "--out", "receipt.json", "--force")).toEqual({ code: 1, reason: "RUN_NOT_FOUND" });
    const active = stage.start("run", "hello pace=60000", "--json");
    await until("the run to start", () => active.stderr().includes("\n"));
    const { run_id: activeId } = JSON.parse(active.stderr());
    const early = await stage.runnel("receipt", activeId, ...both);
    expect(early).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^runnel: the run has not ended.*\n {2}fix {6}.*`runnel tail <run>`.*\n/),
    });
    expect((await readdir(stage.folder)).toSorted()).toEqual(["folder", "log.jsonl", "portal.pem", "receipt.json"]);
    expect([await stage.read("receipt.json"), await stage.read("log.jsonl")]).toEqual(before);
    expect(await stage.runnel("receipt", runId, "--out", "receipt.json", "--force")).toMatchObject({ code: 0 });
    const again = JSON.parse(await stage.read("receipt.json"));
    expect({ ...again.statement, issued_at: "" }).toEqual({ ...receipt.statement, issued_at: "" });
  });
});

describe("verify", () => {
  // Every kind of damage: test/receipts/verify-log.
  test("names the first bad entry of a damaged log", async () => {
    const stage = await setSignedStage();
    const { lines } = await fetchReceipt(stage);
    const count = lines.length;
    expect(count).toBeGreaterThan(4);
    const at = (place: number): string => lines[place - 1] ?? expect.unreachable();
    const damaged: [name: string, damaged: readonly string[], at: number, problem: string][] = [
      ["one changed", lines.with(2, changeBytes(at(3))), 3, "changed"],
      ["everything removed", [], 1, "ends_too_early"],
      ["a line cut off", [...lines.slice(0, -1), at(count).slice(0, -10)], count, "not_a_log_line"],
      ["a copy appended", [...lines, at(count)], count + 1, "surplus"],
    ];
    for (const [name, log, first, problem] of damaged) {
      const outcome = await verify(stage, "receipt.json", await stage.put("damaged.jsonl", `${log.join("\n")}\n`));
      expect({ name, ...outcome }).toMatchObject({
        ...{ name, code: 1, failure: "" },
        answer: { verify: "failed", log: { file: "damaged.jsonl", bad: { first, last: first, problem } } },
      });
    }
    await stage.put("damaged.jsonl", lines.toSpliced(2, 1).join("\n"));
    const { code, stdout } = await stage.runnel("verify", "receipt.json", "damaged.jsonl");
    expect({ code, last: stdout.trimEnd().split("\n").at(-1) }).toEqual({
      code: 1,
      last: "✗ damaged.jsonl, entry 3: entry 3 is missing: entry 4 is in its place (missing)",
    });
  });

  test("ignores the readable copy of the log, and works without it", async () => {
    const stage = await setSignedStage();
    const { lines } = await fetchReceipt(stage);
    const lied = lines.map((line) => line.replaceAll("demo model", "best model"));
    const places = lied.flatMap((line, index) => (line === lines[index] ? [] : [index + 1]));
    expect(places).not.toEqual([]);
    await stage.put("lied.jsonl", lied.join("\n"));
    expect(await verify(stage, "receipt.json", "lied.jsonl")).toMatchObject({
      code: 1,
      answer: { verify: "failed", log: { misquoted: places } },
    });
    expect((await stage.runnel("verify", "receipt.json", "lied.jsonl")).stdout).toContain(
      `✗ lied.jsonl: the decoded text differs from the stored bytes in entry ${places.join(", ")}`,
    );
    const bare = lines.map((line) => {
      const { sequence, bytes } = JSON.parse(line);
      return JSON.stringify({ sequence, bytes });
    });
    await stage.put("bare.jsonl", bare.join("\r\n"));
    expect(await verify(stage, "receipt.json", "bare.jsonl")).toMatchObject({ code: 0, answer: { verify: "ok" } });
  });

  test("reports whether the service's key signed or the key is unknown", async () => {
    const stage = await setSignedStage();
    const { receipt } = await fetchReceipt(stage);
    await putKeys(stage);
    const claimed = await stage.runnel("verify", "receipt.json");
    expect(claimed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^! whose key it is only the receipt itself says.* --jwks:\n {2}curl .*jwks\.json > jwks\.json$/m,
      ),
    });
    const seen = await runInTerminal(["verify", "receipt.json"], { directory: stage.folder });
    expect(seen).toMatchObject({ code: 0, stdout: expect.stringContaining("\u001b[33m!\u001b[39m whose key it is") });
    expect(await verify(stage, "receipt.json", "--jwks", "jwks.json")).toMatchObject({
      code: 0,
      answer: { verify: "ok", key: "published" },
    });
    const statement = readStatement(JSON.stringify(receipt.statement));
    const forged = signText(
      printStatement({ ...statement, status: "failed" }),
      generateKeyPairSync("ed25519").privateKey,
    );
    await stage.put("forged", forged);
    // The forged receipt is valid by itself. The service's keys show that the service did not sign it, and the log shows that
    // it is wrong.
    expect(await verify(stage, "forged")).toMatchObject({ code: 0, answer: { key: "claimed" } });
    expect(await verify(stage, "forged", "--jwks", "jwks.json")).toMatchObject({
      code: 1,
      answer: { verify: "failed", key: "not_published", statement: { status: "failed" } },
    });
    expect(await verify(stage, "forged", "log.jsonl")).toMatchObject({
      code: 1,
      answer: { verify: "failed", log: { bad: { first: statement.entries, problem: "ends_otherwise" } } },
    });
    const [key] = JSON.parse(await stage.read("jwks.json")).keys;
    const sets: [set: unknown, expected: object][] = [
      [{ keys: [] }, { code: 1, answer: { key: "not_published" } }],
      [
        { keys: [{ ...key, x: Buffer.alloc(32, 9).toString("base64url") }] },
        { code: 1, answer: { key: "not_published" } },
      ],
      [{ keys: [{ ...key, kid: "other" }] }, { code: 1, answer: { key: "not_published" } }],
      [{ keys: [{ kty: "RSA", n: "AQAB", e: "AQAB" }, key] }, { code: 0, answer: { key: "published" } }],
      [[key], { code: 1, answer: undefined, failure: { reason: "INVALID_JWKS" } }],
      ["no set", { code: 1, answer: undefined, failure: { reason: "INVALID_JWKS" } }],
    ];
    for (const [set, expected] of sets) {
      const outcome = await verify(stage, "receipt.json", "--jwks", await stage.put("set.json", JSON.stringify(set)));
      expect({ set, ...outcome }).toMatchObject(expected);
    }
    const rotated = await setSignedStage();
    expect(await verify(stage, "receipt.json", "--jwks", join(rotated.folder, await putKeys(rotated)))).toMatchObject({
      code: 1,
      answer: { key: "not_published" },
    });
  });

  test("refuses a receipt that was changed, and warns when the text beside it was", async () => {
    const stage = await setSignedStage();
    const { receipt } = await fetchReceipt(stage);
    const [header = "", payload = "", signature = ""] = receipt.jws.split(".");
    const better = Buffer.from(payload, "base64url").toString().replace('"stop"', '"done"');
    const other = Buffer.from(better).toString("base64url");
    const key = generateKeyPairSync("ed25519").privateKey;
    const wrong: [name: string, text: string, told: RegExp][] = [
      ["its statement changed", `${header}.${other}.${signature}`, /^invalid signature: the receipt was changed/],
      [
        "its signature changed",
        `${header}.${payload}.${changeFirst(signature)}`,
        /^invalid signature: the receipt was changed/,
      ],
      ["its header changed", `${changeFirst(header)}.${payload}.${signature}`, /header/],
      ["a part missing", `${header}.${payload}`, /three parts/],
      ["jws that is not a string", JSON.stringify({ jws: 1 }), /not a compact JWS/],
      ["something else signed", signText("{}", key), /not of type/],
    ];
    for (const [name, text, told] of wrong) {
      const { code, answer, failure } = await verify(stage, await stage.put("wrong", text), "log.jsonl");
      expect({ name, code, failure }).toEqual({ name, code: 1, failure: "" });
      expect(answer).toMatchObject({ kind: "receipt", verify: "failed", error: expect.stringMatching(told) });
      expect(answer).not.toHaveProperty("log");
    }
    const prettier = { ...receipt, statement: { ...receipt.statement, status: "failed" } };
    const file = await stage.put("prettier.json", JSON.stringify(prettier));
    expect(await verify(stage, file)).toMatchObject({
      code: 0,
      answer: { verify: "ok", copy: "different", statement: { status: "completed" } },
    });
    expect((await stage.runnel("verify", file)).stdout).toMatch(/^! the statement beside the signed one differs/m);
  });

  test("refuses flags of the other kind, and reports unreadable files", async () => {
    const stage = await setSignedStage();
    await fetchReceipt(stage);
    const spec = await stage.sign("signed.json");
    const refused: [words: string[], code: number, reason: string][] = [
      [["receipt.json", "--canonical", "x"], 2, "USAGE"],
      [["receipt.json", "--trusted-keys", "x"], 2, "USAGE"],
      [[spec, "--jwks", "x"], 2, "USAGE"],
      [[spec, "log.jsonl"], 2, "USAGE"],
      [["-", "-"], 2, "USAGE"],
      [["receipt.json", "none.jsonl"], 1, "FILE_UNREADABLE"],
      [["receipt.json", "--jwks", "none.json"], 1, "FILE_UNREADABLE"],
    ];
    for (const [words, code, reason] of refused) {
      const outcome = await verify(stage, ...words);
      expect({ words, ...outcome }).toMatchObject({ words, code, answer: undefined, failure: { reason } });
    }
  });
});

/** Changes one bit of the stored bytes, in their readable text. */
function changeBytes(line: string): string {
  const { sequence, bytes } = JSON.parse(line);
  const raw = Buffer.from(bytes, "base64");
  raw[raw.length - 1] = (raw.at(-1) ?? 0) ^ 1;
  return JSON.stringify({ sequence, bytes: raw.toString("base64") });
}

function changeFirst(text: string): string {
  return `${text.startsWith("A") ? "B" : "A"}${text.slice(1)}`;
}
