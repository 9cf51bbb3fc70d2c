// The data set of tasks.bench.mjs, written by the application's own functions.
import { bodies } from '../support/html.mjs';

export const FOLDER = '0199aaaa-bbbb-7ccc-8ddd-0000000f01de';
export const NOTE = '0199aaaa-bbbb-7ccc-8ddd-00000000407e';

const BATCH = 1_000;
const TEXTS = 500;
const TITLES = [
  'project plan',
  'budget of the team',
  'order chairs',
  'call the customer',
  'migrate the database',
];
const EVERY = 1_000;

/**
 * @param people the first owns the large folder, the second and the third are members of it; tasks beyond the folder
 *   belong to the others in turn
 */
export async function seedTasks(admin, people, { tasks, folder }) {
  const [{ id: owner, tenant_id: tenant }, member, other] = people;
  await admin.query(
    'CREATE TEMP TABLE texts AS SELECT n - 1 AS n, t FROM unnest($1::text[]) WITH ORDINALITY AS u (t, n)',
    [bodies(TEXTS, 300)],
  );
  await admin.query(
    `INSERT INTO task_folders (tenant_id, id, owner_id, name, position, member_ids, member_roles, revision, created_at, updated_at)
     VALUES ($1, $3, $2, 'Large', 1, $4, '{editor,viewer}', 1, now(), now())`,
    [tenant, owner, FOLDER, [member.id, other.id]],
  );
  await admin.query(`SELECT task_tree_apply($1, ARRAY[$2::uuid], ARRAY[$2::uuid], '{}', '{}', NULL)`, [
    tenant,
    FOLDER,
  ]);
  const others = people.slice(3).map((person) => person.id);
  for (let from = 0; from < tasks; from += BATCH) {
    const inFolder = from < folder;
    await admin.query(
      `SELECT count(w.outcome) FROM generate_series($5::int, $5 + $6::int - 1) AS g
         JOIN texts ON texts.n = g % ${TEXTS},
       LATERAL task_create($1, CASE WHEN $3::uuid IS NULL THEN ($2::uuid[])[1 + g % cardinality($2::uuid[])] ELSE ($2::uuid[])[1] END,
         gen_random_uuid(), jsonb_build_object(
           'title', ($4::text[])[1 + g % cardinality($4::text[])] || ' ' || g || CASE WHEN g % ${EVERY} = 7 THEN ' umbrella' ELSE '' END,
           'description', texts.t, 'folder_id', $3::uuid,
           'status', CASE WHEN g % ${EVERY} = 1 THEN 3 WHEN g % 10 < 6 THEN 0 WHEN g % 10 < 7 THEN 1 ELSE 2 END,
           'priority', CASE WHEN g % ${EVERY} = 2 THEN 6 WHEN g % 10 = 3 THEN 4 ELSE 2 END,
           'labels', CASE WHEN g % ${EVERY} = 3 THEN '["rare"]'::jsonb ELSE '["team"]' END,
           'refs', CASE WHEN g % ${EVERY} = 4 THEN jsonb_build_array(jsonb_build_object('type', 'note', 'id', $7::text)) ELSE '[]' END,
           'assignee_ids', CASE WHEN g % 20 = 5 THEN jsonb_build_array(($2::uuid[])[1]) WHEN g % ${EVERY} = 6 THEN jsonb_build_array($8::text) ELSE '[]' END)
         || CASE WHEN g % 4 = 0 THEN '{}' ELSE jsonb_build_object('date', (current_date - 120 + g % 360)::text) END) AS w`,
      [
        tenant,
        inFolder ? [owner] : others,
        inFolder ? FOLDER : null,
        TITLES,
        from,
        Math.min(BATCH, tasks - from),
        NOTE,
        other.id,
      ],
    );
  }
}
