// `npm run conformance`: runs the official Connect conformance suite against our port and our handlers, and the tests that need
// curl, openssl, Chromium, nginx, tini, Go, Python and Java. With `-- [--custom-stream] --run '<case>' --trace` it runs only the
// named cases of the suite, and prints the traffic of failed ones. With `-- recorded <folder> [text]` it plays only the recorded
// streams of model providers in a folder.

import { runRecorded } from "../test/recorded/run.ts";
import { hasGo, prepareSuite, runSuite, type SuiteRun, suiteRuns, suiteVersion } from "./connect-conformance.ts";
import { runCommand } from "./run-command.ts";

const suiteArgs = process.argv.slice(2).filter((argument) => argument !== "--custom-stream");

try {
  if (process.argv[2] === "recorded") {
    process.exitCode = await playRecorded();
  } else {
    await runAll();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function playRecorded(): Promise<0 | 1> {
  const [folder, text] = process.argv.slice(3);
  if (folder === undefined) {
    throw new Error("usage: npm run conformance -- recorded <folder> [text in the path]");
  }
  return await runRecorded(folder, text ?? "", console.log);
}

async function runAll(): Promise<void> {
  if (process.argv.length === 2) {
    await timed(
      "curl, nginx, Chromium, the console, signers, runners, clients, CopilotKit, the SDKs of providers, the image and the npm package",
      runExternalTests,
    );
  }
  await runSuites();
}

async function runExternalTests(): Promise<void> {
  await runCommand("vitest", ["run", "--config", "test/external/vitest.config.ts"]);
}

async function runSuites(): Promise<void> {
  if (!(await hasGo())) {
    leaveOut();
    return;
  }
  await timed(`connectconformance ${suiteVersion} and its protos`, prepareSuite);
  let passed = 0;
  for (const run of chooseRuns()) {
    passed += await timed(run.name, () => runSuite(run, suiteArgs));
  }
  // CI reads this line. Every failure has thrown before it.
  console.log(`${passed} passed, 0 failed`);
}

/** Leaves the suite out when Go is missing. On CI, which has Go, that is a failure. */
function leaveOut(): void {
  const fix = "install it from https://go.dev/dl/ so that `go version` works, then run this again";
  const why = `the Connect conformance suite ${suiteVersion} needs Go: ${fix}`;
  if ((process.env.CI ?? "") !== "") {
    throw new Error(why);
  }
  console.error(`left out: ${why}`);
}

/** Returns the runs of the suite. Named cases run once: with the handlers, or with --custom-stream. */
function chooseRuns(): readonly SuiteRun[] {
  if (process.argv.includes("--custom-stream")) {
    return [suiteRuns.customStream];
  }
  return suiteArgs.length > 0 ? [suiteRuns.handlers] : Object.values(suiteRuns);
}

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  const result = await work();
  const seconds = Math.round((performance.now() - startMs) / 1000);
  console.log(`✓ ${name}${typeof result === "number" ? `: ${result} cases` : ""}, ${seconds} s`);
  return result;
}
