// The order of test files: those that take more than a minute begin first, so that no core is idle while the last of them ends. Without
// times of an earlier run, Vitest begins with the largest files, and the shortest ones are tables of long cases.

import { BaseSequencer, type TestSpecification } from "vitest/node";

const longest: readonly string[] = [
  "test/fault/crash-matrix/crash-matrix.test.ts",
  "test/console/browser/states.test.ts",
  "test/external/runners/runners.test.ts",
  "test/growth/growth.test.ts",
  "test/protocols/deletion.test.ts",
  "test/versions/schemas.test.ts",
  "test/cli/stop.test.ts",
  "test/fault/provider-tools.test.ts",
  "test/cli/journeys.test.ts",
  "test/fault/child-runs.test.ts",
  "test/fault/approvals.test.ts",
  "test/fault/mcp-steps.test.ts",
  "test/clients/wrong-subjects.test.ts",
  "test/fault/exchanges/killed.test.ts",
  "test/fault/runners/host-killed.test.ts",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const rank = longest.findIndex((path) => moduleId.endsWith(path));
      return rank === -1 ? longest.length : rank;
    };
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
