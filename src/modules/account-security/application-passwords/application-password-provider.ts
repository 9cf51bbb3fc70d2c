import { Injectable } from '@nestjs/common';

/** Protocols of application passwords. */
export const SCOPES = ['imap', 'pop3', 'smtp', 'caldav', 'carddav'] as const;
export type Scope = (typeof SCOPES)[number];

/** A new password for the mail service. The clear text exists only in memory, during creation. */
export interface NewApplicationPassword {
  tenantId: string;
  userId: string;
  /** The id in this service, usable as idempotency key. */
  id: string;
  description: string;
  scopes: Scope[];
  password: string;
  expiresAt: Date | null;
}

/** The service has reached its limit of passwords for this user. */
export class ProviderLimitError extends Error {}

/** A service that stores application passwords itself. The mail module implements and registers it. */
export interface ApplicationPasswordProvider {
  /** The protocols whose servers accept the passwords. */
  readonly protocols: readonly Scope[];
  /** Whether the service stores passwords with these scopes for this user. */
  concerns(owner: { tenantId: string; userId: string }, scopes: readonly Scope[]): boolean | Promise<boolean>;
  /**
   * Creates the password in the service.
   * @returns its id in the service; null when the service stores no such passwords
   * @throws ProviderLimitError; any other error when the outcome is unknown
   */
  create(password: NewApplicationPassword): Promise<string | null>;
  /**
   * Deletes the password from the service, idempotently. The caller repeats it until it succeeds.
   * @param password `providerId` is null after a lost response of `create`: find the password by `id`
   */
  remove(password: {
    tenantId: string;
    userId: string;
    id: string;
    providerId: string | null;
  }): Promise<void>;
}

/** The registered provider, if any, and the protocols that this application serves itself. */
@Injectable()
export class ApplicationPasswordProviders {
  private registered: ApplicationPasswordProvider | undefined;
  private readonly own = new Set<Scope>();

  register(provider: ApplicationPasswordProvider): void {
    if (this.registered) throw new Error('a provider of application passwords is already registered');
    this.registered = provider;
  }

  /** Names protocols of a server of this application. It verifies the passwords by `ApplicationPasswordSignIn`. */
  serve(...scopes: readonly Scope[]): void {
    for (const scope of scopes) this.own.add(scope);
  }

  get provider(): ApplicationPasswordProvider | undefined {
    return this.registered;
  }

  /** The protocols whose servers accept application passwords in this deployment. */
  get protocols(): readonly Scope[] {
    const served = new Set([...this.own, ...(this.registered?.protocols ?? [])]);
    return SCOPES.filter((scope) => served.has(scope));
  }
}
