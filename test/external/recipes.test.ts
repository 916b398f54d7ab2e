// The recipes in Python do what their pages say, against the real service.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { answer, callTools } from "../fakes/provider.ts";
import { openFolder } from "../fixtures.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { setRecipeStage } from "../recipes/stage.ts";

const python = inject("python");

test.runIf(python !== "")("knowledge-base: the model gets the paragraph that fits, with its file", async () => {
  const { provider, start } = await setRecipeStage({}, python);
  const folder = await openFolder();
  await writeFile(join(folder, "leave.md"), "Everyone has 27 days of holiday.\n\nSick days are no holiday.\n");
  await writeFile(join(folder, "travel.md"), "Trains are first class.\n\nFlights need a reason.\n");
  provider.respond(
    callTools({ id: "c1", name: "search", arguments: '{"query":"trains class"}' }),
    answer("First class [travel.md]."),
  );
  const [port = 0] = await findFreePorts(1);
  const program = start("knowledge-base/ask.py", [folder, "Which class?"], { environment: { PORT: `${port}` } });
  const { stdout, stderr } = await program.finished;
  expect(stdout.toString(), stderr).toBe("First class [travel.md].\n");
  const found = provider.requests[1]?.body.messages.at(-1);
  expect(found).toMatchObject({ role: "tool", content: "[travel.md] Trains are first class." });
});

test.runIf(python !== "")("from-openai-assistants: a thread of two questions with a function", async () => {
  const { provider, start } = await setRecipeStage({}, python);
  provider.respond(
    callTools({ id: "c1", name: "grade", arguments: '{"answer":42}' }),
    answer("42 is right."),
    answer("84."),
  );
  const program = start("from-openai-assistants/tutor.py", ["What is 6 times 7?", "And doubled?"]);
  const { stdout, stderr } = await program.finished;
  expect(stdout.toString(), stderr).toBe("42 is right.\n84.\n");
  expect(stderr).toContain("1. user: What is 6 times 7?");
  expect(stderr).toMatch(/assistant: 84\.\n$/);
  expect(JSON.stringify(provider.requests[2]?.body.messages)).toContain("42 is right.");
});

test.runIf(python !== "")(
  "from-langgraph: a run waits for a person, and a fork leaves its thread as it was",
  async () => {
    const { provider, start } = await setRecipeStage({}, python);
    provider.respond(
      callTools({ id: "c1", name: "list_dir", arguments: '{"path":"."}' }),
      answer("No files."),
      answer("Hello."),
    );
    const program = start("from-langgraph/agent.py", ["List the files.", "Say hello."], { input: "y\n" });
    const { stdout, stderr } = await program.finished;
    expect(stdout.toString(), stderr).toBe("No files.\nHello.\n");
    expect(stderr).toContain('May list_dir run with {"path":"."}? (y/n)');
    const inFork = JSON.stringify(provider.requests[2]?.body.messages);
    expect(inFork).toContain("List the files.");
    expect(inFork).not.toContain("No files.");
  },
);
