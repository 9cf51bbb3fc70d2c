import { workspace } from '../database/statement.js';

/** The blobs that rows refer to, in the order of their names in the store. */
export const keptBlobs = workspace.statement<{
  tenant_id: string;
  id: string;
  size: string;
  sha256: string;
}>(
  'blobs.kept',
  `SELECT tenant_id, id, size::text, encode(sha256, 'hex') AS sha256 FROM blobs WHERE state = 'kept' ORDER BY tenant_id, id`,
  { reach: 'cell' },
);
