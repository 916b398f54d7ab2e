// Bad input to exchanges, over both REST forms and gRPC: each refusal names the fault and has no other effect. Odd but valid
// texts are in `odd-inbox.test.ts`.

import { status } from "@grpc/grpc-js";
import { describe, expect } from "vitest";
import { callRaw, frame } from "../conformance/grpc-frames.ts";
import type { Plain } from "../conformance/surface.ts";
import { credentialsOf } from "../harness/credentials.ts";
import {
  type BadStage,
  ended,
  expectRefused,
  invalid,
  look,
  notFound,
  type Refusal,
  setBadStage,
  stale,
  test,
  tooLarge,
} from "./bad-stage.ts";
import { createFile, named, session } from "./requests.ts";
import { type Exchanges, findTransport, type Inbox } from "./transports.ts";

const transports = ["REST, plain text", "REST, JSON", "gRPC"].map(findTransport);

interface BadCall {
  readonly what: string;
  readonly call: (api: Exchanges, stage: BadStage) => Promise<unknown>;
  readonly refusal: Refusal;
}

function inboxFor(of: (stage: BadStage) => string, inbox: Partial<Inbox>): BadCall["call"] {
  return (api, stage) => api.submit({ exchangeId: of(stage), text: createFile, ...inbox });
}

const badNames: readonly BadCall[] = Object.entries(named).flatMap(([name, call]) =>
  Object.entries<(stage: BadStage) => string>({
    "of nobody": () => "00000000",
    "in capitals": ({ second }) => (/[a-f]/.test(second) ? second.toUpperCase() : "ABCDEF01"),
    "with a NUL": ({ waiting }) => `${waiting}\0`,
    "with blanks": ({ waiting }) => ` ${waiting}`,
    "that is long": () => "a".repeat(4_000),
    "with a slash": () => "a/b",
    "of other characters": () => "é\u{1f600}%",
    "whose session was deleted": ({ deleted }) => deleted,
  }).map(([what, idOf]) => ({
    what: `${name} of an id ${what}`,
    call: (api: Exchanges, stage: BadStage) => call(api, idOf(stage)),
    refusal: notFound,
  })),
);

const of = {
  waiting: ({ waiting }: BadStage) => waiting,
  second: ({ second }: BadStage) => second,
};

function headed(session: string, sequence: string): string {
  return `=== HEADER ===\nSession: ${session}\nSequence: ${sequence}\n\n${createFile}`;
}

const badInboxes: readonly BadCall[] = [
  {
    what: "a negative sequence",
    call: inboxFor(of.waiting, { sequence: -1 }),
    refusal: invalid("sequence", /^invalid sequence: /),
  },
  ...[2, 2_147_483_647].map((sequence) => ({
    what: `sequence ${sequence} of an exchange at 1`,
    call: inboxFor(of.waiting, { sequence }),
    refusal: invalid("sequence", /outbox \d+ does not exist yet: the newest is 1$/),
  })),
  {
    what: "another text for a sequence that was answered",
    call: inboxFor(of.second, { sequence: 1 }),
    refusal: stale(/^outbox 1 was already answered with another text; exchange \w+ is at sequence 2$/),
  },
  {
    what: "the text of the first sequence for the second, by its number in the header",
    call: (api, { second }) => api.submit({ exchangeId: second, text: headed(second, "1"), sequence: 2 }),
    refusal: stale(/^the text belongs to sequence 1, but was sent for 2; /),
  },
  {
    what: "a text whose header is of another exchange",
    call: (api, { waiting, second }) => api.submit({ exchangeId: waiting, text: headed(second, "1") }),
    refusal: stale(/^the text belongs to exchange [0-9a-f]{8}; exchange [0-9a-f]{8} is at sequence 1$/),
  },
  {
    what: "a text that begins with the number of another exchange",
    call: inboxFor(of.waiting, { text: `Session: 00000000\n\n${createFile}` }),
    refusal: stale(/^the text belongs to exchange 00000000; /),
  },
  {
    what: "a text whose header is of a sequence that was answered",
    call: inboxFor(of.second, { text: `Sequence: 1\n${createFile}` }),
    refusal: stale(/^outbox 1 was already answered with another text; /),
  },
  ...["0", "2", "99", "2147483648", "999999999999999"].map((sequence) => ({
    what: `a text whose header is of the sequence ${sequence}, which is none`,
    call: inboxFor(of.waiting, { text: `Sequence: ${sequence}\n${createFile}` }),
    refusal: stale(new RegExp(`^the text belongs to sequence ${sequence}; exchange \\w+ is at sequence 1$`)),
  })),
  ...(["completed", "cancelled", "failed"] as const).map((state) => ({
    what: `an inbox for an exchange that was ${state}`,
    call: inboxFor((stage) => stage[state], {}),
    refusal: ended(state),
  })),
  {
    what: "another text for the last sequence of one that is complete",
    call: inboxFor(({ completed }) => completed, { sequence: 1 }),
    refusal: ended("completed"),
  },
  {
    what: "1,001 commands",
    call: inboxFor(of.waiting, { text: createFile.repeat(1_001) }),
    refusal: invalid("text", /has 1001 commands: send at most 1000 in one inbox$/),
  },
  {
    what: "1,001 blocks of which none is a command",
    call: inboxFor(of.waiting, { text: "[READ_FILE]\n".repeat(1_001) }),
    refusal: invalid("text", /has 1001 commands/),
  },
  {
    what: "1,001 commands to be read only",
    call: (api) => api.parse(createFile.repeat(1_001)),
    refusal: invalid("text", /has 1001 commands/),
  },
];

const long = "x".repeat(4_194_305);

/** REST only: over gRPC the size of the message is checked before the message is decoded. */
const tooLong: readonly BadCall[] = [
  {
    what: "an inbox of more than 4 MiB",
    call: inboxFor(of.waiting, { text: createFile + long }),
    refusal: { ...tooLarge, text: /^the inbox has \d+ bytes: send at most 4194304, large files in several inboxes$/ },
  },
  {
    what: "more than 4 MiB in fewer characters",
    call: (api) => api.parse("é".repeat(2_097_153)),
    refusal: { ...tooLarge, text: /^the inbox has 4194306 bytes: / },
  },
];

const badStarts: readonly BadCall[] = [
  ...["", " ", " \n\t\r\n"].map((task) => ({
    what: `the task ${JSON.stringify(task)}`,
    call: (api: Exchanges) => api.start({ task }),
    refusal: invalid("task", /must hold more than white space$/),
  })),
  {
    what: "a task with a NUL",
    call: (api) => api.start({ task: "a\0b" }),
    refusal: invalid("task", /must not contain a NUL character$/),
  },
  {
    what: "a task of 65,537 bytes",
    call: (api) => api.start({ task: `é${"x".repeat(65_535)}` }),
    refusal: invalid("task", /65536 bytes/),
  },
  {
    what: "a request id with a NUL",
    call: (api) => api.start({ task: "a", requestId: "a\0b" }),
    refusal: invalid("request_id", /must not contain a NUL character$/),
  },
  {
    what: "a request id of 129 bytes",
    call: (api) => api.start({ task: "a", requestId: "x".repeat(129) }),
    refusal: invalid("request_id", /128 bytes/),
  },
];

const result = { commandType: "RUN_COMMAND", summary: "Ran", success: true };

const badImports: readonly BadCall[] = [
  { what: "no session", session: undefined, field: "session", fix: "" },
  ...["", "0123ABCD", "0123abc", "0123abcde", "0123abcg", "0123abc\0", "../3abcd", "0123abcd\n"].map((sessionId) => ({
    what: `the id ${JSON.stringify(sessionId)}`,
    session: { ...session, sessionId },
    field: "session.sessionId",
    fix: "must be 8 lower-case hexadecimal digits",
  })),
  ...[
    ["", "must hold more than white space"],
    [" \n\t", "must hold more than white space"],
    ["a\0b", "must not contain a NUL character"],
    ["\u20ac".repeat(21_846), "must be 65536 bytes or less"],
  ].map(([task = "", fix = ""]) => ({
    what: `the task ${JSON.stringify(task.slice(0, 4))} of ${task.length} characters`,
    session: { ...session, task },
    field: "session.task",
    fix,
  })),
  ...[0, -1, 1_000_001].map((sequenceNumber) => ({
    what: `the sequence ${sequenceNumber}`,
    session: { ...session, sequenceNumber },
    field: "session.sequenceNumber",
    fix: "must be from 1 to 1000000",
  })),
  ...["", "READ", "read_file", "__proto__", "ERROR"].map((commandType) => ({
    what: `a result of the type ${JSON.stringify(commandType)}`,
    session: { ...session, lastResults: [result, { ...result, commandType }] },
    field: "session.lastResults[1].commandType",
    fix: "must be one of CREATE_FILE, EDIT_FILE,",
  })),
  {
    what: "1,001 results",
    session: { ...session, lastResults: Array(1_001).fill(result) },
    field: "session.lastResults",
    fix: "must have 1000 entries or less",
  },
  {
    what: "results of more than 1 MiB",
    session: { ...session, lastResults: [{ ...result, output: "x".repeat(1_048_576) }] },
    field: "session.lastResults",
    fix: "must not take more than 1048576 bytes together",
  },
  {
    what: "1,001 requests to read",
    session: { ...session, readFileRequests: Array(1_001).fill("a") },
    field: "session.readFileRequests",
    fix: "must have 1000 entries or less",
  },
  ...[
    ["", "must have 1 to 4096 bytes"],
    ["\u20ac".repeat(1_366), "must have 1 to 4096 bytes"],
    ["a\0b", ""],
  ].map(([path = "", fix = ""]) => ({
    what: `a request to read ${JSON.stringify(path.slice(0, 4))} of ${path.length} characters`,
    session: { ...session, readFileRequests: ["a", path] },
    field: "session.readFileRequests[1]",
    fix,
  })),
].map(({ what, session: imported, field, fix }) => ({
  what: `an import with ${what}`,
  call: (api: Exchanges) => api.import({ ...(imported && { session: imported }) }),
  refusal: invalid(field, new RegExp(`^invalid ${RegExp.escape(field)}: ${fix}`)),
}));

const badWorkDirs: readonly BadCall[] = (
  [
    ["relative", /must be an absolute path$/],
    ["/no/such/directory", /not accessible/],
    ["/dev/null", /not a directory$/],
    ["/etc", /not permitted/],
    ["/proc/self/cwd", /not permitted/],
    ["/tmp\0", /./],
    [`/${"x".repeat(4_096)}`, /4096 bytes/],
  ] as const
).flatMap(([workDir, text]) => [
  {
    what: `an exchange in ${JSON.stringify(workDir.slice(0, 30))}`,
    call: (api: Exchanges) => api.start({ task: "a", workDir }),
    refusal: invalid("work_dir", text),
  },
  {
    what: `an import into ${JSON.stringify(workDir.slice(0, 30))}`,
    call: (api: Exchanges) => api.import({ session, workDir }),
    refusal: invalid("work_dir", text),
  },
]);

const badPages: readonly BadCall[] = [
  ...[-1, 251].map((pageSize) => ({
    what: `a page of ${pageSize}`,
    call: (api: Exchanges) => api.list({ pageSize }),
    refusal: invalid("page_size"),
  })),
  ...["nonsense", "a\0b", "é", "AAAA".repeat(10)].map((pageToken) => ({
    what: `the page token ${JSON.stringify(pageToken)}`,
    call: (api: Exchanges) => api.list({ pageToken }),
    refusal: {
      ...invalid("page_token", /was not made for this list: start without one$/),
      reason: "CURSOR_INVALID",
    },
  })),
  {
    what: "a page token of 1,025 bytes",
    call: (api) => api.list({ pageToken: "x".repeat(1_025) }),
    refusal: invalid("page_token", /1024 bytes/),
  },
];

test("bad input is refused with its reason over every surface, and changes and executes nothing", async ({ stage }) => {
  const before = await look(stage);
  const badCalls = [...badNames, ...badInboxes, ...badStarts, ...badImports, ...badWorkDirs, ...badPages];
  for (const { name, isRest, open } of transports) {
    const api = open(stage.service);
    for (const { what, call, refusal } of [...badCalls, ...(isRest ? tooLong : [])]) {
      await expectRefused(call(api, stage), refusal, `${what} over ${name}`);
    }
    expect.soft(await look(stage), name).toEqual(before);
  }
  // Every exchange is unchanged and continues.
  const api = findTransport("gRPC").open(stage.service);
  expect(await api.submit({ exchangeId: stage.waiting, text: createFile })).toMatchObject({ sequence: 2 });
  expect(stage.workspace.read()).toMatchObject({ "made.txt": "made" });
});

describe("bodies over REST", () => {
  interface BadBody {
    readonly what: string;
    readonly type: string;
    readonly body: string | Uint8Array<ArrayBuffer>;
    readonly status: number;
    readonly reason: string;
    readonly error: RegExp;
  }

  const latin1 = Buffer.from([...Buffer.from("[MESSAGE]\n\ufeff"), 0xe9, ...Buffer.from("\n[/MESSAGE]")]);
  const unsupported = { status: 415, reason: "MEDIA_TYPE_UNSUPPORTED" };
  const wrong = { status: 400, reason: "INVALID_ARGUMENT" };
  const badBodies: readonly BadBody[] = [
    {
      ...wrong,
      what: "text that is not UTF-8",
      type: "text/plain",
      body: latin1,
      error: /^invalid text: the byte at offset 13 is not UTF-8: send the text as UTF-8$/,
    },
    {
      ...wrong,
      what: "JSON that is not UTF-8",
      type: "application/json",
      body: Buffer.concat([Buffer.from('{"text":"'), Buffer.from([0xff]), Buffer.from('"}')]),
      error: /^invalid request body: not UTF-8$/,
    },
    {
      ...unsupported,
      what: "another charset",
      type: "text/plain; charset=utf-16",
      body: createFile,
      error: /"utf-16"$/,
    },
    ...["text/html", "text/markdown", "application/x-www-form-urlencoded", "application/octet-stream", "text"].map(
      (type) => ({ ...unsupported, what: type, type, body: createFile, error: /^content-type must be / }),
    ),
    { ...wrong, what: "text as JSON", type: "application/json", body: createFile, error: /^invalid request body: / },
    { ...wrong, what: "a list as text", type: "application/json", body: '{"text":["a"]}', error: /text: expected / },
    { ...wrong, what: "another key", type: "application/json", body: '{"inbox":"a"}', error: /inbox: unknown key$/ },
  ];

  test("an unreadable body is refused and changes nothing", async ({ stage }) => {
    const before = await look(stage);
    for (const path of ["/v1/exchanges:parse", `/v1/exchanges/${stage.waiting}/inbox`]) {
      const ask = async (query: string, type: string, body: BadBody["body"]) => {
        const headers = { ...credentialsOf(), "content-type": type };
        const response = await fetch(`${stage.service.url}${path}${query}`, { method: "POST", headers, body });
        const { reason, error } = (await response.json()) as Plain;
        return { status: response.status, reason, error };
      };
      for (const { what, type, body, ...refusal } of badBodies) {
        const error = expect.stringMatching(refusal.error);
        expect.soft(await ask("", type, body), `${what} for ${path}`).toEqual({ ...refusal, error });
      }
      for (const query of ["?sequence=x", "?sequence=2147483648", "?sequence=1&sequence=1", "?text=a", "?color=red"]) {
        expect.soft(await ask(query, "text/plain", createFile), `${path}${query}`).toMatchObject(wrong);
      }
    }
    expect(await look(stage)).toEqual(before);
  });
});

test("over gRPC, text that is not UTF-8 cannot be decoded, and a text over 4 MiB is refused by its size", async () => {
  const stage = await setBadStage();
  const before = await look(stage);
  const field = (number: number, bytes: Uint8Array): Buffer => {
    expect(bytes.length).toBeLessThan(128);
    return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
  };
  const bytes = Buffer.concat([field(1, Buffer.from(stage.waiting)), field(2, Buffer.from([0x61, 0xff]))]);
  for (const [path, message] of [
    ["SubmitInbox", bytes],
    ["ParseInbox", field(1, Buffer.from([0xff]))],
  ] as const) {
    const end = await callRaw(stage.service.url, `/runnel.exchange.v1.ExchangeService/${path}`, frame(message));
    expect.soft(end.grpcStatus, path).toBe(status.INVALID_ARGUMENT);
  }
  const api = findTransport("gRPC").open(stage.service);
  for (const call of [
    () => api.submit({ exchangeId: stage.waiting, text: createFile + long }),
    () => api.parse(long),
  ]) {
    await expect(call()).rejects.toMatchObject({ grpcCode: "RESOURCE_EXHAUSTED" });
  }
  expect(await look(stage)).toEqual(before);
});
