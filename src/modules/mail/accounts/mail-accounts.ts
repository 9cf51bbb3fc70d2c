import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../../config/config.js';
import type { ApiError } from '../../../platform/http/errors.js';
import { growingTo } from '../../../platform/memory/cache-size.js';
import { SecretBox } from '../../../platform/secrets/secret-box.js';
import { TenantsApi } from '../../tenants/index.js';
import { MailErrors } from '../mail.response.js';
import { type MailAccountRow, MailAccountsRepository, type MailOwner } from './mail-accounts.repository.js';
import { AccountRejectedError, MailProvider } from './mail-provider.js';

/** The credential of a request to the mail service. */
export interface MailCredential {
  /** `me` for a user token, the account's id for the service token. */
  readonly user: string;
  readonly token: string | undefined;
  readonly version: number;
}

/** The owner of the mail, with the IP address of the client where a client sent the request. */
export type MailRequester = MailOwner & { readonly ip?: string | null };

const PASSWORD = 'mail password';
const TOKEN = 'mail token';
/** Lifetime of cached credentials. After it, all processes use a newly linked account. */
const CACHE_MS = 5_000;
const CACHE_SIZE = 20_000;
/** Covers the creation of an account and the login. */
const LEASE_SECONDS = 25;
const WAIT_MS = 30_000;
/** Pause after a rejected login: WildDuck locks an account after 12 failed logins in 120 s. */
const PAUSE_SECONDS = 15;

/** The users' accounts at the mail service and their credentials, created on first use. */
@Injectable()
export class MailAccounts {
  private readonly logger = new Logger('Mail');
  private readonly cache = new LRUCache<string, MailCredential>({ ...growingTo(CACHE_SIZE), ttl: CACHE_MS });
  private readonly pending = new Map<string, Promise<MailCredential>>();

  constructor(
    private readonly accounts: MailAccountsRepository,
    private readonly provider: MailProvider,
    private readonly tenants: TenantsApi,
    private readonly box: SecretBox,
    private readonly config: Config,
  ) {}

  /** The cached credential of a user. */
  cached(owner: MailOwner): MailCredential | undefined {
    return this.cache.get(keyOf(owner));
  }

  /**
   * @param rejected a credential that the mail service rejected and that must be renewed
   * @throws ApiError 403 `mail_account_required`, 500 `Proxy failed`, 503 `mail_service_unavailable`
   */
  async credential(owner: MailRequester, rejected?: MailCredential): Promise<MailCredential> {
    if (this.config.mailService === null) throw MailErrors.unavailable.with();
    const key = keyOf(owner);
    const version = rejected?.version ?? -1;
    const cached = this.cache.get(key);
    if (cached !== undefined && cached.version > version) return cached;
    // The service token cannot be renewed.
    if (rejected !== undefined && this.config.MAIL_SERVICE_MODE === 'service')
      throw this.failed('the service token was rejected');
    // Concurrent requests of a user share one renewal.
    const credential = await (this.pending.get(key) ?? this.resolve(key, owner, version));
    return credential.version > version ? credential : this.credential(owner, rejected);
  }

  /**
   * Gives the account that was created for a user the user's current address. A linked account keeps its own.
   * @throws AccountRejectedError `AddressExistsError` while another account has the address
   */
  async followAddress(owner: MailOwner): Promise<void> {
    const account = await this.accounts.read(owner);
    const email = await this.tenants.addressOf(owner.tenantId, owner.userId);
    if (email === null || account?.origin !== 'created' || account.mail_user_id === null) return;
    const address = this.accountAddress(email);
    if (address === account.address) return;
    await this.provider.changeAddress(account.mail_user_id, address);
    await this.accounts.setAddress(owner, address);
  }

  /**
   * Verifies an existing account of the mail service and links it to a user.
   * @param password undefined in mode `service`
   * @throws AccountRejectedError
   */
  async link(
    owner: MailOwner,
    username: string,
    password: string | undefined,
  ): Promise<{ mailUserId: string }> {
    if (password === undefined) {
      const mailUserId = await this.provider.findAccount(username);
      await this.accounts.link(owner, { username, mailUserId, password: null, token: null });
      return { mailUserId };
    }
    const { id, token } = await this.provider.logIn(username, password, undefined);
    await this.accounts.link(owner, {
      username,
      mailUserId: id,
      password: this.sealedPassword(owner, password),
      token: this.box.seal(TOKEN, keyOf(owner), Buffer.from(token)),
    });
    return { mailUserId: id };
  }

  /** Encrypts the password of a user's account, for its column. */
  sealedPassword(owner: MailOwner, password: string): string {
    return this.box.seal(PASSWORD, keyOf(owner), Buffer.from(password));
  }

  private resolve(key: string, owner: MailRequester, rejected: number): Promise<MailCredential> {
    const pending = this.find(owner, rejected)
      .then((credential) => {
        this.cache.set(key, credential);
        return credential;
      })
      .finally(() => this.pending.delete(key));
    this.pending.set(key, pending);
    return pending;
  }

  /** Reads the credential from the database, obtains it in this process, or waits for the process that holds the lease. */
  private async find(owner: MailRequester, rejected: number): Promise<MailCredential> {
    const deadline = Date.now() + WAIT_MS;
    for (let pause = 20; Date.now() < deadline; pause = Math.min(pause * 2, 500)) {
      const account = await this.accounts.read(owner);
      if (account === null) {
        await this.begin(owner);
        continue;
      }
      const credential = this.usable(owner, account);
      if (credential !== null && credential.version > rejected) return credential;
      if (account.rejection !== null)
        throw this.failed('the account was rejected a moment ago', account.rejection);
      const lease = uuidv7();
      const leased = await this.accounts.claim(owner, lease, account.token_version, LEASE_SECONDS);
      if (leased !== null) return this.renew(owner, lease, leased);
      await delay(pause * (0.5 + Math.random()));
    }
    throw this.failed('another process did not obtain a token in time');
  }

  private usable(owner: MailOwner, account: MailAccountRow): MailCredential | null {
    const { mail_user_id: id, token, token_version: version } = account;
    if (id === null) return null;
    if (this.config.MAIL_SERVICE_MODE === 'service')
      return { user: id, token: this.config.mailService?.token, version };
    if (token === null) return null;
    return { user: 'me', token: this.box.open(TOKEN, keyOf(owner), token).toString(), version };
  }

  private async begin(owner: MailOwner): Promise<void> {
    if (this.config.MAIL_ACCOUNTS === 'link') throw MailErrors.accountRequired.with();
    const member = await this.tenants.profile(owner.tenantId, owner.userId);
    if (member === null) throw MailErrors.accountRequired.with();
    const password = this.sealedPassword(owner, randomBytes(24).toString('base64url'));
    const address = this.accountAddress(member.email);
    await this.accounts.begin(owner, { username: usernameOf(owner), address, password });
  }

  /** The address of the account of a user. */
  private accountAddress(email: string): string {
    const domain = this.config.MAIL_ACCOUNT_DOMAIN;
    return domain === undefined ? email : `${email.slice(0, email.lastIndexOf('@'))}@${domain}`;
  }

  private async renew(owner: MailRequester, lease: string, account: MailAccountRow): Promise<MailCredential> {
    try {
      const { id, token } = await this.logIn(owner, account);
      const sealed = token === null ? null : this.box.seal(TOKEN, keyOf(owner), Buffer.from(token));
      const settled = await this.accounts.settle(owner, lease, id, sealed);
      const credential = settled && this.usable(owner, settled);
      return credential ?? (await this.find(owner, account.token_version));
    } catch (error) {
      const rejection = error instanceof AccountRejectedError ? error.code : null;
      await this.accounts.release(owner, lease, PAUSE_SECONDS, rejection).catch(() => undefined);
      throw rejection === null ? error : this.failed((error as Error).message, rejection);
    }
  }

  /** Creates the account if necessary, and logs in unless the mode is `service`. */
  private async logIn(
    owner: MailRequester,
    account: MailAccountRow,
  ): Promise<{ id: string; token: string | null }> {
    const { origin, username, mail_user_id: mailUserId } = account;
    const password = account.password && this.box.open(PASSWORD, keyOf(owner), account.password).toString();
    const id =
      origin === 'created' && mailUserId === null ? await this.create(owner, account, password) : mailUserId;
    if (this.config.MAIL_SERVICE_MODE === 'service')
      return { id: id ?? (await this.provider.findAccount(username)), token: null };
    if (password === null) throw new AccountRejectedError('log in', 'PasswordUnknown');
    return this.provider.logIn(username, password, owner.ip ?? undefined);
  }

  /** @returns null when the account exists: a process crashed before it could store the id */
  private async create(
    owner: MailOwner,
    { username }: MailAccountRow,
    password: string | null,
  ): Promise<string | null> {
    const member = await this.tenants.profile(owner.tenantId, owner.userId);
    if (member === null) throw MailErrors.accountRequired.with();
    // Not the recorded address: the user may have changed theirs since an attempt that failed.
    const address = this.accountAddress(member.email);
    const account = { username, password: password ?? '', address, name: member.displayName };
    try {
      const id = await this.provider.createAccount(account);
      await this.accounts.setAddress(owner, address);
      return id;
    } catch (error) {
      if (error instanceof AccountRejectedError && error.code === 'UserExistsError') return null;
      throw error;
    }
  }

  private failed(reason: string, code?: string): ApiError {
    this.logger.warn({ reason, code }, 'no credential for the mail service');
    // An administrator has to resolve a taken address; often it is the same user's earlier account.
    return (code === 'AddressExistsError' ? MailErrors.accountRequired : MailErrors.proxyFailed).with();
  }
}

const keyOf = ({ tenantId, userId }: MailOwner): string => `${tenantId}:${userId}`;

/** Derived from the owner, so that an account is found again after its creation was interrupted. */
const usernameOf = (owner: MailOwner): string =>
  `w${createHash('sha256').update(keyOf(owner)).digest('hex').slice(0, 31)}`;

/** The public API of the mail module. */
@Injectable()
export class MailApi {
  constructor(private readonly accounts: MailAccounts) {}

  /**
   * Links an existing account of the mail service to a user of a workspace, in place of the previous one.
   * @param password verified at once; undefined in mode `service`
   * @throws AccountRejectedError when the mail service rejects the account or the password
   */
  async linkAccount(
    owner: MailOwner,
    username: string,
    password: string | undefined,
  ): Promise<{ mailUserId: string }> {
    return this.accounts.link(owner, username, password);
  }

  /** Encrypts the password of a user's account at the mail service, for the column of the account. */
  sealedPassword(owner: MailOwner, password: string): string {
    return this.accounts.sealedPassword(owner, password);
  }
}
