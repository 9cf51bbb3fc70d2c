import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import {
  type ApplicationPasswordProvider,
  ApplicationPasswordProviders,
  type NewApplicationPassword,
  type Scope,
  ProviderLimitError,
} from '../../account-security/index.js';
import { isFields, isObjectId } from '../input/fields.js';
import { MailAccountsRepository, type MailOwner } from './mail-accounts.repository.js';
import { MailClient } from '../mail-client.js';
import type { UpstreamRequest } from '../mail-upstream.js';
import { type JsonResponse, lacksPrivilege } from '../upstream-response.js';

const MAIL_SCOPES: ReadonlySet<Scope> = new Set(['imap', 'pop3', 'smtp']);
/** WildDuck's limit of a description, UTF-16 units. */
const MAX_DESCRIPTION = 255;
const TIMEOUT_MS = 10_000;

/**
 * Registers application passwords for mail at the mail service, whose IMAP, POP3 and SMTP servers verify them: WildDuck's
 * `/users/:user/asps`, called with the owner's token.
 *
 * Applies only to users with a mail account. For other users no request is sent, and no account is created.
 * A mail service without application passwords (the embedded one) is skipped. Passwords registered for an account stay
 * there when another account is linked in its place.
 */
@Injectable()
export class MailApplicationPasswords implements ApplicationPasswordProvider, OnModuleInit {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly providers: ApplicationPasswordProviders,
    private readonly accounts: MailAccountsRepository,
    private readonly client: MailClient,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    if (this.config.mailService !== null) this.providers.register(this);
  }

  /** The embedded mail service has no servers for mail programs. */
  get protocols(): readonly Scope[] {
    return this.config.MAIL_SERVICE_EMBEDDED ? [] : [...MAIL_SCOPES];
  }

  async concerns(owner: MailOwner, scopes: readonly Scope[]): Promise<boolean> {
    return scopes.some((scope) => MAIL_SCOPES.has(scope)) && this.hasAccount(owner);
  }

  /** @throws ProviderLimitError; ApiError 500 `Proxy failed` and others when the outcome is unknown */
  async create(input: NewApplicationPassword): Promise<string | null> {
    const { id, description, password, expiresAt } = input;
    const response = await this.request(input, {
      method: 'POST',
      path: ['asps'],
      body: {
        description: describe(description, id),
        scopes: input.scopes.filter((scope) => MAIL_SCOPES.has(scope)),
        password,
        // WildDuck restarts the lifetime at each use; `remove` ends it on time.
        ...(expiresAt && { ttl: secondsUntil(expiresAt) }),
      },
    });
    if (isUnsupported(response)) {
      this.logger.debug({ status: response.status }, 'the mail service has no application passwords');
      return null;
    }
    if (response.status === 403 && response.code === 'TooMany') throw new ProviderLimitError();
    const created = successOf(response)['id'];
    if (!isObjectId(created)) throw new Error('the mail service returned no id of an application password');
    return created;
  }

  async remove({
    id,
    providerId,
    ...owner
  }: MailOwner & { id: string; providerId: string | null }): Promise<void> {
    // Without a mail account, the request would create one.
    if (!(await this.hasAccount(owner))) return;
    const foundId = providerId ?? (await this.find(owner, id));
    if (foundId === null) return;
    const response = await this.request(owner, { method: 'DELETE', path: ['asps', foundId] });
    if (response.status !== 404) successOf(response);
  }

  /** Finds a password by our id at the end of its description. Needed when its creation got no response. */
  private async find(owner: MailOwner, id: string): Promise<string | null> {
    // Without `showAll`, WildDuck omits passwords with a lifetime.
    const query = new URLSearchParams({ showAll: 'true' });
    const response = await this.request(owner, { method: 'GET', path: ['asps'], query });
    if (isUnsupported(response) || response.status === 404) return null;
    const { results } = successOf(response);
    if (!Array.isArray(results))
      throw new Error('the mail service returned no list of application passwords');
    const found = (results as unknown[]).find(
      (each) => isFields(each) && String(each['description']).endsWith(idSuffix(id)),
    );
    const foundId = isFields(found) ? found['id'] : undefined;
    return isObjectId(foundId) ? foundId : null;
  }

  private async hasAccount(owner: MailOwner): Promise<boolean> {
    return ((await this.accounts.read(owner))?.mail_user_id ?? null) !== null;
  }

  private request(owner: MailOwner, request: UpstreamRequest): Promise<JsonResponse> {
    return this.client.request(owner, { ...request, timeout: TIMEOUT_MS });
  }
}

const idSuffix = (id: string): string => ` [${id}]`;

/** The owner's description followed by our id, which `find` needs. */
const describe = (description: string, id: string): string =>
  description.slice(0, MAX_DESCRIPTION - idSuffix(id).length).toWellFormed() + idSuffix(id);

const secondsUntil = (time: Date): number => Math.max(1, Math.ceil((time.getTime() - Date.now()) / 1000));

/** The route does not exist, or the role of a service token does not include it. 404 `UserNotFound` concerns the user. */
const isUnsupported = (response: JsonResponse): boolean =>
  (response.status === 404 && response.code !== 'UserNotFound') || lacksPrivilege(response);

/** @throws Error with status and code of the response; its text may contain secrets */
function successOf({ status, value, code }: JsonResponse): Record<string, unknown> {
  if (status < 300 && isFields(value) && value['success'] === true) return value;
  throw new Error(`the mail service responded ${status}${typeof code === 'string' ? `, ${code}` : ''}`);
}
