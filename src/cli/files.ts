// `runnel files`: what agents have written in the work directory of a session.

import { basename } from "node:path";
import type { Command } from "commander";
import { type File, File_TypeSchema, FileSchema } from "#gen/runnel/v1/file_pb.js";
import { FileService } from "#gen/runnel/v1/file_service_pb.js";
import { addLimitFlag, type ListFlags, listAll } from "./answer.ts";
import { CommandError } from "./command-error.ts";
import { type Service, withService } from "./connect.ts";
import { example } from "./example.ts";
import { leaveOnInterrupt } from "./interrupt.ts";
import { NewFile } from "./new-file.ts";
import { type Output, outputOf } from "./output.ts";
import { timeOf, wordOf } from "./sheet.ts";
import { shellWord } from "./shell-word.ts";
import { addServiceFlags, lineFor, type ServiceFlags } from "./target.ts";
import { print, printBytes, showsText } from "./terminal.ts";

interface GetFlags extends ServiceFlags {
  readonly out?: string;
  readonly force?: true;
}

/** Names a file of a session. */
interface Place {
  readonly sessionId: string;
  readonly path: string;
}

const sessionId = "0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d";
/** The largest text that is held whole, for a program: as much as the file tools of agents read. */
const textBytesMax = 10_485_760;

/** Defines `files`. */
export function defineFiles(files: Command): void {
  addFileList(files);
  addShow(files);
  addGet(files);
}

function addFileList(files: Command): void {
  addLimitFlag(addServiceFlags(files.command("list <session> [path]")))
    .description("list a directory of a session, sorted by name")
    .addHelpText("after", example(`runnel files list ${sessionId} out`))
    .action((sessionId: string, path: string | undefined, flags: ListFlags, command: Command) =>
      listAll(command, flags, {
        name: "files",
        schema: FileSchema,
        id: ({ path }) => path,
        read: async ({ client }, request) => {
          const page = await client(FileService).listFiles({ sessionId, path: path ?? "", ...request });
          return { items: page.files, nextPageToken: page.nextPageToken };
        },
        columns: ["PATH", "TYPE", "BYTES", "CHANGED"],
        row: (file) => [file.path, typeOf(file), String(file.sizeBytes), timeOf(file.updateTime)],
      }),
    );
}

function addShow(files: Command): void {
  addServiceFlags(files.command("show <session> <path>"))
    .description("print a file of a session; a terminal shows text alone")
    .addHelpText("after", example(`runnel files show ${sessionId} out/report.md`))
    .action((sessionId: string, path: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async (service) => {
        const output = outputOf(command);
        const pieces = read(service, { sessionId, path });
        const fix = `save it: ${lineFor(flags, `runnel files get ${shellWord(sessionId)} ${shellWord(path)}`)}`;
        await (output.asJson ? answerText(output, path, pieces, fix) : printPieces(path, pieces, fix));
      }),
    );
}

function addGet(files: Command): void {
  addServiceFlags(files.command("get <session> <path>"))
    .description("save a file of a session")
    .addHelpText("after", example(`runnel files get ${sessionId} out/report.pdf --out report.pdf`))
    .option("--out <file>", "file to write; unset means the same name in this directory")
    .option("--force", "overwrite an existing file")
    .action(async (sessionId: string, path: string, flags: GetFlags, command: Command) => {
      const output = outputOf(command);
      leaveOnInterrupt(() => output.note("interrupted; nothing was written", { note: "interrupted", path }));
      await using file = await NewFile.open(flags.out ?? basename(path), { force: flags.force === true });
      let bytes = 0;
      await withService(flags, async (service) => {
        for await (const piece of read(service, { sessionId, path })) {
          await file.write(piece);
          bytes += piece.byteLength;
        }
      });
      await file.keep();
      const { path: written } = file;
      await output.answer({ path, file: written, bytes }, () => `wrote ${written}: ${bytes} bytes`);
    });
}

async function* read({ client }: Service, place: Place): AsyncGenerator<Uint8Array> {
  for await (const { piece } of client(FileService).readFile(place)) {
    yield piece?.data ?? new Uint8Array();
  }
}

/** Prints bytes as they are to a pipe, and text to a terminal. */
async function printPieces(path: string, pieces: AsyncIterable<Uint8Array>, fix: string): Promise<void> {
  const reader = showsText() ? new TextReader(path, fix) : undefined;
  for await (const piece of pieces) {
    await (reader === undefined ? printBytes(piece) : print(reader.read(piece)));
  }
  await print(reader?.finish() ?? "");
}

async function answerText(output: Output, path: string, pieces: AsyncIterable<Uint8Array>, fix: string): Promise<void> {
  const reader = new TextReader(path, fix);
  let [text, bytes] = ["", 0];
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > textBytesMax) {
      throw new CommandError(`${path} has more than ${textBytesMax} bytes`, { reason: "FILE_TOO_LARGE", fix });
    }
    text += reader.read(piece);
  }
  await output.answer({ path, text: text + reader.finish() }, () => text);
}

/** Reads text from pieces that are cut between any two bytes. Throws a `CommandError` when they are no text. */
class TextReader {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #path: string;
  readonly #fix: string;

  constructor(path: string, fix: string) {
    this.#path = path;
    this.#fix = fix;
  }

  read(piece: Uint8Array): string {
    return this.#check(() => this.#decoder.decode(piece, { stream: true }));
  }

  finish(): string {
    return this.#check(() => this.#decoder.decode());
  }

  #check(decode: () => string): string {
    try {
      const text = decode();
      if (!text.includes("\0")) {
        return text;
      }
    } catch (error) {
      if (!(error instanceof TypeError)) {
        throw error;
      }
    }
    throw new CommandError(`${this.#path} is not text in UTF-8`, { reason: "FILE_NOT_TEXT", fix: this.#fix });
  }
}

function typeOf({ type }: File): string {
  return wordOf(File_TypeSchema, type);
}
