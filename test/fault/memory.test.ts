// kill -9 around a write of memory: it happens exactly once, and the log says which version it made.

import { expect, test } from "vitest";
import { answer, callTools } from "../fakes/provider.ts";
import { query } from "../harness/database.ts";
import { openProvider } from "./cluster.ts";
import { killAt } from "./run-over-kill.ts";

test.each([
  "calls.committed",
  "tool.starting",
  "tool.ended",
  "outcome.written",
  "commit.committed:2",
  "outcome.committed",
  "answers.written",
  "answers.committed",
])("a kill at %s", async (place) => {
  const { provider, environment } = await openProvider();
  // A second write at this version would be refused.
  const call = { id: "c1", name: "memory_write", arguments: '{"key": "city", "content": "Rome", "version": 0}' };
  provider.respond(callTools(call), answer("done"), answer("done"));
  const agent = { name: "fault", tools: { builtin: ["memory_write"] } };
  const { reader, databaseUrl } = await killAt(place, agent, environment);
  const outcomes = reader.results.flatMap(({ payload }) =>
    payload.case === "toolCallCompleted" ? [payload.value] : [],
  );
  const rows = await query(databaseUrl, "select key, value, version from state_value");
  expect(rows).toEqual([{ key: "city", value: '"Rome"', version: expect.anything() }]);
  expect(outcomes).toMatchObject([{ result: `{"content":"Wrote city (version ${rows[0]?.version})"}` }]);
  expect(reader.results.at(-1)?.payload.case).toBe("runCompleted");
});
