import { createHash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext, Injectable, type OnModuleInit } from '@nestjs/common';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Db } from '../database/db.js';
import { workspace } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import type { RequestContext } from '../context/request-context.js';
import type { RequestWithBody } from '../http/body/body.guard.js';
import { ApiIdempotency, IDEMPOTENCY_ERRORS } from '../http/api-docs.js';
import { Errors } from '../http/errors.js';
import { documentsInput } from '../http/input-docs.js';
import { JsonReply } from '../http/json-reply.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../jobs/sweep.js';

@Entity('idempotency_keys')
@Index('idempotency_keys_created', ['created_at'])
export class IdempotencyRecord {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @PrimaryColumn('text') route!: string;
  @PrimaryColumn('text') key!: string;
  @Column('bytea') fingerprint!: Buffer;
  @Column('int') status!: number;
  @Column('text') reply!: string;
  @Column('text', { nullable: true }) etag!: string | null;
  @Column('text', { nullable: true }) location!: string | null;
  @Column('timestamptz') created_at!: Date;
}

/** A client's promise that requests with this key are one request (draft-ietf-httpapi-idempotency-key-header). */
export interface IdempotencyKey {
  key: string;
  /** Method and path: a key is valid for one route. */
  route: string;
  /** SHA-256 of the body, of `If-Match` and of the query. */
  fingerprint: Buffer;
}

/** The `Idempotency-Key` of this request, or null. @throws ApiError 422 `invalid_idempotency_key` */
export function idempotencyKeyOf(request: RequestWithBody): IdempotencyKey | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) throw Errors.invalidIdempotencyKey.with();
  const fingerprint = createHash('sha256')
    .update(request.rawBody ?? '')
    .update(request.headers['if-match'] ?? '')
    .update(/\?.*$/s.exec(request.url)?.[0] ?? '')
    .digest();
  return { key, route: `${request.method} ${request.path}`, fingerprint };
}

/** `idempotencyKeyOf` the request, for handlers that pass it to `IdempotentWrites`. */
export const Idempotency = createParamDecorator(
  (_: unknown, context: ExecutionContext) =>
    idempotencyKeyOf(context.switchToHttp().getRequest<RequestWithBody>()),
  [documentsInput({ errors: IDEMPOTENCY_ERRORS, header: ApiIdempotency() })],
);

type Claim = { locked: boolean } & {
  [Name in 'fingerprint' | 'status' | 'reply' | 'etag' | 'location']: IdempotencyRecord[Name] | null;
};

// The lock ends with the transaction, so a killed process leaves no lock that would block the retry.
const claim = workspace.statement<Claim>(
  'idempotency.claim',
  `SELECT claimed.locked, known.fingerprint, known.status, known.reply, known.etag, known.location
     FROM (SELECT pg_try_advisory_xact_lock(hashtextextended($1::uuid::text || $2::uuid::text || $3 || $4, 0)) AS locked) claimed
     LEFT JOIN idempotency_keys known
       ON known.tenant_id = $1 AND known.user_id = $2 AND known.route = $3 AND known.key = $4
      AND known.created_at > now() - interval '24 hours'`,
);

// A row that another request committed between the snapshot and the lock of this one is not overwritten: its response stays.
const remember = workspace.statement<Pick<IdempotencyRecord, 'key'>>(
  'idempotency.remember',
  `INSERT INTO idempotency_keys AS known (tenant_id, user_id, route, key, fingerprint, status, reply, etag, location)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   ON CONFLICT (tenant_id, user_id, route, key) DO UPDATE
     SET fingerprint = excluded.fingerprint, status = excluded.status, reply = excluded.reply,
         etag = excluded.etag, location = excluded.location, created_at = now()
   WHERE known.created_at <= now() - interval '24 hours'
   RETURNING key`,
);

const forgetOld: Sweep = workspace.statement(
  'idempotency.forget_old',
  deletion('idempotency_keys', `created_at < now() - interval '24 hours'`),
  { reach: 'cell' },
);

const inFlight = () => Errors.requestInFlight.with({ headers: { 'Retry-After': '1' } });

/** Runs writes at most once per Idempotency-Key; the stored response commits with the write itself. */
@Injectable()
export class IdempotentWrites implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'forget-idempotency-keys', everySeconds: 3600, deletes: forgetOld });
  }

  /**
   * @param write makes the change; with a key it may be given a transaction of several statements
   * @throws ApiError 409 `idempotency_key_reused` or `request_in_flight`
   */
  async run<T>(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    write: (tx: Tx) => Promise<JsonReply<T>>,
  ): Promise<JsonReply<T>> {
    return key === null ? this.db.single(write) : this.once(ctx, key, write);
  }

  /** Runs a whole handler once per key: its reads and writes join the transaction that stores the response. */
  async runHandler<T>(
    ctx: RequestContext,
    key: IdempotencyKey,
    handler: () => Promise<JsonReply<T>>,
  ): Promise<JsonReply<T>> {
    return this.once(ctx, key, (tx) => this.db.within(tx, handler));
  }

  /** Runs a write of several statements, which always gets a transaction. */
  async runTx<T>(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    write: (tx: Tx) => Promise<JsonReply<T>>,
  ): Promise<JsonReply<T>> {
    return key === null ? this.db.tx(write) : this.once(ctx, key, write);
  }

  private async once<T>(
    ctx: RequestContext,
    key: IdempotencyKey,
    write: (tx: Tx) => Promise<JsonReply<T>>,
  ): Promise<JsonReply<T>> {
    return this.db.tx(async (tx) => {
      const scope = [ctx.tenantId, ctx.userId, key.route, key.key];
      const [found] = await tx.query(claim, scope);
      if (!found?.locked) throw inFlight();
      if (found.reply !== null) return this.replay(found, key);
      const reply = await write(tx);
      const { status = 200, etag = null, location = null, remembered = String(reply.json) } = reply.options;
      const values = [...scope, key.fingerprint, status, remembered, etag, location];
      if ((await tx.query(remember, values)).length === 0) throw inFlight();
      return reply;
    });
  }

  private replay<T>(found: Claim, key: IdempotencyKey): JsonReply<T> {
    if (!found.fingerprint?.equals(key.fingerprint)) throw Errors.idempotencyKeyReused.with();
    if (found.reply === '') throw Errors.notFound.with({ message: 'The object of this request was purged.' });
    return JsonReply.ofText(found.reply as string, {
      status: found.status ?? 200,
      etag: found.etag ?? undefined,
      location: found.location ?? undefined,
    });
  }
}
