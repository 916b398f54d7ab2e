// `runnel chat` on a terminal and in a pipe, against a service in a process of its own.

import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { answer, callTools } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { testDatabase } from "../harness/database.ts";
import { startProcess } from "../harness/process.ts";
import { programPath } from "../harness/program.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { runCommand, runShell, startInTerminal, startWithProvider, type TerminalCommand } from "./command.ts";

const controlC = "\u0003";
const controlD = "\u0004";
const arrowUp = "\u001b[A";

interface Chat extends TerminalCommand {
  /** Types at the prompt, after it has appeared once more. Returns what the terminal shows until it is there again. */
  readonly enter: (text: string) => Promise<string>;
  /** Waits for a new text on the terminal. */
  readonly see: (text: string | RegExp) => Promise<string>;
}

function startChat(url: string, ...words: string[]): Chat {
  const terminal = startInTerminal([process.execPath, programPath, "chat", "--url", url, ...words]);
  let seenChars = 0;
  const see = (text: string | RegExp): Promise<string> =>
    until(`${text} on the terminal`, () => {
      const fresh = terminal.stdout().slice(seenChars);
      const found = typeof text === "string" ? fresh.indexOf(text) : fresh.search(text);
      if (found === -1) {
        return undefined;
      }
      const end = typeof text === "string" ? found + text.length : fresh.length;
      seenChars += end;
      return fresh.slice(0, end);
    });
  const enter = async (text: string): Promise<string> => {
    terminal.type(`${text}\r`);
    await see("\u001b[?2004l");
    return await see(`\u001b[?2004h`);
  };
  return { ...terminal, see, enter };
}

const model = { defaultModel: "gpt-4o" };

function messagesOf(request: { readonly body: unknown } | undefined): unknown[] {
  return (request?.body as { messages: unknown[] } | undefined)?.messages ?? [];
}

test("a conversation goes on from message to message, in a fork, and after it was left", async () => {
  const presets = { agentPresets: ['poet={"system_prompt": "Rhyme."}'] };
  const { provider, url } = await startWithProvider({ ...model, ...presets });
  provider.respond(answer("Hello **you**"), answer("second"), answer("third"), answer("fourth"), answer("fifth"));
  const chat = startChat(url);
  await chat.see("\u001b[?2004h");
  expect(await chat.enter("one")).toContain("Hello \u001b[1myou\u001b[22m");
  await chat.enter("two");
  expect(messagesOf(provider.requests[1])).toMatchObject([
    { content: "one" },
    { content: "Hello **you**" },
    { content: "two" },
  ]);
  expect(await chat.enter("/modle")).toContain("unknown command /modle; did you mean /model?");
  expect(await chat.enter("/model pgt-4o-mini")).toContain("did you mean gpt-4o-mini?");
  expect(await chat.enter("/model gpt-4o-mini")).toContain("go to gpt-4o-mini");
  await chat.enter("three");
  expect(provider.requests[2]?.body).toMatchObject({ model: "gpt-4o-mini" });
  const [, fork, origin] = /session (\S+) goes on from here; (\S+) stays/.exec(await chat.enter("/fork")) ?? [];
  await chat.enter("/agent poet");
  await chat.enter("four");
  expect(messagesOf(provider.requests[3])).toMatchObject([
    { role: "system", content: "Rhyme." },
    ...["one", "Hello **you**", "two", "second", "three", "third", "four"].map((content) => ({ content })),
  ]);
  await chat.enter(`/resume ${origin}`);
  chat.type(controlD);
  const { code, stdout } = await chat.ended;
  expect({ code, isOther: fork !== origin }).toEqual({ code: 0, isOther: true });
  expect(stdout).toContain(`resume it: runnel chat --session ${origin} --url ${url}`);

  const resumed = startChat(url, "--session", String(origin));
  const shown = await resumed.see("\u001b[?2004h");
  expect(stripVTControlCharacters(shown)).toMatch(/> one\r\nHello you\r\n> two\r\nsecond\r\n> three\r\nthird/);
  await resumed.enter("five");
  expect(messagesOf(provider.requests[4])).toHaveLength(7);
});

test("another agent answers with its own settings, and not with the flags of the resumed conversation", async () => {
  const presets = { agentPresets: ['poet={"system_prompt": "Rhyme."}'] };
  const { provider, url } = await startWithProvider({ ...model, ...presets });
  provider.respond(answer("one"), answer("two"), answer("three"));
  const begun = await runCommand(["run", "Hello", "--detach", "--json", "--url", url]);
  const { session_id: sessionId } = JSON.parse(begun.stdout);
  const chat = startChat(url, "--session", sessionId, "--set", 'system_prompt="Be brief."');
  await chat.see("\u001b[?2004h");
  await chat.enter("two");
  expect(messagesOf(provider.requests[1])[0]).toMatchObject({ role: "system", content: "Be brief." });
  await chat.enter("/agent poet");
  await chat.enter("three");
  expect(messagesOf(provider.requests[2])[0]).toMatchObject({ role: "system", content: "Rhyme." });
  chat.type(controlD);
  await chat.ended;
});

test("Ctrl-C cancels the run, clears a line, and leaves an empty one at the second time", async () => {
  const { url } = await startService();
  const chat = startChat(url);
  await chat.see("\u001b[?2004h");
  chat.type("hello words=500 pace=50\r");
  await chat.see("demo model");
  chat.type(controlC);
  await chat.see("cancelling the run");
  await chat.see("✗ cancelled");
  await chat.see("\u001b[?2004h");
  chat.type("not sent");
  await chat.see("not sent");
  chat.type(controlC);
  expect(await chat.enter("hello words=3 pace=0")).toContain("✓ completed");
  chat.type(controlC);
  await chat.see("Ctrl-C again, or Ctrl-D, leaves");
  chat.type(controlC);
  const { code, stdout } = await chat.ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("resume it: runnel chat --session ") });
});

test("after a refused first message the conversation begins with the next one", async () => {
  const { url } = await startService();
  const chat = startChat(url, "--model", "gpt-4o");
  await chat.see("\u001b[?2004h");
  expect(await chat.enter("one")).toContain("gpt-4o");
  await chat.enter("/model demo");
  expect(await chat.enter("hello words=3 pace=0")).toContain("✓ completed");
  const { stdout } = await runCommand(["sessions", "list", "-o", "id", "--url", url]);
  expect(stdout).toMatch(/^\S+\n$/);
});

test("a paste of several lines is one message, and the arrow keys bring it back", async () => {
  const { provider, url } = await startWithProvider(model);
  provider.respond(answer("1"), answer("2"), answer("3"), answer("4"));
  const chat = startChat(url);
  await chat.see("\u001b[?2004h");
  await chat.enter("\u001b[200~a\r\nb\n\nc\u001b[201~ d");
  expect(chat.stdout()).toContain("a⏎b⏎⏎c d");
  expect(messagesOf(provider.requests[0])).toMatchObject([{ content: "a\nb\n\nc d" }]);
  await chat.enter(`${arrowUp}!`);
  expect(messagesOf(provider.requests[1]).at(-1)).toMatchObject({ content: "a\nb\n\nc d!" });
  // A terminal that marks no pastes sends lines: each is a message, in order.
  chat.type("x\ry\r");
  await until("both messages", () => provider.requests.length === 4);
  expect(messagesOf(provider.requests[3]).slice(-3)).toMatchObject([
    { content: "x" },
    { content: "3" },
    { content: "y" },
  ]);
});

test("a call that waits is decided in the conversation, and its result stands below it", async () => {
  const { provider, url } = await startWithProvider(model);
  const write = callTools({ id: "c", name: "write_file", arguments: '{"file_path":"a.txt","content":"a"}' });
  provider.respond(write, answer("the end"));
  const chat = startChat(url, "--tools", "write_file", "--approve", "write_file");
  await chat.see("\u001b[?2004h");
  chat.type("write\r");
  await chat.see("Approve? [y = once");
  chat.type("y\r");
  expect(await chat.see("\u001b[?2004h")).toMatch(/→ write_file .*\r\n← Wrote 1 bytes.*the end/s);
});

test("an answer goes on after the service was killed and has come back", async () => {
  const environment = { DATABASE_URL: await testDatabase() };
  const first = await startProcess(environment);
  const chat = startChat(first.url);
  await chat.see("\u001b[?2004h");
  chat.type("hello words=100 pace=20\r");
  await chat.see("demo model");
  await first.kill();
  await chat.see("going on after");
  await startProcess({ ...environment, RUNNEL_SERVER_PORT: new URL(first.url).port });
  await chat.see("✓ completed");
  expect(await chat.enter("hello words=3 pace=0")).toContain("✓ completed");
});

test("in a pipe each line is a message, and a failed run decides the exit code", async () => {
  const { provider, url } = await startWithProvider(model);
  provider.respond(answer("**first**"), answer("second"));
  const { code, stdout, stderr } = await runShell(`printf 'one\\n\\n/two' | $runnel chat --url ${url}`);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\*\*first\*\*\n✓ completed.*\nsecond\n✓ completed/s);
  expect(messagesOf(provider.requests[1])).toMatchObject([{ content: "one" }, {}, { content: "/two" }]);
  const [, sessionId] = /session (\S+)/.exec(stderr) ?? [];
  provider.respond(fail(401, '{"error":{"message":"wrong key"}}'));
  const json = await runShell(`echo three | $runnel chat --session ${sessionId} --json --url ${url}`);
  expect(json).toMatchObject({ code: 3, stdout: expect.stringContaining("run_failed") });
  provider.respond(answer("four"));
  expect(await runShell(`printf 'four\\n\\377' | $runnel chat --url ${url}`)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^four\n/),
    stderr: expect.stringContaining("line 2 of standard input is not UTF-8 at byte 0"),
  });
  expect(await runCommand(["chat", "--session", "unknown", "--url", url])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("session not found"),
  });
});
