import { TxHook } from '../../platform/events/tx-hooks.js';

/** An account is closed. A handler removes credentials that a reopened account must not have. */
export const ACCOUNT_CLOSED = new TxHook<{ accountId: string }>('account closed');
