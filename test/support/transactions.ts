import { fileURLToPath } from 'node:url';
import type { Db } from '../../src/platform/database/db.js';

/**
 * The transactions that touch both homes, by the module that begins them, each with the reason. Once workspaces have
 * databases of their own, each of these becomes two transactions and an event; no other module may add one.
 */
const SPANNING: Record<string, readonly string[]> = {
  provision: ['provisioning: accounts, tenants and members appear together'],
  access: [
    'status of a member: their sessions of the workspace end with it',
    'members of a group, whose roles follow: tokens are checked anew (access_changes)',
  ],
  settings: ['closing a profile: the membership ends, and the account with the last one'],
  'account-security': [
    'new password: application passwords end with it',
    'recovery by the operator: the event goes to a workspace of the account',
  ],
  'sign-in': ['clients of services: the account of the service and its membership'],
  cli: ['status of an account: its memberships follow'],
  test: ['a test calls the interfaces of several modules in one transaction'],
  tenants: ['transfer of content and end of a membership'],
};

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The module of the first frame outside `platform`: the code that asked for the transaction. */
function beginner(stack: string): string {
  for (const frame of stack.split(ROOT)) {
    const part = /^(?:(?:src|dist)\/(?:modules\/)?([\w-]+)|test\/(?!support|contract)[\w-]+)\//.exec(frame);
    const module = part && (part[1] ?? 'test');
    if (module && module !== 'platform') return module;
  }
  return 'platform';
}

/** Makes each transaction fail that touches the directory and a workspace in a module without a reason for it. */
export function checkTransactions(db: Db): void {
  const begin = db.tx.bind(db);
  db.tx = (work) => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 40;
    const module = beginner(new Error('here').stack ?? '');
    Error.stackTraceLimit = stackTraceLimit;
    return begin(async (tx) => {
      const names: Record<string, string[]> = {};
      const query = tx.query.bind(tx);
      tx.query = (statement, values) => {
        (names[statement.home] ??= []).push(statement.name);
        return query(statement, values);
      };
      const result = await work(tx);
      if (names['directory'] && names['workspace'] && !(module in SPANNING)) {
        const both = [...names['directory'], ...names['workspace']].join(', ');
        throw new Error(`a transaction of ${module} touches the directory and a workspace: ${both}`);
      }
      return result;
    });
  };
}
