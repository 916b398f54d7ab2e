// Texts that resemble inboxes: correct and nearly correct tags in any order, with anything that may surround a tag on its line.

import fc from "fast-check";

const names = ["CREATE_FILE", "EDIT_FILE", "DELETE_FILE", "READ_FILE", "RUN_COMMAND", "MESSAGE", "DONE"];
const blanks = [
  "",
  "",
  "",
  "",
  "",
  "",
  " ",
  "\t",
  "\r",
  "\r\r",
  "\f",
  "\u0085",
  "\u00a0",
  "\u3000",
  "\u2028",
  "\ufeff",
  "\0",
];

const blank = fc.constantFrom(...blanks);
const name = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...names) },
  { weight: 1, arbitrary: fc.constantFrom("done", "Read_File", "RENAME_FILE", "DONES", "", "TODO", "x") },
);
const value = fc.constantFrom(
  ...["a", "a", "b", "1", "2", "N", "M", "", "X", "]", "[/DONE]", " 7 ", "+1", "-0", "007", "x", "é\rb", "1.0", "a]b["],
  ...["2147483647", "2147483648", "-2147483648"],
);
const attribute = fc
  .tuple(
    fc.constantFrom("", " ", " ", " ", " ", "\t", "-", "é", "\u00a0", "_"),
    fc.constantFrom("path", "path", "path", "PATH", "start_line", "end_line", "End_Line", "end", "x", "filepath"),
    fc.constantFrom("=", "=", "=", "=", " = ", "\u0085=\t", "", "=="),
    fc.constantFrom('"', '"', '"', '"', '"', '"', "'", "“", ""),
    value,
    fc.constantFrom('"', '"', '"', '"', '"', '"', "'", "”", ""),
  )
  .map((parts) => parts.join(""));

const plainTag = name.map((each) => `[${each}]`);
const fileTag = fc
  .tuple(
    fc.constantFrom("[", "[", "[", "[ ", "\\[", "**[", "> [", "［", "&#91;"),
    name,
    fc.array(attribute, { maxLength: 4 }),
  )
  .chain(([open, each, attributes]) =>
    fc
      .constantFrom("]", "]", "]", " ]", "/]", "", "] x", "]]", "]**")
      .map((close) => open + each + attributes.join("") + close),
  );
const rightTag = fc.oneof(
  fc.constantFrom('[READ_FILE path="a"]', '[DELETE_FILE path="b"]', '[CREATE_FILE path="a" end="X"]'),
  fc.tuple(value, value).map(([start, end]) => `[EDIT_FILE path="a" start_line="${start}" end_line="${end}"]`),
);
const closingTag = fc
  .tuple(fc.constantFrom(...names), fc.constantFrom("", "", "", "", "", "", " ", " X", "x"))
  .map(([each, rest]) => `[/${each}${rest}]`);
const marker = fc.constantFrom(
  "=== PROTOCOL ===",
  "=== PROMPT ===",
  "=== HEADER ===",
  "=== PROTOCOL",
  "x === PROMPT ===",
);
const prose = fc.oneof(fc.constantFrom("", "", "x", "text", "- [DONE]", "```", "[x]", "[", "\r", "a\rb"), fc.string());

const line = fc
  .tuple(
    blank,
    fc.oneof(
      { weight: 3, arbitrary: plainTag },
      { weight: 3, arbitrary: fileTag },
      { weight: 3, arbitrary: rightTag },
      { weight: 7, arbitrary: closingTag },
      { weight: 1, arbitrary: marker },
      { weight: 3, arbitrary: prose },
    ),
    blank,
  )
  .map((parts) => parts.join(""));

/** A complete block, so that most texts have some commands. */
const block = fc
  .tuple(
    fc.constantFrom(...names),
    fc.constantFrom("", ' path="a" start_line="N" end_line="M"', ' path="a" start_line="1" end_line="02" end="X"'),
    fc.array(line, { maxLength: 2 }),
    fc.constantFrom("", "", " X"),
  )
  .map(([each, attributes, lines, end]) => {
    const isFile = each.endsWith("_FILE");
    return [`[${each}${isFile ? attributes : ""}]`, ...lines, `[/${each}${isFile ? end : ""}]`].join("\n");
  });

const outbox = fc
  .tuple(line, line, block)
  .map(([before, after, answer]) => ["=== PROTOCOL ===", before, "=== PROMPT ===", after, answer].join("\n"));

/** The commands in the documented order, more often than not with the letters of the instructions. */
const instructions = fc
  .constantFrom("N", "N", "1")
  .map((start) =>
    [
      ...['[CREATE_FILE path="p"]', "x", "[/CREATE_FILE]"],
      ...[`[EDIT_FILE path="p" start_line="${start}" end_line="M"]`, "x", "[/EDIT_FILE]"],
      ...['[DELETE_FILE path="p"]', '[READ_FILE path="p"]', "[RUN_COMMAND]", "x", "[/RUN_COMMAND]"],
      ...["[MESSAGE]", "x", "[/MESSAGE]", "[DONE]", "x", "[/DONE]"],
    ].join("\n"),
  );

export const nearInbox = fc
  .tuple(
    fc.array(
      fc.oneof(
        { weight: 10, arbitrary: line },
        { weight: 5, arbitrary: block },
        { weight: 1, arbitrary: fc.oneof(instructions, outbox) },
      ),
      { maxLength: 12 },
    ),
    fc.constantFrom("\n", "\n", "\n", "\r\n", "\r", "\n\n"),
    fc.constantFrom("", "\n"),
  )
  .map(([lines, newline, end]) => lines.join(newline) + end);
