// Many customers on one service: each tenant is a client with a key of its own. The service keeps their rows apart, so this program checks
// no ids. The keys are made with the admin token and belong into the vault of the program.

import { connect, type Runnel, RunnelError } from "@runnel/client";

const { RUNNEL_URL = "http://127.0.0.1:8090", RUNNEL_AUTH_ADMIN_TOKEN } = process.env;
const admin = connect(RUNNEL_URL, { apiKey: RUNNEL_AUTH_ADMIN_TOKEN });
const clients = new Map<string, Runnel>();

/** Returns the client of a tenant; the first call makes its key. */
async function clientOf(tenant: string): Promise<Runnel> {
  const known = clients.get(tenant);
  if (known !== undefined) {
    return known;
  }
  const { key } = await admin.auth.createApiKey({ clientId: `tenant-${tenant}`, displayName: `The app for ${tenant}` });
  const client = connect(RUNNEL_URL, { apiKey: key });
  clients.set(tenant, client);
  return client;
}

/** Answers a question of a tenant's user, each in a conversation of its own. */
async function ask(tenant: string, user: string, question: string): Promise<string> {
  const client = await clientOf(tenant);
  // Tenants may use the same id: it names another session for each of them.
  const session = { sessionId: `chat-${user}`, agent: { name: "support", budget: { tokens: 50_000n } } };
  await client.sessions.createSession(session).catch((error: unknown) => {
    if (!(error instanceof RunnelError && error.reason === "SESSION_EXISTS")) {
      throw error;
    }
  });
  const { runId } = await client.send(session.sessionId, question, { queueIfBusy: true });
  const { output } = await client.follow(runId).finish();
  return output;
}

console.log(`acme: ${await ask("acme", "ada", "Where is my order?")}`);
console.log(`globex: ${await ask("globex", "ada", "Cancel my order.")}`);

// The runs of one tenant do not exist for another one.
const [acme, globex] = [await clientOf("acme"), await clientOf("globex")];
const { runs } = await acme.runs.listRuns({});
console.log(`acme has ${runs.length} run`);
try {
  await globex.runs.getRun({ runId: runs[0]?.runId ?? "" });
} catch (error) {
  console.log(`globex gets ${error instanceof RunnelError ? error.reason : error}`);
}

// For the invoice. Keys of a tenant that has left are revoked, and its sessions purged.
for (const [tenant, client] of clients) {
  const { days } = await client.system.listUsage({});
  const tokens = days.reduce((sum, day) => sum + day.promptTokens + day.completionTokens, 0n);
  console.log(`${tenant} has used ${tokens} tokens`);
  client.close();
}
admin.close();
