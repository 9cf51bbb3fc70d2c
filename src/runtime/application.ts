import type { Config } from '../config/config.js';

/** One HTTP server of the application. */
export interface Server {
  listen(): Promise<void>;
  /** Takes no new work, finishes what is in flight (for at most `timeoutMs`), and closes its pools. */
  drain(timeoutMs: number): Promise<void>;
}

/** What the runtime needs of the application it runs. */
export interface Application {
  /** Everything that is done once before serving and needs the database only: migrations. */
  prepare(config: Config, databaseUrl: string): Promise<void>;
  /** Creates the demo workspace where it is wanted and missing. @param options.mail whether the mail service is the embedded one */
  prepareDemo(config: Config, databaseUrl: string, options: { mail: boolean }): Promise<void>;
  createApp(config: Config, databaseUrl: string): Promise<Server>;
  /** What the operator reads when the application serves. */
  banner(config: Config, databaseUrl: string): Promise<string>;
}
