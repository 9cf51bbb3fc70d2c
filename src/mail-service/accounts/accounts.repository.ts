import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { errorCode } from '../../platform/database/database-errors.js';
import { mailService } from '../mail-service.schema.js';
import type { Tx } from '../../platform/database/tx.js';
import { domainOf, isPostmaster, withoutTag } from './addresses.js';

export interface Account {
  id: string;
  username: string;
  address: string;
  name: string;
  password: string | null;
}

const COLUMNS = 'id, username, address, name, password';

const byId = mailService.statement<Account>('accounts.by_id', `SELECT ${COLUMNS} FROM users WHERE id = $1`);
const byLogin = mailService.statement<Account>(
  'accounts.by_login',
  `SELECT ${COLUMNS} FROM users WHERE username = $1 OR address = $1 ORDER BY username = $1 DESC LIMIT 1`,
);
/** `matched` is the address or an alias. */
const byAddresses = mailService.statement<Account & { matched: string }>(
  'accounts.by_addresses',
  `SELECT alias.address AS matched, account.id, account.username, account.address, account.name, account.password
   FROM aliases AS alias JOIN users AS account ON account.id = alias.user_id
   WHERE alias.address = ANY ($1::text[])
     AND NOT EXISTS (SELECT FROM users AS holder WHERE holder.address = alias.address)
   UNION ALL
   SELECT address, ${COLUMNS} FROM users WHERE address = ANY ($1::text[])`,
);
/** The oldest account of each domain. */
const postmasters = mailService.statement<Account & { domain: string }>(
  'accounts.postmasters',
  `SELECT DISTINCT ON (domain) domain, ${COLUMNS}
   FROM (SELECT substring(address FROM '[^@]*$') AS domain, * FROM users) AS account
   WHERE substring(address FROM '[^@]*$') = ANY ($1::text[]) ORDER BY domain, created_at, id`,
);
const oldest = mailService.statement<Account>(
  'accounts.oldest',
  `SELECT ${COLUMNS} FROM users ORDER BY created_at, id LIMIT 1`,
);
const insert = mailService.statement<{ id: string }>(
  'accounts.insert',
  `INSERT INTO users (id, username, address, name, password) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT DO NOTHING RETURNING id`,
);
const setAddress = mailService.statement<never>(
  'accounts.set_address',
  `UPDATE users SET address = $2 WHERE id = $1`,
);
const addAlias = mailService.statement<never>(
  'accounts.add_alias',
  `INSERT INTO aliases (address, user_id) VALUES ($2, $1)
   ON CONFLICT (address) DO UPDATE SET user_id = excluded.user_id, created_at = now()`,
);
const endAlias = mailService.statement<never>('accounts.end_alias', `DELETE FROM aliases WHERE address = $1`);
const addBoxes = mailService.statement<never>(
  'accounts.add_boxes',
  `INSERT INTO mailboxes (user_id, id, path, special_use, retention)
   SELECT $1, box.id, box.path, box.special_use, box.retention
   FROM jsonb_to_recordset($2::jsonb) AS box (id text, path text, special_use text, retention bigint)`,
);
const change = mailService.statement<{ id: string }>(
  'accounts.change',
  `UPDATE users SET password = coalesce($2, password), name = coalesce($3, name) WHERE id = $1 RETURNING id`,
);
const dropTokens = mailService.statement<never>(
  'accounts.drop_tokens',
  `DELETE FROM access_tokens WHERE user_id = $1`,
);
const lock = mailService.statement<Pick<Account, 'id' | 'address'>>(
  'accounts.lock',
  `SELECT id, address FROM users WHERE id = $1 FOR UPDATE`,
);
const deleteMessages = mailService.statement<never>(
  'accounts.delete_messages',
  `WITH deleted AS (DELETE FROM messages WHERE user_id = $1 RETURNING raw_id)
   SELECT forget_raws(array_agg(DISTINCT raw_id)) FROM deleted`,
);
const deleteQueued = mailService.statement<never>(
  'accounts.delete_queued',
  `WITH deleted AS (DELETE FROM queue WHERE user_id = $1 RETURNING raw_id)
   SELECT forget_raws(array_agg(DISTINCT raw_id)) FROM deleted`,
);
const remove = mailService.statement<never>('accounts.remove', `DELETE FROM users WHERE id = $1`);
const ownDomains = mailService.statement<{ domain: string }>(
  'accounts.own_domains',
  `SELECT domain FROM unnest($1::text[]) AS domain
   WHERE EXISTS (SELECT FROM users WHERE substring(address FROM '[^@]*$') = domain)
      OR EXISTS (SELECT FROM aliases WHERE substring(address FROM '[^@]*$') = domain)`,
);
const storage = mailService.statement<{ used: string }>(
  'accounts.storage',
  `SELECT storage_used AS used FROM users WHERE id = $1`,
);

/** A mailbox of every new account. */
export interface FirstMailbox {
  id: string;
  path: string;
  special_use: string;
  retention: number | null;
}

/** SQL of accounts. */
@Injectable()
export class AccountsRepository {
  constructor(private readonly db: Db) {}

  async find(id: string): Promise<Account | undefined> {
    return (await this.db.query(byId, [id]))[0];
  }

  /** @param login a username or an address, normalised */
  async findByLogin(login: string): Promise<Account | undefined> {
    return (await this.db.query(byLogin, [login]))[0];
  }

  /**
   * The accounts of addresses and aliases. An address with a tag belongs to the account without it; `postmaster@` without an account of
   * its own belongs to the oldest account of the domain, `postmaster` to the oldest of all (RFC 5321 4.5.1).
   * @param addresses normalised
   */
  async owners(addresses: readonly string[]): Promise<Map<string, Account>> {
    const rows = await this.db.query(byAddresses, [
      [...new Set([...addresses, ...addresses.map(withoutTag)])],
    ]);
    const byAddress = new Map(rows.map(({ matched, ...account }) => [matched, account]));
    const owners = new Map<string, Account>();
    for (const address of addresses) {
      const owner = byAddress.get(address) ?? byAddress.get(withoutTag(address));
      if (owner) owners.set(address, owner);
    }
    const unowned = addresses.filter((address) => isPostmaster(address) && !owners.has(address));
    if (unowned.length === 0) return owners;
    const isBare = (address: string) => !address.includes('@');
    const [first] = unowned.some(isBare) ? await this.db.query(oldest, []) : [];
    const found = await this.db.query(postmasters, [unowned.map(domainOf)]);
    for (const address of unowned) {
      const owner = isBare(address) ? first : found.find(({ domain }) => domain === domainOf(address));
      if (owner) owners.set(address, owner);
    }
    return owners;
  }

  /** The alias of another account ends. @returns false when the username or the address is taken */
  async create(account: Account, boxes: readonly FirstMailbox[]): Promise<boolean> {
    return this.db.tx(async (tx) => {
      const { id, username, address, name, password } = account;
      const [made] = await tx.query(insert, [id, username, address, name, password]);
      if (!made) return false;
      await tx.query(endAlias, [address]);
      await tx.query(addBoxes, [id, JSON.stringify(boxes)]);
      return true;
    });
  }

  /** Gives an account another address. The former one becomes an alias, and the alias of another account ends. */
  async changeAddress(id: string, address: string): Promise<'changed' | 'unknown' | 'taken'> {
    try {
      return await this.db.tx(async (tx) => {
        const [account] = await tx.query(lock, [id]);
        if (!account) return 'unknown';
        if (account.address === address) return 'changed';
        await tx.query(setAddress, [id, address]);
        // After the change, which waits for another account that takes or leaves the address.
        await tx.query(endAlias, [address]);
        await tx.query(addAlias, [id, account.address]);
        return 'changed';
      });
    } catch (error) {
      if (errorCode(error) === '23505') return 'taken';
      throw error;
    }
  }

  /** A new password revokes all tokens. @returns false for an unknown account */
  async change(
    id: string,
    { password, name }: { password: string | undefined; name: string | undefined },
  ): Promise<boolean> {
    return this.db.tx(async (tx: Tx) => {
      const [changed] = await tx.query(change, [id, password ?? null, name ?? null]);
      if (changed && password !== undefined) await tx.query(dropTokens, [id]);
      return changed !== undefined;
    });
  }

  /** Deletes an account with all its messages, also queued ones. @returns false for an unknown account */
  async remove(id: string): Promise<boolean> {
    return this.db.tx(async (tx: Tx) => {
      // A mailbox may have more rows than can be deleted within the time limit of a request.
      await tx.allowLongStatements();
      if ((await tx.query(lock, [id])).length === 0) return false;
      for (const statement of [deleteQueued, deleteMessages, remove]) await tx.query(statement, [id]);
      return true;
    });
  }

  /** The domains of accounts among `domains`. */
  async ownDomains(domains: readonly string[]): Promise<Set<string>> {
    const rows = await this.db.query(ownDomains, [[...new Set(domains)]]);
    return new Set(rows.map(({ domain }) => domain));
  }

  /** Stored bytes of an account. */
  async readUsage(id: string): Promise<number> {
    return Number((await this.db.query(storage, [id]))[0]?.used ?? 0);
  }
}
