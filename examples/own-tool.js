import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const tools = {
  search_docs: async ({ query }) => `No documents about ${query}.`,
};

const nonces = new Map();
const answers = new Map();

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  const [status, answer] = isGenuine(request.headers, body) ? await answerOnce(request, body) : [401, {}];
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
});

function isGenuine(headers, body) {
  const { "x-timestamp": timestamp, "x-nonce": nonce, "x-signature": signature } = headers;
  const now = Date.now() / 1000;
  if (!/^\d+$/.test(timestamp) || Math.abs(now - timestamp) > 120 || !/^[\w-]{8,128}$/.test(nonce)) {
    return false;
  }
  const mac = createHmac("sha256", process.env.AGENT_SECRET).update(`${timestamp}.${nonce}.`).update(body);
  const expected = Buffer.from(`sha256=${mac.digest("hex")}`);
  const given = Buffer.from(signature ?? "");
  if (given.length !== expected.length || !timingSafeEqual(given, expected) || nonces.get(nonce) > now) {
    return false;
  }
  nonces.set(nonce, now + 240);
  return true;
}

// A call that comes again gets the answer that it had.
function answerOnce(request, body) {
  const key = `${request.headers["x-session-id"]} ${request.headers["idempotency-key"]}`;
  if (!answers.has(key)) {
    answers.set(key, run(request.url.split("/").at(-1), JSON.parse(body)));
  }
  return answers.get(key);
}

async function run(name, { arguments: args }) {
  if (!Object.hasOwn(tools, name)) {
    return [404, { success: false, error: "unknown tool" }];
  }
  try {
    return [200, { success: true, content: await tools[name](args) }];
  } catch (error) {
    return [200, { success: false, error: String(error) }];
  }
}

server.listen(process.env.PORT, () => console.log(`listening on ${server.address().port}`));
