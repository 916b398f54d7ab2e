// What surrounds every view: navigation, the state of the service, credentials, theme and help.

import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { access } from "../api/access.ts";
import { serviceState, watchService } from "../api/service-state.ts";
import { type Theme, theme } from "../lib/preferences.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { useStore } from "../lib/store.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Toasts } from "../ui/toasts.tsx";
import type { View } from "../view.ts";
import { views } from "../views.ts";

const AccessDialog = lazy(() => import("./access-dialog.tsx"));
const HelpDialog = lazy(() => import("./help-dialog.tsx"));
const placed = views.filter(({ navigation }) => navigation !== undefined);
const folded = placed.filter(({ navigation }) => navigation?.isFolded === true);
const always = placed.filter((view) => !folded.includes(view));

export function Frame({ children }: { readonly children: ReactNode }) {
  const [path, navigate] = useLocation();
  useFocusOnView(path);
  const [opened, setOpened] = useState<"access" | "help" | undefined>(undefined);
  const { isAsked } = useStore(access);
  useEffect(watchService, []);
  const goTo = placed.map(({ path, navigation }) => [navigation?.key ?? "", () => navigate(path)] as const);
  useShortcuts({ ...Object.fromEntries(goTo), "?": () => setOpened("help") });
  return (
    <div className="frame">
      <button type="button" className="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </button>
      <header className="sidebar">
        <Link href="/runs" className="brand">
          <Wordmark />
        </Link>
        <Navigation path={path} />
        <div className="sidebar-foot">
          <ServiceBadge />
          <div className="sidebar-tools">
            <button
              type="button"
              className="button quiet icon-only"
              aria-label="Credentials"
              title="Credentials"
              onClick={() => setOpened("access")}
            >
              <Icon name="key" />
            </button>
            <ThemeButton />
            <button
              type="button"
              className="button quiet icon-only"
              aria-label="Help and shortcuts"
              title="Help and shortcuts (?)"
              onClick={() => setOpened("help")}
            >
              <Icon name="help" />
            </button>
          </div>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Suspense>
        {(isAsked || opened === "access") && <AccessDialog onClose={() => setOpened(undefined)} />}
        {opened === "help" && <HelpDialog onClose={() => setOpened(undefined)} />}
      </Suspense>
      <Toasts />
    </div>
  );
}

/** A link that leads to another view goes with its own: the keyboard continues in the new one. */
function useFocusOnView(path: string): void {
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current !== path) {
      shown.current = path;
      if (document.activeElement === document.body) {
        document.getElementById("main")?.focus({ preventScroll: true });
      }
    }
  }, [path]);
}

/** The links to the views. The view that is shown always has its own. */
function Navigation({ path }: { readonly path: string }) {
  const [isOpen, setOpen] = useState(false);
  const links = useRef<HTMLElement>(null);
  // On a phone the links are one line, which is longer than the screen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another view has another link.
  useEffect(() => {
    links.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [path]);
  const isHere = (view: View): boolean => placesOf(view).some((place) => `${path}/`.startsWith(`${place}/`));
  const shown = folded.filter((view) => isOpen || isHere(view));
  return (
    <nav ref={links} aria-label="Views">
      {always.map((view) => (
        <NavigationLink key={view.path} view={view} isHere={isHere(view)} />
      ))}
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="chevron" />
        More
      </button>
      {shown.map((view) => (
        <NavigationLink key={view.path} view={view} isHere={isHere(view)} />
      ))}
    </nav>
  );
}

/** The paths at which the link of a view is marked. */
function placesOf({ path }: View): string[] {
  return [path, ...views.filter(({ within }) => within === path).map((view) => view.path.replace(/\/:.*/, ""))];
}

function NavigationLink({
  view: { path, title, navigation },
  isHere,
}: {
  readonly view: View;
  readonly isHere: boolean;
}) {
  const Badge = navigation?.badge;
  const Guard = isHere ? undefined : navigation?.guard;
  const link = (
    <Link href={path} aria-current={isHere ? "page" : undefined} title={`${title} (${navigation?.key})`}>
      <Icon name={navigation?.icon ?? "runs"} />
      <span>{title}</span>
      {Badge !== undefined && (
        <Suspense>
          <Badge />
        </Suspense>
      )}
    </Link>
  );
  return Guard === undefined ? (
    link
  ) : (
    <Suspense>
      <Guard>{link}</Guard>
    </Suspense>
  );
}

function ServiceBadge() {
  const state = useStore(serviceState);
  const text = {
    asking: "asking the service",
    ready: "service ready",
    "not-ready": "service not ready",
    unreachable: "service unreachable",
  }[state.name];
  return (
    <p className="service" data-state={state.name} role="status">
      <span className="dot" />
      <span className="service-text">{state.name === "not-ready" ? `${text}: ${state.reason}` : text}</span>
    </p>
  );
}

const themes: Readonly<Record<Theme, { readonly next: Theme; readonly icon: IconName }>> = {
  system: { next: "light", icon: "half" },
  light: { next: "dark", icon: "sun" },
  dark: { next: "system", icon: "moon" },
};

function ThemeButton() {
  const current = useStore(theme);
  const { next, icon } = themes[current];
  return (
    <button
      type="button"
      className="button quiet icon-only"
      aria-label={`Theme: ${current}. Change to ${next}`}
      title={`Theme: ${current}`}
      onClick={() => theme.set(next)}
    >
      <Icon name={icon} />
    </button>
  );
}

function Wordmark() {
  return (
    <>
      <svg viewBox="0 0 32 32" className="mark" aria-hidden="true" focusable="false">
        <rect width="32" height="32" rx="8" />
        <path d="M7 11c3.200-3 5.800-3 9 0s5.800 3 9 0M7 17c3.200-3 5.800-3 9 0s5.800 3 9 0M7 23c3.200-3 5.800-3 9 0" />
      </svg>
      <span>Runnel</span>
    </>
  );
}
