import { createHash, timingSafeEqual } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { AccessTokens } from '../accounts/access-tokens.js';
import { ByteBudget, Share } from '../byte-budget.js';
import { MailSettings } from '../mail-settings.js';
import { Spool } from '../storage/spool.js';
import { type Body, readBody } from './body.js';
import { refuse } from './mail-error.js';

/** Who calls: the service that holds the service token, or a person's token. */
export interface Caller {
  /** Null for the service. */
  userId: string | null;
  token: string;
}

export type MailRequest = Request & { caller: Caller; content: Body };

/** First the token, then the body: nothing is read from a caller nobody knows. */
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
    if (token === undefined) throw refuse.invalidToken();
    if (same(token, this.settings.token)) request.caller = { userId: null, token };
    else {
      const userId = await this.tokens.owner(token);
      if (userId === undefined) throw refuse.invalidToken();
      request.caller = { userId, token };
    }
    const share = new Share(this.budget);
    const scratch = this.spool.scratch();
    request.res?.once('close', () => {
      share.release();
      void scratch.clear();
    });
    try {
      request.content = await readBody(request, this.settings.bodyBytes, share, scratch);
    } finally {
      // A client that went away meanwhile: what came after that is not cleared yet.
      if (request.res?.closed) await scratch.clear();
    }
    return true;
  }
}

/** Query, then header, then Authorization, as upstream looks for it. */
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
