import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../context/request-context.js';
import { Db } from '../database/db.js';
import { directory } from '../database/statement.js';
import { Keyring, type PlatformSecret } from '../secrets/keyring.js';

const VERSION = 'c1';
const SIGNATURE_BYTES = 12;
const FORM = /^c1\.([\w-]{1,400})\.([\w-]{16})$/;

/** Purpose of the rows that `newEpoch` adds. */
export const EPOCH = 'feed-epoch';

const readEpoch = directory.statement<Pick<PlatformSecret, 'id'>>(
  'sync.read_epoch',
  `SELECT id FROM platform_secrets WHERE purpose = $1 ORDER BY id DESC LIMIT 1`,
);

/** Expires all cursors of change feeds, in processes started after it. Values: `EPOCH` and a UUIDv7. */
export const newEpoch = directory.statement<never>(
  'sync.new_epoch',
  `INSERT INTO platform_secrets (purpose, id, material) VALUES ($1, $2, '')`,
);

/** Position of a client in the changes of a collection. */
export interface ChangesPosition {
  mode: 'changes';
  /** All changes up to this number have been delivered. */
  seq: number;
  /** Head when the client started without items. It needs no removals up to this number. */
  since: number;
}

/** Position of a client in an index walk. */
export interface IndexPosition {
  mode: 'index';
  /** Head at the start of the walk: the changes continue from here. */
  since: number;
  /** The walk continues at or below this number. */
  seq: number;
}

export type SyncPosition = ChangesPosition | IndexPosition;

/**
 * Cursors of feeds: opaque, bound by their signature to user, workspace and collection. The signature detects modified cursors and
 * cursors of other users; access depends on the access token only.
 */
@Injectable()
export class SyncCursors implements OnModuleInit {
  private epoch = '';

  constructor(
    private readonly keyring: Keyring,
    private readonly db: Db,
  ) {}

  async onModuleInit(): Promise<void> {
    this.epoch = (await this.db.query(readEpoch, [EPOCH]))[0]?.id ?? '';
  }

  /**
   * Expires all existing cursors, in processes started from now on: after a restore from a backup, counters are lower than
   * those that clients have seen.
   */
  async expireAll(): Promise<void> {
    this.epoch = uuidv7();
    await this.db.single((tx) => tx.query(newEpoch, [EPOCH, this.epoch]));
  }

  write(ctx: RequestContext, collection: string, position: SyncPosition): string {
    const { mode, seq, since } = position;
    const payload = Buffer.from(JSON.stringify([mode === 'changes' ? 0 : 1, seq, since])).toString(
      'base64url',
    );
    return `${VERSION}.${payload}.${this.sign(ctx, collection, payload).toString('base64url')}`;
  }

  /** Null means that it is no cursor for this user and collection, or older than a reset of the feeds. */
  read(ctx: RequestContext, collection: string, cursor: string): SyncPosition | null {
    const [, payload, signature] = FORM.exec(cursor) ?? [];
    if (payload === undefined || signature === undefined) return null;
    if (
      !this.keyring.verify(
        'sync-cursor',
        this.signed(ctx, collection, payload),
        Buffer.from(signature, 'base64url'),
      )
    )
      return null;
    const [mode, seq, since] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [
      number,
      number,
      number,
    ];
    return { mode: mode === 0 ? 'changes' : 'index', seq, since };
  }

  private sign(ctx: RequestContext, collection: string, payload: string): Buffer {
    return this.keyring.sign('sync-cursor', this.signed(ctx, collection, payload), SIGNATURE_BYTES);
  }

  private signed(ctx: RequestContext, collection: string, payload: string): string {
    return `${this.epoch} ${ctx.tenantId} ${ctx.userId} ${collection} ${payload}`;
  }
}
