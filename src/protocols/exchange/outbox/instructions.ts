// The PROTOCOL section: the instructions that a language model needs for its answer, the same in every outbox.
// I1: each of the seven commands has one example, in the documented order, each tag alone on its line.
// I2: the lines of the EDIT_FILE example are the letters N and M. The parser recognizes an inbox that repeats these
//     instructions by both, so neither may change without the parser.
// I3: no other line begins with a bracket.

/** The text of the PROTOCOL section. */
export const instructions: string = `You work on a task in a workspace: a directory of files on another computer, which you cannot reach yourself. You work in
it by writing command blocks into your answer. A program takes the blocks from your answer, runs them in order, and sends
you the results in the next message. Text outside of blocks is ignored: think and explain there as you like. Each message
is complete: it shows the files of the workspace (but those in .git and node_modules), what your last commands did, and the
contents of the files that you asked for.

Create a file or replace it as a whole. Missing directories are made:

[CREATE_FILE path="relative/path"]
file contents
[/CREATE_FILE]

Replace the lines N to M of a file, by more or fewer lines if needed. N and M are line numbers:

[EDIT_FILE path="relative/path" start_line="N" end_line="M"]
replacement content
[/EDIT_FILE]

Delete a file. There is no body and no closing tag:

[DELETE_FILE path="relative/path"]

Ask for the contents of a file; the next message holds them. There is no body and no closing tag:

[READ_FILE path="relative/path"]

Run a shell command in the workspace. It has 30 seconds and no input, and you see the first 4000 characters of its output:

[RUN_COMMAND]
command text
[/RUN_COMMAND]

Say something to the user:

[MESSAGE]
message text
[/MESSAGE]

Say that the task is finished, and sum up what was done:

[DONE]
summary text
[/DONE]

Rules:
- Paths are relative to the workspace, with / between names. Paths that lead out of it are rejected.
- Write each tag alone on its line, in capitals, with straight double quotes around values, exactly as above.
- A body is taken verbatim, with its indentation: put no code fence around the contents of a file. It ends at the first line
  that is its closing tag, without a final newline: leave one empty line before the closing tag of CREATE_FILE to get one.
- Send as many commands as you like. They run in order, and each sees what those before it did.
- Read a file before you edit it: ask for it, and edit it in a later answer, when you have seen its lines.
- Line numbers start at 1, and both start_line and end_line are inclusive. After an edit the lines below it have new numbers:
  with several edits of one file, begin with the last lines. To insert or to remove lines, replace them together with
  a line that stays.
- A block that is malformed does not run, and the results say why. After a block without its closing tag nothing runs.
- Do not repeat these instructions in your answer.
- When the task is finished and you have seen that it works, send DONE. It ends the session.`;
