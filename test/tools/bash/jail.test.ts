// The jail against commands that try to harm the service, others on the machine, or the guarantees of the tool.

import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { launchJailed } from "../../../src/agent/tools/bash/launch.ts";
import type { KillLimit } from "../../../src/agent/tools/bash/limits.ts";
import { openPidsGroup } from "../../../src/agent/tools/bash/pids-group.ts";
import { followCommand } from "../../../src/agent/tools/bash/run-command.ts";
import { callTimeoutMs, runCall } from "../../../src/agent/tools/call.ts";
import { readFile } from "../../../src/agent/tools/read-file.ts";
import type { Tool } from "../../../src/agent/tools/tool.ts";
import { writeFile } from "../../../src/agent/tools/write-file.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { isRoot } from "../../../src/platform/base/owner.ts";
import { createPatientClock } from "../../harness/patient-clock.ts";
import { canMount, openSmallDisk } from "../../harness/small-disk.ts";
import { until } from "../../harness/wait.ts";
import { Area } from "../area.ts";
import { workspaceAt } from "../workspace.ts";
import { hasJail, openBash, openJail, openListener, processesOf } from "./jailed.ts";

const secret = "canary-of-the-service-93bd";
const mebibyte = 1_048_576;

describe.runIf(hasJail)("a command", () => {
  let bash: Tool;

  /** The limits for which commands of the test were killed. */
  const killed: KillLimit[] = [];

  beforeAll(async () => {
    bash = await openBash({ onKilled: (limit) => killed.push(limit) });
  });

  beforeEach(() => {
    killed.length = 0;
  });

  /** As root, gives the area to the owner that a service's session directories have. */
  function openArea(): Area {
    const area = new Area();
    onTestFinished(() => area[Symbol.dispose]());
    area.giveToSession();
    return area;
  }

  async function run(area: Area, command: string, more: { timeout?: number; session?: string } = {}): Promise<string> {
    const { timeout = 20, session = "s1" } = more;
    const outcome = await bash.run({ command, timeout }, { ...area.context, sessionId: session });
    return "content" in outcome ? outcome.content : `ERROR ${outcome.error}`;
  }

  test("returns its output and how it ended in the documented layout", async () => {
    const area = openArea();
    expect(await run(area, "echo hi")).toBe("hi\n");
    expect(await run(area, "true")).toBe("(no output)");
    expect(await run(area, "echo hi; echo er >&2")).toBe("hi\n\nSTDERR:\ner\n");
    expect(await run(area, "printf out; printf er >&2; exit 2")).toBe("ERROR out\nSTDERR:\ner\nExit: exit status 2");
    expect(await run(area, "exit 3")).toBe("ERROR Exit: exit status 3");
    expect(await run(area, "kill -9 $$")).toBe("ERROR Exit: signal: killed");
    expect(await run(area, "kill -SEGV $$")).toBe("ERROR Exit: signal: segmentation fault");
    expect(await run(area, "bash nosuch")).toMatch(/Exit: exit status 127$/);
    // A command may end itself; it was not killed.
    expect(killed).toEqual([]);
  });

  test("has the documented environment, and its work directory at the same path as outside", async () => {
    const area = openArea();
    const home = "/tmp/agent-runner/my-session";
    const lines = (await run(area, "env; echo DIR=$PWD; stat -c MODE=%a $HOME", { session: "my-session" })).split("\n");
    expect(lines.filter((line) => !/^(?:SHLVL|_|PWD|OLDPWD)=/.test(line)).sort()).toEqual(
      [
        "",
        "ALL_PROXY=",
        `DIR=${area.root}`,
        "GIT_CONFIG_GLOBAL=/dev/null",
        "GIT_CONFIG_SYSTEM=/dev/null",
        `HOME=${home}`,
        "HTTPS_PROXY=",
        "HTTP_PROXY=",
        "LANG=C.UTF-8",
        "LC_ALL=C.UTF-8",
        "MODE=700",
        "NO_PROXY=*",
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "TERM=dumb",
        `TEMP=${home}`,
        `TMP=${home}`,
        `TMPDIR=${home}`,
        "http_proxy=",
        "https_proxy=",
      ].sort(),
    );
  });

  test("changes the work directory with the rights of its owner, and leaves nothing else behind", async () => {
    const area = openArea();
    await run(area, "mkdir a && echo x > a/f && echo y > /tmp/y && echo z > $HOME/z");
    expect(readFileSync(join(area.root, "a/f"), "utf8")).toBe("x\n");
    expect(statSync(join(area.root, "a/f")).uid).toBe(statSync(area.root).uid);
    expect(await run(area, "ls /tmp/y $HOME/z")).toMatch(/^ERROR STDERR:(?:\n.*No such file or directory){2}\n/);
    const attempts = ["/usr/x", "/etc/x", "/x", "/dev/x", "/proc/x"].map((path) => `echo x > ${path}`);
    expect(
      (await run(area, attempts.join("; "))).match(/Read-only file system|Permission denied|No such file/g),
    ).toHaveLength(5);
  });

  describe("that looks for the service's secrets", () => {
    const looks = [
      "cat /proc/*/environ /proc/*/task/*/environ | tr '\\0' '\\n'",
      "cat /proc/1/environ /proc/1/cmdline /proc/self/environ | tr '\\0' '\\n'",
      "ls -l /proc/*/fd /proc/*/cwd /proc/*/exe /proc/*/root",
      "for f in /proc/*/fd/*; do timeout 1 head -c 1000 $f; done",
      "grep -a canary /proc/*/mem /proc/*/maps /proc/kcore",
      "grep -rsa canary /proc/1/root/ --include='*.yaml' --include=.env -m 1",
      "find / -name '*.yaml' -newer /usr/bin/env -not -path '/proc/*' | head",
    ];

    test.each(looks)("%s", async (command) => {
      const area = openArea();
      process.env.RUNNEL_AUTH_HMAC_SECRET = secret;
      onTestFinished(() => void delete process.env.RUNNEL_AUTH_HMAC_SECRET);
      writeFileSync(join(area.outside, "config.yaml"), secret, { mode: 0o600 });
      const text = await run(area, `${command}; true`, { timeout: 5 });
      expect(text).not.toContain(secret);
      expect(text).not.toContain(area.outside);
      expect(text).not.toContain(process.execPath);
    });

    test("finds no descriptors of the service", async () => {
      const fds = (await run(openArea(), "ls -l /proc/self/fd /proc/$$/fd")).match(/^l.*$/gm) ?? [];
      for (const line of fds) {
        expect(line).toMatch(
          / [012] -> (?:\/dev\/null|socket:\[\d+\]|pipe:\[\d+\])$| [3-9] -> \/proc\/\d+\/fd$|255 -> /,
        );
      }
    });

    test("cannot read the service's own files, even in its work directory", async () => {
      const area = openArea();
      const places = ["config.yaml", "data"].map((name) => join(area.root, name));
      area.write("config.yaml", secret);
      area.write("data/base/1", secret);
      area.write("mine", "mine");
      const context = { ...area.context, hidden: places };
      const outcome = await bash.run({ command: "cat mine config.yaml; ls data; find . -type f; true" }, context);
      expect(outcome).toEqual({
        content: "mine./mine\n./config.yaml\n\nSTDERR:\ncat: config.yaml: Permission denied\n",
      });
      const write = await bash.run({ command: "echo x > config.yaml; echo x > data/x; rm -r data" }, context);
      expect(write).toHaveProperty("error");
      expect(readFileSync(join(area.root, "config.yaml"), "utf8")).toBe(secret);
      expect(readdirSync(join(area.root, "data"))).toEqual(["base"]);
      for (const [file_path, place] of [
        ["config.yaml", 0],
        ["data/base/1", 1],
      ] as const) {
        expect(await readFile.run({ file_path }, context)).toEqual({
          error: `access to ${places[place]} is blocked: it belongs to the service`,
        });
      }
    });
  });

  test("does not run in directories of the service, or in directories that its session may not use", async () => {
    const area = openArea();
    area.write("secret", secret);
    const reserved = { ...area.context, hidden: [area.root] };
    expect(await bash.run({ command: "cat secret" }, reserved)).toEqual({
      error: `bash cannot work in ${area.root}: ${area.root} belongs to the service`,
    });
    expect(await readFile.run({ file_path: "secret" }, reserved)).toHaveProperty("error");
    for (const [place, error] of [
      [{ ...area.context, refusal: "not here" }, "not here"],
      [
        { ...area.context, realPath: area.outside },
        `work directory ${area.root} was moved: it was ${area.outside} and is ${area.root}`,
      ],
    ] as const) {
      expect(await bash.run({ command: "cat secret" }, place)).toEqual({ error });
      expect(await readFile.run({ file_path: "secret" }, place)).toEqual({ error });
    }
  });

  test.each(["/proc/self", "/proc", "/"])(
    "reads no environment by a file tool either, with %s as work directory",
    async (workDir) => {
      const context = { ...openArea().context, ...workspaceAt(workDir) };
      const name = join("/proc/self/environ").slice(workDir.length).replace(/^\/+/, "");
      expect(await readFile.run({ file_path: name }, context)).toEqual({
        error: expect.stringMatching(/^access to .* is blocked: it shows the system's processes$/),
      });
      expect(await bash.run({ command: "cat environ" }, context)).toEqual({
        error: expect.stringMatching(/^bash cannot work in /),
      });
    },
  );

  test("reaches no network, no other process and no kernel service", async () => {
    const area = openArea();
    const listener = await openListener();
    const call = (name: string, ...numbers: (number | string)[]): string =>
      `perl -e 'my $r = syscall(${numbers.join(", ")}); print "${name} ", $r == -1 ? $!+0 : "ok", "\\n"'`;
    const isX64 = process.arch === "x64";
    const commands = [
      call("unix", isX64 ? 41 : 198, 1, 1, 0),
      call("inet", isX64 ? 41 : 198, 2, 1, 0),
      call("netlink", isX64 ? 41 : 198, 16, 3, 0),
      call("packet", isX64 ? 41 : 198, 17, 3, 0),
      call("alg", isX64 ? 41 : 198, 38, 5, 0),
      call("vsock", isX64 ? 41 : 198, 40, 1, 0),
      call("io_uring", 425, 1, 0),
      call("keyctl", isX64 ? 250 : 219, 0, 0, 0, 0),
      call("bpf", isX64 ? 321 : 280, 0, 0, 0),
      call("perf", isX64 ? 298 : 241, 0, 0, -1, -1, 0),
      call("userfaultfd", isX64 ? 323 : 282, 0),
      call("ptrace", isX64 ? 101 : 117, 0, 0, 0, 0),
      call("unshare", isX64 ? 272 : 97, "0x10000000"),
      call("clone", isX64 ? 56 : 220, "0x10000011", 0, 0, 0, 0),
      call("clone3", 435, 0, 0),
      call("mount", isX64 ? 165 : 40, 0, 0, 0, 0, 0),
      call("fsopen", 430, 0, 0),
      call("tiocsti", isX64 ? 16 : 29, 0, "0x5412", 0),
      call("fallocate", isX64 ? 285 : 47, 1, 0, 0, 1),
      call("unknown", 2_000, 0),
      ...(isX64 ? [call("x32", "0x40000027")] : []),
    ];
    writeFileSync(join(area.root, "calls.sh"), commands.join("\n"));
    expect((await run(area, "bash calls.sh")).trim().split("\n")).toEqual([
      "unix ok",
      "inet ok",
      ...["netlink", "packet", "alg", "vsock"].map((name) => `${name} 97`),
      ...["io_uring", "keyctl", "bpf", "perf", "userfaultfd", "ptrace", "unshare", "clone"].map((name) => `${name} 1`),
      "clone3 38",
      ...["mount", "fsopen", "tiocsti"].map((name) => `${name} 1`),
      "fallocate 95",
      "unknown 38",
      ...(isX64 ? ["x32 38"] : []),
    ]);
    expect(await run(area, `exec 3<>/dev/t""cp/127.0.0.1/${listener.port}`)).toMatch(/^ERROR /);
    expect(await run(area, "cat /proc/net/dev | wc -l; ps ax -o pid= | wc -l")).toMatch(/^3\n[3-6]\n$/);
    expect(await run(area, "grep -E 'CapEff|CapBnd|NoNewPrivs|Seccomp:' /proc/self/status")).toBe(
      "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n",
    );
    expect(listener.connections()).toBe(0);
  });

  test.each([
    ["sleeps", "sleep 60"],
    ["ignores signals", "trap '' TERM INT HUP; sleep 60; sleep 60"],
    ["leaves its output to children", "sleep 60 & echo hi; sleep 60"],
    ["hides in other sessions", "setsid setsid sleep 60 & disown; sleep 60"],
    ["forks twice", "(setsid bash -c \"trap '' TERM HUP; sleep 60\" &) & (sleep 60 &); sleep 60"],
  ])("that %s beyond its time is killed with all its processes", async (_what, command) => {
    const session = `late-${process.pid}`;
    // No command could end by itself before the timeout of this test.
    expect(await run(openArea(), command, { timeout: 1, session })).toMatch(/Exit: signal: killed$/);
    expect(processesOf(session)).toEqual([]);
    expect(killed).toEqual(["time"]);
  });

  test("leaves no process behind when it ends, and nothing writes after it", async () => {
    const area = openArea();
    const session = `left-${process.pid}`;
    const writer = "(while :; do echo x >> late; done) & setsid sleep 60 & nohup sleep 60 & sleep 60 & echo hi";
    expect(await run(area, `${writer}; sleep 0.1`, { timeout: 5, session })).toContain("hi\n");
    const bytes = statSync(join(area.root, "late")).size;
    expect(processesOf(session)).toEqual([]);
    expect(statSync(join(area.root, "late")).size).toBe(bytes);
  });

  test("ends with the run", async () => {
    const area = openArea();
    const session = `stopped-${process.pid}`;
    const stop = new AbortController();
    const ended = bash.run(
      { command: "touch begun; sleep 60" },
      { ...area.context, sessionId: session, signal: stop.signal },
    );
    await until("the command to begin", () => readdirSync(area.root).includes("begun"));
    stop.abort(new Error("context canceled"));
    expect(await ended).toEqual({ error: "Exit: signal: killed" });
    expect(processesOf(session)).toEqual([]);
    expect(killed).toEqual(["run_end"]);
  });

  test("ends at the deadline of its call, which may be before its own", async () => {
    const clock = createPatientClock(callTimeoutMs);
    const area = openArea();
    const args = JSON.stringify({ command: "touch begun; sleep 60", timeout: 300 });
    const ended = runCall(bash, args, area.context, { timeoutMs: callTimeoutMs, clock });
    await until("the command to begin", () => readdirSync(area.root).includes("begun"));
    clock.pass();
    expect(await ended).toEqual({ error: "Exit: signal: killed" });
    expect(killed).toEqual(["time"]);
  });

  test("does not start for a run that was stopped", async () => {
    const area = openArea();
    const signal = AbortSignal.abort(new Error("context canceled"));
    const outcome = await bash.run({ command: "touch begun; sleep 60" }, { ...area.context, signal });
    expect(outcome).toEqual({ error: "Exit: signal: killed" });
    expect(processesOf("s1")).toEqual([]);
  });

  test("dies with the service", async () => {
    const area = openArea();
    const session = `orphan-${process.pid}`;
    const child = spawn(process.execPath, [join(import.meta.dirname, "orphan.ts"), area.root, session], {
      stdio: "inherit",
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await until("the command to begin", () => processesOf(session).length >= 3);
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    await until("its processes to end", () => processesOf(session).length === 0);
  });

  test("that forks endlessly is stopped, and the service continues", async () => {
    const session = `fork-${process.pid}`;
    const isOver = new AbortController();
    const most = watchProcesses(session, isOver.signal);
    // The launcher has no HOME.
    const text = await run(openArea(), "f(){ f & f & wait; }; f", { timeout: 2, session });
    isOver.abort();
    expect(await most).toBeLessThanOrEqual(64);
    expect(text).toMatch(/^ERROR [\s\S]*Exit: signal: killed$/);
    expect(killed).toEqual(["time"]);
    expect(processesOf(session)).toEqual([]);
    expect(await run(openArea(), "echo on")).toBe("on\n");
  });

  test.runIf(isRoot())(
    "runs as the owner of its directory, and files that the service makes there belong to the owner",
    async () => {
      const owner = { uid: 12_345, gid: 12_346 };
      const area = openArea();
      chownSync(area.root, owner.uid, owner.gid);
      const outcome = await writeFile.run({ file_path: "made/by/service", content: "x" }, area.context);
      expect(outcome).not.toHaveProperty("error");
      const command = "echo more >> made/by/service; touch made/by/command; cat made/by/service";
      expect(await run(area, command)).toBe("xmore\n");
      for (const name of ["made", "made/by", "made/by/service", "made/by/command"]) {
        expect(statSync(join(area.root, name))).toMatchObject(owner);
      }
    },
  );

  // Nothing that multiplies: where root cannot make a control group, only a watchdog counts its processes.
  test.runIf(isRoot())("of root, in a directory of root, has the same maximum of processes", async () => {
    const session = `root-${process.pid}`;
    const area = openArea();
    chownSync(area.root, 0, 0);
    const isOver = new AbortController();
    const most = watchProcesses(session, isOver.signal);
    const text = await run(area, "for i in {1..90}; do sleep 60 & done; wait", { timeout: 3, session });
    isOver.abort();
    const isLimited = await mayGroup();
    expect(await most).toBeLessThanOrEqual(isLimited ? 64 : 91);
    expect(text).toMatch(
      isLimited ? /fork: retry: Resource temporarily unavailable/ : /killed: more than 64 processes/,
    );
    expect(text).toMatch(/Exit: signal: killed$/);
    expect(killed).toEqual([isLimited ? "time" : "processes"]);
    expect(processesOf(session)).toEqual([]);
    expect(await mayGroup()).toBe(isLimited);
  });

  test("has the document's limits: 10 MB for a file, 512 MB of address space", async () => {
    expect(await run(openArea(), "ulimit -f; ulimit -v")).toBe("10240\n524288\n");
    expect(await run(openArea(), "head -c 11000000 /dev/zero > f; stat -c %s f")).toContain("10485760");
    const area = openArea();
    area.write("hog.pl", '$x = "x"; $x x= 600_000_000;');
    expect(await run(area, "perl hog.pl")).toMatch(/Out of memory[\s\S]*Exit: exit status 1$/);
  });

  test("has its own maximum of processes, independent of other commands", async () => {
    // Each has most of its 64 processes while the other has as many.
    const crowd =
      "for i in $(seq 45); do sleep 60 & done; touch here; while [ ! -e go ]; do sleep 0.05; done; echo all";
    const areas = [openArea(), openArea()] as const;
    const crowds = areas.map((area, index) => run(area, crowd, { session: `crowd-${process.pid}-${index}` }));
    await until("both crowds", () => areas.every((area) => existsSync(join(area.root, "here"))));
    for (const area of areas) {
      area.write("go", "");
    }
    expect(await Promise.all(crowds)).toEqual(["all\n", "all\n"]);
  });

  test("that floods its output is read to its end in little memory, and succeeds", async () => {
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 20);
    const text = await run(openArea(), "head -c 1000000000 /dev/zero | tr '\\0' a; echo end >&2; echo done > f", {
      timeout: 60,
    });
    clearInterval(watch);
    expect(text).toMatch(/^a+\n\.\.\. \(output truncated\)$/);
    expect(Buffer.byteLength(text)).toBe(102_400);
    expect(peak - before).toBeLessThan(200 * mebibyte);
  });

  test("has invalid UTF-8 in its output replaced", async () => {
    const text = await run(openArea(), "printf 'a\\377b'; head -c 300000 /dev/urandom >&2");
    expect(text).toContain("a\uFFFDb\nSTDERR:\n");
    expect(text.isWellFormed()).toBe(true);
  });

  test("that fills the disk is stopped; later commands may only delete", async () => {
    const area = openArea();
    // No faster than some disks, so that a watchdog that runs late on a busy machine still runs in time.
    const fill = "for i in $(seq 1 200); do head -c 10000000 /dev/zero > f$i; sleep 0.02; done";
    expect(await run(area, fill)).toBe("ERROR ... (killed: more than 64 MiB written to disk)\nExit: signal: killed");
    const taken = bytesIn(area.root);
    expect(taken).toBeLessThan(764 * mebibyte);
    expect(await run(area, `${fill}; sleep 1`)).toMatch(/killed: more than 1 MiB written to disk/);
    expect(killed).toEqual(["disk", "disk"]);
    expect(await run(area, "rm f*; ls")).toBe("(no output)");
    expect(await run(area, "head -c 10000000 /dev/zero > g; sleep 0.6; echo fine")).toBe("fine\n");
  });

  test("that takes much memory with many processes is stopped", async () => {
    const area = openArea();
    area.write("hog.pl", '$x = "x"; $x x= 200_000_000; sleep 20;');
    expect(await run(area, "for i in $(seq 8); do perl hog.pl & done; wait")).toMatch(
      /killed: more than 1024 MiB of memory\)\nExit: signal: killed$/,
    );
    expect(killed).toEqual(["memory"]);
  });

  test.runIf(canMount())("that takes the last free space of a disk is stopped", async () => {
    const { folder: workDir } = openSmallDisk(64 * mebibyte);
    const command = "head -c 9000000 /dev/zero > f; sleep 60";
    expect(await bash.run({ command }, { ...openArea().context, ...workspaceAt(workDir) })).toEqual({
      error: "... (killed: less than 256 MiB free on disk)\nExit: signal: killed",
    });
    expect(killed).toEqual(["disk_free"]);
  });

  test("has limited memory for its temporary files", async () => {
    const text = await run(openArea(), "for i in $(seq 20); do head -c 9000000 /dev/zero > /tmp/$i || exit 1; done");
    expect(text).toMatch(/No space left on device[\s\S]*Exit: exit status 1$/);
  });

  test("works in the directory that was opened, even when its path is swapped meanwhile", async () => {
    const area = openArea();
    writeFileSync(join(area.outside, "secret"), secret);
    let isOver = false;
    let ran = 0;
    const swaps = (async () => {
      const aside = `${area.root}-aside`;
      for (; !isOver; await new Promise((resolve) => setImmediate(resolve))) {
        renameSync(area.root, aside);
        symlinkSync(area.outside, area.root);
        rmSync(area.root);
        renameSync(aside, area.root);
      }
    })();
    try {
      // Most attempts find the path swapped and are refused.
      for (let index = 0; index < 40 || ran === 0; index++) {
        const text = await run(area, "echo ran; cat secret; ls; touch mine; true").catch((error) => String(error));
        expect(text).not.toContain(secret);
        ran += text.startsWith("ran\n") ? 1 : 0;
      }
    } finally {
      isOver = true;
      await swaps;
    }
    expect(readdirSync(area.outside)).toEqual(["secret"]);
  });

  test("does not see what took the directory's place after the check", async () => {
    const area = openArea();
    writeFileSync(join(area.outside, "secret"), secret);
    await using directory = await open(area.root);
    renameSync(area.root, `${area.root}-aside`);
    symlinkSync(area.outside, area.root);
    const command = "cat secret; touch mine";
    const view = { command, shell: "/bin/bash", sessionId: "s1", workDir: area.root, covered: [] } as const;
    const launched = launchJailed(await openJail(), view, { workDirFd: directory.fd });
    const { signal } = area.context;
    const end = await followCommand(launched, { clock: systemClock, timeoutMs: 10_000, signal });
    expect(JSON.stringify(end)).not.toContain(secret);
    expect(readdirSync(area.outside)).toEqual(["secret"]);
  });

  test("is refused where the document refuses it", async () => {
    const area = openArea();
    expect(await bash.run({}, area.context)).toEqual({ error: "command is required" });
    expect(await bash.run({ command: "x".repeat(4_097) }, area.context)).toEqual({
      error: "command too long (max 4096 bytes)",
    });
    expect(await bash.run({ command: "echo \0" }, area.context)).toEqual({ error: "command contains a NUL byte" });
    expect(await run(area, "rm -rf /")).toMatch(/^ERROR blocked dangerous pattern: rm -rf \/ /);
  });

  test("does not run in directories that the jail itself needs", async () => {
    const area = openArea();
    for (const workDir of ["/", "/usr", "/tmp", "/dev/shm", "/proc/self/cwd", "/etc"]) {
      expect(await bash.run({ command: "ls" }, { ...area.context, ...workspaceAt(workDir) })).toEqual({
        error: expect.stringMatching(/^bash cannot work in /),
      });
    }
    mkdirSync(join(area.root, "with space ünï"));
    const workDir = join(area.root, "with space ünï");
    expect(await bash.run({ command: "pwd" }, { ...area.context, ...workspaceAt(workDir) })).toEqual({
      content: `${workDir}\n`,
    });
  });
});

/** The maximum of simultaneous processes of a session. */
async function watchProcesses(session: string, over: AbortSignal): Promise<number> {
  let most = 0;
  while (!over.aborted) {
    most = Math.max(most, processesOf(session).length);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return most;
}

/** Whether control groups are available; checks that no command has left one. */
async function mayGroup(): Promise<boolean> {
  await using group = await openPidsGroup(1);
  const tree = "/sys/fs/cgroup/pids";
  const left = existsSync(tree) ? readdirSync(tree).filter((name) => name.startsWith(`runnel-${process.pid}-`)) : [];
  expect(left).toHaveLength(group === undefined ? 0 : 1);
  return group !== undefined;
}

function bytesIn(directory: string): number {
  return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).blocks * 512, 0);
}
