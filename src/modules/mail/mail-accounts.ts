import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../config/config.js';
import type { ApiError } from '../../platform/http/api-error.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { TenantsApi } from '../tenants/index.js';
import { MailErrors } from './mail.errors.js';
import { type MailAccountRow, MailAccountsRepository, type MailOwner } from './mail-accounts.repository.js';
import { AccountRefused, MailProvider } from './mail-provider.js';

/** What a request is sent upstream with. */
export interface MailCredential {
  /** `me` where the token says who it is; the account's id where it is the service's. */
  readonly user: string;
  readonly token: string | undefined;
  readonly version: number;
}

/** Whose mail it is, and the address they asked from; worked out when it is needed, which is seldom. */
export type MailAsker = MailOwner & { readonly ip?: string | null };

const PASSWORD = 'mail password';
const TOKEN = 'mail token';
/** How long a process believes what it has read: an account linked anew is used everywhere after this. */
const FRESH_MS = 5_000;
const CACHED = 20_000;
/** A talk with the mail service about an account: creating it and logging in. */
const LEASE_SECONDS = 25;
const WAIT_MS = 30_000;
/** The mail service locks an account after 12 failed attempts in 120 s. */
const REST_SECONDS = 15;

/** The accounts of people at the mail service and the credentials for them, made when they are first needed. */
@Injectable()
export class MailAccounts {
  private readonly logger = new Logger('Mail');
  private readonly cache = new LRUCache<string, MailCredential>({ max: CACHED, ttl: FRESH_MS });
  private readonly flights = new Map<string, Promise<MailCredential>>();

  constructor(
    private readonly accounts: MailAccountsRepository,
    private readonly provider: MailProvider,
    private readonly tenants: TenantsApi,
    private readonly box: SecretBox,
    private readonly config: Config,
  ) {}

  /** The credential of a person, where this process knows it; never waits. */
  known(owner: MailOwner): MailCredential | undefined {
    return this.cache.get(keyOf(owner));
  }

  /**
   * @param owner with the address of their request, where there is one
   * @param dead a credential that the mail service did not accept: another one is wanted
   * @throws ApiError 403 `mail_account_required`, 500 `Proxy failed`, 503 `mail_service_unavailable`
   */
  async credential(owner: MailAsker, dead?: MailCredential): Promise<MailCredential> {
    if (this.config.mailService === null) throw MailErrors.unavailable.with();
    const key = keyOf(owner);
    const known = this.cache.get(key);
    if (known !== undefined && known.version > (dead?.version ?? -1)) return known;
    // With the service's own token nothing can be renewed.
    if (dead !== undefined && this.config.MAIL_SERVICE_MODE === 'service')
      throw this.refused('the service token');
    // One at a time for each person; who finds a dead token while it is being renewed waits for the same renewal.
    const flight = this.flights.get(key) ?? this.fly(key, owner, dead?.version ?? -1);
    const credential = await flight;
    return credential.version > (dead?.version ?? -1) ? credential : this.credential(owner, dead);
  }

  /**
   * Links an account that exists at the mail service to a person, after trying it.
   * @param password not needed in mode `service`
   * @throws AccountRefused
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
      password: this.box.seal(PASSWORD, keyOf(owner), Buffer.from(password)),
      token: this.box.seal(TOKEN, keyOf(owner), Buffer.from(token)),
    });
    return { mailUserId: id };
  }

  private fly(key: string, owner: MailAsker, dead: number): Promise<MailCredential> {
    const flight = this.find(owner, dead)
      .then((credential) => {
        this.cache.set(key, credential);
        return credential;
      })
      .finally(() => this.flights.delete(key));
    this.flights.set(key, flight);
    return flight;
  }

  /** Takes the credential out of the database, or makes it there: by this process, or by another that was first. */
  private async find(owner: MailAsker, dead: number): Promise<MailCredential> {
    const deadline = Date.now() + WAIT_MS;
    for (let pause = 20; Date.now() < deadline; pause = Math.min(pause * 2, 500)) {
      const account = await this.accounts.read(owner);
      if (account === null) {
        await this.begin(owner);
        continue;
      }
      const credential = this.usable(owner, account);
      if (credential !== null && credential.version > dead) return credential;
      if (account.resting !== null) throw this.refused('the account, a moment ago', account.resting);
      const lease = uuidv7();
      const mine = await this.accounts.claim(owner, lease, account.token_version, LEASE_SECONDS);
      if (mine !== null) return this.mint(owner, lease, mine);
      await delay(pause * (0.5 + Math.random()));
    }
    throw this.refused('nothing, but another process did not come back with a token');
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
    const domain = this.config.MAIL_ACCOUNT_DOMAIN;
    const local = member.email.slice(0, member.email.lastIndexOf('@'));
    const password = this.box.seal(
      PASSWORD,
      keyOf(owner),
      Buffer.from(randomBytes(24).toString('base64url')),
    );
    const address = domain === undefined ? member.email : `${local}@${domain}`;
    await this.accounts.begin(owner, { username: usernameOf(owner), address, password });
  }

  private async mint(owner: MailAsker, lease: string, account: MailAccountRow): Promise<MailCredential> {
    try {
      const { id, token } = await this.talk(owner, account);
      const sealed = token === null ? null : this.box.seal(TOKEN, keyOf(owner), Buffer.from(token));
      const settled = await this.accounts.settle(owner, lease, id, sealed);
      const credential = settled && this.usable(owner, settled);
      return credential ?? (await this.find(owner, account.token_version));
    } catch (error) {
      const refusal = error instanceof AccountRefused ? error.code : null;
      await this.accounts.release(owner, lease, REST_SECONDS, refusal).catch(() => undefined);
      throw refusal === null ? error : this.refused((error as Error).message, refusal);
    }
  }

  /** Creates the account where that is still to be done, and logs in where the mode asks for it. */
  private async talk(
    owner: MailAsker,
    account: MailAccountRow,
  ): Promise<{ id: string; token: string | null }> {
    const { origin, username, mail_user_id: known } = account;
    const password = account.password && this.box.open(PASSWORD, keyOf(owner), account.password).toString();
    const id = origin === 'created' && known === null ? await this.create(owner, account, password) : known;
    if (this.config.MAIL_SERVICE_MODE === 'service')
      return { id: id ?? (await this.provider.findAccount(username)), token: null };
    if (password === null) throw new AccountRefused('log in', 'PasswordUnknown');
    return this.provider.logIn(username, password, owner.ip ?? undefined);
  }

  /** @returns null when it exists already: this process or another was killed before it could say so */
  private async create(
    owner: MailOwner,
    { username, address }: MailAccountRow,
    password: string | null,
  ): Promise<string | null> {
    const member = await this.tenants.profile(owner.tenantId, owner.userId);
    const account = {
      username,
      password: password ?? '',
      address: address ?? '',
      name: member?.displayName ?? '',
    };
    try {
      return await this.provider.createAccount(account);
    } catch (error) {
      if (error instanceof AccountRefused && error.code === 'UserExistsError') return null;
      throw error;
    }
  }

  private refused(what: string, code?: string): ApiError {
    this.logger.warn({ what, code }, 'no credential for the mail service');
    // The address is somebody's already, often the same person's from before: that is for people to sort out.
    return (code === 'AddressExistsError' ? MailErrors.accountRequired : MailErrors.proxyFailed).with();
  }
}

const keyOf = ({ tenantId, userId }: MailOwner): string => `${tenantId}:${userId}`;

/** The same whenever it is asked for, and nobody else's: an account half made is found again. */
const usernameOf = (owner: MailOwner): string =>
  `w${createHash('sha256').update(keyOf(owner)).digest('hex').slice(0, 31)}`;
