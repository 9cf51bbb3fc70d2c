import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Ledger } from './load.ts';

/**
 * Every acknowledged write is in the database, each file has its content, and no event fails for longer than a fault lasts.
 * Missing data and such events become violations.
 * @param base address of a server
 */
export async function verify(ledger: Ledger, databaseUrl: string, base: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (const [table, ids] of Object.entries(ledger.written)) {
    const { rows } = await client.query(`SELECT id FROM ${table} WHERE id::text = ANY ($1)`, [[...ids]]);
    if (rows.length !== ids.size) ledger.violations.push(`${table}: ${ids.size - rows.length} writes lost`);
  }
  const { rows } = await client.query('SELECT id, revision FROM notes');
  for (const { id, revision } of rows)
    if (revision < (ledger.notes.get(id) ?? 0)) ledger.violations.push(`notes: an edit of ${id} is lost`);
  // Its six attempts took a minute.
  const failed = await client.query('SELECT type, last_error FROM outbox WHERE attempts > 5 LIMIT 10');
  for (const { type, last_error: error } of failed.rows)
    ledger.violations.push(`the event ${type} fails again and again: ${error}`);
  await client.end();
  const hash = (content: string): string => createHash('sha256').update(content).digest('hex');
  for (const { task, id, content, token } of ledger.files) {
    const url = `${base}/apis/v1/tasks/${task}/attachments/${id}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    const text = await response.text();
    if (hash(text) !== hash(content)) ledger.violations.push(`the file ${id} is lost: ${response.status}`);
  }
}
