// Prints jobs and their regions for people.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Job, Job_State, type JobExecution, JobExecution_State } from "#gen/runnel/job/v1/job_pb.js";
import type { Paint } from "../output.ts";
import { shorten } from "../shorten.ts";
import { showTable, showTime } from "../table.ts";

/** Prints the state of a job in one line. */
export function showJobState(job: Job, paint: Paint): string {
  const { id, totalRegions, successfulRegions, failedRegions } = job;
  const word = jobWord(job);
  const open = totalRegions - successfulRegions - failedRegions;
  const counts = [
    `${successfulRegions} of ${totalRegions} regions ended well`,
    ...(open > 0 ? [`${open} not yet`] : []),
  ];
  return `${paintWord(word, paint, `${signOf(word)} job ${id} ${word}`)}: ${counts.join(", ")}; ${needOf(job)}`;
}

/** Prints a job and its regions. */
export function showJob(job: Job, paint: Paint): string {
  const { jobspecId, version, benchmark, keyId, signatureVersion, canonicalSha256, clientJobId, executions } = job;
  const row = (title: string, text: string): string => `  ${paint("bold", title.padEnd(9))}  ${shorten(text)}`;
  return [
    showJobState(job, paint),
    row("spec", `${jobspecId || "(no jobspec_id)"}, version ${version}, ${benchmark}`),
    ...(clientJobId === "" ? [] : [row("sent as", clientJobId)]),
    row("signed", `by ${keyId}, version ${signatureVersion}, sha256 ${canonicalSha256}`),
    row("time", timeOf(job)),
    "",
    showTable(["REGION", "STATE", "RUN", "ERROR"], executions.map(rowOf), paint),
  ].join("\n");
}

/** Prints a region whose state has changed. */
export function showExecution(execution: JobExecution, paint: Paint): string {
  const { region, runId } = execution;
  const word = executionWord(execution);
  const line = `${signOf(word)} ${shorten(region).padEnd(6)}  ${word.padEnd(9)}  run ${runId}`;
  const error = errorOf(execution);
  return paintWord(word, paint, error === "" ? line : `${line}  ${error}`);
}

/** The columns of a list of jobs. */
export const jobColumns: readonly string[] = ["JOB", "STATE", "SUCCEEDED", "SPEC", "CREATED"];

/** Returns the row of a job. */
export function jobRow(job: Job): string[] {
  const { id, successfulRegions, totalRegions, jobspecId, benchmark, createTime } = job;
  const made = showTime(createTime && timestampDate(createTime));
  return [id, jobWord(job), `${successfulRegions}/${totalRegions}`, jobspecId || benchmark, made];
}

function rowOf(execution: JobExecution): string[] {
  return [execution.region, executionWord(execution), execution.runId, errorOf(execution) || "–"];
}

function errorOf({ errorCode, error }: JobExecution): string {
  return errorCode === "" ? "" : shorten(`${errorCode}: ${error}`);
}

function needOf({ minRegions, minSuccessRate }: Job): string {
  return `it needs ${minRegions}, and ${Math.round(minSuccessRate * 100)} % of them`;
}

function timeOf({ createTime, endTime, cancelRequestTime }: Job): string {
  const [made, ended, cancelled] = [createTime, endTime, cancelRequestTime].map((time) => time && timestampDate(time));
  return [
    `made ${showTime(made)}`,
    ...(cancelled === undefined ? [] : [`cancel asked for ${showTime(cancelled)}`]),
    ...(ended === undefined ? [] : [`ended ${showTime(ended)}`]),
  ].join(", ");
}

/** Returns the state in lower case. A state of a later version has no name here. */
function jobWord({ status }: Job): string {
  return Job_State[status]?.toLowerCase() ?? `state ${status}`;
}

function executionWord({ status }: JobExecution): string {
  return JobExecution_State[status]?.toLowerCase() ?? `state ${status}`;
}

const signs: Readonly<Record<string, string>> = { completed: "✓", failed: "✗", cancelled: "✗" };

function signOf(word: string): string {
  return signs[word] ?? "·";
}

function paintWord(word: string, paint: Paint, text: string): string {
  switch (word) {
    case "completed":
      return paint("green", text);
    case "failed":
      return paint("red", text);
    case "cancelled":
      return paint("yellow", text);
    default:
      return text;
  }
}
