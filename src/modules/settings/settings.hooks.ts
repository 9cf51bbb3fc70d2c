import { TxHook } from '../../platform/events/tx-hooks.js';

/** A member has changed their profile. */
export const PROFILE_CHANGED = new TxHook<{ tenantId: string; userId: string }>('profile changed');
