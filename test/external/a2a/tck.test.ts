// A2A's compatibility kit, unmodified, over the three bindings. It sends no key. To have it:
//
//   git clone --depth 1 --branch 1.0-dev https://github.com/a2aproject/a2a-tck && cd a2a-tck
//   python3 -m venv .venv && .venv/bin/pip install -e . && export A2A_TCK_DIR=$PWD

import { join } from "node:path";
import { expect, test } from "vitest";
import { startService } from "../../harness/service.ts";
import { startProgram } from "../program.ts";
import { programs } from "../programs.ts";
import { offerFixture } from "./fixtures.ts";

/** The kit takes two minutes on an idle machine. */
const kitMaxMs = 600_000;

const bindings = ["grpc", "jsonrpc", "http_json"];

const expected: readonly string[] = [
  // A run's artifacts are texts and files, and an answer is always a task.
  ...bindings.flatMap((binding) => [
    `test_task_has_file_url_artifact[${binding}]`,
    `test_task_has_data_artifact[${binding}]`,
    `test_returns_message_with_text_part[${binding}]`,
  ]),
  // Its text wants the error that the runner's agent gives, and its check wants success.
  ...bindings.map((binding) => `test_must_requirement[CORE-SEND-003-${binding}]`),
  // The kit has the code of 1.0.0; 1.0.1 has FAILED_PRECONDITION.
  "test_version_not_supported_returns_unimplemented",
];

test.skipIf(!programs["a2a-tck"].isHere())("only the known requirements fail", { timeout: kitMaxMs }, async () => {
  const directory = process.env.A2A_TCK_DIR ?? "";
  const service = await startService({ authApiKeys: [], rateLimitRps: 0 }, { own: true });
  await offerFixture(service);
  const args = ["run_tck.py", "--sut-host", service.url];
  const { stdout } = await startProgram(join(directory, ".venv/bin/python"), args, { directory }).finished;
  const failed = [...stdout.toString().matchAll(/^FAILED \S*::(\S+)/gm)].map(([, name = ""]) => name);
  expect(failed.toSorted(), stdout.toString().slice(-3_000)).toEqual(expected.toSorted());
  expect(stdout.toString()).toMatch(/\d+ passed/);
});
