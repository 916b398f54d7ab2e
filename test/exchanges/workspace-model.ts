// The effects of inbox commands on files, as short as possible: maps instead of disks, splices instead of edits.

import type { CommandOf } from "../../src/protocols/exchange/command.ts";

export type FileCommand = CommandOf<"CREATE_FILE" | "EDIT_FILE" | "DELETE_FILE" | "READ_FILE">;

export class WorkspaceModel {
  readonly files: Map<string, string>;
  readonly #directories: Set<string>;
  /** Names in the top directory that lead out of the workspace. */
  readonly #waysOut: readonly string[];

  constructor(files: Readonly<Record<string, string>>, waysOut: readonly string[]) {
    this.files = new Map(Object.entries(files));
    this.#directories = new Set(Object.keys(files).flatMap(parentsOf));
    this.#waysOut = waysOut;
  }

  /** Returns whether the command succeeds. */
  apply(command: FileCommand): boolean {
    const path = this.#resolve(command.path);
    if (path === undefined) {
      return false;
    }
    if (command.type === "CREATE_FILE") {
      return this.#create(path, command.content);
    }
    const text = this.files.get(path);
    if (text === undefined) {
      return false;
    }
    if (command.type === "DELETE_FILE") {
      return this.files.delete(path);
    }
    return command.type === "READ_FILE" || this.#edit(path, text, command);
  }

  /** Returns undefined when no file may have this path. */
  #resolve(path: string): string | undefined {
    const names: string[] = [];
    for (const name of path.split("/")) {
      if (name === ".." && names.pop() === undefined) {
        return undefined;
      }
      if (name !== "" && name !== "." && name !== "..") {
        names.push(name);
      }
    }
    const isDirectory = ["", ".", ".."].includes(path.split("/").at(-1) ?? "");
    const leadsOut = path.startsWith("/") || this.#waysOut.includes(names[0] ?? "");
    return isDirectory || leadsOut || path.includes("\0") ? undefined : names.join("/");
  }

  #create(path: string, content: string): boolean {
    const parents = parentsOf(path);
    if (this.#directories.has(path) || parents.some((parent) => this.files.has(parent))) {
      return false;
    }
    for (const parent of parents) {
      this.#directories.add(parent);
    }
    this.files.set(path, content);
    return true;
  }

  #edit(path: string, text: string, { startLine, endLine, content }: CommandOf<"EDIT_FILE">): boolean {
    const lines = text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
    if (lines.at(-1) === "") {
      lines.pop();
    }
    if (startLine < 1 || endLine < startLine || startLine > lines.length) {
      return false;
    }
    lines.splice(startLine - 1, endLine - startLine + 1, ...content.split("\n"));
    this.files.set(path, lines.map((line) => `${line}\n`).join(""));
    return true;
  }
}

function parentsOf(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}
