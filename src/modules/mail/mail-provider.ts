import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import type { ApiError } from '../../platform/http/api-error.js';
import { type Fields, isFields } from './fields.js';
import { jsonAnswer, UnusableAnswer } from './upstream/mail-answer.js';
import { MailUpstream, type UpstreamRequest } from './upstream/mail-upstream.js';

/** Creating an account and logging in to it fit into the lease that is held meanwhile. */
const TIMEOUT_MS = 10_000;
const MAIL_USER_ID = /^[0-9a-f]{24}$/i;

/** The mail service did not do what was asked of an account. */
export class AccountRefused extends Error {
  constructor(
    what: string,
    /** The mail service's own code, e.g. `UserExistsError`. */
    readonly code: string,
  ) {
    super(`the mail service refused to ${what}`);
    this.name = 'AccountRefused';
  }
}

/** What the service token is used for, and nothing else: accounts of the mail service and the tokens of their owners. */
@Injectable()
export class MailProvider {
  constructor(
    private readonly upstream: MailUpstream,
    private readonly config: Config,
  ) {}

  /** @returns the new account's id; @throws AccountRefused `UserExistsError`, `AddressExistsError` and others */
  async createAccount(account: {
    username: string;
    password: string;
    address: string;
    name: string;
  }): Promise<string> {
    const { id } = await this.ask('create an account', { method: 'POST', path: ['users'], body: account });
    return this.mailUserId(id);
  }

  /** @throws AccountRefused */
  async findAccount(username: string): Promise<string> {
    const path = ['users', 'resolve', encodeURIComponent(username)];
    const { id } = await this.ask('find an account', { method: 'GET', path });
    return this.mailUserId(id);
  }

  /**
   * Logs in.
   * @param ip of the person we do it for: failed attempts count for the address they come from
   * @throws AccountRefused
   */
  async logIn(
    username: string,
    password: string,
    ip: string | undefined,
  ): Promise<{ id: string; token: string }> {
    const body = { username, password, token: true, scope: 'master', ...(ip !== undefined && { ip }) };
    const { id, token } = await this.ask('log in', { method: 'POST', path: ['authenticate'], body });
    if (typeof token !== 'string' || !/^[\x21-\x7e]{1,1024}$/.test(token)) throw this.unusable('no token');
    return { id: this.mailUserId(id), token };
  }

  private async ask(what: string, request: UpstreamRequest): Promise<Fields> {
    const token = this.config.mailService?.token;
    const answer = await this.upstream.send({ ...request, timeout: TIMEOUT_MS }, token);
    const { value, status, stream } = await jsonAnswer(answer).catch((error: unknown) => {
      throw error instanceof UnusableAnswer ? this.unusable(error.message) : error;
    });
    stream?.destroy();
    if (!isFields(value)) throw this.unusable('no object');
    if (status >= 300 || value['success'] !== true) {
      throw new AccountRefused(what, typeof value['code'] === 'string' ? value['code'] : `status ${status}`);
    }
    return value;
  }

  private mailUserId(id: unknown): string {
    if (typeof id !== 'string' || !MAIL_USER_ID.test(id)) throw this.unusable('no account id');
    return id.toLowerCase();
  }

  private unusable(reason: string): ApiError {
    return this.upstream.failed(`account: ${reason}`);
  }
}
