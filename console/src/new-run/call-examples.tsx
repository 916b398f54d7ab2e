// The call of the form in other languages, to paste.

import { useState } from "react";
import { serviceUrl } from "../api/transport.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import type { Draft } from "./draft.ts";
import { type Language, languages, writeCall } from "./write-call.ts";

export function CallExamples({ draft }: { readonly draft: Draft }) {
  const [language, setLanguage] = useState<Language>("curl");
  const names = Object.keys(languages) as Language[];
  return (
    <section className="examples" aria-label="The same call as code">
      <h2>The same call</h2>
      <div className="tabs" role="tablist" aria-label="Language">
        {names.map((name, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`language-${name}`}
            aria-selected={name === language}
            aria-controls="language-panel"
            tabIndex={name === language ? 0 : -1}
            onClick={() => setLanguage(name)}
            onKeyDown={(event) => {
              const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
              const next = names[(index + step + names.length) % names.length];
              if (step !== 0 && next !== undefined) {
                setLanguage(next);
                document.getElementById(`language-${next}`)?.focus();
              }
            }}
          >
            {languages[name]}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="language-panel" aria-labelledby={`language-${language}`}>
        <CodeBlock label={languages[language]} text={writeCall(language, draft, serviceUrl)} />
      </div>
      <p className="hint">
        With credentials, send the key as <code>Authorization: Bearer …</code>. The lines contain no key.
      </p>
    </section>
  );
}
