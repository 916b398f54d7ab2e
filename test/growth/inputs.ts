// Texts that make careless readers slow, each of about the wanted length.

/** Makes a text of about this many characters. */
export type MakeText = (size: number) => string;

function fill(piece: string): MakeText {
  return (size) => piece.repeat(Math.ceil(size / piece.length));
}

/** Contents of strings, without the quotes around them. */
const stringContents: Readonly<Record<string, MakeText>> = {
  "a string of \\u escapes": fill("\\u0061"),
  "a string of backslashes": fill("\\\\"),
  "a string of escaped quotes": fill('\\"'),
  "a string with a line break every 80 characters": fill(`${"a".repeat(78)}\\n`),
  "a string of surrogate pairs": fill("\u{1f600}"),
  "a string of combining marks": fill("e\u0301"),
  "a string of halves of surrogate pairs": fill("\\ud800"),
};

/** JSON texts, valid and invalid. */
export const jsonTexts: Readonly<Record<string, MakeText>> = {
  ...Object.fromEntries(
    Object.entries(stringContents).map(([name, make]) => [name, (size) => `{"a":"${make(size)}"}`]),
  ),
  "a string without an end": (size) => `{"a":"${"a".repeat(size)}`,
  "a string of escapes without an end": (size) => `{"a":"${fill("\\n")(size)}`,
  "a string with a control character at its end": (size) => `{"a":"${fill("\\n")(size)}\u0001"}`,
  "many strings": (size) => `{"a":[${Array.from({ length: size / 4 }, () => '"b"').join(",")}]}`,
  "many strings with escapes": (size) => `{"a":[${Array.from({ length: size / 6 }, () => '"\\t"').join(",")}]}`,
  "many numbers": (size) => `{"a":[${Array.from({ length: size / 3 }, () => "17").join(",")}]}`,
  "a long number": (size) => `{"a":${"1".repeat(size)}}`,
  "a long fraction": (size) => `{"a":0.${"0".repeat(size)}1}`,
  "many keys": (size) => `{${Array.from({ length: size / 10 }, (_, at) => `"k${at}":1`).join(",")}}`,
  "one key many times": (size) => `{${Array.from({ length: size / 8 }, (_, at) => `"a":${at % 10}`).join(",")}}`,
  "a long key": (size) => `{"${"k".repeat(size)}":1}`,
  "keys with a long common start": (size) =>
    `{${Array.from({ length: size / 40 }, (_, at) => `"${"k".repeat(20)}${1_000_000 - at}":1`).join(",")}}`,
  "nested lists with a long string": (size) => `{"a":${"[".repeat(90)}"${"a".repeat(size)}"${"]".repeat(90)}}`,
  "nested objects with many numbers": (size) =>
    `${'{"a":'.repeat(90)}[${Array.from({ length: size / 2 }, () => "1").join(",")}]${"}".repeat(90)}`,
  "nested lists, deeper the longer they are": (size) => {
    const depth = Math.min(95, Math.ceil(size / 200));
    return `{"a":${"[0,".repeat(depth)}"${"a".repeat(size)}"${"]".repeat(depth)}}`;
  },
  "nested objects, deeper the longer they are": (size) => {
    const depth = Math.min(95, Math.ceil(size / 200));
    return `${'{"b":0,"a":'.repeat(depth)}[${Array.from({ length: size / 2 }, () => "1").join(",")}]${"}".repeat(depth)}`;
  },
  "lists that are nested too deeply": (size) => `{"a":${"[".repeat(size)}`,
  "lists without an end": (size) => `{"a":[${fill("[],")(size)}`,
  "white space": (size) => `{"a":${fill(" \n\t\r")(size)}1}${" ".repeat(size)}`,
  "white space before an error": (size) => `{"a":1}${fill("\n ")(size)}x`,
  "what looks like comments": (size) => `{"a":1${fill("/*/")(size)}}`,
  "many lines before an error": (size) => `{"a":[${fill("1,\n")(size)}]}`,
};

/** Texts of no particular form. */
export const plainTexts: Readonly<Record<string, MakeText>> = {
  "one letter": fill("a"),
  spaces: (size) => `${" ".repeat(size)}x`,
  "line breaks": fill("\n"),
  "carriage returns": (size) => `${"\r".repeat(size)}x`,
  "mixed ends of lines": fill("a\r\nb\rc\n\n"),
  digits: fill("0123456789"),
  "hexadecimal digits": fill("0123456789abcdef"),
  colons: fill(": "),
  slashes: fill("/"),
  percents: fill("%"),
  "equals signs": fill("="),
  backslashes: fill("\\"),
  quotes: fill('"'),
  brackets: fill("["),
  "pairs of brackets": fill("[]{}()<>"),
  "surrogate pairs": fill("\u{1f600}"),
  "combining marks": fill("e\u0301"),
};
