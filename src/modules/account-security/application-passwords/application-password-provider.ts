import { Injectable } from '@nestjs/common';

/** What an application password may be used for. */
export const SCOPES = ['imap', 'pop3', 'smtp', 'caldav', 'carddav'] as const;
export type Scope = (typeof SCOPES)[number];

/** A password as the mail service is told of it. The clear text is in memory only, and only this once. */
export interface NewApplicationPassword {
  tenantId: string;
  userId: string;
  /** Ours; a good idempotency key. */
  id: string;
  description: string;
  scopes: Scope[];
  password: string;
  expiresAt: Date | null;
}

/** The service keeps no more passwords for this person. */
export class TooManyThere extends Error {}

/** A service that keeps passwords for mail programs itself. Implemented by the mail module, which registers it. */
export interface ApplicationPasswordProvider {
  /** Whether it has anything to do with passwords of these scopes of this person. */
  concerns(owner: { tenantId: string; userId: string }, scopes: readonly Scope[]): boolean | Promise<boolean>;
  /**
   * Makes the password known there.
   * @returns its id there; null when it turns out that no such passwords are kept there
   * @throws TooManyThere, and anything else when it is not known whether that was done
   */
  create(password: NewApplicationPassword): Promise<string | null>;
  /**
   * Makes it unknown there; also when it is unknown already. Repeated until it succeeds.
   * @param password `providerId` is null where the answer to `create` was lost, and where it was never told: it is to be
   *   found by our id, if at all
   */
  remove(password: {
    tenantId: string;
    userId: string;
    id: string;
    providerId: string | null;
  }): Promise<void>;
}

/** The mail service, where there is one that wants to be told. */
@Injectable()
export class ApplicationPasswordProviders {
  private registered: ApplicationPasswordProvider | undefined;

  register(provider: ApplicationPasswordProvider): void {
    if (this.registered) throw new Error('there is a provider of application passwords already');
    this.registered = provider;
  }

  get provider(): ApplicationPasswordProvider | undefined {
    return this.registered;
  }
}
