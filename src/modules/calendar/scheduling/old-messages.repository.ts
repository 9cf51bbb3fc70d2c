import { workspace } from '../../../platform/database/statement.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';

/** Messages are kept for 180 days. Index scheduling_messages_age. */
export const deleteOld: Sweep = workspace.statement(
  'scheduling.purge',
  deletion('scheduling_messages', `created_at < now() - interval '180 days'`),
  { reach: 'cell' },
);
