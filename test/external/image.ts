// The image without a container engine: runs the Dockerfile's steps in a folder, and its commands on a read-only root under
// bubblewrap, with the settings that the Dockerfile declares.

import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { commandOf, environmentOfImage, findStage, type Stage, wordsOf, wordsOfImage } from "../deploy/dockerfile.ts";
import { type Running, runProgram, startProgram } from "./program.ts";

/** The settings that an engine adds to those of the image. */
export interface ContainerOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** By default engines cover parts of /proc. */
  readonly isProcWhole?: boolean;
}

export interface Image {
  /** The folder of its files on this machine. */
  readonly root: string;
  start(command: readonly string[], options?: ContainerOptions): Container;
}

export interface Container extends Running {
  /** Sends the signal to its first process, as an engine does. */
  signal(signal: NodeJS.Signals): Promise<void>;
}

/** Builds as `docker build` does with these arguments. */
export async function buildImage(args: Readonly<Record<string, string>>): Promise<Image> {
  const root = await mkdtemp(join(tmpdir(), "runnel-image-"));
  onTestFinished(() => rm(root, { recursive: true }));
  // The service may run as another user, who must be able to enter the folder.
  await chmod(root, 0o755);
  const node = join(root, "usr/local/bin/node");
  await mkdir(dirname(node), { recursive: true });
  await copyFile(process.execPath, node);
  await playSteps(findStage("app"), root, args);
  const data = join(root, wordsOfImage("VOLUME"));
  await mkdir(data, { recursive: true });
  await chmod(data, 0o777);
  return { root, start: (command, options = {}) => startIn(root, command, options) };
}

/** The command of a container with these arguments; the image's own by default. */
export function commandOfImage(words: readonly string[] = commandOf("CMD")): readonly string[] {
  return [...commandOf("ENTRYPOINT"), ...words];
}

/** Runs the steps with every path below `root`. */
async function playSteps({ steps }: Stage, root: string, args: Readonly<Record<string, string>>): Promise<void> {
  // Access to the registry depends on this machine, not on the Dockerfile.
  const environment: NodeJS.ProcessEnv = { ...process.env, PATH: pathIn(root), TMPDIR: root };
  let directory = "/";
  for (const step of steps) {
    const words = wordsOf(step);
    switch (step.getKeyword()) {
      case "WORKDIR":
        directory = words;
        await mkdir(join(root, directory), { recursive: true });
        break;
      case "COPY":
        await copy(words.split(/\s+/), join(root, directory));
        break;
      case "ARG": {
        const [name = "", fallback = ""] = words.split("=");
        environment[name] = args[name] ?? fallback;
        break;
      }
      case "RUN":
        await runProgram("sh", ["-c", `cd '${join(root, directory)}' && ${words}`], { environment });
        break;
      default:
        throw new Error(`nobody knows how to play ${step.getKeyword()} without a builder`);
    }
  }
}

/** npm is the machine's; the Node that runs it is the image's. */
function pathIn(root: string): string {
  return `${join(root, "usr/local/bin")}:${process.env.PATH}`;
}

async function copy(words: readonly string[], directory: string): Promise<void> {
  const target = words.at(-1) ?? "";
  for (const source of words.slice(0, -1)) {
    const to = target.endsWith("/") ? join(directory, target, basename(source)) : join(directory, target);
    await cp(join(repositoryRoot, source), to, { recursive: true });
  }
}

/** Everything is read-only except the volume and /tmp, and the user is the image's. */
function startIn(root: string, command: readonly string[], options: ContainerOptions): Container {
  const [user = "", group = ""] = wordsOfImage("USER").split(":");
  const [app, data] = [findStage("app").steps.find((step) => step.getKeyword() === "WORKDIR"), wordsOfImage("VOLUME")];
  const appPath = app === undefined ? "" : wordsOf(app);
  const walls = [
    ["--ro-bind", "/", "/"],
    ["--dev", "/dev"],
    ["--proc", "/proc"],
    options.isProcWhole === true ? [] : ["--ro-bind", "/proc/sys", "/proc/sys"],
    ["--tmpfs", "/tmp"],
    ...[appPath, "/usr/local/bin"].flatMap((path) => [
      ["--tmpfs", dirname(path)],
      ["--ro-bind", join(root, path), path],
      ["--remount-ro", dirname(path)],
    ]),
    ["--tmpfs", dirname(data)],
    ["--bind", join(root, data), data],
    ["--remount-ro", dirname(data)],
    ["--chdir", wordsOfImage("WORKDIR")],
    ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--uid", user, "--gid", group],
    ["--cap-drop", "ALL", "--die-with-parent", "--as-pid-1"],
  ].flat();
  const launch = ["bwrap", ...walls, "--", ...command];
  const asUser = ["setpriv", "--reuid", user, "--regid", group, "--clear-groups", "--no-new-privs", ...launch];
  const [program = "", ...words] = process.getuid?.() === 0 ? asUser : launch;
  const variables = { PATH: "/usr/local/bin:/usr/bin:/bin", ...environmentOfImage(), ...options.environment };
  const running = startProgram(program, words, { environment: variables });
  const signal = async (name: NodeJS.Signals): Promise<void> => {
    // The process that we started only waits for the first process inside; a signal to it would end both.
    const children = await readFile(`/proc/${running.pid}/task/${running.pid}/children`, "utf8");
    process.kill(Number(children.trim()), name);
  };
  return { ...running, signal };
}
