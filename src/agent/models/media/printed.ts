// Media as the formats of OpenAI write them.

import type { ModelMedia } from "../model.ts";

/** Returns the URL of media: their own, or a data URL. */
export function urlOf({ mediaType = "application/octet-stream", data }: ModelMedia): string {
  return data instanceof URL ? data.href : `data:${mediaType};base64,${Buffer.from(data).toString("base64")}`;
}

/** Returns a recording in base64, with OpenAI's word for its type. */
export function audioOf({ mediaType, data }: ModelMedia): object {
  const format = mediaType === "audio/mpeg" ? "mp3" : mediaType?.replace("audio/", "");
  return { data: data instanceof URL ? data.href : Buffer.from(data).toString("base64"), format };
}
