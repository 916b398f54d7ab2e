// A person who does a task by copy and paste, over any carrier of texts: reads each outbox, answers it, and knows nothing else
// of the exchange. The same workspace and the same answers make the same outboxes.

/** Carries texts from the exchange to the person and back. */
export interface Carrier {
  /** Returns the outbox with this number as soon as it exists. */
  readonly readOutbox: (sequence: number) => Promise<string>;
  /** Sends the answer to the outbox with this number. */
  readonly bringInbox: (sequence: number, inbox: string) => Promise<void>;
}

/** The task to start the exchange with. */
export const task = "Make greet.sh greet the world.\nIt is finished when `sh build.sh` succeeds.";

/** The person's answers, one for each outbox: create, build, which fails; read; edit, and build again; clean up, and done. */
const answers: readonly ((outbox: string) => string)[] = [
  () => `I shall write the program and a check of it, and then run the check.

[MESSAGE]
A first attempt follows.
[/MESSAGE]

[CREATE_FILE path="src/greet.sh"]
#!/bin/sh
# Greets.
echo "Hello, wrold"
[/CREATE_FILE]

[CREATE_FILE path="build.sh"]
echo "building"
if [ "$(sh src/greet.sh)" != "Hello, world" ]; then
  echo "greet.sh is wrong" >&2
  exit 3
fi
echo "built"

[/CREATE_FILE]

[RUN_COMMAND]
sh build.sh
[/RUN_COMMAND]
`,
  () => `The build failed. I have to see the file, and the one with my notes, and here is an edit that cannot be read:

  [READ_FILE path="src/greet.sh"]
  [READ_FILE path="notes.txt"]
[EDIT_FILE path="src/greet.sh" start_line="three" end_line="3"]
echo "Hello, world"
[/EDIT_FILE]
`,
  (outbox) => {
    const line = findLine(outbox, 'echo "Hello, wrold"');
    return `Line ${line} has a typing error.\r
\r
[EDIT_FILE path="src/greet.sh" start_line="${line}" end_line="${line}"]\r
echo "Hello, world"\r
[/EDIT_FILE]\r
[RUN_COMMAND]\r
sh build.sh\r
[/RUN_COMMAND]\r
`;
  },
  () => `It works.

[DELETE_FILE path="build.sh"]
[DONE]
greet.sh greets the world.
[/DONE]
`,
];

/** Returns the number of the line with this text in the one file that is shown, from 1. */
function findLine(outbox: string, wanted: string): number {
  const lines = outbox.split("\n");
  const start = lines.indexOf("--- src/greet.sh ---");
  const line = lines.indexOf(wanted, start);
  if (start === -1 || line === -1) {
    throw new Error(`no line ${wanted} of a file in the outbox`);
  }
  return line - start;
}

/** Answers every outbox from the first one on and returns them all; the last answer says that the task is done. */
export async function doTask({ readOutbox, bringInbox }: Carrier): Promise<string[]> {
  const outboxes: string[] = [];
  for (const [index, answer] of answers.entries()) {
    const sequence = index + 1;
    const outbox = await readOutbox(sequence);
    outboxes.push(outbox);
    await bringInbox(sequence, answer(outbox));
  }
  return outboxes;
}

/** The files in the workspace at the end. */
export const filesAfter: Readonly<Record<string, string>> = {
  "src/greet.sh": '#!/bin/sh\n# Greets.\necho "Hello, world"\n',
};

/** The person's last message: the output of the run. */
export const summary = "greet.sh greets the world.";
