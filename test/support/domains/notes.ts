import type { TestApp, TestUser } from '../app.ts';

/** Copies the only own note of a user, with its folder. */
export async function copyNote(app: TestApp, { id: owner }: TestUser, copies: number): Promise<void> {
  await app.sql(
    `INSERT INTO notes SELECT copy.* FROM notes note, generate_series(1, $2::int) n,
       LATERAL jsonb_populate_record(note, jsonb_build_object('id', uuid_v7(), 'title', n)) copy WHERE note.owner_id = $1`,
    [owner, copies],
  );
  await app.sql(
    `INSERT INTO note_members
     SELECT copy.* FROM note_members seed
       JOIN LATERAL (SELECT id, row_number() OVER () AS n FROM notes
                      WHERE tenant_id = seed.tenant_id AND owner_id = $1 AND id <> seed.note_id) note ON true,
       LATERAL jsonb_populate_record(seed, jsonb_build_object('note_id', note.id, 'seq', 1000 + note.n)) copy
      WHERE seed.user_id = $1 AND seed.role = 'owner'`,
    [owner],
  );
  await app.sql(`UPDATE sync_heads SET head = 1001 + $2::int WHERE user_id = $1`, [owner, copies]);
}
