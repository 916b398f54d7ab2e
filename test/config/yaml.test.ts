// A YAML file with mistakes: the message says where, what, and the correct form, without a word of the file's values.

import { expect } from "vitest";
import { readYamlConfig, refusalOf, test, yamlRefusal } from "./temp-config.ts";

test.each([
  ["server:\n  prot: 80\n", "2:3: unknown key server.prot: did you mean server.port?"],
  ["sever:\n  port: 80\n", "1:1: unknown key sever: did you mean server?"],
  ["port: 80\n", "1:1: unknown key port: did you mean server.port?"],
  ["server:\n  cert_file: a\n", "2:3: unknown key server.cert_file: did you mean server.tls.cert_file?"],
  ["server:\n  tls:\n    cret_file: a\n", "3:5: unknown key server.tls.cret_file: did you mean server.tls.cert_file?"],
  ["xyzzy: 1\n", "1:1: unknown key xyzzy: `runnel config explain` lists all keys"],
  ["server.port: 80\n", "1:1: unknown key server.port: a file has 2 lines for it"],
  ["'a b': 1\n", "1:1: unknown key that is no name"],
  ["<<: {server: {port: 80}}\n", "1:1: unknown key that is no name"],
])("%j is refused", async (text, told) => {
  expect(await yamlRefusal(text)).toContain(told);
});

test.each([
  ["server:\n  port: 80\n  port: 81\n", "3:3: duplicate key: keep one of them"],
  ["server:\n  port: 80\nserver:\n  host: a\n", "3:1: duplicate key: keep one of them"],
  ["server:\n\tport: 80\n", "2:1: a tab indents: use spaces"],
  ["server: port: 80\n", "1:9: two keys on one line, or a value that holds a colon and needs quotes"],
  ["server:\n  host: [a\n", "3:1: bad indentation, or a bracket that is not closed"],
  ["auth:\n  hmac_secret: *s3cret\n", "2:16: a value that begins with * needs quotes"],
  ["auth:\n  hmac_secret: !s3cret x\n", "2:16: a value that begins with ! needs quotes"],
  ["auth:\n  hmac_secret: @s3cret\n", "2:16: this is no YAML: a value with special characters needs quotes"],
  ['auth:\n  hmac_secret: "s3cret\n', "is missing"],
  ["server:\n  port: 80\n---\nserver:\n", "3:1: only one document fits into the file"],
  ["{{{}: 1}: 1}", "1:3: a key has to be a string"],
])("%j is not valid YAML, and is refused with line and column", async (text, told) => {
  const message = await yamlRefusal(text);
  expect(message).toContain(told);
  expect(message).not.toContain("s3cret");
});

test.each([
  ["server: 80\n", "1:9: server has keys below it, such as server.host, and no value"],
  ["server:\n  tls: [a]\n", "2:8: server.tls has keys below it, such as server.tls.cert_file, and no value"],
  ["- server\n", "1:1: a file of settings has keys below it, such as server.host, and no value"],
  ["server:\n  port: [80]\n", "2:3: server.port takes one value"],
  ["server:\n  port: {a: 80}\n", "2:3: server.port takes one value"],
  ["server:\n  cors_origins: [[a]]\n", "2:3: server.cors_origins takes a list of values"],
  ["server:\n  h2_port: eighty\n", '2: server.h2_port is "eighty": expected a whole number from 0 to 65535'],
  ["server:\n  h2_port: 80.5\n", '2: server.h2_port is "80.5": expected a whole number'],
  ["server:\n  reflection: yes\n", '2: server.reflection is "yes": expected true or false'],
])("%j has the wrong kind of value", async (text, told) => {
  expect(await yamlRefusal(text)).toContain(`Invalid config: ${told}`);
});

test("numbers, words, lists and texts are read with their usual meaning", async () => {
  const text = `
server: {port: "80", host: 127.1, reflection: false, h2_port: ~, cors_origins: [https://a.example, "https://b.example"]}
auth:
  hmac_secret: 0123
  api_keys: [ada=a-key-of-16-chars, bob=the-one-key-of-bob]
budgets: {run_usd: 2.50}
sessions:
callback:
  timeout_sec: &seconds 7
`;
  expect(await readYamlConfig(text)).toMatchObject({
    serverPort: 80,
    serverHost: "127.1",
    serverReflection: false,
    serverH2Port: undefined,
    serverCorsOrigins: ["https://a.example", "https://b.example"],
    authHmacSecret: "0123",
    authApiKeys: [
      { client: "ada", key: "a-key-of-16-chars" },
      { client: "bob", key: "the-one-key-of-bob" },
    ],
    budgetRunUsd: 2.5,
    callbackTimeoutSec: 7,
  });
  const aliases = "callback:\n  timeout_sec: &n 7\nretention: {days: *n}\n";
  expect(await readYamlConfig(aliases)).toMatchObject({ callbackTimeoutSec: 7, retentionDays: 7 });
  const lines = "auth:\n  api_keys: |\n    ada=a-key-of-16-chars\n    bob=the-one-key-of-bob\n";
  expect((await readYamlConfig(lines)).authApiKeys).toHaveLength(2);
});

test.each(["", "\n", "# nothing\n", "---\n", "{}", "server:\n", "\ufeffserver:\n"])(
  "%j is accepted as empty",
  async (text) => {
    expect((await readYamlConfig(text)).serverPort).toBe(8090);
  },
);

test("a file that is not text, too long or too deep is refused cheaply", async ({ temp }) => {
  const path = await temp.write("config.yaml", "#".repeat(256 * 1_024 + 1));
  expect(refusalOf(temp.sources)).toContain(`config file ${path} cannot be read (longer than 262144 bytes)`);
  await temp.write("config.yaml", "[".repeat(200_000));
  expect(refusalOf(temp.sources)).toMatch(/^Invalid config: \S+config\.yaml:1:\d+: this is nested too deeply; /);
  await temp.write("config.yaml", Buffer.from("server: {host: \xff}", "latin1"));
  expect(refusalOf(temp.sources)).toContain(`config file ${path} cannot be read (no text in UTF-8)`);
});
