import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Db } from '../database/db.js';
import { workspace } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import type { Language } from '../languages/languages.js';
import { Metrics } from '../observability/metrics.js';

/** `cancelled`: the mail is no longer needed. `not_configured`: no way to send mail is configured. */
export type SystemMailState = 'queued' | 'sent' | 'failed' | 'expired' | 'cancelled' | 'not_configured';

@Entity('system_mails')
@Index('system_mails_key', ['tenant_id', 'key'], { unique: true })
@Index('system_mails_expired', ['expires_at'], { where: `state = 'queued'::text` })
@Index('system_mails_finished', ['finished_at'], { where: 'finished_at IS NOT NULL' })
export class SystemMailRow {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') key!: string;
  @Column('text') template!: string;
  @Column('text') recipient!: string;
  @Column('text') language!: string;
  @Column('text', { nullable: true }) sealed!: string | null;
  @Column('text') state!: SystemMailState;
  @Column('text', { nullable: true }) error!: string | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') expires_at!: Date;
  @Column('timestamptz', { nullable: true }) finished_at!: Date | null;
}

export interface QueuedMail {
  id: string;
  template: string;
  recipient: string;
  language: Language;
  sealed: string;
  created_at: Date;
  is_expired: boolean;
}

const insert = workspace.statement<Pick<SystemMailRow, 'id'>>(
  'system_mails.insert',
  `INSERT INTO system_mails (tenant_id, id, key, template, recipient, language, sealed, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8))
   ON CONFLICT (tenant_id, key) DO NOTHING RETURNING id`,
);

const read = workspace.statement<QueuedMail>(
  'system_mails.read',
  `SELECT id, template, recipient, language, sealed, created_at, expires_at < now() AS is_expired
     FROM system_mails WHERE tenant_id = $1 AND id = $2 AND state = 'queued'`,
);

const finish = workspace.statement<never>(
  'system_mails.finish',
  `UPDATE system_mails SET state = $3, error = $4, sealed = NULL, finished_at = now()
    WHERE tenant_id = $1 AND id = $2 AND state = 'queued'`,
);

const withdraw = workspace.statement<never>(
  'system_mails.withdraw',
  `UPDATE system_mails SET state = 'cancelled', sealed = NULL, finished_at = now()
    WHERE tenant_id = $1 AND key = ANY ($2::text[]) AND state = 'queued'`,
);

const state = workspace.statement<Pick<SystemMailRow, 'state' | 'error'>>(
  'system_mails.state',
  `SELECT state, error FROM system_mails WHERE tenant_id = $1 AND key = $2`,
);

const queue = workspace.statement<{ queued: number; oldest: number }>(
  'system_mails.queue',
  `SELECT count(*)::int AS queued, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS oldest
     FROM system_mails WHERE state = 'queued'`,
  { reach: 'cell' },
);

const expire = workspace.statement<never>(
  'system_mails.expire',
  `UPDATE system_mails SET state = 'expired', sealed = NULL, finished_at = now()
    WHERE state = 'queued' AND expires_at < now()`,
  { reach: 'cell' },
);

const purge = workspace.statement<never>(
  'system_mails.purge',
  `DELETE FROM system_mails WHERE finished_at < now() - interval '30 days'`,
  { reach: 'cell' },
);

/** SQL of system mails. */
@Injectable()
export class SystemMailsRepository {
  constructor(private readonly db: Db) {}

  /** @returns false when the workspace has a mail with this key */
  async insert(
    tx: Tx,
    mail: Omit<QueuedMail, 'created_at' | 'is_expired'> & {
      tenantId: string;
      key: string;
      lifetimeSeconds: number;
    },
  ): Promise<boolean> {
    const { tenantId, id, key, template, recipient, language, sealed, lifetimeSeconds } = mail;
    const values = [tenantId, id, key, template, recipient, language, sealed, lifetimeSeconds];
    return (await tx.query(insert, values)).length > 0;
  }

  async findQueued(tenantId: string, id: string): Promise<QueuedMail | undefined> {
    return (await this.db.query(read, [tenantId, id]))[0];
  }

  async finish(
    tenantId: string,
    id: string,
    state: SystemMailState,
    error: string | null = null,
  ): Promise<void> {
    await this.db.single((tx) => tx.query(finish, [tenantId, id, state, error]));
  }

  async withdraw(tx: Tx, tenantId: string, keys: readonly string[]): Promise<void> {
    await tx.query(withdraw, [tenantId, keys]);
  }

  async stateOf(
    tenantId: string,
    key: string,
  ): Promise<{ state: SystemMailState; error: string | null } | null> {
    return (await this.db.query(state, [tenantId, key]))[0] ?? null;
  }

  /** The number of queued mails, and the age of the oldest one in seconds. */
  async queue(): Promise<{ queued: number; oldest: number }> {
    const [row] = await this.db.queryAlways(queue, []);
    return row!;
  }

  /** Ends mails that were not sent in time, and deletes the records of old ones. */
  async clean(): Promise<void> {
    await this.db.single((tx) => tx.query(expire, []));
    await this.db.single((tx) => tx.query(purge, []));
  }
}

/** Prometheus metrics of the mails of the workspace itself. */
@Injectable()
export class SystemMailMetrics implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly mails: SystemMailsRepository,
  ) {}

  onModuleInit(): void {
    this.metrics.databaseGauges({
      gauges: {
        system_mail_queued: 'Mails of the workspace itself that are not sent.',
        system_mail_oldest_seconds:
          'Age of the oldest mail of the workspace itself that is not sent; 0 without one.',
      },
      labelNames: [],
      read: async () => {
        const { queued, oldest } = await this.mails.queue();
        return [{ labels: {}, values: { system_mail_queued: queued, system_mail_oldest_seconds: oldest } }];
      },
    });
  }
}
