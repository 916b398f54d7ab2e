// nginx with the lines of docs/deployment.md in front of the service: streams arrive as they happen, over SSE and gRPC, and
// unary calls of every protocol find their way.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { readSession, setStage, startConversation } from "../conformance/stage.ts";
import { findSurface } from "../conformance/surfaces.ts";
import { makeCertificates } from "../harness/certificates.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { until } from "../harness/wait.ts";
import { asClient, curl, startCurl } from "./curl.ts";
import { runProgram, startProgram } from "./program.ts";

const origin = "https://runnel.example";

test("streams pass as they happen, and calls of every protocol arrive", async () => {
  const { service, provider, api } = await setStage(findSurface("REST"));
  const going = Promise.withResolvers<void>();
  provider.respond(async (wire) => {
    wire.text("first words");
    await going.promise;
    wire.text(", last words");
    wire.finish("stop");
    wire.done();
  });
  const socket = await startNginx(service.target);
  const { sessionId, runId } = await startConversation(api);

  const through = ["--unix-socket", socket, "--insecure", ...asClient()];
  const overSse = startCurl([...through, `${origin}/v1/sessions/${sessionId}/stream`]);
  const nodeOptions = {
    createConnection: () => connect({ path: socket, ALPNProtocols: ["h2"], rejectUnauthorized: false }),
  };
  const client = createClient(RunService, createGrpcTransport({ baseUrl: origin, nodeOptions }));
  const types: string[] = [];
  const overGrpc = (async () => {
    for await (const { results } of client.tailRun({ runId }, { headers: credentialsOf() })) {
      types.push(...results.map(({ payload }) => payload.case ?? ""));
    }
  })();
  await until("the first words over SSE", () => overSse.stdout().includes("first words"));
  await until("the first words over gRPC", () => types.includes("messageDelta"));
  going.resolve();
  await overGrpc;
  expect(types.at(-1)).toBe("runCompleted");
  expect((await overSse.finished).stdout.toString()).toContain("\nevent: done\n");
  await readSession(api, sessionId);

  const asJson = ["--header", "content-type: application/json", "--data", JSON.stringify({ runId })];
  for (const version of ["--http1.1", "--http2"]) {
    const byConnect = await curl([...through, version, ...asJson, `${origin}/runnel.v1.RunService/GetRun`]);
    expect(JSON.parse(byConnect.body.toString()).run).toMatchObject({ runId, state: "STATE_COMPLETED" });
  }
  const { run } = await client.getRun({ runId }, { headers: credentialsOf() });
  expect(run?.runId).toBe(runId);
});

/** In the foreground, at a socket of its own, which is returned. */
async function startNginx(target: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "runnel-nginx-"));
  const [socket, certificate, key, file] = ["nginx.sock", "cert.pem", "key.pem", "nginx.conf"].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  const { server } = await makeCertificates();
  await Promise.all([writeFile(certificate, server.cert), writeFile(key, server.key)]);
  const page = await readFile(new URL("../../docs/deployment.md", import.meta.url), "utf8");
  const [, lines = ""] = /```nginx\n([\s\S]*?)```/.exec(page) ?? [];
  const { stderr: version } = await runProgram("nginx", ["-v"]);
  const replacements: readonly (readonly [string, string])[] = [
    ["server 127.0.0.1:8090;", `server ${target};`],
    ["/etc/ssl/runnel.pem", certificate],
    ["/etc/ssl/runnel-key.pem", key],
    ...(/nginx\/1\.(\d|1\d|2[0-4])\./.test(version)
      ? ([
          ["listen 443 ssl;", `listen unix:${socket} ssl http2;`],
          ["  http2 on;", "  "],
        ] as const)
      : ([["listen 443 ssl;", `listen unix:${socket} ssl;`]] as const)),
  ];
  const site = replacements.reduce((text, [from, to]) => {
    expect(text).toContain(from);
    return text.replaceAll(from, to);
  }, lines);
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join("\n");
  // One process, which is whoever runs the test.
  const head = `daemon off; master_process off; pid ${folder}/pid; error_log stderr;\nevents {}\n`;
  await writeFile(file, `${head}http {\naccess_log off;\n${places}\n${site}\n}`);
  const nginx = startProgram("nginx", ["-c", file, "-e", "stderr"]);
  onTestFinished(async () => {
    process.kill(nginx.pid, "SIGTERM");
    await nginx.finished;
    await rm(folder, { recursive: true });
  });
  const isThere = async (): Promise<boolean> =>
    (await curl(["--unix-socket", socket, "--insecure", `${origin}/livez`]).catch(() => undefined))?.status === 200;
  await until("nginx to pass calls on", isThere).catch(() => {
    throw new Error(nginx.stderr());
  });
  return socket;
}
