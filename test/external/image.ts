// The image without a container engine: runs the Dockerfile's steps in a folder, and its commands on a read-only root under
// bubblewrap, with the settings that the Dockerfile declares.

import { execFile } from "node:child_process";
import { chmod, copyFile, cp, mkdir, mkdtemp, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { commandOf, environmentOfImage, findStage, type Stage, wordsOf, wordsOfImage } from "../deploy/dockerfile.ts";
import { type Running, startProgram } from "./program.ts";

const run = promisify(execFile);

/** The settings that an engine adds to those of the image. */
export interface ContainerOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** By default engines cover parts of /proc. */
  readonly isProcWhole?: boolean;
}

export interface Image {
  /** Starts a container with a volume of its own. */
  start(command: readonly string[], options?: ContainerOptions): Promise<Container>;
}

export interface Container extends Running {
  /** The folder of its volume on this machine. */
  readonly volume: string;
  /** Sends the signal to its first process, as an engine does. */
  signal(signal: NodeJS.Signals): Promise<void>;
}

/** Builds in the empty folder `root`, as `docker build` does with these arguments. */
export async function buildImage(root: string, args: Readonly<Record<string, string>>): Promise<Image> {
  // The service may run as another user, who must be able to enter the folder.
  await chmod(root, 0o755);
  const node = join(root, "usr/local/bin/node");
  await mkdir(dirname(node), { recursive: true });
  await copyFile(process.execPath, node);
  // Both stages share a folder, because their paths differ.
  await playSteps(findStage("build"), root, args);
  await playSteps(findStage("app"), root, args);
  return { start: (command, options = {}) => startIn(root, command, options) };
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
        await copy(words.split(/\s+/), root, directory);
        break;
      case "ARG": {
        const [name = "", fallback = ""] = words.split("=");
        environment[name] = args[name] ?? fallback;
        break;
      }
      case "RUN":
        await run("sh", ["-c", `cd '${join(root, directory)}' && ${words}`], { env: environment });
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

async function copy(words: readonly string[], root: string, directory: string): Promise<void> {
  const target = join(root, directory, words.at(-1) ?? "");
  const isFromStage = words[0]?.startsWith("--from=") === true;
  for (const source of words.slice(isFromStage ? 1 : 0, -1)) {
    const to = target.endsWith("/") ? join(target, basename(source)) : target;
    await cp(join(isFromStage ? root : repositoryRoot, source), to, { recursive: true });
  }
}

/** Everything is read-only except the volume and /tmp, and the user is the image's. */
async function startIn(root: string, command: readonly string[], options: ContainerOptions): Promise<Container> {
  const [user = "", group = ""] = wordsOfImage("USER").split(":");
  const [app, data] = [findStage("app").steps.find((step) => step.getKeyword() === "WORKDIR"), wordsOfImage("VOLUME")];
  const appPath = app === undefined ? "" : wordsOf(app);
  const volume = await mkdtemp(join(root, "volume-"));
  await chmod(volume, 0o777);
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
    ["--bind", volume, data],
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
  return { ...running, volume, signal };
}
