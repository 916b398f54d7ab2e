// A node of an EVM chain on this machine, with the tests' contract: Anvil, from npm.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createPublicClient, createTestClient, createWalletClient, type Hex, http, publicActions } from "viem";
import { mnemonicToAccount, privateKeyToAccount } from "viem/accounts";
import { until } from "../harness/wait.ts";
import { ledgerAbi, ledgerBytecode } from "./ledger.ts";

export const localChainId = 31_337;

export interface LocalNode extends AsyncDisposable {
  readonly url: string;
  /** Deploys a new contract and returns its address. */
  deployLedger(): Promise<Hex>;
  /** Returns the key of a funded sender, a new one on each call. */
  takeKey(): string;
  /** Sends a transaction from an account that no test uses. */
  write(address: Hex, functionName: "addOnce" | "pay", args: readonly bigint[]): Promise<void>;
  readTotal(address: Hex): Promise<bigint>;
  /** Returns the number of mined transactions of the account. */
  countMined(address: Hex): Promise<number>;
  setMining(isOn: boolean): Promise<void>;
  forget(hash: Hex): Promise<void>;
}

export async function startLocalNode(): Promise<LocalNode> {
  const child = spawn(findAnvil(), ["--port", "0", "--chain-id", String(localChainId), "--accounts", "40"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const exited = once(child, "exit");
  const address = await until("the node to listen", () => /Listening on (\S+)/.exec(output)?.[1]);
  const url = `http://${address}`;
  const transport = http(url);
  const mnemonic = "test test test test test test test test test test test junk";
  const accountAt = (addressIndex: number) => mnemonicToAccount(mnemonic, { addressIndex });
  const wallet = createWalletClient({ transport, account: accountAt(0) });
  const test = createTestClient({ mode: "anvil", transport }).extend(publicActions);
  const reader = createPublicClient({ transport, pollingInterval: 20 });
  let taken = 0;
  return {
    url,
    deployLedger: async () => {
      const hash = await wallet.deployContract({ abi: ledgerAbi, bytecode: ledgerBytecode, chain: null });
      const { contractAddress } = await reader.waitForTransactionReceipt({ hash });
      return contractAddress ?? "0x";
    },
    takeKey: () => {
      taken += 1;
      return `0x${Buffer.from(accountAt(taken).getHdKey().privateKey ?? []).toString("hex")}`;
    },
    write: async (to, functionName, args) => {
      const hash = await wallet.writeContract({
        abi: ledgerAbi,
        address: to,
        functionName,
        args,
        chain: null,
      } as never);
      await reader.waitForTransactionReceipt({ hash });
    },
    readTotal: (to) => reader.readContract({ abi: ledgerAbi, address: to, functionName: "total" }),
    countMined: (of) => reader.getTransactionCount({ address: of, blockTag: "latest" }),
    setMining: async (isOn) => {
      await test.setAutomine(isOn);
      if (isOn) {
        await test.mine({ blocks: 1 });
      }
    },
    forget: (hash) => test.dropTransaction({ hash }),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

export function addressOf(privateKey: string): Hex {
  return privateKeyToAccount(privateKey as Hex).address;
}

/** Each system has its own package; anvil/package.json lists that of Linux on x64. */
function findAnvil(): string {
  const system = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const name = `@foundry-rs/anvil-${system}`;
  const file = process.platform === "win32" ? "anvil.exe" : "anvil";
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/${file}`);
  } catch (cause) {
    throw new Error(`no Anvil for ${system}: npm install --no-save ${name}@1.7.1`, { cause });
  }
}
