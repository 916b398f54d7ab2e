// The table of clients/README.md: each program that it names is in the README of its library, and that library's tests run it.

import { expect, test } from "vitest";
import { readPage } from "../../scripts/docs/pages.ts";

const tests: Readonly<Record<string, readonly string[]>> = {
  typescript: ["test/external/clients/typescript.test.ts", "test/docs/snippets.test.ts"],
  python: ["test/external/python-client.test.ts"],
  go: ["test/external/go-client.test.ts"],
  java: ["test/external/java-client.test.ts"],
};

/** How the tests name a program of which a page shows only a part. */
const fragments: Readonly<Record<string, string>> = {
  "ask.ts": "typescript/README.md: functions",
  "Ask.java": "LocalFunction add",
};

const [, table = ""] = /## Ten tasks\n([\s\S]*?)\n## /.exec(readPage("clients/README.md")) ?? [];
const rows = table.split("\n").filter((line) => line.startsWith("| ") && line.includes("]("));
const cells = rows.flatMap((row) =>
  [...row.matchAll(/\[`([^`]+)`\]\((\w+)\/README\.md#/g)].map(([, name = "", language = ""]) => ({ name, language })),
);

test("ten tasks have a program in each of the four languages", () => {
  expect(rows).toHaveLength(10);
  expect(cells).toHaveLength(40);
});

test.each([...new Map(cells.map((cell) => [`${cell.language} ${cell.name}`, cell] as const))])(
  "%s",
  (_, { name, language }) => {
    const blocks = readPage(`clients/${language}/README.md`)
      .split("```")
      .filter((_, index) => index % 2 === 1);
    expect(
      blocks.filter(
        (block) => /^(?:\/\/|#) (?:src\/main\/java\/)?([\w.]+\.\w+)/.exec(block.split("\n")[1] ?? "")?.[1] === name,
      ),
    ).toHaveLength(1);
    const called =
      fragments[name] ??
      (language === "java"
        ? `class ${name.replace(".java", "")}`
        : language === "go"
          ? `"${name.replace(".go", "")}"`
          : name);
    expect((tests[language] ?? []).some((file) => readPage(file).includes(called))).toBe(true);
  },
);
