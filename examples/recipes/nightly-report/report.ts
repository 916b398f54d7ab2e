// A job of every night: a schedule starts the run, and the status callback of its end brings the report, which becomes a file. The program
// that receives it may be away meanwhile.

import { mkdir, rename, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { connect, RunnelError, verifyCallback } from "@runnel/client";

const { PORT = "8092", PUBLIC_URL = `http://127.0.0.1:${PORT}`, REPORTS = "reports" } = process.env;
const { RUNNEL_URL = "http://127.0.0.1:8090", RUNNEL_API_KEY } = process.env;
const runnel = connect(RUNNEL_URL, { apiKey: RUNNEL_API_KEY });

await mkdir(REPORTS, { recursive: true });
createServer(async (request, response) => {
  try {
    await receive(request);
    response.writeHead(204).end();
  } catch (error) {
    console.error(error);
    response.writeHead(error instanceof RunnelError ? 401 : 500).end();
  }
}).listen(Number(PORT));

const schedule = {
  scheduleId: "nightly-report",
  cron: "0 2 * * *",
  timeZone: "Europe/Rome",
  session: { agent: { name: "reporter", systemPrompt: "Write a short report." }, callback: { baseUrl: PUBLIC_URL } },
  message: { message: "Report on the orders of yesterday." },
};
// A schedule that exists stays as it is: to change it, delete it first.
await runnel.schedules.createSchedule({ schedule }).catch((error: unknown) => {
  if (!(error instanceof RunnelError && error.reason === "SCHEDULE_EXISTS")) {
    throw error;
  }
});
const { schedule: kept } = await runnel.schedules.getSchedule({ scheduleId: schedule.scheduleId });
console.log(`the next report comes at ${new Date(Number(kept?.nextTime?.seconds) * 1_000).toISOString()}`);

async function receive(request: IncomingMessage): Promise<void> {
  const { headers } = request;
  const body = (await request.setEncoding("utf8").toArray()).join("");
  // Without credentials, as in `runnel dev`, the service signs nothing.
  const callback =
    RUNNEL_API_KEY === undefined ? JSON.parse(body) : await verifyCallback({ secret: RUNNEL_API_KEY, headers, body });
  const { status, run_id: runId, output = "", error = "" } = callback;
  if (status === "completed") {
    // The file has the name of the run: a callback that comes twice writes the same file.
    const file = join(REPORTS, `${runId}.md`);
    await writeFile(`${file}.part`, output);
    await rename(`${file}.part`, file);
    console.log(`wrote ${file}`);
  } else if (status === "failed" || status === "cancelled") {
    console.log(`no report: run ${runId} ${status}: ${error}`);
  }
}
