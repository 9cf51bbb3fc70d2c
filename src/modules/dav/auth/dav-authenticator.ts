import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { AccessChanges, concerns } from '../../../platform/context/access-changes.js';
import { bearerToken } from '../../../platform/context/bearer.guard.js';
import {
  type Identity,
  type RequestContext,
  TokenResolver,
} from '../../../platform/context/request-context.js';
import { type ApiError, Errors } from '../../../platform/http/errors.js';
import { RequestLimiter } from '../../../platform/rate-limits/rate-limit.guard.js';
import { tooManyRequests } from '../../../platform/rate-limits/rate-limits.js';
import {
  ApplicationPasswordSignIn,
  type ProgramSignIn,
  type SignedInProgram,
} from '../../account-security/index.js';
import type { Space } from '../model/paths.js';

/** Seconds for which a verified password is not verified again without a change of access (adr/0004), should its report be lost. */
const VERIFIED_SECONDS = 5;
const MAX_VERIFIED = 10_000;
const MAX_CREDENTIALS = 2_000;

/** The caller of a request, and the collections that its credentials open. */
export interface DavCaller {
  ctx: RequestContext;
  spaces: ReadonlySet<Space>;
}

const ALL: ReadonlySet<Space> = new Set(['calendars', 'addressbooks']);
const BASIC = /^basic ([A-Za-z0-9+/]+=*)$/i;

/** 401 with both challenges. */
const unauthorized = (): ApiError =>
  Errors.unauthorized.with({
    headers: { 'WWW-Authenticate': 'Basic realm="Workspace", charset="UTF-8", Bearer' },
  });

/** A verification of a password that runs, or has succeeded for the program. */
interface Verification {
  result: Promise<ProgramSignIn>;
  program?: SignedInProgram;
}

/** Authenticates by Basic, with an application password, or by a bearer token. */
@Injectable()
export class DavAuthenticator {
  /** Sign-ins by a hash of the header: parallel requests of a program share one. */
  private readonly verified = new LRUCache<string, Verification>({
    max: MAX_VERIFIED,
    ttl: VERIFIED_SECONDS * 1000,
  });

  constructor(
    private readonly passwords: ApplicationPasswordSignIn,
    private readonly tokens: TokenResolver,
    private readonly requests: RequestLimiter,
    changes: AccessChanges,
  ) {
    changes.onChange((change) => {
      // A verification that still runs may have read the state before the change.
      for (const [key, { program }] of this.verified.entries())
        if (!program || concerns(change, { ...program, sessionId: program.passwordId }))
          this.verified.delete(key);
    });
  }

  /** @throws ApiError 401, 403, 429 */
  async authenticate(request: Request & { id?: string }): Promise<DavCaller> {
    const { authorization = '' } = request.headers;
    const credentials = BASIC.exec(authorization)?.[1];
    const caller =
      credentials === undefined ? await this.byToken(request) : await this.byPassword(request, credentials);
    this.requests.take(caller.ctx.userId);
    return caller;
  }

  private async byToken(request: Request & { id?: string }): Promise<DavCaller> {
    const token = bearerToken(request);
    const identity = token && (this.tokens.cached(token) ?? (await this.tokens.resolve(token)));
    if (!identity) throw unauthorized();
    if (identity.secondFactorPending) throw Errors.secondFactorRequired.with();
    if (identity.secondFactorMissing) throw Errors.secondFactorMissing.with();
    if (identity.tenantId === null) throw Errors.workspaceForbidden.with();
    return { ctx: contextOf({ ...identity, tenantId: identity.tenantId }, request), spaces: ALL };
  }

  private async byPassword(request: Request & { id?: string }, credentials: string): Promise<DavCaller> {
    if (credentials.length > MAX_CREDENTIALS) throw unauthorized();
    const text = Buffer.from(credentials, 'base64').toString();
    const colon = text.indexOf(':');
    if (colon < 1) throw unauthorized();
    const signIn = await this.signIn(text.slice(0, colon), text.slice(colon + 1), request.ip ?? null);
    if (signIn.outcome === 'limited') throw tooManyRequests(signIn.wait);
    if (signIn.outcome === 'rejected') throw unauthorized();
    const { tenantId, userId, role, scopes } = signIn.program;
    const spaces = new Set<Space>([
      ...(scopes.includes('caldav') ? (['calendars'] as const) : []),
      ...(scopes.includes('carddav') ? (['addressbooks'] as const) : []),
    ]);
    if (spaces.size === 0) throw unauthorized();
    return { ctx: contextOf({ tenantId, userId, role, sessionId: null }, request), spaces };
  }

  private async signIn(email: string, password: string, ip: string | null): Promise<ProgramSignIn> {
    const key = createHash('sha256').update(`${ip} ${email}\n${password}`).digest('base64');
    const known = this.verified.get(key);
    if (known && !isOver(known.program)) return known.result;
    const verification: Verification = { result: this.passwords.signIn(email, password, ip) };
    this.verified.set(key, verification);
    try {
      const result = await verification.result;
      if (result.outcome === 'ok') verification.program = result.program;
      else this.verified.delete(key);
      return result;
    } catch (error) {
      this.verified.delete(key);
      throw error;
    }
  }
}

const isOver = (program: SignedInProgram | undefined): boolean =>
  program !== undefined && program.endsAt !== null && program.endsAt.getTime() <= Date.now();

const contextOf = (
  { tenantId, userId, role, sessionId }: Identity & { tenantId: string },
  request: Request & { id?: string },
): RequestContext =>
  Object.freeze({ tenantId, userId, role, sessionId, requestId: request.id ?? '', ip: request.ip ?? null });
