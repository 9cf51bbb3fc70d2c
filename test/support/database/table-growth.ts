import type { TableGrowth } from '../../../src/platform/database/schema/schema-part.js';
import { schema } from '../../../src/schema.js';

/** How a table keeps its size, as its domain declares it in the schema. */
export interface Growth {
  table: string;
  /** The module that declares it. */
  owner: string;
  kind: keyof TableGrowth;
  /** The job, or the explanation. */
  by?: string;
}

/** The declarations of all domains, one for each table that they name. */
export const TABLE_GROWTH: readonly Growth[] = schema.parts.flatMap(({ owner, growth = {} }) =>
  Object.entries(growth).flatMap(([kind, tables]: [string, NonNullable<TableGrowth[keyof TableGrowth]>]) =>
    Array.isArray(tables)
      ? tables.map((table: string): Growth => ({ table, owner, kind: kind as keyof TableGrowth }))
      : Object.entries(tables).flatMap(([by, names]: [string, readonly string[]]) =>
          names.map((table): Growth => ({ table, owner, kind: kind as keyof TableGrowth, by })),
        ),
  ),
);

/** Values of a row that the job of its table deletes, beside its times. */
export const TRIMMED_ROWS: Readonly<Record<string, Record<string, unknown>>> = {
  chat_attachments: { room_id: null, message_seq: null },
  notifications: { state: 'dismissed' },
  scheduling_messages: { direction: 'in' },
  system_mails: { state: 'sent' },
  tenant_invitations: { state: 'accepted' },
};
