import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import type { ApiError } from '../../../platform/http/errors.js';
import { type Fields, isFields, isObjectId } from '../input/fields.js';
import { MailUpstream, type UpstreamRequest } from '../mail-upstream.js';
import { readJson, UnusableResponseError } from '../upstream-response.js';

/** Creation and login together stay below the lease of the account. */
const TIMEOUT_MS = 10_000;

/** The mail service rejects an operation on an account. */
export class AccountRejectedError extends Error {
  constructor(
    operation: string,
    /** The mail service's own code, e.g. `UserExistsError`. */
    readonly code: string,
  ) {
    super(`the mail service rejects the request to ${operation}`);
    this.name = 'AccountRejectedError';
  }
}

/** Manages accounts at the mail service with the service token: creates, finds and deletes them, obtains tokens of owners. */
@Injectable()
export class MailProvider {
  constructor(
    private readonly upstream: MailUpstream,
    private readonly config: Config,
  ) {}

  /** @returns the new account's id; @throws AccountRejectedError `UserExistsError`, `AddressExistsError` and others */
  async createAccount(account: {
    username: string;
    password: string;
    address: string;
    name: string;
  }): Promise<string> {
    const { id } = await this.request('create an account', {
      method: 'POST',
      path: ['users'],
      body: account,
    });
    return this.mailUserId(id);
  }

  /**
   * Gives an account another main address. The former one is still delivered to it.
   * @throws AccountRejectedError `AddressExistsError` and others
   */
  async changeAddress(id: string, address: string): Promise<void> {
    const path = ['users', id, 'addresses'];
    await this.request('change an address', { method: 'POST', path, body: { address, main: true } });
  }

  /** @throws AccountRejectedError */
  async findAccount(username: string): Promise<string> {
    const path = ['users', 'resolve', encodeURIComponent(username)];
    const { id } = await this.request('find an account', { method: 'GET', path });
    return this.mailUserId(id);
  }

  /**
   * @param ip of the user's client: the mail service counts failed logins by address
   * @throws AccountRejectedError
   */
  async logIn(
    username: string,
    password: string,
    ip: string | undefined,
  ): Promise<{ id: string; token: string }> {
    const body = { username, password, token: true, scope: 'master', ...(ip !== undefined && { ip }) };
    const { id, token } = await this.request('log in', { method: 'POST', path: ['authenticate'], body });
    if (typeof token !== 'string' || !/^[\x21-\x7e]{1,1024}$/.test(token)) throw this.unusable('no token');
    return { id: this.mailUserId(id), token };
  }

  /** Deletes an account with its messages. A missing account is no error. @throws AccountRejectedError */
  async deleteAccount({ username, id }: { username: string; id: string | null }): Promise<void> {
    try {
      const path = ['users', id ?? (await this.findAccount(username))];
      await this.request('delete an account', { method: 'DELETE', path });
    } catch (error) {
      if (!(error instanceof AccountRejectedError) || error.code !== 'UserNotFound') throw error;
    }
  }

  private async request(operation: string, request: UpstreamRequest): Promise<Fields> {
    const token = this.config.mailService?.token;
    const response = await this.upstream.send({ ...request, timeout: TIMEOUT_MS }, token);
    const { value, status, stream } = await readJson(response).catch((error: unknown) => {
      throw error instanceof UnusableResponseError ? this.unusable(error.message) : error;
    });
    stream?.destroy();
    if (!isFields(value)) throw this.unusable('no object');
    if (status >= 300 || value['success'] !== true) {
      throw new AccountRejectedError(
        operation,
        typeof value['code'] === 'string' ? value['code'] : `status ${status}`,
      );
    }
    return value;
  }

  private mailUserId(id: unknown): string {
    if (!isObjectId(id)) throw this.unusable('no account id');
    return id.toLowerCase();
  }

  private unusable(reason: string): ApiError {
    return this.upstream.reportFailure(`account: ${reason}`);
  }
}
