// The box in which a person writes to a session: Enter sends, Shift and Enter begins a line, and files come by drop, paste or choice.

import { useQuery } from "@connectrpc/connect-query";
import { type ReactNode, useId, useRef, useState } from "react";
import type { ContentElement, Message } from "#gen/runnel/v1/message_pb.js";
import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { failureText } from "../lib/failure-text.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { visibleText } from "../lib/visible-text.ts";
import { nameOf, readFile, withFiles } from "../new-run/files.ts";
import { Attachment } from "../ui/attachment.tsx";
import { Icon } from "../ui/icon.tsx";
import { useDraft } from "./kept-draft.ts";

/** What a person sends. */
export interface Sent {
  readonly messages: readonly Message[];
  /** Empty for the model of the agent. */
  readonly model: string;
  readonly requestId: string;
}

export function Composer({
  draftName,
  hint,
  onSend,
  children,
}: {
  /** Names the draft that outlives a reload. */
  readonly draftName: string;
  /** What becomes of a message that is sent now. */
  readonly hint: string;
  /** Fails with the reason why the message was not sent. */
  readonly onSend: (sent: Sent) => Promise<void>;
  /** More choices. */
  readonly children?: ReactNode;
}) {
  const id = useId();
  const [draft, change] = useDraft(draftName);
  const [files, setFiles] = useState<readonly ContentElement[]>([]);
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  useShortcuts({ c: () => box.current?.focus() });
  const isEmpty = draft.text.trim() === "" && files.length === 0;
  const add = async (chosen: Iterable<File>): Promise<void> => {
    try {
      const read = await Promise.all([...chosen].map(readFile));
      setFiles((current) => [...current, ...read]);
      change({});
      setProblem("");
    } catch (failure) {
      setProblem(failureText(failure));
    }
  };
  const send = async (): Promise<void> => {
    if (isEmpty || isBusy) {
      return;
    }
    setBusy(true);
    setProblem("");
    try {
      const { text, model, requestId } = draft;
      await onSend({ messages: [withFiles(text, files)], model, requestId });
      // What a person has added meanwhile is for the next message.
      setFiles((current) => current.filter((each) => !files.includes(each)));
      change((latest) => (latest.text.startsWith(text) ? { text: latest.text.slice(text.length) } : {}));
    } catch (failure) {
      setProblem(`The message was not sent: ${failureText(failure)}`);
    }
    setBusy(false);
    box.current?.focus();
  };
  return (
    <form
      className="composer"
      aria-label="Write a message"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void add(event.dataTransfer.files);
      }}
    >
      {files.length > 0 && (
        <Chosen
          files={files}
          onRemove={(file) => {
            setFiles(files.filter((each) => each !== file));
            change({});
          }}
        />
      )}
      <label className="unseen" htmlFor={`${id}text`}>
        Message
      </label>
      <textarea
        ref={box}
        id={`${id}text`}
        className="input"
        rows={3}
        dir="auto"
        value={draft.text}
        placeholder="Write a message"
        onInput={(event) => change({ text: event.currentTarget.value })}
        onKeyDown={(event) => {
          // An input method takes Enter for itself while it composes a word.
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            void send();
          } else if (event.key === "Escape") {
            event.currentTarget.blur();
          }
        }}
        onPaste={(event) => {
          if (event.clipboardData.files.length > 0) {
            event.preventDefault();
            void add(event.clipboardData.files);
          }
        }}
      />
      {problem !== "" && (
        <p className="problem" role="alert">
          {visibleText(problem)}
        </p>
      )}
      <div className="composer-foot">
        {children}
        <ModelField id={`${id}model`} model={draft.model} onModel={(model) => change({ model })} />
        <label className="button">
          <Icon name="plus" />
          Add files
          <input
            className="unseen"
            type="file"
            multiple
            onChange={(event) => {
              void add(event.currentTarget.files ?? []);
              // The same file may be chosen again.
              event.currentTarget.value = "";
            }}
          />
        </label>
        <span className="hint">{hint}</span>
        <button type="submit" className="button primary" disabled={isEmpty || isBusy}>
          <Icon name="send" />
          {isBusy ? "Sending …" : "Send"}
        </button>
      </div>
    </form>
  );
}

function ModelField({
  id,
  model,
  onModel,
}: {
  readonly id: string;
  readonly model: string;
  readonly onModel: (model: string) => void;
}) {
  const models = useQuery(ProviderService.method.listModels, {});
  return (
    <>
      <label className="unseen" htmlFor={id}>
        Model
      </label>
      <input
        id={id}
        className="input"
        list={`${id}list`}
        value={model}
        placeholder="model of the agent"
        autoComplete="off"
        spellCheck={false}
        onInput={(event) => onModel(event.currentTarget.value)}
      />
      <datalist id={`${id}list`}>
        {models.data?.models.map(({ name, provider }) => (
          <option key={name} value={name}>
            {provider}
          </option>
        ))}
      </datalist>
    </>
  );
}

function Chosen({
  files,
  onRemove,
}: {
  readonly files: readonly ContentElement[];
  readonly onRemove: (file: ContentElement) => void;
}) {
  return (
    <ul className="chips" aria-label="Chosen files">
      {files.map((file, index) => (
        <li key={`${index} ${nameOf(file)}`}>
          {file.imageBase64 !== undefined && <Attachment base64={file.imageBase64} name={nameOf(file)} isImage />}
          <button
            type="button"
            className="chip"
            aria-label={`Remove ${visibleText(nameOf(file))}`}
            onClick={() => onRemove(file)}
          >
            {visibleText(nameOf(file))}
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
