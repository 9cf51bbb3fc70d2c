import { Injectable } from '@nestjs/common';
import type { MailOwner } from './mail-accounts.repository.js';
import { MailAccounts } from './mail-accounts.js';

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
