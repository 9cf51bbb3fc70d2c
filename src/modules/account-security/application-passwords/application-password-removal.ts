import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { type DomainEvent, Outbox } from '../../../platform/events/outbox.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { MEMBERSHIP_CHANGING } from '../../tenants/index.js';
import { ApplicationPasswordProviders } from './application-password-provider.js';
import { ApplicationPasswordsRepository } from './application-passwords.repository.js';
import { ApplicationPasswords, REMOVING } from './application-passwords.service.js';

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
    const row = await this.repository.removing(tenantId, id);
    const userId = user_id ?? row?.user_id;
    if (userId === undefined) return;
    const { provider } = this.providers;
    await provider?.remove({ tenantId, userId, id, providerId: provider_id ?? row?.provider_id ?? null });
    await this.db.tx((tx) => this.repository.forget(tx, tenantId, id));
  }
}
