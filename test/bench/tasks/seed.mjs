// The data set of tasks.bench.mjs, made by the rules of the application and written by its stored function.
import { randomUUID } from 'node:crypto';
import { positionAfter } from '../../../dist/modules/tasks/model/rules/task-row.js';
import { createTask } from '../../../dist/modules/tasks/model/rules/task-rules.js';
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
const DAY_MS = 86_400_000;

/**
 * @param people the first owns the large folder, the second and the third are members of it; tasks beyond the folder
 *   belong to the others in turn
 */
export async function seedTasks(admin, people, { tasks, folder }) {
  const [{ id: owner, tenant_id: tenant }, member, other] = people;
  const texts = bodies(TEXTS, 300);
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
    const writes = Array.from({ length: Math.min(BATCH, tasks - from) }, (_, n) => {
      const g = from + n;
      const creator = from < folder ? owner : others[g % others.length];
      const more = { folder_id: from < folder ? FOLDER : null, description: texts[g % TEXTS] };
      return writeOf(creator, { ...patchOf(g, owner, other.id), ...more });
    });
    await admin.query(
      `SELECT count(stored.outcome) FROM jsonb_array_elements($2) AS given (write),
       LATERAL task_store($1, (write#>>'{row,creator_id}')::uuid, (write#>>'{row,id}')::uuid, write) stored`,
      [tenant, JSON.stringify(writes)],
    );
  }
}

/** The fields of a task: rare values concern one task in a thousand. */
function patchOf(g, owner, other) {
  const rare = g % EVERY;
  const day = new Date(Date.now() + ((g % 360) - 120) * DAY_MS).toISOString().slice(0, 10);
  return {
    title: `${TITLES[g % TITLES.length]} ${g}${rare === 7 ? ' umbrella' : ''}`,
    status: rare === 1 ? 3 : g % 10 < 6 ? 0 : g % 10 < 7 ? 1 : 2,
    priority: rare === 2 ? 6 : g % 10 === 3 ? 4 : 2,
    labels: [rare === 3 ? 'rare' : 'team'],
    refs: rare === 4 ? [{ type: 'note', id: NOTE }] : [],
    assignee_ids: g % 20 === 5 ? [owner] : rare === 6 ? [other] : [],
    ...(g % 4 !== 0 && { date: day }),
  };
}

/** The creation of a task, as `task_store` takes it. */
function writeOf(userId, patch) {
  const id = randomUUID();
  const now = new Date();
  const facts = {
    now,
    folderRole: 'owner',
    endPosition: positionAfter(null, now),
    inactive: [],
    timeZone: 'UTC',
  };
  const { task: row, activity, events } = createTask(facts, { id, userId, patch });
  return {
    is_new: true,
    row,
    activity,
    events: events.map(({ type }) => ({ id: randomUUID(), type, payload: { task_id: id } })),
  };
}
