import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { SecretBox, secretKeyIds, UnreadableSecretError } from '../../platform/secrets/secret-box.js';
import type { Webhook } from './webhooks.schema.js';

const USE = 'webhook secret';
const PREFIX = 'whsec_';
const BYTES = 32;
/** Secrets that one run of the job encrypts again. */
const BATCH = 500;

type Owner = Pick<Webhook, 'tenant_id' | 'id'>;
type Sealed = Pick<Webhook, 'secret' | 'previous_secret' | 'previous_until'>;

const outdated = workspace.statement<
  Pick<Webhook, 'tenant_id' | 'id' | 'secret'> & { previous: string | null }
>(
  'webhooks.outdated_secrets',
  `SELECT tenant_id, id, secret, previous_secret AS previous FROM webhooks WHERE NOT starts_with(secret, $1) LIMIT $2`,
  { reach: 'cell' },
);

const replace = workspace.statement<never>(
  'webhooks.replace_secret',
  `UPDATE webhooks SET secret = $4, previous_secret = $5 WHERE tenant_id = $1 AND id = $2 AND secret = $3`,
);

/**
 * The secrets of webhooks: symmetric keys of Standard Webhooks, encrypted with the first of SECRET_KEYS. A job encrypts those of
 * earlier keys again.
 */
@Injectable()
export class WebhookSecrets implements OnModuleInit {
  private readonly logger = new Logger(WebhookSecrets.name);
  private readonly currentKey: string;
  /** The current and the previous key of webhooks that were read for a batch of deliveries: decryption takes longer than a signature. */
  private readonly opened = new WeakMap<Sealed, KeyObject[]>();

  constructor(
    private readonly box: SecretBox,
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
    config: Config,
  ) {
    this.currentKey = `${secretKeyIds(config)[0] ?? 'own'}.`;
  }

  onModuleInit(): void {
    this.jobs.register({ name: 'webhooks.renew-secrets', everySeconds: 3600, run: () => this.renew() });
  }

  /** A new secret, as receivers get it. */
  create(): string {
    return PREFIX + randomBytes(BYTES).toString('base64');
  }

  /** Encrypts a secret for storage. */
  seal({ tenant_id, id }: Owner, secret: string): string {
    return this.box.seal(USE, `${tenant_id} ${id}`, Buffer.from(secret));
  }

  /** The keys that sign now, the current one first. @throws UnreadableSecretError when SECRET_KEYS lacks a key */
  keysOf(webhook: Owner & Sealed): KeyObject[] {
    const { secret, previous_secret: previous, previous_until: until } = webhook;
    const overlaps = previous !== null && until !== null && until.getTime() > Date.now();
    let keys = this.opened.get(webhook);
    if (!keys) {
      keys = (overlaps ? [secret, previous] : [secret]).map((sealed) =>
        createSecretKey(Buffer.from(this.open(webhook, sealed).slice(PREFIX.length), 'base64')),
      );
      this.opened.set(webhook, keys);
    }
    // The overlap may have ended since they were opened.
    return overlaps ? keys : keys.slice(0, 1);
  }

  private open({ tenant_id, id }: Owner, sealed: string): string {
    return this.box.open(USE, `${tenant_id} ${id}`, sealed).toString();
  }

  private async renew(): Promise<void> {
    for (const { tenant_id, id, secret, previous } of await this.db.query(outdated, [
      this.currentKey,
      BATCH,
    ])) {
      const owner = { tenant_id, id };
      try {
        const again = (sealed: string) => this.seal(owner, this.open(owner, sealed));
        const values = [again(secret), previous === null ? null : again(previous)];
        await this.db.single((tx) => tx.query(replace, [tenant_id, id, secret, ...values]));
      } catch (error) {
        if (!(error instanceof UnreadableSecretError)) throw error;
        this.logger.warn(`secret of webhook ${id}: ${error.message}`);
      }
    }
  }
}
