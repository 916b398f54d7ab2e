// Prometheus metrics: what they count, what they never name, and where they can be read.

import { expect, test } from "vitest";
import { credentialsOf } from "../harness/credentials.ts";
import { startService, type TestService } from "../harness/service.ts";
import { signV1 } from "../harness/signing.ts";
import { until } from "../harness/wait.ts";

test("requests and refusals are counted on a port of their own, under names that identify no client", async () => {
  const service = await startService({ metricsPort: 0 });
  const url = `http://127.0.0.1:${service.app.metricsPort}/metrics`;
  const read = async () => await (await fetch(url)).text();
  const sessions = `${service.url}/v1/sessions`;
  expect((await fetch(sessions, { headers: credentialsOf() })).status).toBe(200);
  expect((await fetch(sessions)).status).toBe(401);
  const headers = signV1({ secret: "guessed", clientId: "tenant-a", path: "/v1/sessions" });
  expect((await fetch(sessions, { headers })).status).toBe(401);
  expect((await fetch(`${service.url}/nowhere`)).status).toBe(404);

  await until("all to be counted", async () => (await read()).includes('rpc="",status="404"} 1'));
  const text = await read();
  const rpc = 'rpc="runnel.v1.SessionService/ListSessions"';
  expect(text).toContain(`runnel_http_requests_total{${rpc},status="200"} 1\n`);
  expect(text).toContain(`runnel_http_requests_total{${rpc},status="401"} 2\n`);
  expect(text).toContain('runnel_auth_failures_total{reason="CREDENTIALS_MISSING"} 1\n');
  expect(text).toContain('runnel_auth_failures_total{reason="SIGNATURE_INVALID"} 1\n');
  expect(text).toContain(`runnel_http_request_duration_seconds_count{${rpc}} 3\n`);
  expect(text).toContain("runnel_http_in_flight 0\n");
  expect(text).toMatch(/runnel_build_info\{version="[^"]+",commit="[^"]+"\} 1\n/);
  expect(text).not.toContain("tenant-a");
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  const described = [...text.matchAll(/^# HELP (\S+) \S/gm)].map(([, name]) => name);
  expect(described).toEqual(names);
  expect(names.filter((name) => !name?.startsWith("runnel_"))).toEqual([]);
  expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
  expect((await fetch(url.replace("/metrics", "/"))).status).toBe(404);
});

test("that port is on loopback only, unless another address is set", async () => {
  const [usual, elsewhere] = [
    await startService({ metricsPort: 0 }),
    await startService({ metricsPort: 0, metricsHost: "127.0.0.2" }),
  ];
  const read = async ({ app }: TestService, host: string) =>
    await fetch(`http://${host}:${app.metricsPort}/metrics`).then(
      ({ status }) => status,
      () => "refused",
    );
  expect([await read(usual, "127.0.0.1"), await read(usual, "127.0.0.2")]).toEqual([200, "refused"]);
  expect([await read(elsewhere, "127.0.0.1"), await read(elsewhere, "127.0.0.2")]).toEqual(["refused", 200]);
});

test("without the setting the port is not open", async () => {
  expect((await startService()).app.metricsPort).toBeUndefined();
});
