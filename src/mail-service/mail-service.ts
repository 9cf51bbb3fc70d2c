import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import type { Config } from '../config/config.js';
import { createDataSource, withDataSource } from '../platform/database/data-source.js';
import { migrate } from '../platform/database/schema/migrate.js';
import type { Schema } from '../platform/database/schema/schema-part.js';
import { tracer } from '../platform/telemetry/tracer.js';
import { createLogger, PinoLoggerService } from '../platform/observability/logger.js';
import { MailExceptionFilter, MailExpressAdapter, writeJson } from './http/replies.js';
import { mailErrors } from './mail-error.js';
import { MailServiceModule } from './mail-service.module.js';
import { MAIL_SCHEMA, mailServiceSchema } from './mail-service.schema.js';
import { SmtpReceiver } from './smtp/smtp-receiver.js';

/** Longer than the workspace keeps idle connections, so that the client closes them and not the server. */
const KEEP_ALIVE_MS = 65_000;
const LOOPBACK = '127.0.0.1';

/** A running mail service. */
export interface MailService {
  readonly nest: NestExpressApplication;
  readonly port: number;
  /** Stops accepting requests and mail, waits at most `timeoutMs` for requests in flight, closes the pools. */
  stop(timeoutMs: number): Promise<void>;
}

export interface MailServiceOptions {
  databaseUrl: string;
  /** The service token: it may act as any user. */
  token: string;
  /** The port on loopback; 0 means any free port. */
  port: number;
}

/** Migrates the schema and serves on loopback. */
export async function startMailService(config: Config, options: MailServiceOptions): Promise<MailService> {
  const { databaseUrl, token, port } = options;
  await migrateMailService(config, databaseUrl);
  const nest = await NestFactory.create<NestExpressApplication>(
    MailServiceModule.forRoot(config, databaseUrl, token),
    new MailExpressAdapter(),
    {
      logger: new PinoLoggerService(createLogger(config.LOG_LEVEL)),
      bodyParser: false,
      abortOnError: false,
    },
  );
  nest.useGlobalFilters(new MailExceptionFilter());
  const tracing = tracer();
  if (tracing) nest.use(tracing.request.bind(tracing));
  await nest.init();
  nest.use((request: Request, response: Response) => {
    const error = mailErrors.noRoute(request.path);
    writeJson(response, error.status, error.body, 'application/json');
  });
  const server = nest.getHttpServer();
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  try {
    if (config.MAIL_SMTP_PORT > 0) await nest.get(SmtpReceiver).listen();
    await nest.listen(port, LOOPBACK);
  } catch (error) {
    await nest.close();
    throw error;
  }
  return {
    nest,
    port: (server.address() as AddressInfo).port,
    async stop(timeoutMs) {
      const force = setTimeout(() => server.closeAllConnections(), timeoutMs);
      const sweep = setInterval(() => server.closeIdleConnections(), 50);
      await nest.close();
      clearTimeout(force);
      clearInterval(sweep);
    },
  };
}

/** Advisory lock; differs from the lock of `migrate`. */
const SCHEMA_LOCK = 7_706_113_002;

/** Creates or migrates the schema of the mail service. @param schema see `migrateDatabase` */
export async function migrateMailService(
  config: Config,
  databaseUrl: string,
  schema: Schema = mailServiceSchema,
): Promise<void> {
  const options = { timeouts: false, schema: MAIL_SCHEMA };
  await withDataSource(createDataSource(config, databaseUrl, schema, options), async (dataSource) => {
    // Concurrent CREATE SCHEMA IF NOT EXISTS statements fail.
    await dataSource.transaction(async (manager) => {
      await manager.query('SELECT pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
      await manager.query(`CREATE SCHEMA IF NOT EXISTS ${MAIL_SCHEMA}`);
    });
    await migrate(dataSource, schema.sql);
  });
}
