// The images and files that go with the message.

import { useId, useState } from "react";
import type { ContentElement } from "#gen/runnel/v1/message_pb.js";
import { visibleText } from "../lib/visible-text.ts";
import { Icon } from "../ui/icon.tsx";
import { Failure } from "../ui/notice.tsx";
import { nameOf, readFile } from "./files.ts";

export function FilesField({
  files,
  onChange,
}: {
  readonly files: readonly ContentElement[];
  readonly onChange: (files: readonly ContentElement[]) => void;
}) {
  const id = useId();
  const [error, setError] = useState<unknown>(undefined);
  const add = async (input: HTMLInputElement): Promise<void> => {
    try {
      onChange([...files, ...(await Promise.all([...(input.files ?? [])].map(readFile)))]);
      setError(undefined);
    } catch (failure) {
      setError(failure);
    }
    // The same file may be chosen again.
    input.value = "";
  };
  return (
    <div className="field">
      <label htmlFor={`${id}files`}>Images and files</label>
      <input
        id={`${id}files`}
        className="input"
        type="file"
        multiple
        onChange={(event) => void add(event.currentTarget)}
      />
      {error !== undefined && <Failure error={error} />}
      {files.length > 0 && (
        <ul className="chips" aria-label="Chosen files">
          {files.map((file, index) => (
            <li key={`${index} ${nameOf(file)}`}>
              <button
                type="button"
                className="chip"
                aria-label={`Remove ${nameOf(file)}`}
                onClick={() => onChange(files.filter((each) => each !== file))}
              >
                {visibleText(nameOf(file))}
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
