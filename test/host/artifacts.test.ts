// Artifacts, files, the run and the version: which of them a run can read.

import { createHash } from "node:crypto";
import { sql } from "kysely";
import { expect } from "vitest";
import { version } from "../../src/platform/base/version.ts";
import { conversationKey } from "../../src/protocols/langbot/runners/scope.ts";
import { claimArtifact, type NewArtifact, putArtifact } from "../../src/protocols/langbot/storage/artifact.ts";
import { putConfigFile } from "../../src/protocols/langbot/storage/config-file.ts";
import { invalid, method, notFound, openStage, type Runner, refusalOf, test, unauthorized } from "./stage.ts";

type Stage = Awaited<ReturnType<typeof openStage>>;

function artifactOf({ runId, scope }: Runner, choice: Partial<NewArtifact> = {}): NewArtifact {
  const content = "content" in choice ? choice.content : Buffer.from("content");
  return {
    client: scope.client,
    artifactId: "artifact",
    runId,
    runnerId: scope.runnerId,
    scope: conversationKey(scope),
    artifactType: "file",
    mimeType: "text/plain",
    name: "notes.txt",
    sizeBytes: content?.length,
    sha256: content && createHash("sha256").update(content).digest("hex"),
    metadata: '{"pages":1.0}',
    ...choice,
    content,
  };
}

async function put(stage: Stage, artifact: NewArtifact) {
  return await stage.db.transaction().execute((trx) => putArtifact(trx, artifact));
}

test("an artifact is visible to its run and to runs of its conversation, and to no other run", async ({ stage }) => {
  const maker = await stage.addRunner();
  const neighbour = await stage.addRunner();
  await put(stage, artifactOf(maker));
  for (const runner of [maker, neighbour]) {
    const { artifact } = await runner.call(method.getArtifact, { artifactId: "artifact" });
    expect(artifact).toMatchObject({
      artifactId: "artifact",
      artifactType: "file",
      mimeType: "text/plain",
      name: "notes.txt",
      sizeBytes: 7n,
      source: "runner",
      conversationId: "conversation",
      runId: maker.runId,
      runnerId: maker.scope.runnerId,
      metadata: '{"pages":1.0}',
    });
    const [piece] = await runner.readArtifact({ artifactId: "artifact" });
    expect(Buffer.from(piece?.content ?? []).toString()).toBe("content");
  }
  for (const scope of [{ conversationId: "another" }, { threadId: "thread" }, { conversationId: undefined }]) {
    const stranger = await stage.addRunner({ scope });
    expect(await refusalOf(stranger.call(method.getArtifact, { artifactId: "artifact" }))).toMatchObject(notFound);
    expect(await refusalOf(stranger.readArtifact({ artifactId: "artifact" }))).toMatchObject(notFound);
  }
});

test("an artifact of a run without a conversation belongs to that run only", async ({ stage }) => {
  const maker = await stage.addRunner({ scope: { conversationId: undefined } });
  const other = await stage.addRunner({ scope: { conversationId: undefined } });
  await put(stage, artifactOf(maker));
  expect((await maker.call(method.getArtifact, { artifactId: "artifact" })).artifact?.conversationId).toBeUndefined();
  expect(await refusalOf(other.call(method.getArtifact, { artifactId: "artifact" }))).toMatchObject(notFound);
});

test("reading an artifact and reading its metadata are separate grants", async ({ stage }) => {
  const maker = await stage.addRunner();
  await put(stage, artifactOf(maker));
  const reader = await stage.addRunner({ grant: { apis: ["artifact_read"] } });
  expect(await refusalOf(reader.call(method.getArtifact, { artifactId: "artifact" }))).toMatchObject(unauthorized);
  expect(await reader.readArtifact({ artifactId: "artifact" })).toHaveLength(1);
  const asker = await stage.addRunner({ grant: { apis: ["artifact_metadata"] } });
  expect(await refusalOf(asker.readArtifact({ artifactId: "artifact" }))).toMatchObject(unauthorized);
  expect((await asker.call(method.getArtifact, { artifactId: "artifact" })).artifact).toBeDefined();
});

test("an expired artifact is not found", async ({ stage }) => {
  const runner = await stage.addRunner();
  await put(stage, artifactOf(runner, { keptMs: 3_600_000 }));
  expect((await runner.call(method.getArtifact, { artifactId: "artifact" })).artifact?.expiresAt).toBeDefined();
  await sql`update artifact set expire_time = now() - interval '1 second'`.execute(stage.db);
  expect(await refusalOf(runner.call(method.getArtifact, { artifactId: "artifact" }))).toMatchObject(notFound);
  expect(await refusalOf(runner.readArtifact({ artifactId: "artifact" }))).toMatchObject(notFound);
});

test("an artifact without content has metadata, and cannot be read", async ({ stage }) => {
  const runner = await stage.addRunner();
  await put(stage, artifactOf(runner, { content: undefined, sizeBytes: 12 }));
  expect((await runner.call(method.getArtifact, { artifactId: "artifact" })).artifact?.sizeBytes).toBe(12n);
  expect(await refusalOf(runner.readArtifact({ artifactId: "artifact" }))).toMatchObject(notFound);
});

test("an artifact is read in pieces of at most 1 MiB, from the requested offset up to the requested length", async () => {
  const stage = await openStage();
  const runner = await stage.addRunner();
  const content = Buffer.alloc(3 * 1_048_576 + 5);
  for (let at = 0; at + 4 <= content.length; at += 4) {
    content.writeUInt32BE(at, at);
  }
  await put(stage, artifactOf(runner, { content }));
  const read = async (offset: number, limit?: number) => {
    const pieces = await runner.readArtifact({
      artifactId: "artifact",
      offset: BigInt(offset),
      ...(limit !== undefined && { limit: BigInt(limit) }),
    });
    const sizes = pieces.map((piece) => piece.content.length);
    return { bytes: Buffer.concat(pieces.map((piece) => piece.content)), sizes, last: pieces.at(-1) };
  };
  const usual = await read(0);
  expect(usual.sizes).toEqual([1_048_576]);
  expect(usual.last?.hasMore).toBe(true);
  const whole = await read(0, 2 ** 40);
  expect(whole.sizes).toEqual([1_048_576, 1_048_576, 1_048_576, 5]);
  expect(whole.bytes.equals(content)).toBe(true);
  expect(whole.last).toMatchObject({ hasMore: false, offset: 3_145_728n, sizeBytes: 3_145_733n });
  const range = await read(1_048_570, 1_048_580);
  expect(range.bytes.equals(content.subarray(1_048_570, 2_097_150))).toBe(true);
  expect(range.sizes).toEqual([1_048_576, 4]);
  expect(range.last?.hasMore).toBe(true);
});

test("past its end an artifact has one empty piece, and an invalid offset or limit is a wrong argument", async () => {
  const stage = await openStage();
  const runner = await stage.addRunner();
  await put(stage, artifactOf(runner));
  for (const offset of [7n, 8n, 2n ** 31n, 2n ** 63n - 1n]) {
    const pieces = await runner.readArtifact({ artifactId: "artifact", offset, limit: 5n });
    expect(pieces).toHaveLength(1);
    expect(pieces[0]).toMatchObject({ hasMore: false, sizeBytes: 7n });
    expect(pieces[0]?.content).toHaveLength(0);
  }
  expect(await refusalOf(runner.readArtifact({ artifactId: "artifact", offset: -1n }))).toMatchObject(invalid);
  for (const limit of [0n, -1n]) {
    expect(await refusalOf(runner.readArtifact({ artifactId: "artifact", limit }))).toMatchObject(invalid);
  }
});

test("an artifact id belongs to the first run that uses it, and its content does not change", async ({ stage }) => {
  const first = await stage.addRunner();
  const second = await stage.addRunner();
  const claim = ({ runId, scope: { client } }: Runner) =>
    claimArtifact(stage.db, { client, artifactId: "artifact", runId });
  expect(await claim(first)).toMatchObject({ isMine: true, isComplete: false });
  expect(await claim(second)).toMatchObject({ isMine: false });
  expect(await claim(first)).toMatchObject({ isMine: true, isComplete: false });
  // A claimed artifact is not found until it is stored.
  expect(await refusalOf(first.call(method.getArtifact, { artifactId: "artifact" }))).toMatchObject(notFound);
  expect(await put(stage, artifactOf(second))).toBe("taken");
  expect(await put(stage, artifactOf(first))).toBe("stored");
  expect(await put(stage, artifactOf(first, { name: "renamed" }))).toBe("same");
  expect(await put(stage, artifactOf(first, { content: Buffer.from("other") }))).toBe("conflict");
  expect(await put(stage, artifactOf(second))).toBe("taken");
  const [piece] = await first.readArtifact({ artifactId: "artifact" });
  expect(Buffer.from(piece?.content ?? []).toString()).toBe("content");
  expect((await first.call(method.getArtifact, { artifactId: "artifact" })).artifact?.name).toBe("notes.txt");
});

test("of concurrent runs with one artifact id, one gets it", async ({ stage }) => {
  const runners = await Promise.all(Array.from({ length: 6 }, () => stage.addRunner()));
  const outcomes = await Promise.all(runners.map((runner) => put(stage, artifactOf(runner))));
  expect(outcomes.toSorted()).toEqual(["stored", ...Array.from({ length: 5 }, () => "taken")]);
});

test("a file that the configuration does not name is refused, and a named one is found after its client has put it", async () => {
  const stage = await openStage();
  const runner = await stage.addRunner({ grant: { files: ["manual"] } });
  for (const fileKey of ["secrets", "", "constructor"]) {
    expect(await refusalOf(runner.call(method.readFile, { fileKey }))).toMatchObject(unauthorized);
  }
  expect(await refusalOf(runner.call(method.readFile, { fileKey: "manual" }))).toMatchObject(notFound);
  const file = { client: runner.scope.client, fileKey: "manual", mimeType: "text/plain" };
  await putConfigFile(stage.db, { ...file, client: "shared/other", content: Buffer.from("of another client") });
  expect(await refusalOf(runner.call(method.readFile, { fileKey: "manual" }))).toMatchObject(notFound);
  await putConfigFile(stage.db, { ...file, content: Buffer.from("read me") });
  const { content, mimeType } = await runner.call(method.readFile, { fileKey: "manual" });
  expect([Buffer.from(content).toString(), mimeType]).toEqual(["read me", "text/plain"]);
});

test("a run reads itself and the version of its host", async ({ stage }) => {
  const runner = await stage.addRunner();
  expect((await runner.call(method.getRun)).run).toMatchObject({ runId: runner.runId, turns: 0 });
  expect(await runner.call(method.getVersion)).toMatchObject({ version });
});
