import type { SecretBox } from '../../platform/secrets/secret-box.js';

const USE = 'issuer client secret';

interface Owner {
  tenantId: string;
  id: string;
}

const ownerOf = ({ tenantId, id }: Owner): string => `${tenantId} ${id}`;

/** Encrypts the client secret of an issuer for storage. */
export const sealIssuerSecret = (box: SecretBox, owner: Owner, secret: string): string =>
  box.seal(USE, ownerOf(owner), Buffer.from(secret));

/** @throws UnreadableSecretError */
export const openIssuerSecret = (box: SecretBox, owner: Owner, sealed: string): string =>
  box.open(USE, ownerOf(owner), sealed).toString();
