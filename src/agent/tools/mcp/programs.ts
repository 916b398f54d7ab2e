// The programs of MCP servers that run in this replica.
//
// P1  A session has one program for each server: no other session reaches its state.
// P2  A program ends some time after its last use, when the service stops, and with the service if that dies.

import type { Clock } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";
import type { ProgramAddress } from "../../../platform/config/program-address.ts";
import type { ProgramOptions } from "../bash/served-program.ts";
import type { ToolContext } from "../tool.ts";
import type { McpConnection } from "./connection.ts";
import type { Program } from "./program.ts";

/** Options of the programs. */
export interface ProgramsOptions {
  readonly commands: ProgramOptions["commands"];
  readonly clock: Clock;
  readonly idleMs: number;
  readonly programsMax: number;
}

interface Running {
  readonly connection: McpConnection;
  readonly program: Program;
  users: number;
  /** Counts the uses, so that an old timer does not stop a program that is in use again. */
  uses: number;
}

/** The programs of a replica. */
export class McpPrograms {
  readonly #options: ProgramsOptions;
  readonly #running = new Map<string, Promise<Running>>();
  readonly #closing = new AbortController();

  constructor(options: ProgramsOptions) {
    this.#options = options;
  }

  /** Returns a connection with the session's program, which it starts at the first call. Disposing it begins its idle time. */
  async lease(name: string, address: ProgramAddress, context: ToolContext): Promise<McpConnection> {
    const key = JSON.stringify([context.client, context.sessionId, name]);
    const running = await this.#find(key, address, context);
    running.users += 1;
    running.uses += 1;
    let isLeased = true;
    return {
      ...running.connection,
      close: async () => {
        if (isLeased) {
          isLeased = false;
          running.users -= 1;
          void this.#stopLater(key, running);
        }
      },
    };
  }

  /** Stops all programs. */
  async close(): Promise<void> {
    this.#closing.abort();
    const running = await Promise.allSettled(this.#running.values());
    await Promise.all(running.map((each) => (each.status === "fulfilled" ? stop(each.value) : undefined)));
  }

  async #find(key: string, address: ProgramAddress, context: ToolContext): Promise<Running> {
    const found = await this.#running.get(key)?.catch(() => undefined);
    if (found?.connection.isOpen() === true) {
      return found;
    }
    if (this.#closing.signal.aborted) {
      throw new Fault("BUSY", "this replica is stopping, and starts no programs of servers");
    }
    if (!this.#running.has(key) && this.#running.size >= this.#options.programsMax) {
      throw new Fault("BUSY", `this replica runs its maximum of ${this.#running.size} programs of servers`);
    }
    const starting = this.#start(address, context);
    this.#running.set(key, starting);
    starting.then(
      ({ program }) => program.broken.addEventListener("abort", () => this.#forget(key, starting), { once: true }),
      () => this.#forget(key, starting),
    );
    return await starting;
  }

  #forget(key: string, starting: Promise<Running>): void {
    if (this.#running.get(key) === starting) {
      this.#running.delete(key);
    }
  }

  async #start(address: ProgramAddress, context: ToolContext): Promise<Running> {
    const { connect, startProgram } = await loadClient();
    const { signal, ...place } = context;
    const options = { ...this.#options, context: place };
    const first = await startProgram(address, options);
    try {
      return { program: first, connection: await connect(first, signal), users: 0, uses: 0 };
    } catch (error) {
      await first.stop();
      signal.throwIfAborted();
      // Some old programs end at a question that they do not know.
      return await this.#startOld(address, options, signal, error);
    }
  }

  async #startOld(
    address: ProgramAddress,
    options: ProgramOptions,
    signal: AbortSignal,
    failure: unknown,
  ): Promise<Running> {
    const { connect, startProgram } = await loadClient();
    const program = await startProgram(address, options);
    try {
      return { program, connection: await connect(program, signal, "legacy"), users: 0, uses: 0 };
    } catch {
      await program.stop();
      throw failure;
    }
  }

  async #stopLater(key: string, running: Running): Promise<void> {
    const { uses } = running;
    await this.#options.clock.sleep(this.#options.idleMs, this.#closing.signal);
    if (running.users === 0 && running.uses === uses && !this.#closing.signal.aborted) {
      this.#running.delete(key);
      await stop(running);
    }
  }
}

/** Few services run programs, and the client is large. */
async function loadClient() {
  const [{ connect }, { startProgram }] = await Promise.all([import("./connection.ts"), import("./program.ts")]);
  return { connect, startProgram };
}

async function stop({ connection, program }: Running): Promise<void> {
  await connection.close();
  await program.stop();
}
