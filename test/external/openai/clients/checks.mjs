// What the tables of Node programs share: the cases, the tools, and how they are checked. Only the base URL and the key are ours.
// Prints a line of JSON for each case: the client, the feature, and what went wrong. Further arguments name the clients to run.

import assert from "node:assert/strict";
import { z } from "zod";

export const [baseURL, key, ...only] = process.argv.slice(2);

export const model = "gpt-4o-mini";
export const greeting = "Hello there, friend.";
export const saw = "I see an image.";
export const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const image = `data:image/png;base64,${png}`;
export const weatherSchema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
export const emptySchema = { type: "object", properties: {}, additionalProperties: false };
export const city = { city: "Rome", degrees: 25 };
export const City = z.object({ city: z.string(), degrees: z.number().int() });
export const getWeather = async ({ city: name }) => `${name} is sunny`;
export const getTime = async () => "noon";

const cases = [];

/** Adds the cases of a client, by feature. */
export function add(client, features) {
  if (only.length === 0 || only.some((name) => client.startsWith(name))) {
    cases.push(...Object.entries(features).map(([feature, run]) => ({ client, feature, run })));
  }
}

export function same(got, wanted) {
  assert.deepEqual(got, wanted);
}

/** The model of a case that leaves in mid-stream. The test knows by its name whose request it was. */
export const slowModel = (client) => `${model}-slow-${client.replaceAll(" ", "_")}`;

/** The errors that a client has to tell apart. `classes` are those of the client by status, or its only one. */
export function errors(call, classes, statusOf = (error) => error.status, tooMany = "quota") {
  const wanted = [
    [400, `${model}-fail-bad`, key],
    [401, model, "wrong"],
    [404, "no-such-model", key],
    [429, `${model}-fail-${tooMany}`, key],
    [400, `${model}-fail-context`, key],
  ];
  return async () => {
    for (const [status, name, own] of wanted) {
      const error = await Promise.resolve()
        .then(() => call(name, own))
        .then(
          () => undefined,
          (raised) => raised,
        );
      const kind = classes[status] ?? classes;
      assert.ok(error instanceof kind, `${name}: ${error?.stack} is no ${kind.name}`);
      same([name, statusOf(error)], [name, status]);
    }
  };
}

/** Reads the first item of a stream and leaves. */
export async function leave(stream) {
  for await (const _ of stream) {
    return;
  }
}

/** Returns all items of a stream. */
export async function readAll(stream) {
  const all = [];
  for await (const each of stream) {
    all.push(each);
  }
  return all;
}

export async function runCases() {
  for (const { client, feature, run } of cases) {
    const problem = await run().then(
      () => null,
      (error) => String(error?.stack ?? error).slice(0, 900),
    );
    process.stdout.write(`${JSON.stringify({ client, feature, problem })}\n`);
  }
  // Some programs keep connections or timers open.
  process.exit(0);
}
