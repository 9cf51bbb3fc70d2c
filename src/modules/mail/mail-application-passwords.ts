import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config.js';
import {
  type ApplicationPasswordProvider,
  ApplicationPasswordProviders,
  type NewApplicationPassword,
  type Scope,
  TooManyThere,
} from '../account-security/index.js';
import { isFields } from './fields.js';
import { MailAccountsRepository, type MailOwner } from './mail-accounts.repository.js';
import { codeOf, type JsonAnswer, lacksPrivilege } from './upstream/mail-answer.js';
import { MailClient, type OwnRequest } from './mail-client.js';

const MAIL_SCOPES: ReadonlySet<Scope> = new Set(['imap', 'pop3', 'smtp']);
/** WildDuck's bound on a description, in UTF-16 units. */
const MAX_DESCRIPTION = 255;
const TIMEOUT_MS = 10_000;

/**
 * Makes application passwords for mail known to the mail service, whose IMAP, POP3 and SMTP servers check them:
 * WildDuck's `/users/:user/asps`, asked for as their owner, whose own role allows that.
 *
 * Only of people who have a mail account: nobody else can be refused a password because the mail service is down, nor gets
 * an account by making one. A mail service without such passwords (the embedded one) is no hindrance either: they are
 * then ours alone. What was told to an account that another has since been linked in place of stays there.
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

  async concerns(owner: MailOwner, scopes: readonly Scope[]): Promise<boolean> {
    return scopes.some((scope) => MAIL_SCOPES.has(scope)) && this.hasAccount(owner);
  }

  /** @throws TooManyThere; ApiError 500 `Proxy failed` and others when it is not known whether that was done */
  async create(asked: NewApplicationPassword): Promise<string | null> {
    const { id, description, password, expiresAt } = asked;
    const answer = await this.ask(asked, {
      method: 'POST',
      path: ['asps'],
      body: {
        description: describe(description, id),
        scopes: asked.scopes.filter((scope) => MAIL_SCOPES.has(scope)),
        password,
        // There each use begins the time anew; it ends when we have it removed.
        ...(expiresAt && { ttl: secondsUntil(expiresAt) }),
      },
    });
    if (isUnsupported(answer)) {
      this.logger.debug({ status: answer.status }, 'the mail service keeps no application passwords');
      return null;
    }
    if (answer.status === 403 && codeOf(answer) === 'TooMany') throw new TooManyThere();
    const made = succeeded(answer)['id'];
    if (!isAspId(made)) throw new Error('the mail service gave a new application password no id');
    return made;
  }

  async remove({
    id,
    providerId,
    ...owner
  }: MailOwner & { id: string; providerId: string | null }): Promise<void> {
    // Without an account there is nothing there; asking would make one.
    if (!(await this.hasAccount(owner))) return;
    const known = providerId ?? (await this.find(owner, id));
    if (known === null) return;
    const answer = await this.ask(owner, { method: 'DELETE', path: ['asps', known] });
    if (answer.status !== 404) succeeded(answer);
  }

  /** The id of one whose creation was not answered: its description ends with ours. */
  private async find(owner: MailOwner, id: string): Promise<string | null> {
    // Without `showAll`, those that expire are left out.
    const query = new URLSearchParams({ showAll: 'true' });
    const answer = await this.ask(owner, { method: 'GET', path: ['asps'], query });
    if (isUnsupported(answer) || answer.status === 404) return null;
    const { results } = succeeded(answer);
    if (!Array.isArray(results)) throw new Error('the mail service gave no list of application passwords');
    const found = (results as unknown[]).find(
      (each) => isFields(each) && String(each['description']).endsWith(marked(id)),
    );
    const known = isFields(found) ? found['id'] : undefined;
    return isAspId(known) ? known : null;
  }

  private async hasAccount(owner: MailOwner): Promise<boolean> {
    return ((await this.accounts.read(owner))?.mail_user_id ?? null) !== null;
  }

  private ask(owner: MailOwner, request: OwnRequest): Promise<JsonAnswer> {
    const { tenantId, userId } = owner;
    return this.client.ask({ tenantId, userId }, { ...request, timeout: TIMEOUT_MS });
  }
}

/** An id goes into a path. */
const isAspId = (id: unknown): id is string => typeof id === 'string' && /^[0-9a-f]{24}$/i.test(id);

const marked = (id: string): string => ` [${id}]`;

/** What its owner called it, and our id, by which it is found again. */
const describe = (description: string, id: string): string =>
  description.slice(0, MAX_DESCRIPTION - marked(id).length).toWellFormed() + marked(id);

const secondsUntil = (time: Date): number => Math.max(1, Math.ceil((time.getTime() - Date.now()) / 1000));

/**
 * There is no such route, or the credential's role does not extend to it (a service token with a narrow one).
 * A 404 with `UserNotFound` is about the person, not the route.
 */
const isUnsupported = (answer: JsonAnswer): boolean =>
  (answer.status === 404 && codeOf(answer) !== 'UserNotFound') || lacksPrivilege(answer);

/** @throws Error with the mail service's code and nothing else of what was said */
function succeeded(answer: JsonAnswer): Record<string, unknown> {
  const { status, value } = answer;
  if (status < 300 && isFields(value) && value['success'] === true) return value;
  const code = codeOf(answer);
  throw new Error(`the mail service answered ${status}${typeof code === 'string' ? `, ${code}` : ''}`);
}
