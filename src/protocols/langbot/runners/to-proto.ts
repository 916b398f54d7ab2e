// Converts rows of runners, verdicts, audit entries and files to messages of the contract.

import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Runner, Runner_State, RunnerSchema } from "#gen/runnel/runner/v1/runner_pb.js";
import {
  type AuditEntry,
  AuditEntrySchema,
  type ConfigFile,
  ConfigFileSchema,
  ResultDisposition,
  ResultDispositionSchema,
  type ResultVerdict,
  ResultVerdictSchema,
} from "#gen/runnel/runner/v1/runner_service_pb.js";
import { enumShape } from "../../../platform/base/json/shape.ts";
import type { AuditEntryRow } from "../storage/audit-page.ts";
import type { ConfigFileRow } from "../storage/config-file.ts";
import type { RunnerRow } from "../storage/runner.ts";
import type { ResultVerdictRow } from "../storage/verdict-page.ts";
import { manifestFromBytes } from "./manifest.ts";

/** Converts a runner. */
export function runnerToProto(row: RunnerRow): Runner {
  return create(RunnerSchema, {
    runnerId: row.runner_id,
    manifest: manifestFromBytes(row.manifest),
    era: row.era,
    state: row.is_available ? Runner_State.AVAILABLE : Runner_State.OFFLINE,
    workerId: row.worker_id,
    url: row.url ?? "",
    createTime: timestampFromDate(row.create_time),
    updateTime: timestampFromDate(row.update_time),
  });
}

/** Converts a verdict. Dispositions are stored in the contract's own words. */
export function verdictToProto({ sequence, type, disposition, diagnostics }: ResultVerdictRow): ResultVerdict {
  return create(ResultVerdictSchema, {
    sequence: BigInt(sequence),
    type,
    disposition: enumShape(ResultDispositionSchema).numbers.get(disposition) ?? ResultDisposition.UNSPECIFIED,
    diagnostics,
  });
}

/** Converts an audit entry. */
export function auditEntryToProto(row: AuditEntryRow): AuditEntry {
  const { action, resource, scope, result, reason } = row;
  return create(AuditEntrySchema, {
    entryId: row.id,
    runId: row.run_id,
    runnerId: row.runner_id,
    action,
    resource,
    scope,
    result,
    reason,
    createTime: timestampFromDate(row.create_time),
  });
}

/** Converts a file, without its content. */
export function configFileToProto(row: ConfigFileRow): ConfigFile {
  return create(ConfigFileSchema, {
    fileKey: row.file_key,
    ...(row.mime_type !== null && { mimeType: row.mime_type }),
    sizeBytes: BigInt(row.size_bytes),
    updateTime: timestampFromDate(row.update_time),
  });
}
