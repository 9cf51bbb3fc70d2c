import type { RequestContext } from '../../platform/context/request-context.js';
import { TxHook } from '../../platform/events/tx-hooks.js';

/** A task that notes link back to, in a transaction that changes it. Its row is locked, no counter is. */
export interface LinkedTaskChange {
  ctx: RequestContext;
  taskId: string;
  title: string;
  createdAt: Date;
  noteIds: string[];
  /** Whether the links are to be there from now on, with this title, or not. */
  present: boolean;
  /** Whose counters the rest of the transaction will need: to be locked together with those of the notes. */
  people: string[];
}

/** Notes put their links back to tasks in order: when a task is deleted, restored or renamed. */
export const LINKED_TASKS_CHANGED = new TxHook<LinkedTaskChange[]>('linked tasks changed');
