import type { Mailbox } from './mailboxes.repository.js';

/** What of its figures is asked for. */
export interface Extras {
  counters: boolean;
  sizes: boolean;
}

/** `specialUse` is null for the INBOX and absent for mailboxes people made. */
export function specialUseOf(specialUse: string | null): { specialUse?: string | null } {
  if (specialUse === null) return {};
  return { specialUse: specialUse === '\\Inbox' ? null : specialUse };
}

/** A mailbox as it is answered. */
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
    // An empty mailbox has no size upstream.
    ...(sizes && Number(box.total) > 0 && { size: Number(box.size) }),
  };
}
