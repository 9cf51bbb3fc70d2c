import { Injectable } from '@nestjs/common';
import { Db } from '../../../../platform/database/db.js';
import { directory } from '../../../../platform/database/statement.js';
import type { Tx } from '../../../../platform/database/tx.js';
import type { PasskeyResponse } from './passkey.dto.js';
import type { NewCredential, StoredCredential } from './webauthn.js';
import type { Passkey } from '../../account-security.schema.js';

export interface StoredPasskey extends StoredCredential {
  id: string;
  accountId: string;
  name: string;
}

const LISTED = 'id, name, synced, created_at, last_used_at';
const STORED = `id, account_id AS "accountId", name, credential_id AS "credentialId", public_key AS "publicKey", counter, transports`;

const list = directory.statement<PasskeyResponse>(
  'passkeys.list',
  `SELECT ${LISTED} FROM passkeys WHERE account_id = $1 ORDER BY id DESC`,
);

const credentials = directory.statement<StoredPasskey>(
  'passkeys.credentials',
  `SELECT ${STORED} FROM passkeys WHERE account_id = $1 ORDER BY id`,
);

const byCredential = directory.statement<StoredPasskey>(
  'passkeys.by_credential',
  `SELECT ${STORED} FROM passkeys WHERE credential_id = $1`,
);

const insert = directory.statement<PasskeyResponse>(
  'passkeys.insert',
  `INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports, synced, name)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (credential_id) DO NOTHING RETURNING ${LISTED}`,
);

const rename = directory.statement<PasskeyResponse>(
  'passkeys.rename',
  `UPDATE passkeys SET name = $3 WHERE account_id = $1 AND id = $2 RETURNING ${LISTED}`,
);

const remove = directory.statement<PasskeyResponse>(
  'passkeys.remove',
  `DELETE FROM passkeys WHERE account_id = $1 AND id = $2 RETURNING ${LISTED}`,
);

// Only one of several concurrent assertions with the same counter succeeds.
const use = directory.statement<Pick<Passkey, 'id'>>(
  'passkeys.use',
  `UPDATE passkeys SET counter = $2, synced = $3, last_used_at = now()
    WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0)) RETURNING id`,
);

/** SQL of passkeys. */
@Injectable()
export class PasskeysRepository {
  constructor(private readonly db: Db) {}

  /** The passkeys of an account, newest first. */
  async list(accountId: string, reader: Pick<Db, 'query'> | Tx = this.db): Promise<PasskeyResponse[]> {
    return reader.query(list, [accountId]);
  }

  async credentials(accountId: string): Promise<StoredPasskey[]> {
    return this.db.query(credentials, [accountId]);
  }

  async byCredential(credentialId: Buffer): Promise<StoredPasskey | null> {
    return (await this.db.query(byCredential, [credentialId]))[0] ?? null;
  }

  /** @returns null when the credential is registered already */
  async insert(
    tx: Tx,
    id: string,
    accountId: string,
    name: string,
    credential: NewCredential,
  ): Promise<PasskeyResponse | null> {
    const { credentialId, publicKey, counter, transports, synced } = credential;
    const values = [id, accountId, credentialId, publicKey, counter, transports, synced, name];
    return (await tx.query(insert, values))[0] ?? null;
  }

  async rename(tx: Tx, accountId: string, id: string, name: string): Promise<PasskeyResponse | null> {
    return (await tx.query(rename, [accountId, id, name]))[0] ?? null;
  }

  async remove(tx: Tx, accountId: string, id: string): Promise<PasskeyResponse | null> {
    return (await tx.query(remove, [accountId, id]))[0] ?? null;
  }

  /** Records a use. @returns false when the counter did not increase, or the passkey was removed */
  async use(tx: Tx, id: string, counter: number, synced: boolean): Promise<boolean> {
    return (await tx.query(use, [id, counter, synced])).length > 0;
  }
}
