// The settings of VitePress, which makes the site of the pages as they stand in the repository.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../run-command.ts";
import { type IndexEntry, readIndexTable } from "./index-table.ts";
import { repositoryUrl, sitePathOf, siteTargetOf } from "./links.ts";
import { slugOf, summaryOf, titleOf, unlistedPatterns } from "./pages.ts";

const { version } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8"));

const icon = readFileSync(join(repositoryRoot, "console/public/icon.svg"), "base64");

/** The parts of markdown-it that the plugin below uses. */
interface Markdown {
  readonly core: { readonly ruler: { push(name: string, rule: (state: MarkdownState) => void): void } };
}

interface MarkdownState {
  readonly tokens: readonly { readonly children: readonly MarkdownToken[] | null }[];
  readonly env: { readonly realPath?: string; readonly path: string };
}

interface MarkdownToken {
  readonly type: string;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

function leadLinks(markdown: Markdown): void {
  markdown.core.ruler.push("runnel-links", ({ tokens, env }) => {
    const page = (env.realPath ?? env.path).slice(repositoryRoot.length + 1);
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === "link_open") {
        token.attrSet("href", siteTargetOf(page, token.attrGet("href") ?? ""));
      }
    }
  });
}

/** The pages stand outside site/, so Rollup finds no Vue from them; Node does, from what Rollup has written into site/. */
function findVue(id: string, _importer: string | undefined, { ssr }: { readonly ssr?: boolean }) {
  return ssr === true && /^vue(?:\/|$)/.test(id) ? { id, external: true } : undefined;
}

function toSidebarItem({ name, path, below }: IndexEntry) {
  const items = below.map((page) => ({ text: titleOf(page), link: `/${sitePathOf(page)}` }));
  return { text: name, link: `/${sitePathOf(path)}`, ...(items.length > 0 && { items, collapsed: true }) };
}

export const siteConfig = {
  title: "Runnel",
  description: summaryOf("README.md"),
  head: [["link", { rel: "icon", href: `data:image/svg+xml;base64,${icon}` }]],
  srcDir: repositoryRoot,
  srcExclude: unlistedPatterns,
  outDir: join(repositoryRoot, "site/dist"),
  cacheDir: join(repositoryRoot, "site/node_modules/.cache"),
  rewrites: sitePathOf,
  transformPageData: ({ filePath }: { readonly filePath: string }) => ({ description: summaryOf(filePath) }),
  markdown: { anchor: { slugify: slugOf }, config: leadLinks },
  vite: { plugins: [{ name: "runnel-vue", enforce: "pre", resolveId: findVue }] },
  themeConfig: {
    search: { provider: "local" },
    nav: [{ text: `Version ${version}`, link: "/CHANGELOG.md" }],
    sidebar: readIndexTable().map(({ title, entries }) => ({ text: title, items: entries.map(toSidebarItem) })),
    outline: { level: [2, 3] },
    editLink: { pattern: `${repositoryUrl}/edit/main/:path`, text: "Edit this page" },
    socialLinks: [{ icon: "github", link: repositoryUrl }],
  },
};
