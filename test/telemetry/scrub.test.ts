// The last stage of the log: it removes a planted secret at every place and in every spelling, and keeps everything else.

import fc from "fast-check";
import { expect, test } from "vitest";
import { createEvents } from "../../src/platform/telemetry/events.ts";
import { createScrubber } from "../../src/platform/telemetry/scrub.ts";
import { openTestLog } from "./test-log.ts";

const secret = "canary-of-the-log-0001";

/** Returns the output of a log that knows the secret, after `plant` has written to it. */
function logWith(plant: (logger: ReturnType<typeof openTestLog>["logger"]) => void): string {
  const { logger, text, lines } = openTestLog();
  logger.hide([secret]);
  plant(logger);
  expect(lines()).toHaveLength(1);
  return text();
}

const places: Readonly<Record<string, object>> = {
  "a field": { key: secret },
  "three objects down": { a: { b: { c: { authorization: secret } } } },
  "a header in another case": { headers: { "X-Api-KEY": secret, AUTHORIZATION: `bearer ${secret}` } },
  "a URL's userinfo": { url: `postgres://runnel:${secret}@db.internal/runnel` },
  "a URL's query, encoded": { url: `/v1/runs?key=${encodeURIComponent(`${secret}/+`)}` },
  "a list": { values: ["first", [secret]] },
  "the key of an object": { [secret]: true },
  "basic credentials": { header: `Basic ${Buffer.from(`user:${secret}`).toString("base64")}` },
  "JSON within a text": { body: JSON.stringify({ error: JSON.stringify({ key: secret }) }) },
};

test.each(Object.entries(places))("a secret in %s is removed", (_place, fields) => {
  expectNothingOf(logWith((logger) => logger.info(fields, "planted")));
});

test("a secret in an error's message, its cause or its stack is removed", () => {
  const cause = new Error(`cannot log in as ${secret}`);
  const error = new Error(`refused: ${secret}`, { cause });
  error.stack = `Error: refused\n    at connect (${secret}:1:1)`;
  const text = logWith((logger) => createEvents(logger).requestFailed({ method: "GetRun", error }));
  expectNothingOf(text);
  expect(text.match(/\[redacted\]/g)).toHaveLength(3);
});

test("a secret in the name of a line is removed", () => {
  expectNothingOf(logWith((logger) => logger.info(`starts with ${secret}`)));
});

function expectNothingOf(text: string): void {
  expect(text).toContain("[redacted]");
  expect(text).not.toContain(secret);
  expect(text).not.toContain(Buffer.from(secret).toString("base64").slice(2, -4));
}

test("text in the form of a key is removed, although the key is unknown", () => {
  const { scrubText } = createScrubber();
  for (const text of [
    "sk-proj-AbCdEf0123456789_-xyz",
    "rk_0123456789abcdefghijklmnopqrstuvwxyzABCDEF",
    "rt_0123456789abcdefghijklmnopqrstuvwxyzABCDEF",
    "rk_eu1.0123456789abcdefghijklmnopqrstuvwxyzABCDEF",
    "rrun_01a2079e-9bde-76d7-bc24-6b86ba3c23f6.1.0123456789abcdefghijklmnopqrstuvwxyzABCDEF",
  ]) {
    expect(scrubText(`of "${text}", it said`)).toBe('of "[redacted]", it said');
  }
  expect(scrubText("authorization: Bearer abc.def-123~x")).toBe("authorization: Bearer [redacted]");
  expect(scrubText("AUTHORIZATION: BEARER%20abcdefgh")).toBe("AUTHORIZATION: BEARER%20[redacted]");
  expect(scrubText("dial postgres://me:pw@db:5432/x failed")).toBe("dial postgres://[redacted]@db:5432/x failed");
});

test("text without secrets is unchanged", () => {
  const { scrubText, scrubLine } = createScrubber(["12345678"]);
  const texts = [
    "risk-management-of-everything sk-short",
    "a bearer of news; mail me@example.org; https://example.org/a@b",
    "run 0190b7c2-7b7f-7000-8000-000000000000 of key/local, 1234567",
  ];
  for (const text of texts) {
    expect(scrubText(text)).toBe(text);
    expect(scrubLine(JSON.stringify({ text }))).toBe(JSON.stringify({ text }));
  }
});

test("the password in a secret URL is a secret of its own, also decoded; the rest of the URL is not", () => {
  const { scrubText } = createScrubber(["postgres://runnel:p%40ssword-of-db@db.internal/runnel?sslmode=require"]);
  expect(scrubText('password "p@ssword-of-db" refused by db.internal')).toBe(
    'password "[redacted]" refused by db.internal',
  );
  expect(scrubText("p%40ssword-of-db")).toBe("[redacted]");
  expect(createScrubber(["postgres://me:100%-of-it-all@db/x"]).scrubText("100%-of-it-all")).toBe("[redacted]");
});

test("values of fewer than eight characters are not searched for", () => {
  expect(createScrubber(["1234567", ""]).scrubText("1234567")).toBe("1234567");
});

test("the longer of two overlapping secrets is removed as a whole", () => {
  expect(createScrubber(["canary-key", "canary-key-of-admin"]).scrubText("is canary-key-of-admin.")).toBe(
    "is [redacted].",
  );
});

test("the letter of an escape is not part of a secret, and a line stays JSON", () => {
  const { scrubLine } = createScrubber(["nightshift", 'quoted"secret']);
  expect(JSON.parse(scrubLine(JSON.stringify({ text: "a\nightshift" })))).toEqual({ text: "a\nightshift" });
  expect(JSON.parse(scrubLine(JSON.stringify({ text: "a\\nightshift" })))).toEqual({ text: "a\\[redacted]" });
  expect(JSON.parse(scrubLine(JSON.stringify({ text: 'a "quoted"secret"' })))).toEqual({ text: 'a "[redacted]"' });
});

/** Secrets of characters that have many spellings, and of characters that have one. */
const secretTexts = fc
  .string({ unit: fc.constantFrom(...'abcXYZ019-_/+=%&@:"\\\n\té日😀 '), minLength: 8, maxLength: 40 })
  .filter((text) => text.trim().length >= 8);
const texts = fc.string({ unit: "binary", maxLength: 30 });

test("no planted value of eight characters or more survives, and every line stays JSON", () => {
  fc.assert(
    fc.property(fc.array(secretTexts, { minLength: 1, maxLength: 5 }), texts, texts, (secrets, before, after) => {
      const { logger, text, lines } = openTestLog();
      logger.hide(secrets);
      for (const planted of secrets) {
        const around = `${before}${planted}${after}`;
        logger.info({ around, deep: [{ [`key ${planted}`]: around }], url: encodeURIComponent(around) }, "planted");
        logger.warn({ url: encodeURIComponent(around).replace(/%../g, (each) => each.toLowerCase()) }, "planted");
        logger.error({ body: JSON.stringify({ around }), basic: Buffer.from(around).toString("base64") }, planted);
      }
      expect(lines()).toHaveLength(3 * secrets.length);
      for (const planted of secrets) {
        expectGone(text(), planted);
        for (const line of lines()) {
          expectGone(allTexts(line).join("\0"), planted);
          expectGone(allTexts(JSON.parse(String(line.body ?? "{}"))).join("\0"), planted);
        }
      }
    }),
    { numRuns: 300 },
  );
});

function expectGone(text: string, planted: string): void {
  const encoded = encodeURIComponent(planted);
  for (const form of [planted, encoded, encoded.replace(/%../g, (each) => each.toLowerCase())]) {
    expect(text).not.toContain(form);
  }
  for (const base64 of text.match(/[A-Za-z0-9+/]{8,}/g) ?? []) {
    expect(Buffer.from(base64, "base64").toString()).not.toContain(planted);
  }
}

/** Returns every text in a line as its reader sees it, keys included. */
function allTexts(value: unknown): string[] {
  if (typeof value === "string") {
    return [value];
  }
  return value instanceof Object ? Object.entries(value).flatMap(([key, each]) => [key, ...allTexts(each)]) : [];
}

test("the cost of a line grows linearly with its length, for any text", () => {
  const { scrubLine } = createScrubber([secret, `${secret}-and-more`]);
  const hostile = ["://", "sk-", "bearer ", "canary-of-the-log-", "\\", "a@"].map(
    (piece) => (length: number) => piece.repeat(length / piece.length),
  );
  for (const make of hostile) {
    const timeOf = (length: number): number => {
      const line = make(length);
      const startedMs = performance.now();
      scrubLine(line);
      return performance.now() - startedMs;
    };
    timeOf(100_000);
    // Ten times the line; quadratic work would take a hundred times as long.
    expect(timeOf(1_000_000)).toBeLessThan(40 * Math.max(timeOf(100_000), 10));
  }
});
