// The programs of MCP servers that run in this replica.
//
// P1  A session has one program for each server: no other session reaches its state.
// P2  A program ends some time after its last use, when the service stops, and with the service if that dies.

import type { Clock } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { IdlePool } from "../../../platform/base/idle-pool.ts";
import type { ProgramAddress } from "../../../platform/config/program-address.ts";
import type { ProgramOptions } from "../bash/served-program.ts";
import type { ToolContext } from "../tool.ts";
import type { ConnectOptions, McpConnection } from "./connection.ts";
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
}

/** The programs of a replica. */
export class McpPrograms {
  readonly #options: ProgramsOptions;
  readonly #running: IdlePool<Running>;

  constructor(options: ProgramsOptions) {
    this.#options = options;
    const { clock, idleMs } = options;
    this.#running = new IdlePool({ clock, idleMs, isOpen: ({ connection }) => connection.isOpen(), close: stop });
  }

  /** Returns a connection with the session's program, which it starts at the first call. Disposing it begins its idle time. */
  async lease(name: string, address: ProgramAddress, context: ToolContext, forms: boolean): Promise<McpConnection> {
    const key = JSON.stringify([context.client, context.sessionId, name, forms]);
    const { value, release } = await this.#running.lease(key, async () => {
      const running = await this.#start(address, context, forms);
      running.program.broken.addEventListener("abort", () => this.#running.forget(key, running), { once: true });
      return running;
    });
    return { ...value.connection, close: async () => release() };
  }

  /** Stops all programs. */
  async close(): Promise<void> {
    await this.#running.close();
  }

  async #start(address: ProgramAddress, context: ToolContext, forms: boolean): Promise<Running> {
    const { isClosing, size } = this.#running;
    if (isClosing) {
      throw new Fault("BUSY", "this replica is stopping, and starts no programs of servers");
    }
    if (size >= this.#options.programsMax) {
      throw new Fault("BUSY", `this replica runs its maximum of ${size} programs of servers`);
    }
    const { connect, startProgram } = await loadClient();
    const { signal, ...place } = context;
    const options = { ...this.#options, context: place };
    const first = await startProgram(address, options);
    try {
      return { program: first, connection: await connect(first, { signal, forms }) };
    } catch (error) {
      await first.stop();
      signal.throwIfAborted();
      // Some old programs end at a question that they do not know.
      return await this.#startOld(address, options, { signal, forms }, error);
    }
  }

  async #startOld(
    address: ProgramAddress,
    options: ProgramOptions,
    connecting: ConnectOptions,
    failure: unknown,
  ): Promise<Running> {
    const { connect, startProgram } = await loadClient();
    const program = await startProgram(address, options);
    try {
      return { program, connection: await connect(program, { ...connecting, mode: "legacy" }) };
    } catch {
      await program.stop();
      throw failure;
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
