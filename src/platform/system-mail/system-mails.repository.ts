import { Injectable } from '@nestjs/common';
import { Db } from '../database/db.js';
import { workspace } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import type { Language } from '../languages/languages.js';
import type { SystemMailState } from './system-mail.entity.js';

export interface QueuedMail {
  id: string;
  template: string;
  recipient: string;
  language: Language;
  sealed: string;
  created_at: Date;
  is_expired: boolean;
}

const insert = workspace.statement<{ id: string }>(
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

const state = workspace.statement<{ state: SystemMailState; error: string | null }>(
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

  async queued(tenantId: string, id: string): Promise<QueuedMail | undefined> {
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
