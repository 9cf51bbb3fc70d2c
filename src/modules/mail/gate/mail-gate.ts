import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { bearerToken, notAuthenticated } from '../../../platform/context/bearer.guard.js';
import { TokenResolver } from '../../../platform/context/token-resolver.js';
import { writeJson } from '../../../platform/http/replies/reply-writer.js';
import { mailTarget, type MailTarget, REJECTED } from './mail-target.js';
import { asMailError } from '../mail-exception.filter.js';
import { MailErrors } from '../mail.errors.js';

const targets = new WeakMap<Request, MailTarget>();

/** @throws ApiError 404 `mail_endpoint_not_available` for a request that did not pass the gate */
export function targetOf(request: Request): MailTarget {
  const target = targets.get(request);
  if (target === undefined) throw MailErrors.endpointNotAvailable.with();
  return target;
}

/**
 * Runs before the router, which decodes paths and adds HEAD to each GET. Only literal operations of the mail API pass. Other
 * requests below `/apis/v1/mail` are rejected here: 401 without a valid token, else 404.
 */
@Injectable()
export class MailGate {
  constructor(private readonly tokens: TokenResolver) {}

  readonly handle = (request: Request, response: Response, next: NextFunction): void => {
    const target = mailTarget(request.method, request.url);
    if (target === REJECTED) {
      void this.reject(request, response);
      return;
    }
    if (target !== null) targets.set(request, target);
    next();
  };

  private async reject(request: Request, response: Response): Promise<void> {
    const error = asMailError(await this.errorOf(request));
    const { body, extras, kind } = error;
    writeJson(response, kind.status, JSON.stringify(body), { headers: extras.headers });
  }

  private async errorOf(request: Request): Promise<unknown> {
    try {
      const token = bearerToken(request);
      const caller = token !== undefined && (this.tokens.cached(token) ?? (await this.tokens.resolve(token)));
      return caller ? MailErrors.endpointNotAvailable.with() : notAuthenticated(request);
    } catch (error) {
      return error;
    }
  }
}
