import { directory, type Statement, workspace } from '../database/statement.js';

/** SQL of the name that replaces the name of an erased user. */
export const ERASED_NAME = `'Deleted user'`;

/** SQL of the address that replaces the address of an erased user. @param id SQL of the id of the user, as text */
export const erasedAddress = (id: string): string => `'deleted-' || ${id} || '@deleted.invalid'`;

/** Delete the rows of a user in tables of a workspace, by `tenant_id` and `user_id`. @param domain prefix of their names */
export const eraseUserRows = (domain: string, ...tables: string[]): Statement<never>[] =>
  tables.map((table) =>
    workspace.statement(
      `${domain}.erase_${table}`,
      `DELETE FROM ${table} WHERE tenant_id = $1 AND user_id = $2`,
    ),
  );

/** Delete the rows of an account in tables of the directory, by `account_id`. @param domain prefix of their names */
export const eraseAccountRows = (domain: string, ...tables: string[]): Statement<never>[] =>
  tables.map((table) =>
    directory.statement(`${domain}.erase_${table}`, `DELETE FROM ${table} WHERE account_id = $1`),
  );
