// The tool todo: the lists that it refuses, and the entry that a successful call adds to the log.

import { expect, test } from "vitest";
import { PlanEntry_Status } from "#gen/runnel/v1/result_pb.js";
import { todo } from "../../src/agent/tools/todo.ts";

const run = (items: unknown) => todo.run({ items }, undefined as never);
const step = (text: unknown = "Read", status: unknown = "pending") => ({ text, status });

test.each([
  [[], []],
  [
    [step("a", "completed"), step("b", "in_progress"), step("x".repeat(500))],
    [PlanEntry_Status.COMPLETED, PlanEntry_Status.IN_PROGRESS, PlanEntry_Status.PENDING],
  ],
  [Array.from({ length: 50 }, () => step()), Array.from({ length: 50 }, () => PlanEntry_Status.PENDING)],
])("a list is the new plan (%#)", async (items, statuses) => {
  const done = statuses.filter((status) => status === PlanEntry_Status.COMPLETED).length;
  expect(await run(items)).toEqual({ content: `The plan has ${items.length} steps, ${done} completed` });
  const entries = items.map(({ text }, index) => ({ text, status: statuses[index] }));
  expect(todo.changes?.({ items })).toEqual([{ payload: { case: "planUpdated", value: { entries } } }]);
});

const wrongText = "invalid items[0].text: give a text of 1 to 500 characters";
const wrongStatus = "invalid items[1].status: give pending, in_progress, completed";

test.each<[items: unknown, error: string]>([
  [undefined, "items is missing: give the list of all steps, or an empty list"],
  [{ 0: step() }, "items is missing: give the list of all steps, or an empty list"],
  [Array.from({ length: 51 }, () => step()), "too many items: 51, max 50; join steps that belong together"],
  [["Read"], "invalid items[0]: give an object with text and status"],
  ...["", 7, "x".repeat(501), "a\0b", "\ud800"].map((text): [unknown, string] => [[step(text)], wrongText]),
  ...["", "done", "STATUS_PENDING", 1].map((status): [unknown, string] => [[step(), step("b", status)], wrongStatus]),
])("a wrong list changes nothing (%#)", async (items, error) => {
  expect(await run(items)).toEqual({ error });
});
