// A site that embeds the chat, as its users have it: the packed package in a page without a bundler and in one in React, under a strict
// policy of its own, and a server with the key.

import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { rolldown } from "rolldown";
import { expect, onTestFinished } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { repositoryRoot, runCommand } from "../../../scripts/run-command.ts";
import type { GrpcClient } from "../../harness/grpc.ts";
import { listenLocally } from "../../harness/listen.ts";
import { newPage } from "../browser.ts";

/** A request of the widget, as it arrives. */
export interface Asked {
  readonly type: "message" | "ticket" | "cancel";
  readonly conversation: string;
  readonly message: string;
  readonly request_id: string;
  readonly run_id: string;
}

/** What the site answers instead of the answer of the service; undefined lets it ask the service. */
export type Deviation = (asked: Asked) => Promise<{ status: number; body: object } | undefined> | undefined;

export interface Site {
  readonly origin: string;
  /** The requests so far. */
  readonly asked: readonly Asked[];
  /** Says which service the site calls, and where its pages find it. */
  serve(client: GrpcClient, endpoint: string): void;
  deviate(deviation: Deviation): void;
}

/** Packs the chat and installs it into the folder. */
export async function installChat(folder: string): Promise<void> {
  const tarball = await runCommand("npm", [
    "pack",
    join(repositoryRoot, "clients/chat"),
    "--silent",
    "--pack-destination",
    folder,
  ]);
  await runCommand("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", join(folder, tarball.trim())]);
}

/** Starts the site with the package in `folder`. Closed with the test. */
export async function startSite(folder: string, agent: object = {}): Promise<Site> {
  const asked: Asked[] = [];
  const react = await bundleReact(folder);
  const script = await readFile(join(folder, "node_modules/@runnel/chat/dist/index.js"), "utf8");
  let [endpoint, backend, deviation]: [string, Backend | undefined, Deviation] = ["", undefined, () => undefined];
  const answer = async (request: IncomingMessage): Promise<{ status: number; type: string; body: string }> => {
    switch (request.url) {
      case "/":
        return { status: 200, type: "text/html", body: printPage("/chat.js", plainBody(endpoint)) };
      case "/early":
        return { status: 200, type: "text/html", body: printPage("/chat.js", earlyBody(endpoint)) };
      case "/early.js":
        return { status: 200, type: "text/javascript", body: earlyScript };
      case "/react":
        return { status: 200, type: "text/html", body: printPage("/react.js", reactBody(endpoint)) };
      case "/chat.js":
        return { status: 200, type: "text/javascript", body: script };
      case "/react.js":
        return { status: 200, type: "text/javascript", body: react };
      case "/page.css":
        return { status: 200, type: "text/css", body: styles };
      default: {
        const each: Asked = JSON.parse((await request.setEncoding("utf8").toArray()).join(""));
        asked.push(each);
        const { status, body } = (await deviation(each)) ?? { status: 200, body: (await backend?.(each)) ?? {} };
        return { status, type: "application/json", body: JSON.stringify(body) };
      }
    }
  };
  const server = createServer((request, response) => {
    void answer(request).then(
      ({ status, type, body }) => {
        response.setHeader("content-security-policy", policyFor(endpoint));
        response.writeHead(status, { "content-type": type }).end(body);
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const port = await listenLocally(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    asked,
    serve: (client, url) => {
      [endpoint, backend] = [url, openBackend(client, agent)];
    },
    deviate: (next) => {
      deviation = next;
    },
  };
}

/** Opens a page of the site, which must throw nothing, and the requests that it sends to the service. */
export async function openChat(
  site: Site,
  path = "/",
): Promise<{ page: Page; tails: readonly string[]; hosts: ReadonlySet<string> }> {
  const page = await newPage({ viewport: { width: 1_440, height: 900 } });
  const faults: string[] = [];
  const tails: string[] = [];
  const hosts = new Set<string>();
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => message.text().includes("Content Security Policy") && faults.push(message.text()));
  page.on("request", (request) => {
    const url = new URL(request.url());
    hosts.add(url.host);
    if (request.method() === "GET" && url.pathname.endsWith("/results:tail")) {
      tails.push(url.searchParams.get("after") ?? "");
    }
  });
  onTestFinished(() => expect(faults).toEqual([]));
  await page.goto(`${site.origin}${path}`);
  return { page, tails, hosts };
}

type Backend = (asked: Asked) => Promise<object>;

/** The calls of a site: each conversation is a session. */
function openBackend(client: GrpcClient, agent: object): Backend {
  const sessions = new Map<string, Promise<{ sessionId: string }>>();
  const ticketFor = async (runId: string): Promise<string> => {
    const target = { target: { case: "runId", value: runId } } as const;
    return (await client.call(AuthService.method.createStreamTicket, { target })).ticket;
  };
  return async ({ type, conversation, message, request_id: requestId, run_id: askedId }) => {
    if (type === "cancel") {
      await client.call(RunService.method.cancelRun, { runId: askedId });
      return {};
    }
    if (type === "ticket") {
      return { ticket: await ticketFor(askedId) };
    }
    const create = () => client.call(SessionService.method.createSession, { agent: { name: "chat", ...agent } });
    const session = sessions.get(conversation) ?? create();
    sessions.set(conversation, session);
    const { sessionId } = await session;
    const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message, requestId });
    return { run_id: runId, ticket: await ticketFor(runId) };
  };
}

async function bundleReact(folder: string): Promise<string> {
  await mkdir(join(folder, "node_modules"), { recursive: true });
  for (const name of ["react", "react-dom", "scheduler"]) {
    await symlink(join(repositoryRoot, "node_modules", name), join(folder, "node_modules", name)).catch(() => {});
  }
  await cp(join(import.meta.dirname, "react-page.js"), join(folder, "react-page.js"));
  await using bundle = await rolldown({
    input: join(folder, "react-page.js"),
    platform: "browser",
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
  });
  return (await bundle.generate({ format: "esm" })).output[0].code;
}

/** No inline script or style, and no HTML from text. */
function policyFor(endpoint: string): string {
  const connections = ["'self'", endpoint].join(" ");
  return (
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src ${connections}; ` +
    "require-trusted-types-for 'script'; trusted-types 'none'"
  );
}

const styles = `
:root { color-scheme: light dark; }
body { margin: 0; font-family: system-ui; }
main { max-inline-size: 46rem; margin: auto; padding: 16px; }
.chat { block-size: 80vh; }
`;

function plainBody(endpoint: string): string {
  return `<main><h1>Ask us</h1><runnel-chat class="chat" endpoint="${endpoint}" backend="/chat"></runnel-chat></main>`;
}

/** The page sets properties of the element before the script that defines it. */
function earlyBody(endpoint: string): string {
  return `<main><runnel-chat class="chat" endpoint="${endpoint}"></runnel-chat></main><script src="/early.js"></script>`;
}

const earlyScript = `
const chat = document.querySelector("runnel-chat");
chat.words = { send: "Ask" };
chat.backend = (request, signal) => fetch("/chat", { method: "POST", body: JSON.stringify(request), signal });
`;

function reactBody(endpoint: string): string {
  return `<div id="root" data-endpoint="${endpoint}"></div>`;
}

function printPage(script: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
<title>A site</title>
${body}
<script type="module" src="${script}"></script>
</html>
`;
}
