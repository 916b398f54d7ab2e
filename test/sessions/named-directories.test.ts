// Which directories clients may name for their sessions, by every door of a real service.

import { describe, expect, test } from "vitest";
import { type Door, doors, openPlace, startNamed } from "./named-directories.ts";

describe.each(doors)("$name, without listed directories", ({ create }: Door) => {
  test("refuses every named directory, whether it exists or not, and says which setting lists them", async () => {
    const service = await startNamed([]);
    const place = openPlace();
    for (const named of [place.at("."), place.at("missing"), "/root", "/home", "/var/lib", "/", "/dev/null"]) {
      const { refusal, field } = await create(service, "tenant-a", named);
      expect(refusal).toMatch(
        /work_dir: not permitted: .*leave work_dir out .*sessions\.work_dirs \(RUNNEL_SESSIONS_WORK_DIRS\)/,
      );
      expect(field).toMatch(/work_dir$/);
    }
    expect(await create(service, "tenant-a", "")).toEqual({ refusal: undefined });
  });
});
