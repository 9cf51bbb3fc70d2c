import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../config/config.js';
import { NO_TENANT } from '../../platform/audit/audit.js';
import { Db } from '../../platform/database/db.js';
import type { Language } from '../../platform/languages/languages.js';
import { networkOf } from '../../platform/current-work/current-work.js';
import { RateLimits } from '../../platform/rate-limits/rate-limits.js';
import type { MailContent, MailRequest, MailTemplate } from '../../platform/system-mail/mail-template.js';
import { SystemMail } from '../../platform/system-mail/system-mail.js';
import { emailKey } from '../identity/index.js';
import { InvitationsService } from '../access/index.js';
import { TenantDomains } from '../tenants/index.js';

const LINK_SECONDS = 86_400;
const ADDRESS_LIMIT = { scope: 'domain-join-address', requests: 5, perSeconds: 3_600 };

/**
 * Links by which owners of an address in a verified domain join its workspace. As for forgotten passwords, a request does the
 * same work for any address, and the domain is looked up when the mail is composed.
 */
@Injectable()
export class DomainJoin implements OnModuleInit {
  private readonly template: MailTemplate<object> = {
    name: 'account.domain_join',
    compose: (request) => this.compose(request),
    previews: (language) => ({ join: this.invitations.previewForDomain(language) }),
  };

  constructor(
    private readonly domains: TenantDomains,
    private readonly invitations: InvitationsService,
    private readonly limits: RateLimits,
    private readonly mails: SystemMail,
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.mails.register(this.template);
  }

  /** False when the service cannot send mails. */
  get enabled(): boolean {
    return this.mails.isConfigured;
  }

  /** @returns seconds to wait when the network sends too many requests, else 0 */
  async request(email: string, language: Language, { ip }: { ip: string | null }): Promise<number> {
    const limit = { scope: 'domain-join', requests: this.config.SIGN_IN_PER_MINUTE, perSeconds: 60 };
    const wait = await this.limits.take({ limit, subject: networkOf(ip) });
    if (wait > 0) return wait;
    if ((await this.limits.take({ limit: ADDRESS_LIMIT, subject: emailKey(email) })) > 0) return 0;
    const key = `join ${uuidv7()}`;
    const mail = { tenantId: NO_TENANT, template: this.template, to: email, language, values: {}, key };
    await this.db.tx((tx) => this.mails.queue(tx, { ...mail, lifetimeSeconds: LINK_SECONDS }));
    return 0;
  }

  private async compose({ recipient, language }: MailRequest<object>): Promise<MailContent | null> {
    const tenantId = await this.domains.findJoinable(recipient);
    return tenantId === null ? null : this.invitations.mailForDomain(tenantId, recipient, language);
  }
}
