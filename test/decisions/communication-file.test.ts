// The format of the communication log's files.

import { expect, test } from "vitest";
import { printCommunication } from "../../src/protocols/community/decisions/communication-file.ts";

const entry = {
  localTime: "11/22/2026, 1:02:03 PM",
  instanceId: "i-1",
  port: "4318",
  pid: 42,
  agentId: "a-1",
  direction: "agent_to_runner",
  actionTypes: ["comment", "tx"],
  content: "line one\nline two",
} as const;

test("an entry is printed between two lines of sixty characters", () => {
  const line = "=".repeat(60);
  expect(printCommunication(entry)).toBe(`${line}
11/22/2026, 1:02:03 PM
Instance: i-1 | Port: 4318 | PID: 42 | Agent: a-1
Agent -> Runner
Action: comment, tx
line one
line two
${line}
`);
  expect(printCommunication({ ...entry, direction: "runner_to_agent", actionTypes: [] })).toContain(
    "\nRunner -> Agent\nAction: \n",
  );
});
