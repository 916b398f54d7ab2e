// Tools that Anthropic names and callers run: a shell, an editor of files, and a memory of files. Claude gets them in Anthropic's words,
// and models of other makers as functions with the same input.

/** What a model of another maker reads of such a tool. */
export interface ClientTool {
  readonly description: string;
  readonly parameters: object;
}

/** Returns the tool of a type such as `bash_20250124`; undefined for one that Anthropic runs, and for a type that is not known. */
export function findClientTool(type: string): ClientTool | undefined {
  const name = type.replace(/_\d{8}$/, "");
  return Object.hasOwn(clientTools, name) ? clientTools[name] : undefined;
}

const text = { type: "string" };
const line = { type: "integer" };
const range = {
  ...{ type: "array", items: line, minItems: 2, maxItems: 2 },
  description: "For `view`: the first and the last line, from 1; -1 is the end of the file.",
};

/** The members of commands that edit files. */
const edits = {
  view_range: range,
  file_text: { ...text, description: "For `create`: the whole file." },
  old_str: { ...text, description: "For `str_replace`: the text to replace, which stands in the file once." },
  new_str: { ...text, description: "For `str_replace`: the text in its place." },
  insert_line: { ...line, description: "For `insert`: the line after which the text goes; 0 is the beginning." },
  insert_text: { ...text, description: "For `insert`: the text." },
};

const clientTools: Readonly<Record<string, ClientTool>> = {
  bash: {
    description: "Runs a command in a shell that stays open on the user's machine, and returns its output.",
    parameters: objectOf([], {
      command: { ...text, description: "The command; none with `restart`." },
      restart: { type: "boolean", description: "True starts the shell anew." },
    }),
  },
  text_editor: {
    description: "Shows, creates and edits files on the user's machine.",
    parameters: objectOf(["command", "path"], {
      command: { ...text, enum: ["view", "create", "str_replace", "insert"] },
      path: { ...text, description: "The absolute path of a file; for `view` also of a directory." },
      ...edits,
    }),
  },
  memory: {
    description:
      "Keeps files in the directory /memories from one conversation to the next. View the directory before anything else, and write " +
      "down what a later conversation needs.",
    parameters: objectOf(["command"], {
      command: { ...text, enum: ["view", "create", "str_replace", "insert", "delete", "rename"] },
      path: { ...text, description: "A path in /memories, for all commands but `rename`." },
      ...edits,
      old_path: { ...text, description: "For `rename`." },
      new_path: { ...text, description: "For `rename`." },
    }),
  },
};

function objectOf(required: readonly string[], properties: object): object {
  return { type: "object", properties, required };
}
