import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { type DomainEvent, Outbox } from '../../../platform/events/outbox.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../platform/paging/page.dto.js';
import { SecretBox } from '../../../platform/secrets/secret-box.js';
import { SessionsApi } from '../../identity/index.js';
import { MEMBERSHIP_CHANGING } from '../../tenants/index.js';
import { SecurityErrors } from '../account-security.errors.js';
import { SecurityLog } from '../security-log.js';
import {
  ApplicationPasswordProviders,
  ProviderLimitError,
  type Scope,
} from './application-password-provider.js';
import { applicationPasswordHashes, newApplicationPassword } from './application-password-secret.js';
import type {
  ApplicationPasswordListEnvelope,
  ApplicationPasswordResponse,
  CreateApplicationPassword,
  NewApplicationPasswordEnvelope,
} from './application-passwords.dto.js';
import {
  type ApplicationPasswordKey,
  ApplicationPasswordsRepository,
} from './application-passwords.repository.js';

/**
 * Outbox event: the mail service must delete a password. The payload has the id of its row. If the row was deleted before the mail
 * service stored the password, the payload also has its owner and provider id. Handled by `ApplicationPasswordRemoval`.
 */
export const REMOVING = 'application_password.removing';

/** Passwords for mail and calendar programs of a user in one workspace. */
@Injectable()
export class ApplicationPasswords {
  private readonly logger = new Logger(ApplicationPasswords.name);

  constructor(
    private readonly repository: ApplicationPasswordsRepository,
    private readonly providers: ApplicationPasswordProviders,
    private readonly box: SecretBox,
    private readonly sessions: SessionsApi,
    private readonly log: SecurityLog,
    private readonly outbox: Outbox,
    private readonly cursors: Cursors,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, query: PageQuery): Promise<ApplicationPasswordListEnvelope> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `application-passwords ${ctx.tenantId} ${ctx.userId}`,
      key: ({ id }: ApplicationPasswordResponse): [string] => [id],
      rows: (before, limit) => this.repository.list(ctx.tenantId, ctx.userId, before, limit),
    });
    return { application_passwords: rows, next };
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, id: string): Promise<ApplicationPasswordResponse> {
    const row = await this.repository.read(ctx.tenantId, ctx.userId, id);
    if (!row) throw SecurityErrors.notFound.with();
    return row;
  }

  /** The protocols whose servers accept application passwords in this deployment. */
  get protocols(): readonly Scope[] {
    return this.providers.protocols;
  }

  async count(tenantId: string, userId: string): Promise<number> {
    return this.repository.count(tenantId, userId);
  }

  /**
   * Creates a password. If the mail service stores passwords, it is called between two transactions: the first reserves a
   * slot, the second activates the password.
   * @throws ApiError 401 for an ended session, 409 `no_mail_protocol`, 422 `too_many_application_passwords`, 503 `mail_service_unavailable`
   */
  async create(
    ctx: RequestContext,
    input: CreateApplicationPassword,
  ): Promise<NewApplicationPasswordEnvelope> {
    if (!input.scopes.some((scope) => this.protocols.includes(scope)))
      throw SecurityErrors.noMailProtocol.with();
    const [id, password] = [uuidv7(), newApplicationPassword()];
    const { provider } = this.providers;
    const storing = (await provider?.concerns(ctx, input.scopes)) ? provider : undefined;
    const row = await this.insert(ctx, id, input, password, storing !== undefined);
    if (storing) {
      const { tenantId, userId } = ctx;
      const { description, scopes } = input;
      const providerId = await storing
        .create({ tenantId, userId, id, description, scopes, password, expiresAt: row.expires_at })
        .catch((error: unknown) => this.failCreation(ctx, id, error));
      await this.activate(ctx, row, providerId);
    }
    return { application_password: row, password };
  }

  /** Ends a password at commit; the mail service deletes it first, then this service. @throws ApiError 404 */
  async delete(ctx: RequestContext, id: string): Promise<void> {
    await this.db.tx(async (tx) => {
      const key = await this.repository.end(tx, ctx.tenantId, ctx.userId, id);
      if (!key) throw SecurityErrors.notFound.with();
      await this.end(tx, ctx.userId, [key]);
      await this.log.record(tx, ctx, 'security.application_password_deleted', { application_id: id });
    });
    await this.sessions.refreshNow();
  }

  /** Ends all passwords of a user. @param tenantId null: in every workspace @returns their number */
  async endAll(tx: Tx, userId: string, tenantId: string | null): Promise<number> {
    const keys = await this.repository.endAll(tx, userId, tenantId);
    await this.end(tx, userId, keys);
    return keys.length;
  }

  /** Ends expired and incomplete passwords. @returns their number */
  async endLapsed(): Promise<number> {
    return this.db.tx(async (tx) => {
      const keys = await this.repository.endLapsed(tx);
      await this.remove(tx, keys);
      return keys.length;
    });
  }

  private async insert(
    ctx: RequestContext,
    id: string,
    input: CreateApplicationPassword,
    password: string,
    creating: boolean,
  ): Promise<ApplicationPasswordResponse> {
    const { selectors, hashes } = applicationPasswordHashes(this.box, ownerOf(ctx), password);
    const { description, scopes, ttl = null } = input;
    const values = { id, description, scopes, ttl, selector: selectors[0], hash: hashes[0] };
    return this.db.tx(async (tx) => {
      // A change of the password, which may end all application passwords, ends the session first.
      await this.sessions.requireLive(tx, ctx.sessionId);
      await this.remove(tx, await this.repository.endExpiredOf(tx, ctx.tenantId, ctx.userId));
      for (;;) {
        const state = creating ? 'creating' : 'active';
        const row = await this.repository.create(tx, ctx.tenantId, ctx.userId, { ...values, state });
        if (row && !creating) await this.logCreation(tx, ctx, row);
        if (row) return row;
        // A parallel request took the chosen slot; each retry has one free slot less.
        if (await this.repository.isFull(tx, ctx.tenantId, ctx.userId))
          throw SecurityErrors.tooManyApplicationPasswords.with();
      }
    });
  }

  private async activate(
    ctx: RequestContext,
    row: ApplicationPasswordResponse,
    providerId: string | null,
  ): Promise<void> {
    const active = await this.db.tx(async (tx) => {
      const done = await this.repository.activate(tx, ctx.tenantId, ctx.userId, row.id, providerId);
      await (done ? this.logCreation(tx, ctx, row) : this.removeLate(tx, ctx, row.id, providerId));
      return done;
    });
    // The password was ended meanwhile: with all passwords of the user, or because its creation was too slow.
    if (!active) throw SecurityErrors.mailServiceUnavailable.with({ headers: { 'Retry-After': '5' } });
  }

  /** Abandons a failed creation. The mail service may have stored the password although its response was lost. */
  private async failCreation(ctx: RequestContext, id: string, error: unknown): Promise<never> {
    this.logger.warn({ err: error }, 'the mail service did not accept an application password');
    await this.db.tx((tx) => this.abandon(tx, ctx, id));
    if (error instanceof ProviderLimitError) throw SecurityErrors.tooManyApplicationPasswords.with();
    throw SecurityErrors.mailServiceUnavailable.with({ headers: { 'Retry-After': '5' } });
  }

  private async abandon(tx: Tx, ctx: RequestContext, id: string): Promise<void> {
    const key = await this.repository.abandon(tx, ctx.tenantId, ctx.userId, id);
    await (key ? this.remove(tx, [key]) : this.removeLate(tx, ctx, id, null));
  }

  /** Removes a password that was ended before the mail service stored it. */
  private async removeLate(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    id: string,
    providerId: string | null,
  ): Promise<void> {
    const payload = { id, user_id: userId, provider_id: providerId };
    await this.outbox.append(tx, { tenantId, type: REMOVING, payload });
  }

  private async logCreation(tx: Tx, ctx: RequestContext, row: ApplicationPasswordResponse): Promise<void> {
    const { id, description, scopes } = row;
    await this.log.record(tx, ctx, 'security.application_password_created', {
      application_id: id,
      description,
      scopes,
    });
  }

  /** Removes passwords before their time. Servers that have verified one verify it again: a change of access names it in place of a session. */
  private async end(tx: Tx, userId: string, keys: ApplicationPasswordKey[]): Promise<void> {
    await this.remove(tx, keys);
    for (const { id } of keys) await this.sessions.invalidate(tx, userId, id);
  }

  private async remove(tx: Tx, keys: ApplicationPasswordKey[]): Promise<void> {
    for (const { tenant_id: tenantId, id } of keys)
      await this.outbox.append(tx, { tenantId, type: REMOVING, payload: { id } });
  }
}

/** The owner that a hash is bound to. */
export const ownerOf = ({ tenantId, userId }: { tenantId: string; userId: string }): string =>
  `${tenantId} ${userId}`;

const HOUSEKEEPING_SECONDS = 600;

interface RemovingPayload {
  id: string;
  /** Set when the row was deleted before. */
  user_id?: string;
  provider_id?: string | null;
}

/** Deletes ended application passwords from the mail service, then their rows. The outbox repeats it until both succeed. */
@Injectable()
export class ApplicationPasswordRemoval implements OnModuleInit {
  constructor(
    private readonly repository: ApplicationPasswordsRepository,
    private readonly providers: ApplicationPasswordProviders,
    private readonly passwords: ApplicationPasswords,
    private readonly outbox: Outbox,
    private readonly hooks: TxHooks,
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.outbox.subscribe(REMOVING, 'application-passwords', (event) => this.handle(event), 'mail');
    // Application passwords end with the membership, so that former members cannot read mail.
    this.hooks.on(MEMBERSHIP_CHANGING, async (tx, { userId, tenantId, status }) => {
      if (status === 'deactivated') await this.passwords.endAll(tx, userId, tenantId);
    });
    this.jobs.register({
      name: 'application-passwords.lapsed',
      everySeconds: HOUSEKEEPING_SECONDS,
      run: async () => {
        while ((await this.passwords.endLapsed()) > 0);
      },
    });
  }

  private async handle({ tenantId, payload }: DomainEvent): Promise<void> {
    const { id, user_id, provider_id = null } = payload as unknown as RemovingPayload;
    const row = await this.repository.findRemoval(tenantId, id);
    const userId = user_id ?? row?.user_id;
    if (userId === undefined) return;
    const { provider } = this.providers;
    await provider?.remove({ tenantId, userId, id, providerId: provider_id ?? row?.provider_id ?? null });
    await this.db.tx((tx) => this.repository.forget(tx, tenantId, id));
  }
}
