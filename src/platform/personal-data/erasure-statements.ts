import { directory, type Statement, workspace } from '../database/statement.js';

/** SQL of the name that replaces the name of an erased user. */
export const ERASED_NAME = `'Deleted user'`;

/** SQL of the address that replaces the address of an erased user. @param id SQL of the id of the user, as text */
export const erasedAddress = (id: string): string => `'deleted-' || ${id} || '@deleted.invalid'`;

/** Deletes the rows of a user in a table of a workspace, by `tenant_id` and `user_id`. */
export const eraseUserRows = (name: string, table: string): Statement<never> =>
  workspace.statement(name, `DELETE FROM ${table} WHERE tenant_id = $1 AND user_id = $2`);

/** Deletes the rows of an account in a table of the directory, by `account_id`. */
export const eraseAccountRows = (name: string, table: string): Statement<never> =>
  directory.statement(name, `DELETE FROM ${table} WHERE account_id = $1`);
