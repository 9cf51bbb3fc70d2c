import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { collectStartupGarbage } from '../platform/memory/garbage.js';
import type { MetricsReader } from '../platform/observability/metrics.js';
import { startTelemetry } from '../platform/observability/telemetry/telemetry.js';
import type { ServeSettings } from './messages.js';
import type { Shutdown } from './shutdown.js';

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
  createApp(config: Config, databaseUrl: string): Promise<Server>;
  /** Creates the demo workspace if it is enabled and missing or incomplete. @param server of the same database */
  prepareDemo(config: Config, databaseUrl: string, server: Server): Promise<void>;
  /** The banner for the operator when the server serves. */
  banner(config: Config, server: Server): Promise<string>;
}

/** Time for requests in flight at shutdown. */
export const DRAIN_MS = 10_000;

/** What serves: the application in this process, or workers. */
export interface Serving {
  /** Prepares the database. Takes place beside the start of the mail service. */
  prepare(): Promise<void>;
  /** Serves until the end of the process. @returns the banner for the operator */
  serve(settings: ServeSettings): Promise<string>;
}

/** The application in this process. */
export class ServingProcess {
  private application: Promise<Application> | undefined;
  private isFirst = false;
  private server: Server | undefined;

  constructor(
    private readonly load: LoadApplication,
    private readonly config: Config,
    private readonly databaseUrl: string,
    private readonly shutdown: Shutdown,
    private readonly log: Logger,
  ) {}

  /** Imports the application. */
  async loadApplication(): Promise<Application> {
    this.application ??= this.load();
    const application = await this.application;
    this.shutdown.checkpoint();
    return application;
  }

  /** Brings the database into the state that serving needs. `create` also makes the demo workspace then. */
  async prepare(): Promise<void> {
    const application = await this.loadApplication();
    await application.prepare(this.config, this.databaseUrl);
    this.isFirst = true;
    this.shutdown.checkpoint();
  }

  /** Creates the server, which accepts no requests yet. */
  async create({ mail }: ServeSettings): Promise<Server> {
    const { shutdown, databaseUrl } = this;
    const application = await this.loadApplication();
    const config = mail ? this.config.withMailService(mail) : this.config;
    const telemetry = await startTelemetry(config, this.log, 'api');
    if (telemetry) shutdown.onEnd(() => telemetry.stop(), { skippable: true });
    const server = await application.createApp(config, databaseUrl);
    shutdown.onEnd(() => server.drain(DRAIN_MS), { skippable: true });
    telemetry?.exportMetrics(server.metrics);
    shutdown.checkpoint();
    if (this.isFirst) await application.prepareDemo(config, databaseUrl, server);
    shutdown.checkpoint();
    this.server = server;
    collectStartupGarbage();
    return server;
  }

  /** The banner for the operator; undefined in a process that did not prepare the database. */
  async banner(): Promise<string | undefined> {
    if (!this.isFirst || !this.server) return undefined;
    return (await this.loadApplication()).banner(this.config, this.server);
  }
}
