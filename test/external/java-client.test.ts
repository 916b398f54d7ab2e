// The Java client: built as its README says, asked by the conformance kit, and used from an empty directory.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { cases, runCases } from "../clients/kit.ts";
import { programSubject } from "../clients/subject.ts";
import { answer, callTools, hangAfter, type Script } from "../fakes/provider.ts";
import { openCluster, openProvider } from "../fault/cluster.ts";
import { keyOf } from "../harness/credentials.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { until } from "../harness/wait.ts";
import { atFreePort, callWebhook, startForTasks, tasksPrinted, webhookTold } from "./clients/tasks.ts";
import { runProgram, startProgram } from "./program.ts";
import { startTlsService } from "./tls-service.ts";

/** Maven downloads its plugins, and compiles a thousand generated files. */
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const jarMaxBytes = 6_500_000;
const source = join(repositoryRoot, "clients/java");
const built = join(source, "target");
const readme = readFileSync(join(source, "README.md"), "utf8");
/** Nothing of the account's own repository is read or changed. It stays, so that the next run downloads nothing. */
const repository = join(import.meta.dirname, ".m2");
const installed = join(repository, "com/runnel/runnel-client/0.2.0");
/** Compiles little, since most programs here end within a second. */
const javaFlags = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/** Writes what the JVM of a program needs; the version is that of the library's own build. */
const buildClasspath =
  "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath -Dmdep.outputFile=classpath.txt".split(" ");

const half: Script = hangAfter("half of an answer");

describe.runIf(inject("hasJava"))("the Java client", () => {
  beforeAll(async () => {
    rmSync(installed, { recursive: true, force: true });
    // Formats, lints and tests it as well.
    await maven(source, "clean", "install");
  });

  test("the jar has the stubs and the protos, and its sources and documentation are beside it", async () => {
    const names = await namesIn("runnel-client-0.2.0.jar");
    for (const name of [
      "com/runnel/client/Runnel.class",
      "com/runnel/v1/RunServiceGrpc.class",
      "com/runnel/v1/ApprovalServiceGrpc.class",
      "runnel/v1/run_service.proto",
      "buf/validate/validate.proto",
      "META-INF/LICENSE",
    ]) {
      expect(names).toContain(name);
    }
    // Google's classes have a jar of their own: twice would be a conflict.
    expect(names.filter((name) => name.startsWith("com/google/"))).toEqual([]);
    expect(await namesIn("runnel-client-0.2.0-sources.jar")).toContain("com/runnel/v1/RunServiceGrpc.java");
    expect(await namesIn("runnel-client-0.2.0-javadoc.jar")).toContain(
      "com.runnel.client/com/runnel/client/Runnel.html",
    );
    expect(statSync(join(installed, "runnel-client-0.2.0.jar")).size).toBeLessThan(jarMaxBytes);
  });

  test("it passes the conformance kit", async () => {
    const verdicts = await runCases(cases, programSubject("java", subject()), { atATime: 2 });
    expect(verdicts.length).toBeGreaterThan(100);
    expect(verdicts.filter(({ problems }) => problems.length > 0)).toEqual([]);
  });

  test("it calls over TLS, and refuses an authority that the JDK does not trust", async () => {
    const { url, caFile } = await startTlsService();
    const trust = `${caFile}.p12`;
    const keytool = ["-importcert", "-noprompt", "-alias", "tests", "-storepass", "changeit", "-storetype", "PKCS12"];
    await runProgram("keytool", [...keytool, "-file", caFile, "-keystore", trust]);
    const request = { url, credentials: { api_key: keyOf() }, call: "follow", run_id: "unknown", timeout_ms: 20_000 };
    const follow = async (...flags: readonly string[]) => {
      const input = `${JSON.stringify(request)}\n`;
      const { stdout } = await runProgram("java", [...flags, ...subject()], { input });
      return JSON.parse(stdout.toString()).error;
    };
    expect(
      await follow(`-Djavax.net.ssl.trustStore=${trust}`, "-Djavax.net.ssl.trustStorePassword=changeit"),
    ).toMatchObject({
      code: "INVALID_ARGUMENT",
      violations: [{ field: "run_id" }],
    });
    expect(await follow()).toMatchObject({
      code: "DEADLINE_EXCEEDED",
      message: expect.stringMatching(/the last attempt failed: UNAVAILABLE/),
    });
  });

  describe("in an empty directory", () => {
    let folder = "";

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "runnel-java-"));
      mkdirSync(join(folder, "src/main/java"), { recursive: true });
      writeFileSync(join(folder, "pom.xml"), blockOf("xml", "<dependency>"));
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    /** Writes a class, compiles it with the installed jar, and returns what starts it. */
    const compile = async (name: string, code: string): Promise<readonly string[]> => {
      writeFileSync(join(folder, "src/main/java", `${name}.java`), code);
      await maven(folder, "compile", ...buildClasspath);
      const path = [join(folder, "target/classes"), readFileSync(join(folder, "classpath.txt"), "utf8")];
      return [...javaFlags, "-cp", path.join(delimiter), name];
    };

    test("the README's example prints each result and the whole text once, although the service is killed", async () => {
      const { provider, environment } = await openProvider();
      provider.respond(half, answer("a whole answer"));
      const [port = 0] = await findFreePorts(1);
      const cluster = await openCluster({ ...environment, RUNNEL_SERVER_PORT: String(port) });
      const words = await compile("FirstCall", atService(blockOf("java", "class FirstCall"), port));
      const service = await cluster.start();
      const reader = startProgram("java", words);
      await until("a piece of text at the reader", () => reader.stdout().includes("message.delta"), 60_000);
      await service.kill();
      await cluster.start();
      const { stdout, stderr, exitCode } = await reader.finished;
      expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
      const lines = stdout.toString().trimEnd().split("\n");
      expect(lines.pop()).toBe("a whole answer");
      expect(lines.map((line) => Number.parseInt(line, 10))).toEqual(lines.map((_, index) => index + 1));
      const types = lines.map((line) => line.split(" ")[1]);
      expect(types).toContain("turn.restarted");
      expect(types.at(-1)).toBe("run.completed");
    });

    test("the README's tasks do what they say", async () => {
      const { url } = await startForTasks();
      const code = atService(blockOf("java", "class Tasks"), Number(new URL(url).port));
      const { stdout } = await runProgram("java", await compile("Tasks", code));
      expect(stdout.toString().trim().split("\n")).toEqual(tasksPrinted);
    });

    test("the README's webhook takes a callback of the service, and no other", async () => {
      const { port, code } = await atFreePort(blockOf("java", "class Webhook").replace("any-key", keyOf()));
      expect(await callWebhook(startProgram("java", await compile("Webhook", code)), port)).toEqual(webhookTold);
    });

    test("the README's function runs in the caller, an answer becomes a record, and its other lines compile", async () => {
      const { provider, environment } = await openProvider();
      provider.respond(callTools({ id: "call_1", name: "add", arguments: '{"a":2,"b":40}' }), answer("It is 42."));
      provider.respond(answer('{"name":"Rome","people":2755000}'));
      const service = await (await openCluster(environment)).start();
      const fragments = ["LocalFunction add", "record City", "verifyReceipt"].map((text) => blockOf("java", text));
      const words = await compile("Fragments", atService(classAround(fragments), Number(new URL(service.url).port)));
      const { stdout } = await runProgram("java", words);
      expect(stdout.toString()).toBe("It is 42.\nCity[name=Rome, people=2755000]\n");
      expect((await provider.request(1)).body.messages.at(-1)).toMatchObject({ role: "tool", content: "42" });
    });
  });
});

/** Rejects with what Maven has printed unless all goals succeed. */
async function maven(directory: string, ...goals: readonly string[]): Promise<void> {
  const words = ["-B", "-q", `-Dmaven.repo.local=${repository}`, ...goals];
  try {
    await promisify(execFile)("mvn", words, { cwd: directory });
  } catch (error) {
    throw new Error(`mvn ${goals.join(" ")} failed:\n${(error as { stdout?: string }).stdout}`, { cause: error });
  }
}

async function namesIn(jar: string): Promise<string[]> {
  const { stdout } = await runProgram("jar", ["tf", join(installed, jar)]);
  return stdout.toString().split("\n");
}

/** The words after `java` that start the subject. */
function subject(): readonly string[] {
  const libraries = readFileSync(join(built, "classpath.txt"), "utf8");
  const path = [join(built, "test-classes"), join(built, "classes"), libraries].join(delimiter);
  return [...javaFlags, "-cp", path, "com.runnel.client.Subject"];
}

/** The code block of the README that has this text. */
function blockOf(language: string, text: string): string {
  const blocks = [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))];
  return blocks.map(([, code = ""]) => code).find((code) => code.includes(text)) ?? expect.unreachable(text);
}

/** Code of the README at the service of a test, which takes no other key than its own. */
function atService(code: string, port: number): string {
  return code.replace("8090", String(port)).replace("any-key", keyOf());
}

/** A program of the README's lines that need something around them: it runs the first two. */
function classAround([first = "", second = "", ...others]: readonly string[]): string {
  return `import com.runnel.client.*;
import com.runnel.v1.*;
import com.google.gson.Gson;
import com.google.protobuf.ByteString;
import java.util.*;

class Fragments {
    public static void main(String[] args) {
        try (Runnel runnel = Runnel.connect("http://127.0.0.1:8090", Credentials.apiKey("any-key"))) {
            var request = CreateSessionRequest.newBuilder().setAgent(Agent.newBuilder().setName("first"));
            String session = runnel.sessions().createSession(request.build()).getSessionId();
            ${first}
            ${second}
        }
    }

    static void verify(String secret, Map<String, String> headers, byte[] body, GetReceiptResponse receipt,
            List<ByteString> storedResults, byte[] publicKey) {
        ${others.join("\n")}
    }
}`;
}
