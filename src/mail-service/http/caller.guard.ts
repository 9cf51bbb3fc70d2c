import { createHash, timingSafeEqual } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { AccessTokens } from './access-tokens.js';
import { ByteBudget, ByteReservation } from '../byte-budget.js';
import { MailSettings } from '../mail-settings.js';
import { Spool } from '../storage/spool.js';
import { type Body, readBody } from './body.js';
import { mailErrors } from '../mail-error.js';

/** The owner of a token. */
export interface Caller {
  /** Null for the service token. */
  userId: string | null;
  token: string;
}

export type MailRequest = Request & { caller: Caller; content: Body };

/** Verifies the token before it reads the body. */
@Injectable()
export class CallerGuard implements CanActivate {
  constructor(
    private readonly tokens: AccessTokens,
    private readonly settings: MailSettings,
    private readonly budget: ByteBudget,
    private readonly spool: Spool,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<MailRequest>();
    const token = tokenOf(request);
    if (token === undefined) throw mailErrors.invalidToken();
    if (same(token, this.settings.token)) request.caller = { userId: null, token };
    else {
      const userId = await this.tokens.owner(token);
      if (userId === undefined) throw mailErrors.invalidToken();
      request.caller = { userId, token };
    }
    const share = new ByteReservation(this.budget);
    const scratch = this.spool.scratch();
    request.res?.once('close', () => {
      share.release();
      void scratch.clear();
    });
    try {
      request.content = await readBody(request, this.settings.bodyBytes, share, scratch);
    } finally {
      // The client disconnected before all files were written.
      if (request.res?.closed) await scratch.clear();
    }
    return true;
  }
}

/** WildDuck's precedence: query, `X-Access-Token`, `Authorization`. */
function tokenOf(request: Request): string | undefined {
  const query = request.query['accessToken'];
  if (query !== undefined) return typeof query === 'string' ? query : undefined;
  const header = request.headers['x-access-token'];
  if (header !== undefined) return String(header);
  const authorization = request.headers.authorization;
  return authorization?.replace(/^Bearer\s+/i, '').trim();
}

function same(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
