import { createHash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext, Injectable, type OnModuleInit } from '@nestjs/common';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Db } from '../database/db.js';
import { workspace } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import type { MemberKey, RequestContext } from '../context/request-context.js';
import type { RequestWithBody } from '../http/body/body.guard.js';
import { ApiIdempotency, IDEMPOTENCY_ERRORS } from '../http/api-docs.js';
import { ApiError, Errors } from '../http/errors.js';
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

// The locks end with the transaction, so a killed process leaves none that would block the retry.
const claim = workspace.statement<Claim>(
  'idempotency.claim',
  `SELECT claimed.locked, known.fingerprint, known.status, known.reply, known.etag, known.location
     FROM (SELECT scope.place, scope.route, scope.key,
                  pg_try_advisory_xact_lock(hashtextextended($1::uuid::text || $2::uuid::text || scope.route || scope.key, 0)) AS locked
             FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS scope (route, key, place)) claimed
     LEFT JOIN idempotency_keys known
       ON known.tenant_id = $1 AND known.user_id = $2 AND known.route = claimed.route AND known.key = claimed.key
      AND known.created_at > now() - interval '24 hours'
    ORDER BY claimed.place`,
);

// A row that another request committed between the snapshot and the lock of this one is not overwritten: its response stays.
const remember = workspace.statement<Pick<IdempotencyRecord, 'key'>>(
  'idempotency.remember',
  `INSERT INTO idempotency_keys AS known (tenant_id, user_id, route, key, fingerprint, status, reply, etag, location)
   SELECT $1, $2, made.route, made.key, made.fingerprint, made.status, made.reply, made.etag, made.location
     FROM unnest($3::text[], $4::text[], $5::bytea[], $6::int[], $7::text[], $8::text[], $9::text[])
       AS made (route, key, fingerprint, status, reply, etag, location)
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

/** A write with the response to be remembered. */
interface Made {
  key: IdempotencyKey;
  options: JsonReply<unknown>['options'];
  text: string;
}

/** Characters of the responses in one statement. pg writes their array on the event loop, for about a millisecond. */
const MAX_CHARACTERS = 256 * 1024;

/** Makes groups of at most `MAX_CHARACTERS`; a longer response is a group of its own. */
function groupBySize(made: readonly Made[]): Made[][] {
  const groups: Made[][] = [];
  let characters = 0;
  for (const one of made) {
    characters += one.text.length;
    const group = groups.at(-1);
    if (group && characters <= MAX_CHARACTERS) group.push(one);
    else {
      groups.push([one]);
      characters = one.text.length;
    }
  }
  return groups;
}

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

  /**
   * Runs writes of a user together, in one transaction; those that were made before return their responses.
   * @param keys by write; null means that it has none
   * @param write makes the writes at these places, of which there is one at least, and returns the response of each. Undefined means that
   *   the write has had no effect. It is not remembered
   * @returns in the order of the keys; 409 `idempotency_key_reused` or `request_in_flight`, or 404 after a purge, in place of the
   *   response of a write that is not made
   */
  async runAll<T>(
    ctx: MemberKey,
    keys: readonly (IdempotencyKey | null)[],
    write: (tx: Tx, places: readonly number[]) => Promise<readonly (JsonReply<T> | undefined)[]>,
  ): Promise<(JsonReply<T> | ApiError | undefined)[]> {
    if (keys.every((key) => key === null))
      return [...(await this.db.single((tx) => write(tx, [...keys.keys()])))];
    return this.db.tx(async (tx) => {
      const results = await this.claimAll<T>(tx, ctx, keys);
      const places = [...keys.keys()].filter((place) => results[place] === undefined);
      if (places.length === 0) return results;
      const replies = await write(tx, places);
      for (const [n, place] of places.entries()) results[place] = replies[n];
      await this.rememberAll(
        tx,
        ctx,
        places.flatMap((place, n) => {
          const [key, reply] = [keys[place], replies[n]];
          if (!key || !reply) return [];
          const { json, options } = reply;
          return [{ key, options, text: options.remembered ?? String(json) }];
        }),
      );
      return results;
    });
  }

  private async once<T>(
    ctx: RequestContext,
    key: IdempotencyKey,
    write: (tx: Tx) => Promise<JsonReply<T>>,
  ): Promise<JsonReply<T>> {
    const [result] = await this.runAll<T>(ctx, [key], async (tx) => [await write(tx)]);
    if (result instanceof ApiError) throw result;
    return result!;
  }

  /** @returns the outcome of each write that is not to be made */
  private async claimAll<T>(
    tx: Tx,
    ctx: MemberKey,
    keys: readonly (IdempotencyKey | null)[],
  ): Promise<(JsonReply<T> | ApiError | undefined)[]> {
    const results: (JsonReply<T> | ApiError | undefined)[] = keys.map(() => undefined);
    const claims = new Map<string, { place: number; key: IdempotencyKey }>();
    for (const [place, key] of keys.entries()) {
      if (key === null) continue;
      const name = `${key.route} ${key.key}`;
      // PostgreSQL would grant the lock of the key twice to this transaction.
      if (claims.has(name)) results[place] = inFlight();
      else claims.set(name, { place, key });
    }
    const claimed = [...claims.values()];
    const found = await tx.query(claim, [
      ctx.tenantId,
      ctx.userId,
      claimed.map(({ key }) => key.route),
      claimed.map(({ key }) => key.key),
    ]);
    for (const [n, { place, key }] of claimed.entries()) {
      const known = found[n]!;
      if (!known.locked) results[place] = inFlight();
      else if (known.reply !== null) results[place] = this.replay(known, key);
    }
    return results;
  }

  private async rememberAll(tx: Tx, ctx: MemberKey, made: readonly Made[]): Promise<void> {
    for (const some of groupBySize(made)) {
      const stored = await tx.query(remember, [
        ctx.tenantId,
        ctx.userId,
        some.map(({ key }) => key.route),
        some.map(({ key }) => key.key),
        some.map(({ key }) => key.fingerprint),
        some.map(({ options }) => options.status ?? 200),
        some.map(({ text }) => text),
        some.map(({ options }) => options.etag ?? null),
        some.map(({ options }) => options.location ?? null),
      ]);
      if (stored.length < some.length) throw inFlight();
    }
  }

  private replay<T>(found: Claim, key: IdempotencyKey): JsonReply<T> | ApiError {
    if (!found.fingerprint?.equals(key.fingerprint)) return Errors.idempotencyKeyReused.with();
    if (found.reply === '')
      return Errors.notFound.with({ message: 'The object of this request was purged.' });
    return JsonReply.ofText(found.reply as string, {
      status: found.status ?? 200,
      etag: found.etag ?? undefined,
      location: found.location ?? undefined,
    });
  }
}
