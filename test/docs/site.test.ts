// What the site of the documentation is made of: the table of docs/README.md, and links that lead to pages or to the repository.

import { expect, test } from "vitest";
import { readIndexTable } from "../../scripts/docs/index-table.ts";
import { siteTargetOf, siteTextOf } from "../../scripts/docs/links.ts";
import { anchorsOf, slugOf } from "../../scripts/docs/pages.ts";

test("the sidebar has the sections of the index, and each entry a description", () => {
  const sections = readIndexTable();
  const titles = ["Start", "Call it", "Agents", "Protocols", "Operate", "Reference", "The code"];
  expect(sections.map(({ title }) => title)).toEqual(titles);
  const entries = sections.flatMap((section) => section.entries);
  expect(entries.find(({ path }) => path === "docs/resuming.md")).toMatchObject({ name: "Resume a stream", below: [] });
  expect(entries.filter(({ about }) => about.length < 15)).toEqual([]);
  expect(entries.find(({ name }) => name === "Decisions")?.below.length).toBeGreaterThan(30);
});

test.each([
  ["docs/models.md", "resuming.md#the-rule", "/docs/resuming.md#the-rule"],
  ["docs/models.md", "../clients/README.md", "/clients/index.md"],
  ["docs/README.md", "decisions", "/docs/decisions/index.md"],
  ["docs/README.md", "../proto", "https://github.com/runnel/runnel/tree/main/proto"],
  ["docs/models.md", "../Dockerfile", "https://github.com/runnel/runnel/blob/main/Dockerfile"],
  ["docs/models.md", "#limits-of-a-run", "#limits-of-a-run"],
  ["docs/models.md", "https://example.com/x", "https://example.com/x"],
])("on the site, a link of %s to %s leads to %s", (page, target, expected) => {
  expect(siteTargetOf(page, target)).toBe(expected);
});

test("a page as text has links of the site, and its code as it was", () => {
  const text = siteTextOf("docs/resuming.md");
  expect(text).toContain("](/clients/index.md)");
  expect(text).toContain("(`grpc.max_reconnect_backoff_ms`");
  expect(text).not.toContain("](../");
});

test("anchors are those of GitHub: numbered where headings repeat, none of code, and ids", () => {
  expect(slugOf("The `after` of a run: 1, 2")).toBe("the-after-of-a-run-1-2");
  expect(anchorsOf('# A\n## A\n```sh\n# no heading\n```\n<a id="B.c" href="#B.c">')).toEqual(["a", "a-1", "B.c"]);
});
