// Checks the ports: each is free, used by a running Runnel, or used by another program. The check listens on a free port for a
// moment to find out.

import { once } from "node:events";
import { get } from "node:http";
import { connect as connectH2 } from "node:http2";
import { get as getTls } from "node:https";
import { createServer } from "node:net";
import type { Config } from "../../platform/config/keys.ts";
import { type CheckContext, type Finding, fail, ok, warn, why } from "./check.ts";

const answerTimeoutMs = 2_000;
const answerBytesMax = 65_536;
const loopback = "127.0.0.1";

interface Port {
  readonly name: string;
  readonly variable: string;
  readonly host: string;
  readonly hostVariable: string;
  readonly port: number;
  /** True when the port asks callers for a certificate: the doctor has none and gets no answer. */
  readonly wantsCertificate: boolean;
  /** Calls the port; returns the text that it answers. */
  readonly ask: () => Promise<string>;
  readonly isOurs: (answer: string) => boolean;
}

/** Checks every port that the settings name. */
export async function checkPorts({ config }: CheckContext): Promise<Finding[]> {
  return await Promise.all(listPorts(config).map(checkPort));
}

function listPorts(config: Config): Port[] {
  const { serverHost: host, serverPort, serverH2Port, tlsCertFile, tlsClientCaFile } = config;
  const { metricsHost, metricsPort } = config;
  const origin = (port: number): string => `${tlsCertFile === "" ? "http" : "https"}://${reachable(host)}:${port}`;
  const server = {
    host,
    hostVariable: "RUNNEL_SERVER_HOST",
    wantsCertificate: tlsClientCaFile !== "",
    isOurs: (answer: string) => answer.replaceAll(/\s/g, "") === '{"status":"ok"}',
  };
  const ports: (Port | undefined)[] = [
    {
      ...server,
      name: "port",
      variable: "RUNNEL_SERVER_PORT",
      port: serverPort,
      ask: () => askH1(`${origin(serverPort)}/livez`),
    },
    serverH2Port === undefined
      ? undefined
      : {
          ...server,
          name: "h2-port",
          variable: "RUNNEL_SERVER_H2_PORT",
          port: serverH2Port,
          ask: () => askH2(origin(serverH2Port), "/livez"),
        },
    metricsPort === undefined
      ? undefined
      : {
          name: "metrics-port",
          variable: "RUNNEL_METRICS_PORT",
          host: metricsHost,
          hostVariable: "RUNNEL_METRICS_HOST",
          port: metricsPort,
          wantsCertificate: false,
          ask: () => askH1(`http://${reachable(metricsHost)}:${metricsPort}/metrics`),
          isOurs: (answer) => answer.includes("runnel_"),
        },
  ];
  return ports.filter((port) => port !== undefined);
}

async function checkPort(port: Port): Promise<Finding> {
  const { name, variable, hostVariable } = port;
  const place = `${port.host}:${port.port}`;
  if (port.port === 0) {
    return ok(name, "a free one is picked at the start");
  }
  const trouble = await tryListen(port);
  if (trouble === undefined) {
    return ok(name, `${place} is free`);
  }
  if (trouble.code !== "EADDRINUSE") {
    return fail(
      name,
      `${place} cannot be listened on (${why(trouble)})`,
      `set ${variable} or ${hostVariable} to another`,
    );
  }
  const answer = await port.ask().catch(() => "");
  if (port.isOurs(answer)) {
    return ok(name, `${place} is taken by a Runnel that runs`);
  }
  if (port.wantsCertificate && answer === "") {
    const fix = `if that is no Runnel, stop it or set ${variable} to another port`;
    return warn(name, `${place} is in use; because of client certificates the doctor cannot ask by which program`, fix);
  }
  const fix = `stop what listens there, or set ${variable} to another port`;
  return fail(name, `${place} is taken by a program that is not Runnel`, fix);
}

async function tryListen({ host, port }: Port): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, "listening");
    server.close();
    await once(server, "close");
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

/** Returns an address that can be called: "all addresses" become the loopback address. */
function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "::") {
    return loopback;
  }
  return host.includes(":") ? `[${host}]` : host;
}

/** Calls over HTTP/1.1. The call sends no secret and trusts no answer, so any certificate is accepted. */
function askH1(url: string): Promise<string> {
  const open = url.startsWith("https:") ? getTls : get;
  return new Promise((resolve, reject) => {
    const request = open(url, { rejectUnauthorized: false, agent: false, timeout: answerTimeoutMs }, (response) => {
      collect(response).then(resolve, reject);
    });
    request.once("timeout", () => request.destroy(new Error("no answer")));
    request.once("error", reject);
  });
}

async function askH2(origin: string, path: string): Promise<string> {
  const session = connectH2(origin, { rejectUnauthorized: false });
  try {
    const failed = once(session, "error").then(([error]) => Promise.reject(error));
    session.setTimeout(answerTimeoutMs, () => session.destroy(new Error("no answer")));
    const stream = session.request({ ":path": path });
    return await Promise.race([collect(stream), failed]);
  } finally {
    session.destroy();
  }
}

async function collect(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > answerBytesMax) {
      break;
    }
  }
  return Buffer.concat(chunks).toString("utf8");
}
