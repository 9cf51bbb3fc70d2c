import type { Mailbox } from './mailboxes.repository.js';

/** Optional counters of a mailbox response. */
export interface Extras {
  counters: boolean;
  sizes: boolean;
}

/** `specialUse` is null for the INBOX and missing for mailboxes that users created. */
export function specialUseOf(specialUse: string | null): { specialUse?: string | null } {
  if (specialUse === null) return {};
  return { specialUse: specialUse === '\\Inbox' ? null : specialUse };
}

export function presentMailbox(box: Mailbox, { counters, sizes }: Extras): Record<string, unknown> {
  return {
    id: box.id,
    name: box.path.slice(box.path.lastIndexOf('/') + 1),
    path: box.path,
    ...specialUseOf(box.special_use),
    modifyIndex: Number(box.modify_index),
    subscribed: box.subscribed,
    hidden: box.hidden,
    encryptMessages: box.encrypt_messages,
    ...(box.retention !== null && { retention: Number(box.retention) }),
    ...(counters && { total: Number(box.total), unseen: Number(box.unseen) }),
    // WildDuck omits the size of an empty mailbox.
    ...(sizes && Number(box.total) > 0 && { size: Number(box.size) }),
  };
}
