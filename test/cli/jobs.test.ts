// `jobs` against a service in a process of its own: from the file to the end of the job, the refusals, and the crashes that a
// watch survives.

import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { type Outcome, ownFolder, type RunningCommand, runCommand, runInTerminal, runShell } from "./command.ts";
import { type SignedStage, setMortalStage, setSignedStage, specOf } from "./signed.ts";

const uuid = "[0-9a-f-]{36}";
/** These questions do not end by themselves. */
const endless = { questions: ["on and on pace=60000"], constraints: { regions: ["US", "EU"] } };

function linesOf(text: string): string[] {
  return text.trimEnd().split("\n");
}

function jsonLines(text: string) {
  return linesOf(text).map((line) => JSON.parse(line));
}

async function submit(stage: Omit<SignedStage, "service">, changes: object = {}): Promise<string> {
  const { code, stdout } = await stage.runnel("jobs", "submit", await stage.sign("signed.json", changes));
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(new RegExp(`^${uuid}\n$`)) });
  return stdout.trim();
}

describe("a job", () => {
  test("is submitted and watched to its end, with a line for each change, and exit code 0", async () => {
    const stage = await setSignedStage();
    const file = await stage.sign("signed.json");
    const { code, stdout, stderr } = await stage.runnel("jobs", "submit", file, "--watch");
    const [, id = ""] = new RegExp(`^job (${uuid})\n$`).exec(stderr) ?? [];
    expect({ code, last: linesOf(stdout).at(-1) }).toEqual({
      code: 0,
      last: `✓ job ${id} completed: 2 of 2 regions ended well; it needs 1, and 67 % of them`,
    });
    for (const region of ["US", "EU"]) {
      const told = linesOf(stdout).filter((line) => line.includes(region));
      expect(told.at(-1)).toMatch(new RegExp(`^✓ ${region} +completed {2}run ${uuid}$`));
      expect(new Set(told).size).toBe(told.length);
    }
    const shown = await stage.runnel("jobs", "get", id);
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    const verified = JSON.parse((await stage.runnel("verify", file, "--json")).stdout);
    expect(linesOf(shown.stdout)).toEqual([
      linesOf(stdout).at(-1),
      "  spec       bias-42, version v1, bias-detection",
      `  signed     by ${verified.kid}, version 1, sha256 ${verified.canonical_sha256}`,
      expect.stringMatching(/^ {2}time {7}made \S+Z, ended \S+Z$/),
      "",
      expect.stringMatching(/^REGION +STATE +RUN +ERROR$/),
      expect.stringMatching(new RegExp(`^US +completed +${uuid} +–$`)),
      expect.stringMatching(new RegExp(`^EU +completed +${uuid} +–$`)),
    ]);
    // For a job that has ended the watch prints one line.
    const again = await stage.runnel("jobs", "watch", id);
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(linesOf(again.stdout)).toHaveLength(3);
    const seen = await runInTerminal(["jobs", "watch", id], { environment: stage.environment });
    expect(linesOf(seen.stdout).filter((line) => line.startsWith("\u001b[32m✓ "))).toHaveLength(3);
  });

  test("is printed as JSON of the contract, one job a line", async () => {
    const stage = await setSignedStage();
    const { code, stdout, stderr } = await stage.runnel(
      "jobs",
      "submit",
      await stage.sign("a.json"),
      "--watch",
      "--json",
    );
    const jobs = jsonLines(stdout);
    const { id } = jobs[0];
    expect({ code, note: JSON.parse(stderr) }).toEqual({
      code: 0,
      note: { note: "submitted", job_id: id, idempotent: false },
    });
    expect(jobs.at(-1)).toMatchObject({ id, status: "completed", successful_regions: 2, failed_regions: 0 });
    expect(new Set(linesOf(stdout)).size).toBe(jobs.length);
    const other = await stage.runnel("jobs", "submit", await stage.sign("b.json"), "--json");
    expect(JSON.parse(other.stdout)).toEqual({ id: expect.any(String), status: "enqueued" });
    const got = JSON.parse((await stage.runnel("jobs", "get", id, "--json")).stdout);
    const document = expect.stringContaining("bias-detection");
    expect(got).toEqual({ ...jobs.at(-1), document });
    const list = JSON.parse((await stage.runnel("jobs", "list", "--json")).stdout);
    expect(list.jobs.map((job: { id: string }) => job.id)).toEqual([JSON.parse(other.stdout).id, id]);
  });

  test("that fails is printed with its error, and exit code 3", async () => {
    const stage = await setSignedStage({ jobsServedRegions: ["US"] });
    const file = await stage.sign("signed.json", { constraints: { regions: ["US", "EU"], min_regions: 2 } });
    const { code, stdout } = await stage.runnel("jobs", "submit", file, "--watch");
    expect(code).toBe(3);
    const error = "runner.unavailable: no runner serves region EU: jobs.served_regions has US";
    expect(stdout).toMatch(new RegExp(`^✗ EU +failed +run ${uuid} {2}${error}$`, "m"));
    expect(stdout).toMatch(/^✓ US +completed /m);
    const last = linesOf(stdout).at(-1) ?? "";
    expect(last).toMatch(/^✗ job \S+ failed: 1 of 2 regions ended well; it needs 2, and 67 % of them$/);
    const id = last.split(" ")[2] ?? "";
    expect((await stage.runnel("jobs", "watch", id, "--json")).code).toBe(3);
    const shown = await stage.runnel("jobs", "get", id);
    expect(shown).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^EU +failed +${uuid} +${error}$`, "m")),
    });
  });

  test("that is cancelled ends the commands that watch it, with exit code 3", async () => {
    const stage = await setSignedStage();
    const id = await submit(stage, endless);
    const watch = stage.start("jobs", "watch", id);
    await until("both regions to run", () => watch.stdout().match(/running/g)?.length === 2);
    const cancelled = await stage.runnel("jobs", "cancel", id);
    expect(cancelled).toMatchObject({ code: 0, stdout: expect.stringMatching(new RegExp(`^\\S job ${id} `)) });
    const { code, stdout } = await watch.ended;
    expect(code).toBe(3);
    expect(stdout.match(/^✗ (US|EU) +cancelled .* cancelled: /gm)).toHaveLength(2);
    expect(linesOf(stdout).at(-1)).toMatch(/^✗ job \S+ cancelled: 0 of 2 regions ended well; /);
    const again = await stage.runnel("jobs", "cancel", id, "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ status: "cancelled" });
    expect((await stage.runnel("jobs", "get", id)).stdout).toMatch(/cancel asked for \S+Z, ended \S+Z$/m);
  });

  test("is sent as the signed bytes, also from standard input and in a wrapper", async () => {
    const stage = await setSignedStage();
    const spaced = JSON.stringify(specOf({ rate: 1 }), null, "\t").replace(
      '"rate": 1',
      '"rate" :\r\n 1.50e3, "\\u0041": "\\/"',
    );
    const place = { directory: stage.folder, environment: stage.environment };
    const wrapped = `{"min_regions":1, "target_regions":["EU"],\n "jobspec" : ${spaced}}`;
    for (const text of [spaced, wrapped]) {
      const signed = await runCommand(["sign", "--key", "portal.pem", "--stamp"], { ...place, input: text });
      const sent = await runCommand(["jobs", "submit", "-", "--json"], { ...place, input: signed.stdout });
      expect(sent).toMatchObject({ code: 0 });
      const { canonical_sha256: canonicalSha256 } = JSON.parse(
        (await runCommand(["verify", "-", "--json"], { ...place, input: signed.stdout })).stdout,
      );
      const job = JSON.parse((await stage.runnel("jobs", "get", JSON.parse(sent.stdout).id, "--json")).stdout);
      expect(job).toMatchObject({ canonical_sha256: canonicalSha256, total_regions: text === wrapped ? 1 : 2 });
    }
  });

  test("is made once by calls with one idempotency key", async () => {
    const stage = await setSignedStage();
    const file = await stage.sign("signed.json");
    const first = await stage.runnel("jobs", "submit", file, "--idempotency-key", "retry-1");
    const again = await stage.runnel("jobs", "submit", file, "--idempotency-key", "retry-1");
    expect(again).toEqual({
      code: 0,
      stdout: first.stdout,
      stderr: `job ${first.stdout.trim()}, of an earlier call with this key\n`,
    });
    const other = await stage.runnel("jobs", "submit", await stage.sign("other.json"), "--idempotency-key", "retry-1");
    expect(other).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/\n {2}fix {6}take another --idempotency-key/),
    });
    expect(linesOf((await stage.runnel("jobs", "list")).stdout)).toHaveLength(2);
  });
});

test("list shows the newest jobs, up to the limit, and says that there are more", async () => {
  const stage = await setSignedStage();
  expect((await stage.runnel("jobs", "list")).stdout).toMatch(/^JOB +STATE +SUCCEEDED +SPEC +CREATED\n$/);
  const ids = [];
  for (const name of ["one", "two", "three"]) {
    ids.unshift(await submit(stage, { jobspec_id: name }));
  }
  const two = await stage.runnel("jobs", "list", "--limit", "2");
  expect(two).toMatchObject({ code: 0, stderr: "there are more than 2: see them with --limit\n" });
  expect(linesOf(two.stdout).slice(1)).toEqual([
    expect.stringMatching(new RegExp(`^${ids[0]} +\\w+ +\\d/2 +three +\\S+Z$`)),
    expect.stringMatching(new RegExp(`^${ids[1]} +\\w+ +\\d/2 +two +\\S+Z$`)),
  ]);
  expect(await stage.runnel("jobs", "list", "--limit", "3")).toMatchObject({ code: 0, stderr: "" });
  expect((await stage.runnel("jobs", "list", "--limit", "0")).code).toBe(2);
});

test("a refused job is reported with the contract's code and a fix, and is not made", async () => {
  const stage = await setSignedStage();
  const text = await stage.read(await stage.sign("signed.json"));
  const stale = { ...JSON.parse(text), metadata: { timestamp: "2001-02-03T04:05:06.789Z", nonce: "n".repeat(22) } };
  await runCommand(["keys", "new", "--out", "stranger.pem"], { directory: stage.folder });
  const refused: [name: string, text: string, errorCode: string, fix: RegExp][] = [
    ["unsigned", JSON.stringify(specOf()), "missing_field:signature", /`runnel sign <file> --key <file> --stamp`/],
    ["without a stamp", await signWith(stage, "portal.pem", specOf()), "missing_field:metadata", /--stamp/],
    ["changed", text.replace("bias-42", "bias-43"), "signature_mismatch", /`runnel verify <file>`/],
    ["too old", await signWith(stage, "portal.pem", stale), "timestamp_invalid", /--stamp/],
    [
      "of a stranger",
      await signWith(stage, "stranger.pem", JSON.parse(text)),
      "trust_violation:unknown",
      /`runnel keys show <file>`/,
    ],
    ["no JSON", "{", "invalid_json", /mend the spec/],
    ["nothing", "", "invalid_body", /mend the spec/],
    [
      "without questions",
      await signWith(stage, "portal.pem", { ...JSON.parse(text), questions: [] }),
      "validation_error",
      /mend the spec/,
    ],
  ];
  for (const [name, content, errorCode, fix] of refused) {
    const file = await stage.put("refused.json", content);
    const json = await stage.runnel("jobs", "submit", file, "--json");
    expect({ name, code: json.code, stdout: json.stdout }).toEqual({ name, code: 1, stdout: "" });
    const failure = JSON.parse(json.stderr);
    expect(failure).toMatchObject({
      error_code: errorCode,
      fix: expect.stringMatching(fix),
      reason: expect.stringMatching(/^JOBSPEC_/),
    });
    const { code, stderr } = await stage.runnel("jobs", "submit", file, "--watch");
    expect({ name, code, lines: linesOf(stderr) }).toEqual({
      ...{ name, code: 1 },
      lines: [
        `runnel: ${failure.error}`,
        `  code     ${errorCode}`,
        `  fix      ${failure.fix}`,
        expect.stringMatching(/^ {2}request {2}[0-9a-f]{32}$/),
      ],
    });
  }
  expect(JSON.parse((await stage.runnel("jobs", "list", "--json")).stdout)).toEqual({ jobs: [] });
  expect(await stage.runnel("jobs", "submit", "signed.json")).toMatchObject({ code: 0 });
  const replayed = JSON.parse((await stage.runnel("jobs", "submit", "signed.json", "--json")).stderr);
  expect(replayed).toMatchObject({ error_code: "replay_detected", fix: expect.stringContaining("--idempotency-key") });
});

test("missing files and unknown jobs are reported", async () => {
  const stage = await setSignedStage();
  const long = await stage.put("long.json", " ".repeat(1_048_577));
  const unknown = "01890000-0000-7000-8000-000000000000";
  const failures: [words: string[], reason: string][] = [
    [["submit", "none.json"], "FILE_UNREADABLE"],
    [["submit", long], "FILE_TOO_LONG"],
    [["get", unknown], "JOB_NOT_FOUND"],
    [["watch", unknown], "JOB_NOT_FOUND"],
    [["cancel", unknown], "JOB_NOT_FOUND"],
    [["get", "no-id"], "INVALID_ARGUMENT"],
  ];
  for (const [words, reason] of failures) {
    const { code, stdout, stderr } = await stage.runnel("jobs", ...words, "--json");
    expect({ words, code, stdout, failure: JSON.parse(stderr) }).toMatchObject({
      words,
      code: 1,
      stdout: "",
      failure: { reason },
    });
  }
  expect((await stage.runnel("jobs", "get", unknown)).stderr).toContain(
    "  fix      `runnel jobs list` shows the ids\n",
  );
});

test("Ctrl-C ends watch with 130 and a hint how to continue, and the job continues", async () => {
  const stage = await setSignedStage();
  const watch = stage.start("jobs", "submit", await stage.sign("signed.json", endless), "--watch", "--json");
  const id = await watchedJob(watch);
  watch.child.kill("SIGINT");
  const { code, stderr } = await watch.ended;
  expect({ code, note: jsonLines(stderr).at(-1) }).toEqual({ code: 130, note: { note: "interrupted", job_id: id } });
  expect(JSON.parse((await stage.runnel("jobs", "get", id, "--json")).stdout).status).toBe("running");
  await stage.runnel("jobs", "cancel", id);
});

// The story: a watch follows a job. The service dies silently and comes back on the same port and database, where it takes over
// the runs. The watch says once that it waits, repeats nothing, and ends with the job.
test("watch survives kill -9 and restart of the service", async () => {
  const { kill, restart, ...stage } = await setMortalStage();
  const id = await submit(stage, endless);
  const watch = stage.start("jobs", "watch", id, "--json");
  await watchedJob(watch);
  await kill();
  await until("the watch to notice", () => watch.stderr() !== "");
  await restart();
  expect(await stage.runnel("jobs", "cancel", id)).toMatchObject({ code: 0 });
  const { code, stdout, stderr } = await watch.ended;
  expect(code).toBe(3);
  for (const note of jsonLines(stderr)) {
    expect(note).toEqual({ note: "reconnecting", job_id: id, why: expect.any(String) });
  }
  const lines = linesOf(stdout);
  expect(lines.filter((line, index) => line === lines[index - 1])).toEqual([]);
  expect(jsonLines(stdout).at(-1)).toMatchObject({ id, status: "cancelled" });
});

/** Returns a block of commands by its name on the page. */
function commandsOf(name: string): string {
  const page = readFileSync(new URL("../../docs/signed-jobs.md", import.meta.url), "utf8");
  return new RegExp(`\`\`\`sh ${name}\\n([^\`]*)\`\`\``).exec(page)?.[1] ?? "false";
}

test("the commands of the page about signed jobs work as pasted, from a new key to a valid receipt", async () => {
  const directory = await ownFolder();
  const paste = (commands: string, environment: Record<string, string> = {}): Promise<Outcome> =>
    runShell(`set -eo pipefail; runnel() { $runnel "$@"; }; ${commands}`, { directory, environment });
  const made = await paste(`${commandsOf("make-key")} printf %s "$TRUSTED_KEYS_JSON" > trusted.json`);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const { url } = await startService({ trustKeysJson: await readFile(join(directory, "trusted.json"), "utf8") });
  await writeFile(join(directory, "spec.json"), JSON.stringify(specOf()));
  const environment = { RUNNEL_SERVER_PORT: new URL(url).port, URL: url };
  const { code, stdout, stderr } = await paste(commandsOf("run-job"), environment);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(new RegExp(`^job ${uuid}\n$`)) });
  expect(stdout).toMatch(/^✓ the signature is right\n/);
  expect(stdout).toMatch(
    /^✓ job \S+ completed: 2 of 2 regions ended well; .*\nwrote receipt.json\nwrote log.jsonl: \d+ entries\n/m,
  );
  const [, specHash] = /canonical {3}sha256 (\S+),/.exec(stdout) ?? [];
  expect(stdout).toMatch(new RegExp(`^  job spec    sha256 ${specHash}$`, "m"));
  expect(linesOf(stdout).slice(-2)).toEqual([
    "✓ the key is one that the service publishes",
    "✓ log.jsonl is the log that was signed",
  ]);
  const loss = await paste(commandsOf("find-loss"), environment);
  expect({ code: loss.code, last: linesOf(loss.stdout).at(-1) }).toEqual({
    code: 1,
    last: "✗ shorter.jsonl, entry 2: entry 2 is missing: entry 3 is in its place (missing)",
  });
});

/** Returns the id of the watched job once all of its runs are running. */
async function watchedJob(watch: RunningCommand): Promise<string> {
  return await until("all of the job to run", () => {
    const job = watch.stdout().includes("\n") ? jsonLines(watch.stdout().replace(/[^\n]*$/, "")).at(-1) : undefined;
    const runs: { status: string }[] = job?.executions ?? [];
    return runs.length > 0 && runs.every(({ status }) => status === "running") ? String(job.id) : undefined;
  });
}

async function signWith(stage: SignedStage, key: string, spec: object): Promise<string> {
  const { stdout } = await runCommand(["sign", "--key", key], { directory: stage.folder, input: JSON.stringify(spec) });
  return stdout;
}
