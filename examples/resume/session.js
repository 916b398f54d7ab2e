// session.js
import { Text } from "./text.js";

const sequenceOf = (id) => Number(id.slice(id.lastIndexOf(".") + 1));

/**
 * Calls `show` with the text so far, and resolves with the data of `done`. `openUrl` is called for each EventSource that has
 * to be opened, with the id of the last event; what it throws ends everything.
 */
export function followSession(openUrl, show) {
  const text = new Text();
  let lastId = "";
  let delayMs = 200;
  return new Promise((resolve, reject) => {
    const open = async () => {
      const source = new EventSource(await openUrl(lastId));
      const on = (type, take) =>
        source.addEventListener(type, (event) => {
          lastId = event.lastEventId;
          delayMs = 200;
          take(JSON.parse(event.data));
          show(String(text));
        });
      on("text", ({ content }) => text.add(sequenceOf(lastId), content));
      on("turn_restarted", ({ from_id }) => text.voidFrom(sequenceOf(from_id)));
      on("done", (done) => {
        source.close();
        resolve(done);
      });
      source.addEventListener("error", () => {
        // A connection that broke comes back by itself; one that was answered with anything but 200 does not.
        if (source.readyState === EventSource.CLOSED) {
          setTimeout(() => open().catch(reject), delayMs);
          delayMs = Math.min(delayMs * 2, 10_000);
        }
      });
    };
    open().catch(reject);
  });
}
