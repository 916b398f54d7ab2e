// `npm run conformance`: the official Connect conformance suite against our port and our way of answering RPCs. With
// `-- [--custom-stream] --run '<case>' --trace` only the cases named, with what went over the wire where one fails.

import { hasGo, prepareSuite, runSuite, type SuiteRun, suiteRuns, suiteVersion } from "./connect-conformance.ts";

const suiteArgs = process.argv.slice(2).filter((argument) => argument !== "--custom-stream");

if (await hasGo()) {
  await runConformance().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
} else {
  const fix = "install it from https://go.dev/dl/ so that `go version` works, then run this again";
  const isCi = (process.env.CI ?? "") !== "";
  console.error(`${isCi ? "failed" : "left out"}: the Connect conformance suite ${suiteVersion} needs Go: ${fix}`);
  process.exitCode = isCi ? 1 : 0;
}

async function runConformance(): Promise<void> {
  await timed(`connectconformance ${suiteVersion} and its protos`, prepareSuite);
  let passed = 0;
  for (const run of chooseRuns()) {
    passed += await timed(run.name, () => runSuite(run, suiteArgs));
  }
  // CI reads this line. Whatever failed has thrown.
  console.log(`${passed} passed, 0 failed`);
}

/** Cases that are named are run once, in the one way or the other. */
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
