import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ApiError } from '../../platform/http/errors.js';
import type { DavCaller } from './auth/dav-authenticator.js';
import { AddressbookCollections } from './collections/addressbooks.js';
import { CalendarHome } from './collections/calendar-home.js';
import { tokenOf } from './model/collection.js';
import { type StateCheck, type StateToken, stateTokensOf } from './model/conditions.js';
import { DavError } from './model/body.js';
import { parsePath } from './model/paths.js';

/** Tokens of one If header, each of which costs a query. */
const MAX_TOKENS = 10;

/**
 * Sync tokens in If headers (RFC 6578, 5). They are evaluated before the request: unlike the tag of a member, they do not exclude a write
 * at the same moment.
 */
@Injectable()
export class SyncStates {
  constructor(
    private readonly calendars: CalendarHome,
    private readonly addressbooks: AddressbookCollections,
  ) {}

  /** @throws DavError 400 */
  async of(caller: DavCaller, { headers, originalUrl }: Request): Promise<StateCheck> {
    const header = headers['if'] as string | undefined;
    if (header === undefined) return () => false;
    const given = stateTokensOf(header, originalUrl.split('?', 1)[0] as string);
    const tokens = new Map(
      given.filter(({ token }) => tokenOf(token) !== null).map((each) => [keyOf(each), each]),
    );
    if (tokens.size > MAX_TOKENS)
      throw new DavError(400, null, `An If header has at most ${MAX_TOKENS} sync tokens.`);
    const current = new Set<string>();
    for (const [key, each] of tokens) if (await this.isCurrent(caller, each)) current.add(key);
    return (path, token) => current.has(keyOf({ path, token }));
  }

  /** Whether a collection has no change since the token. */
  private async isCurrent({ ctx, spaces }: DavCaller, { path, token }: StateToken): Promise<boolean> {
    const target = parsePath(path);
    if (target?.kind !== 'collection' || target.userId !== ctx.userId || !spaces.has(target.space))
      return false;
    const collections = this[target.space];
    try {
      const collection = await collections.open(ctx, target.segment);
      const { changes, hasMore } = await collections.changes(ctx, collection, tokenOf(token), 1);
      return changes.length === 0 && !hasMore;
    } catch (error) {
      // No such collection, or a token that is not one of it any more.
      const status =
        error instanceof ApiError ? error.kind.status : error instanceof DavError && error.status;
      if (status === 404 || status === 410) return false;
      throw error;
    }
  }
}

const keyOf = ({ path, token }: StateToken): string => `${path} ${token}`;
