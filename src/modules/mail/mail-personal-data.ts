import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import type { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import { eraseUserRows, personalRows } from '../../platform/personal-data/personal-rows.js';
import type { PersonalArchive } from '../../platform/personal-data/personal-archive.js';
import {
  type DataOwner,
  type ErasedMember,
  PersonalData,
  PersonalDataSource,
} from '../../platform/personal-data/personal-data.js';
import { MailAccountsRepository } from './accounts/mail-accounts.repository.js';
import { MailProvider } from './accounts/mail-provider.js';
import { resultsOf } from './input/fields.js';
import { MailClient, mailboxesOf, type MailSession, readFields } from './mail-client.js';
import { messagesPath } from './mail-call.js';
import { MailErrors } from './mail.response.js';
import { JsonResponse } from './upstream-response.js';

const PAGE = 100;

const recipients = workspace.statement<never>(
  'mail_recipients.personal_recipients',
  personalRows(`SELECT recipient.address, recipient.name, recipient.uses, recipient.last_used_at
       FROM mail_recipients recipient WHERE recipient.tenant_id = $1 AND recipient.user_id = $2 ORDER BY recipient.address_key`),
);

const erase = eraseUserRows(
  'mail_recipients',
  'mail_recipients',
  'mail_moves',
  'mail_pending_accounts',
  'mail_accounts',
);

/** The recipients of a user and, with the embedded mail service, the stored messages (RFC 5322). */
@Injectable()
export class MailPersonalData extends PersonalDataSource {
  constructor(
    data: PersonalData,
    private readonly client: MailClient,
    private readonly accounts: MailAccountsRepository,
    private readonly provider: MailProvider,
    private readonly config: Config,
  ) {
    super(data, {
      name: 'mail',
      rows: { 'recipients.json': recipients },
      erasure: { rows: erase },
    });
  }

  override async export(owner: DataOwner, archive: PersonalArchive): Promise<void> {
    await super.export(owner, archive);
    if (!this.config.MAIL_SERVICE_EMBEDDED) {
      await archive.content('README.txt', [
        'The messages are stored by another mail service. Export them there.\n',
      ]);
      return;
    }
    // Without a mail account, the request would create one.
    if (((await this.accounts.read(owner))?.mail_user_id ?? null) === null) return;
    const session = this.client.openBackground(owner);
    const mailboxes = await mailboxesOf(session);
    await archive.content('mailboxes.json', [
      JSON.stringify(mailboxes.map(({ id, path }) => ({ id, path }))),
    ]);
    for (const { id } of mailboxes) await this.mailbox(session, String(id), archive);
  }

  /** Deletes an account that the workspace created. Linked accounts and those of another mail service belong to its operator. */
  override async erase(member: ErasedMember, db: Db): Promise<void> {
    const account = await this.accounts.read(member);
    if (this.config.MAIL_SERVICE_EMBEDDED && account?.origin === 'created')
      await this.provider.deleteAccount({ username: account.username, id: account.mail_user_id });
    await super.erase(member, db);
  }

  private async mailbox(session: MailSession, mailbox: string, archive: PersonalArchive): Promise<void> {
    for (let next: unknown = ''; typeof next === 'string';) {
      const query = new URLSearchParams({ limit: String(PAGE), order: 'asc', ...(next && { next }) });
      const value = await readFields(session, messagesPath(mailbox), query);
      for (const { id, size } of resultsOf(value)) {
        const path = `${mailbox}/${Number(id)}.eml`;
        const bytes = typeof size === 'number' ? size : 0;
        if (!archive.fits(bytes)) {
          archive.omit(path, bytes, 'archive_full');
          continue;
        }
        await message(session, [...messagesPath(mailbox), Number(id), 'message.eml'], path, archive);
      }
      next = value['nextCursor'];
    }
  }
}

/** A message that was deleted in between is skipped. */
async function message(
  session: MailSession,
  path: (string | number)[],
  file: string,
  archive: PersonalArchive,
): Promise<void> {
  const response = await session.bytes({ method: 'GET', path });
  if (response instanceof JsonResponse) {
    response.stream?.destroy();
    if (response.status === 404) return;
    throw MailErrors.proxyFailed.with();
  }
  await archive.content(file, response.body.stream());
}
