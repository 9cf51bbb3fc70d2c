import { Injectable } from '@nestjs/common';
import { MailAccounts } from './mail-accounts.js';
import type { MailOwner } from './mail-accounts.repository.js';

/** What the rest of the service may ask of mail. */
@Injectable()
export class MailApi {
  constructor(private readonly accounts: MailAccounts) {}

  /**
   * Links an account of the mail service to a person of a workspace, in place of the one they had.
   * @param password tried at once; undefined where the service acts for people with its own token
   * @throws Error when the mail service does not know the account or does not take the password
   */
  async linkAccount(
    owner: MailOwner,
    username: string,
    password: string | undefined,
  ): Promise<{ mailUserId: string }> {
    return this.accounts.link(owner, username, password);
  }
}
