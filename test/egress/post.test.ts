// One POST to a host outside, and every way in which the host can fail.

import { execFile } from "node:child_process";
import { Socket } from "node:net";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { version } from "../../src/platform/base/version.ts";
import { addressTimeoutMs } from "../../src/platform/egress/dialer.ts";
import type { DeniedKind } from "../../src/platform/egress/failure.ts";
import { makeCertificates } from "../harness/certificates.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";
import { createInternet, listen, listenRaw, openEgress, post } from "./internet.ts";

const answers = { "app.example": ["203.0.114.10"] };
const url = "http://app.example/tools?key=1";

test("sends the given request, to the host by name at the address that was checked", async () => {
  const seen: unknown[] = [];
  const port = await listen(async (request, response) => {
    const body = await request.setEncoding("utf8").toArray();
    seen.push(request.method, request.url, body.join(""), request.headers, request.httpVersion);
    response.writeHead(201).end("\ufeffdone");
  });
  const internet = createInternet(answers, { http: port });
  const request = { headers: { "x-own": "1" }, body: '{"ä":1}' };
  expect(await post(openEgress(internet.options), url, request)).toEqual({ status: 201, text: "done", isCut: false });
  const headers = { host: "app.example", "x-own": "1", "content-length": "8", "user-agent": `Runnel/${version}` };
  expect(seen).toEqual(["POST", "/tools?key=1", '{"ä":1}', expect.objectContaining(headers), "1.1"]);
  expect(internet.dials).toEqual(["203.0.114.10:80"]);
});

test("each refused target is counted by the rule that refused it, and other failures are not counted", async () => {
  const port = await listen((_, response) => response.end("here"));
  const names = { ...answers, "inside.example": ["203.0.114.10", "10.0.0.8"] };
  const internet = createInternet(names, { http: port });
  const denied: DeniedKind[] = [];
  const egress = openEgress({ ...internet.options, onDenied: (kind) => denied.push(kind) });
  expect(egress.findProblem("http://10.0.0.8/")).toBe("private IP callbacks are not allowed");
  expect(denied).toEqual(["address"]);
  for (const host of ["app.example:22", "localhost", "[::1]", "inside.example"]) {
    await expect(post(egress, `http://${host}/`)).rejects.toMatchObject({ isRetryable: false });
  }
  await expect(post(egress, "http://nobody.example/")).rejects.toThrow("no such host");
  await post(egress, "http://app.example/");
  expect(denied).toEqual(["address", "url", "name", "address", "address"]);
  expect(internet.dials).toEqual(["203.0.114.10:80"]);
});

test("on real sockets, an exception opens its own address and no other", async () => {
  const port = await listen((_, response) => response.end("in"));
  const egress = openEgress({ exceptions: ["127.0.0.1@127.0.0.1/32"] });
  expect(await post(egress, `http://127.0.0.1:${port}/`)).toMatchObject({ text: "in" });
  await expect(post(egress, `http://127.0.0.2:${port}/`)).rejects.toThrow("private IP callbacks are not allowed");
  await expect(post(egress, `http://localhost:${port}/`)).rejects.toThrow("localhost callbacks are not allowed");
});

// Node reads these variables at start, so this needs a process of its own.
test("a proxy in the environment is ignored", async () => {
  const port = await listen((_, response) => response.end("direct"));
  const proxied: unknown[] = [];
  const proxyPort = await listen((request, response) => {
    proxied.push(request.url);
    response.end("proxied");
  });
  const code = `
    import { once } from "node:events";
    import { get } from "node:http";
    import { text } from "node:stream/consumers";
    import { createEgress } from ${JSON.stringify(new URL("../../src/platform/egress/post.ts", import.meta.url).href)};
    import { systemClock as clock } from ${JSON.stringify(new URL("../../src/platform/base/clock.ts", import.meta.url).href)};
    const egress = createEgress({ clock, allowsPrivate: true, exceptions: [] });
    const { signal } = new AbortController();
    const request = { url: "http://127.0.0.1:${port}/", headers: {}, body: "", timeoutMs: 20_000, responseBytesMax: 99, signal };
    const direct = await egress.post(request);
    const [response] = await once(get(request.url), "response");
    console.log(direct.text, await text(response));`;
  const env = { HTTP_PROXY: `http://127.0.0.1:${proxyPort}`, NODE_USE_ENV_PROXY: "1" };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { env });
  // The second is what Node itself does with these variables.
  expect(stdout).toBe("direct proxied\n");
  expect(proxied).toHaveLength(1);
});

describe("a connection is kept", () => {
  test("for the next call to the same host at the same address", async () => {
    const port = await listen((_, response) => response.end("ok"));
    const dns = {
      ...answers,
      "two.example": {
        seq: [
          ["203.0.114.1", "203.0.114.2"],
          ["203.0.114.2", "203.0.114.1"],
        ],
      },
    };
    const internet = createInternet(dns, { http: port });
    const egress = openEgress(internet.options);
    for (const each of [url, url, url, "http://two.example/", "http://two.example/"]) {
      expect(await post(egress, each)).toMatchObject({ status: 200, text: "ok" });
    }
    expect(internet.dials).toEqual(["203.0.114.10:80", "203.0.114.1:80"]);
    // Each call resolves and checks the name again.
    expect(internet.lookups).toHaveLength(5);
  });

  test("and is not used for another name, another port, or another address of the name", async () => {
    const port = await listen((_, response) => response.end("ok"));
    const moved = { seq: [["203.0.114.10"], ["203.0.114.11"]] };
    const internet = createInternet(
      { ...answers, "other.example": answers["app.example"], "moved.example": moved },
      { http: port },
    );
    const egress = openEgress(internet.options);
    for (const host of ["app.example", "other.example", "app.example:8080", "moved.example", "moved.example"]) {
      await post(egress, `http://${host}/`);
    }
    expect(internet.dials).toEqual([
      "203.0.114.10:80",
      "203.0.114.10:80",
      "203.0.114.10:8080",
      "203.0.114.10:80",
      "203.0.114.11:80",
    ]);
  });

  test("and is not used for a name that now leads to a private address", async () => {
    let calls = 0;
    const port = await listen((_, response) => {
      calls += 1;
      response.end("ok");
    });
    const rebound = { seq: [["203.0.114.10"], ["10.0.0.8"], ["203.0.114.10", "10.0.0.8"]] };
    const internet = createInternet({ "app.example": rebound }, { http: port });
    const egress = openEgress(internet.options);
    await post(egress, url);
    await expect(post(egress, url)).rejects.toThrow("connection to private IP 10.0.0.8 is blocked");
    await expect(post(egress, url)).rejects.toThrow("connection to private IP 10.0.0.8 is blocked");
    expect(calls).toBe(1);
  });

  test("unless the host has closed it, or its answer was not read to the end", async () => {
    const open = new Set<Socket>();
    const port = await listen((request, response) => {
      open.add(request.socket);
      request.socket.once("close", () => open.delete(request.socket));
      response.writeHead(200, request.url === "/closing" ? { connection: "close" } : {});
      response.end("x".repeat(request.url === "/long" ? 5_000_000 : 1));
    });
    const internet = createInternet(answers, { http: port });
    const egress = openEgress(internet.options);
    for (const path of ["closing", "long", "short"]) {
      expect((await post(egress, `http://app.example/${path}`)).status).toBe(200);
    }
    expect(internet.dials).toHaveLength(3);
    await until("the others to be closed", () => open.size === 1);
    for (const socket of open) {
      socket.destroy();
    }
    await until(
      "the kept one to be gone",
      async () => (await post(egress, url).catch(() => undefined))?.status === 200,
    );
    expect(internet.dials).toHaveLength(4);
  });

  test("and closes with the service; idle ones have a maximum", async () => {
    const open = new Set<Socket>();
    const port = await listen((request, response) => {
      open.add(request.socket);
      request.socket.once("close", () => open.delete(request.socket));
      response.end("ok");
    });
    const hosts = Array.from({ length: 100 }, (_, index) => `host-${index}.example`);
    const internet = createInternet(Object.fromEntries(hosts.map((host) => [host, ["203.0.114.10"]])), { http: port });
    const egress = openEgress(internet.options);
    await Promise.all(hosts.map((host) => post(egress, `http://${host}/`)));
    await until("those beyond the limit to be closed", () => open.size === 64);
    egress.close();
    await until("all of them to be closed", () => open.size === 0);
  });
});

describe("over TLS", () => {
  test("the certificate must be valid for the name", async () => {
    const { ca, server } = await makeCertificates(["app.example", "203.0.114.10"]);
    const seen: unknown[] = [];
    const port = await listen((request, response) => {
      seen.push((request.socket as { servername?: unknown }).servername);
      response.end("secure");
    }, server);
    const names = { ...answers, "app.example.": ["203.0.114.10"], "other.example": ["203.0.114.10"] };
    const internet = createInternet(names, { http: 0, https: port });
    const egress = openEgress({ ...internet.options, ca });
    expect(await post(egress, "https://app.example./")).toMatchObject({ text: "secure" });
    expect(await post(egress, "https://203.0.114.10/")).toMatchObject({ text: "secure" });
    expect(seen).toEqual(["app.example", false]);
    await expect(post(egress, "https://other.example/")).rejects.toThrow(/^no trust in the TLS of the host: /);
    await expect(post(openEgress(internet.options), "https://app.example/")).rejects.toThrow(/^no trust/);
    expect(seen).toHaveLength(2);
  });

  test("a host without TLS gives an error", async () => {
    const port = await listen((_, response) => response.end());
    const internet = createInternet(answers, { http: port, https: port });
    await expect(post(openEgress(internet.options), "https://app.example/")).rejects.toThrow(/^no trust|^connection/);
  });
});

describe("a host", () => {
  const call = (port: number, request = {}) =>
    post(openEgress(createInternet(answers, { http: port }).options), url, request);

  test("that is down gives a retryable error", async () => {
    await expect(call(1)).rejects.toMatchObject({ message: "connection refused", isRetryable: true });
  });

  test("that is unknown gives a retryable error", async () => {
    const egress = openEgress(createInternet({ "empty.example": [] }, { http: 1 }).options);
    const unknown = { message: "no such host", isRetryable: true };
    await expect(post(egress, url)).rejects.toMatchObject(unknown);
    await expect(post(egress, "http://empty.example/")).rejects.toMatchObject(unknown);
  });

  test("that closes before, within or early in its answer gives a retryable error", async () => {
    const reset = { message: expect.stringMatching(/^connection reset/), isRetryable: true };
    for (const bytes of ["", "HTTP/1.1 200 O", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort"]) {
      const port = await listenRaw((socket) => socket.once("data", () => socket.end(bytes)));
      await expect(call(port), bytes).rejects.toMatchObject(reset);
    }
  });

  test("that does not speak HTTP, or switches protocols, gives an error", async () => {
    for (const bytes of [
      "SSH-2.0-OpenSSH_9\r\n\r\n",
      "HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
    ]) {
      const port = await listenRaw((socket) => socket.once("data", () => socket.write(bytes)));
      await expect(call(port), bytes).rejects.toMatchObject({ message: "what came back is no HTTP" });
    }
  });

  test("that sends an endless answer is cut at the maximum", async () => {
    const closed = Promise.withResolvers<void>();
    const port = await listen((_, response) => {
      response.once("close", () => closed.resolve());
      const more = (): unknown => response.write("x".repeat(10_000)) && setImmediate(more);
      response.on("drain", more);
      more();
    });
    expect(await call(port)).toEqual({ status: 200, text: "x".repeat(1_024), isCut: true });
    await closed.promise;
  });

  test("that sends exactly the maximum is not cut", async () => {
    const port = await listen((_, response) => response.end("x".repeat(1_024)));
    expect(await call(port)).toMatchObject({ isCut: false });
  });

  test("that redirects is not followed", async () => {
    const internet = createInternet(answers, {
      http: await listen((_, response) => response.writeHead(302, { location: "http://127.0.0.1/" }).end()),
    });
    expect(await post(openEgress(internet.options), url)).toMatchObject({ status: 302 });
    expect(internet.dials).toEqual(["203.0.114.10:80"]);
  });
});

describe("the timeout", () => {
  const late = { message: "no complete answer within 30 s", isRetryable: true };

  test.each([
    ["says nothing", "", url],
    ["says half of its head", "HTTP/1.1 200 OK\r\nx: ", url],
    ["says half of its body", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", url],
    ["never starts TLS", "", "https://app.example/"],
  ])("ends a call to a host that %s", async (_, bytes, to) => {
    const clock = createManualClock();
    const asked = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const port = await listenRaw((socket) => {
      socket.once("close", () => closed.resolve());
      socket.once("data", () => socket.write(bytes, () => asked.resolve()));
    });
    const egress = openEgress({ ...createInternet(answers, { http: port }).options, clock });
    const call = expect(post(egress, to, { timeoutMs: 30_000 })).rejects.toMatchObject(late);
    await asked.promise;
    clock.advance(30_000);
    await call;
    await closed.promise;
  });

  test("ends a call during the lookup of its name, and nothing is dialled afterwards", async () => {
    const clock = createManualClock();
    const name = Promise.withResolvers<readonly string[]>();
    const internet = createInternet(answers, { http: 1 });
    const egress = openEgress({ ...internet.options, resolve: () => name.promise, clock });
    const call = expect(post(egress, url, { timeoutMs: 30_000 })).rejects.toMatchObject(late);
    clock.advance(30_000);
    await call;
    name.resolve(["203.0.114.10"]);
    await new Promise(setImmediate);
    expect(internet.dials).toEqual([]);
  });

  test("is not used up by one silent address", async () => {
    const port = await listen((_, response) => response.end("second"));
    const clock = createManualClock();
    const internet = createInternet({ "app.example": ["203.0.114.1", "203.0.114.2"] }, { http: port });
    const connect = (address: string, to: number): Socket => {
      const socket = internet.options.connect?.(address, to) ?? expect.fail("no internet");
      return address === "203.0.114.1" ? new Socket().once("close", () => socket.destroy()) : socket;
    };
    const call = post(openEgress({ ...internet.options, connect, clock }), url);
    await until("the second one is dialled", () => {
      clock.advance(addressTimeoutMs);
      return internet.dials.length === 2;
    });
    expect(await call).toMatchObject({ text: "second" });
  });

  test("gives way at once when the caller aborts or the service stops", async () => {
    const port = await listenRaw(() => {});
    const { options } = createInternet(answers, { http: port });
    const abort = new AbortController();
    const egress = openEgress(options);
    const first = expect(post(egress, url, { signal: abort.signal })).rejects.toThrow("context canceled");
    const second = expect(post(egress, url)).rejects.toThrow("the service is stopping");
    abort.abort(new Error("context canceled"));
    await first;
    egress.close();
    await second;
    await expect(post(egress, url)).rejects.toThrow("the service is stopping");
    await expect(post(openEgress(options), url, { signal: abort.signal })).rejects.toThrow("context canceled");
  });
});
