import { Injectable } from '@nestjs/common';
import { hashPassword, verifyPassword } from '../../platform/secrets/password-hash.js';
import { AccessTokens } from '../http/caller.guard.js';
import { newId } from '../ids.js';
import { RateWindow } from '../limits.js';
import { mailErrors } from '../mail-error.js';
import { type Account, AccountsRepository, type FirstMailbox } from './accounts.repository.js';
import { normalizeAddress } from './addresses.js';

type Listener = (address: string) => Promise<void>;

/** Reports new accounts, and new addresses of accounts, to the delivery, which can then deliver the mail that waits for them. */
@Injectable()
export class AccountCreations {
  private readonly listeners: Listener[] = [];

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  async reportCreation(address: string): Promise<void> {
    for (const listener of this.listeners) await listener(address);
  }
}

const MONTH_MS = 2_592_000_000;
/** Failed logins of an account from one client address, and their window. */
const FAILED_LOGINS = 12;
const FAILURE_WINDOW_MS = 120_000;

export interface NewAccount {
  username: string;
  password: string | false;
  address?: string;
  name?: string;
}

export interface Login {
  username: string;
  password: string;
  token: boolean;
  scope: string;
  ip?: string;
}

/** Accounts and logins. */
@Injectable()
export class AccountsService {
  private readonly failures = new RateWindow(FAILED_LOGINS, FAILURE_WINDOW_MS);

  constructor(
    private readonly accounts: AccountsRepository,
    private readonly tokens: AccessTokens,
    private readonly creations: AccountCreations,
  ) {}

  /** @throws MailError 500, as WildDuck does, when the username or the address is taken */
  async create(input: NewAccount): Promise<{ success: true; id: string }> {
    const username = input.username.toLowerCase();
    const account: Account = {
      id: newId(),
      username,
      address: normalizeAddress(input.address ?? username),
      name: input.name ?? '',
      password: input.password === false ? null : await hashPassword(input.password),
    };
    if (await this.accounts.create(account, firstMailboxes())) {
      await this.creations.reportCreation(account.address);
      return { success: true, id: account.id };
    }
    const taken = await this.accounts.findByLogin(username);
    throw taken?.username === username ? mailErrors.userExists(username) : mailErrors.addressExists();
  }

  /** @throws MailError 404 */
  async resolve(username: string): Promise<{ success: true; id: string }> {
    const account = await this.accounts.findByLogin(username.toLowerCase());
    if (account?.username !== username.toLowerCase()) throw mailErrors.userNotFound();
    return { success: true, id: account.id };
  }

  /** @throws MailError 404 */
  async change(id: string, input: { password?: string; name?: string }): Promise<{ success: true }> {
    const { password, name } = input;
    const hash = password === undefined ? undefined : await hashPassword(password);
    const changed = await this.accounts.change(id, { password: hash, name });
    if (hash !== undefined) this.tokens.clearCache();
    if (!changed) throw mailErrors.userNotFound();
    return { success: true };
  }

  /**
   * Adds a main address, as WildDuck does: the former one is still delivered to this account.
   * @throws MailError 404, 500 when the address is taken
   */
  async addAddress(id: string, given: string): Promise<{ success: true }> {
    const address = normalizeAddress(given);
    const outcome = await this.accounts.changeAddress(id, address);
    if (outcome === 'unknown') throw mailErrors.userNotFound();
    if (outcome === 'taken') throw mailErrors.addressExists();
    await this.creations.reportCreation(address);
    return { success: true };
  }

  /** Deletes an account with all its messages. @throws MailError 404 */
  async remove(id: string): Promise<{ success: true }> {
    const isRemoved = await this.accounts.remove(id);
    this.tokens.clearCache();
    if (!isRemoved) throw mailErrors.userNotFound();
    return { success: true };
  }

  /** @throws MailError 403 for an unknown user or an invalid password, another 403 after too many failures */
  async authenticate(input: Login): Promise<Record<string, unknown>> {
    const account = await this.accounts.findByLogin(normalizeAddress(input.username));
    const key = `${account?.id ?? input.username} ${input.ip ?? ''}`;
    if (this.failures.isFull(key)) throw mailErrors.authRateLimited();
    if (!account?.password || !(await verifyPassword(account.password, input.password))) {
      this.failures.take(key);
      throw mailErrors.authFailed(account?.id);
    }
    this.failures.forget(key);
    return {
      success: true,
      id: account.id,
      username: account.username,
      address: account.address,
      scope: input.scope,
      require2fa: false,
      requirePasswordChange: false,
      ...(input.token && { token: await this.tokens.issue(account.id) }),
    };
  }

  async logOut(token: string): Promise<{ success: true }> {
    await this.tokens.revoke(token);
    return { success: true };
  }
}

function firstMailboxes(): FirstMailbox[] {
  const box = (path: string, special_use: string, retention: number | null = null): FirstMailbox => ({
    id: newId(),
    path,
    special_use,
    retention,
  });
  return [
    box('INBOX', '\\Inbox'),
    box('Sent Mail', '\\Sent'),
    box('Trash', '\\Trash', MONTH_MS),
    box('Drafts', '\\Drafts'),
    box('Junk', '\\Junk', MONTH_MS),
  ];
}
