import type { Socket } from 'node:net';
import type { Config } from '../config/config.js';
import type { MetricsReader } from '../platform/observability/metrics.js';

/** One HTTP server of the application. */
export interface Server {
  readonly metrics: MetricsReader;
  /** Serves on the port of the settings. */
  listen(): Promise<void>;
  /** Serves connections that another process has accepted. @returns a function that takes one, paused */
  acceptFrom(): (socket: Socket) => void;
  /** Accepts no new requests, finishes the requests in flight (for at most `timeoutMs`), and closes its pools. */
  drain(timeoutMs: number): Promise<void>;
}

/** Imports the application, which takes seconds. */
export type LoadApplication = () => Promise<Application>;

/** The application as the runtime uses it. */
export interface Application {
  /** Prepares the database once before serving: migrations. */
  prepare(config: Config, databaseUrl: string): Promise<void>;
  /** Creates the demo workspace if it is enabled and missing or incomplete. */
  prepareDemo(config: Config, databaseUrl: string): Promise<void>;
  createApp(config: Config, databaseUrl: string): Promise<Server>;
  /** The banner for the operator when the application serves. */
  banner(config: Config, databaseUrl: string): Promise<string>;
}
