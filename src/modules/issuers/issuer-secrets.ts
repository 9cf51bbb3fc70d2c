import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { SecretBox, UnreadableSecretError } from '../../platform/secrets/secret-box.js';
import type { TenantIssuer } from './issuer.entity.js';
import { IssuersRepository } from './issuers.repository.js';

const USE = 'issuer client secret';

type Owner = Pick<TenantIssuer, 'tenant_id' | 'id'>;

const ownerOf = ({ tenant_id, id }: Owner): string => `${tenant_id} ${id}`;

/**
 * The client secrets of issuers: encrypted with the first of SECRET_KEYS. A start with another first key encrypts them again,
 * so that the earlier key can be removed afterwards.
 */
@Injectable()
export class IssuerSecrets implements OnModuleInit {
  private readonly logger = new Logger(IssuerSecrets.name);

  constructor(
    private readonly issuers: IssuersRepository,
    private readonly box: SecretBox,
  ) {}

  /** An unreadable secret does not prevent the start: it affects the sign-in by one issuer, which reports it. */
  async onModuleInit(): Promise<void> {
    for (const issuer of await this.issuers.withSecret()) {
      const { id, client_secret: sealed } = issuer;
      if (this.box.isCurrent(sealed)) continue;
      try {
        await this.issuers.replaceSecret(issuer, this.seal(issuer, this.open(issuer, sealed)));
      } catch (error) {
        if (!(error instanceof UnreadableSecretError)) throw error;
        this.logger.warn(`client secret of issuer ${id}: ${error.message}`);
      }
    }
  }

  /** Encrypts the client secret of an issuer for storage. */
  seal(issuer: Owner, secret: string): string {
    return this.box.seal(USE, ownerOf(issuer), Buffer.from(secret));
  }

  /** @throws UnreadableSecretError when SECRET_KEYS lacks its key */
  open(issuer: Owner, sealed: string): string {
    return this.box.open(USE, ownerOf(issuer), sealed).toString();
  }
}
