// Follows a run through every break: npx node examples/resume/main.js <run id>

import { Metadata } from "@grpc/grpc-js";
import { connect, followRun } from "./run.js";

const [runId] = process.argv.slice(2);
const metadata = new Metadata();
if (process.env.RUNNEL_API_KEY) {
  metadata.set("authorization", `Bearer ${process.env.RUNNEL_API_KEY}`);
}
let shown = "";
const last = await followRun(connect(process.env.TARGET ?? "127.0.0.1:8090"), metadata, runId, (text) => {
  // A takeover may have taken text back: then it is shown again from the start.
  process.stdout.write(text.startsWith(shown) ? text.slice(shown.length) : `\n${text}`);
  shown = text;
});
console.log(last.runCompleted ? "\ncompleted" : `\nfailed: ${last.runFailed.error}`);
process.exit();
