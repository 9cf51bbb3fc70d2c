import { TxHook } from '../../platform/events/tx-hooks.js';

/** A member is about to change these fields of their own profile. An effect may reject them. */
export const PROFILE_CHANGING = new TxHook<{ tenantId: string; fields: readonly string[] }>(
  'profile changing',
);

/** A member has changed their profile. */
export const PROFILE_CHANGED = new TxHook<{ tenantId: string; userId: string }>('profile changed');
