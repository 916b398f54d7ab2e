// The API as a caller sees it, independent of the surface: the same calls, answers in one plain form (keys of the contract,
// numbers as numbers, states in lower case, JSON fields parsed), failures as one class.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListFilesRequestSchema, ReadFileRequestSchema } from "#gen/runnel/v1/file_service_pb.js";
import type { CallMcpToolRequestSchema, ListMcpToolsRequestSchema } from "#gen/runnel/v1/mcp_service_pb.js";
import type {
  CancelRunsRequestSchema,
  ListRunResultsRequestSchema,
  ListRunsRequestSchema,
} from "#gen/runnel/v1/run_service_pb.js";
import type {
  CreateSessionRequestSchema,
  ListMessagesRequestSchema,
  ListSessionsRequestSchema,
  SendMessageRequestSchema,
} from "#gen/runnel/v1/session_service_pb.js";
import type { ListUsageRequestSchema } from "#gen/runnel/v1/system_service_pb.js";
import type { QueryUsageOfClientsRequestSchema, QueryUsageRequestSchema } from "#gen/runnel/v1/usage_service_pb.js";

export type Plain = Readonly<Record<string, unknown>>;

export interface Surface {
  createSession(request: MessageInitShape<typeof CreateSessionRequestSchema>): Promise<CreatedSession>;
  getSession(sessionId: string): Promise<Plain>;
  listSessions(request: MessageInitShape<typeof ListSessionsRequestSchema>): Promise<SessionPage>;
  deleteSession(sessionId: string): Promise<Plain>;
  sendMessage(request: MessageInitShape<typeof SendMessageRequestSchema>): Promise<SentMessage>;
  /** Ends after a proper end of the stream and throws after any other. Leaving the loop cancels the stream. */
  followSession(sessionId: string, after?: string): AsyncGenerator<SessionEvent>;
  listMessages(request: MessageInitShape<typeof ListMessagesRequestSchema>): Promise<MessagePage>;
  listFiles(request: MessageInitShape<typeof ListFilesRequestSchema>): Promise<FilePage>;
  /** As `followSession`. Yields the bytes of the file, piece by piece. */
  readFile(request: MessageInitShape<typeof ReadFileRequestSchema>): AsyncGenerator<Uint8Array>;
  getRun(runId: string, outputCharsMax?: number): Promise<Plain>;
  getRunInput(runId: string): Promise<RunInput>;
  listRuns(request: MessageInitShape<typeof ListRunsRequestSchema>): Promise<RunPage>;
  /** As `followSession`. */
  followRun(runId: string, after?: number): AsyncGenerator<Result>;
  listResults(request: MessageInitShape<typeof ListRunResultsRequestSchema>): Promise<ResultPage>;
  cancelRun(runId: string): Promise<Plain>;
  cancelRuns(request: MessageInitShape<typeof CancelRunsRequestSchema>): Promise<Plain>;
  getVersion(): Promise<Plain>;
  getLimits(): Promise<Plain>;
  getUsage(): Promise<Plain>;
  listUsage(request: MessageInitShape<typeof ListUsageRequestSchema>): Promise<UsagePage>;
  queryUsage(request: MessageInitShape<typeof QueryUsageRequestSchema>): Promise<Plain>;
  listMcpServers(): Promise<Plain>;
  listMcpTools(request: MessageInitShape<typeof ListMcpToolsRequestSchema>): Promise<Plain>;
  callMcpTool(request: MessageInitShape<typeof CallMcpToolRequestSchema>): Promise<Plain>;
  queryUsageOfClients(request: MessageInitShape<typeof QueryUsageOfClientsRequestSchema>): Promise<Plain>;
  listReplicas(): Promise<Plain>;
}

export interface CreatedSession {
  readonly session_id: string;
  readonly status: string;
}

export interface SentMessage {
  readonly session_id: string;
  readonly status: string;
  readonly tools_registered: readonly string[];
  readonly run_id: string;
}

export interface SessionPage {
  readonly sessions: readonly Plain[];
  readonly next_page_token?: string;
}

export interface MessagePage {
  readonly messages: readonly { readonly number: number; readonly run_id: string; readonly message: Plain }[];
  readonly next_page_token?: string;
}

export interface FilePage {
  readonly files: readonly Plain[];
  readonly next_page_token?: string;
}

export interface RunInput {
  readonly messages: readonly Plain[];
  readonly agent: Plain;
  readonly annotations?: unknown;
}

export interface RunPage {
  readonly runs: readonly Plain[];
  readonly next_page_token?: string;
}

export interface UsagePage {
  readonly days: readonly Plain[];
  readonly next_page_token?: string;
}

export interface ResultPage {
  readonly results: readonly Result[];
  readonly next_page_token?: string;
}

/** An event of a session's stream. Only the last event of a result has an id; the others have an empty one. */
export interface SessionEvent {
  readonly id: string;
  readonly type: string;
  readonly payload: Plain;
}

export interface Result {
  readonly sequence: number;
  /** The dotted name, such as `message.delta`. */
  readonly type: string;
  readonly payload: Plain;
  readonly usage?: Plain | undefined;
}

export interface Violation {
  readonly field: string;
  readonly description: string;
}

/** The refusal of a call. A surface reports its own status; reason and violations are empty where its format has none. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly grpcCode: string | undefined;
  readonly httpStatus: number | undefined;
  readonly reason: string | undefined;
  readonly violations: readonly Violation[];
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    details: {
      grpcCode?: string | undefined;
      httpStatus?: number | undefined;
      reason?: string | undefined;
      violations?: readonly Violation[] | undefined;
      retryAfterSeconds?: number | undefined;
    },
  ) {
    super(message);
    this.grpcCode = details.grpcCode;
    this.httpStatus = details.httpStatus;
    this.reason = details.reason;
    this.violations = details.violations ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}
