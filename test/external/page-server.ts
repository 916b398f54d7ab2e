// A server of pages with an origin of its own. It serves modules as installed, resolved by an import map, without a bundler.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import { listenLocally } from "../harness/listen.ts";

/** Where each package has its ES modules, and the entries that the page's modules import. */
const packages = {
  "@bufbuild/protobuf": ["", "/codegenv2", "/wire", "/wkt"],
  "@connectrpc/connect": ["", "/protocol", "/protocol-connect", "/protocol-grpc-web"],
  "@connectrpc/connect-web": [""],
} as const;

const imports = {
  "#gen/": "/gen/",
  "@bufbuild/protovalidate/gen/": "/node_modules/@bufbuild/protovalidate/dist/esm/gen/",
  ...Object.fromEntries(
    Object.entries(packages).flatMap(([name, entries]) =>
      entries.map((entry) => [`${name}${entry}`, `/node_modules/${name}/dist/esm${entry}/index.js`]),
    ),
  ),
};

/** The script of each page. */
const pages: Readonly<Record<string, string>> = {
  "/": "/test/external/page-reader.ts",
  "/signer": "/test/external/signers/page-signer.ts",
  "/follower": "/test/external/clients/page-follower.ts",
};

function printPage(script: string): string {
  return `<!doctype html>
<meta charset="utf-8">
<title>A page of the tests</title>
<script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module" src="${script}"></script>
`;
}

/** Resolves with the origin. Closed with the test. */
export async function startPageServer(): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://localhost");
    void load(pathname).then(
      ({ contentType, content }) => response.setHeader("content-type", contentType).end(content),
      (error: unknown) => response.writeHead(404).end(String(error)),
    );
  });
  return `http://127.0.0.1:${await listenLocally(server)}`;
}

interface Loaded {
  readonly contentType: string;
  readonly content: string;
}

const root = new URL("../../", import.meta.url);

async function load(path: string): Promise<Loaded> {
  const page = pages[path];
  if (page !== undefined) {
    return { contentType: "text/html", content: printPage(page) };
  }
  const script = path.slice(1);
  if (!/^(?:clients\/typescript\/src|gen|node_modules|test\/external)\/.*\.[jt]s$/.test(script)) {
    throw new Error(`nothing is served at ${path}`);
  }
  const content = await readFile(fileURLToPath(new URL(script, root)), "utf8");
  return { contentType: "text/javascript", content: script.endsWith(".ts") ? stripTypeScriptTypes(content) : content };
}
