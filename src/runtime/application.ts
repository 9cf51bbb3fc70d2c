import type { Config } from '../config/config.js';

/** One HTTP server of the application. */
export interface Server {
  listen(): Promise<void>;
  /** Takes no new work, finishes what is in flight (for at most `timeoutMs`), and closes its pools. */
  drain(timeoutMs: number): Promise<void>;
}

/** What the runtime needs of the application it runs. */
export interface Application {
  /** Everything that is done once before serving: migrations, the demo workspace. */
  prepare(config: Config, databaseUrl: string): Promise<void>;
  createApp(config: Config, databaseUrl: string): Promise<Server>;
  /** What the operator reads when the application serves. */
  banner(config: Config, databaseUrl: string): Promise<string>;
}
