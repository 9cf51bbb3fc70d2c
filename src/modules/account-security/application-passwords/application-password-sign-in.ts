import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { SecretBox } from '../../../platform/secrets/secret-box.js';
import { CredentialsApi } from '../../identity/index.js';
import { TenantsApi } from '../../tenants/index.js';
import type { Scope } from './application-password-provider.js';
import {
  applicationPasswordHashes,
  plainApplicationPassword,
  sameHash,
} from './application-password-secret.js';
import { ApplicationPasswordsRepository } from './application-passwords.repository.js';
import { ownerOf } from './application-passwords.service.js';

/** Verifies application passwords for servers of their protocols. */
@Injectable()
export class ApplicationPasswordSignIn {
  constructor(
    private readonly repository: ApplicationPasswordsRepository,
    private readonly credentials: CredentialsApi,
    private readonly tenants: TenantsApi,
    private readonly box: SecretBox,
    private readonly db: Db,
  ) {}

  /**
   * @param scope the protocol of the server
   * @returns the password's id; null when it is incorrect, ended or of another protocol, or the owner may not sign in
   */
  async verify(
    owner: { tenantId: string; userId: string },
    password: string,
    scope: Scope,
    ip: string | null,
  ): Promise<string | null> {
    const plain = plainApplicationPassword(password);
    if (plain === null) return null;
    const { selectors, hashes } = applicationPasswordHashes(this.box, ownerOf(owner), plain);
    const rows = await this.repository.bySelector(owner.tenantId, owner.userId, selectors);
    const found = rows.find((row) => hashes.some((hash) => sameHash(hash, row.hash)));
    if (!found?.scopes.includes(scope) || !(await this.maySignIn(owner))) return null;
    await this.db.single((tx) => this.repository.used(tx, owner.tenantId, found.id, ip));
    return found.id;
  }

  private async maySignIn({ tenantId, userId }: { tenantId: string; userId: string }): Promise<boolean> {
    if ((await this.credentials.byId(userId))?.status !== 'active') return false;
    return (await this.tenants.activeRole(tenantId, userId)) !== null;
  }
}
