import type { SearchTables } from '../../../../platform/search/search-tables.js';

/**
 * Search tables of tasks. The keys of a task are its creator, its assignees and the owner of its folder. A query therefore
 * matches the keys of the caller and of every owner who shares a folder with the caller; task_members then decides access.
 */
export const TASK_SEARCH: SearchTables = {
  name: 'tasks',
  items: 'tasks',
  index: 'task_search',
  members: 'task_members',
  view: 'task_views',
  shown: ['summary', 'refs'],
  item: 'task_id',
  readers: 'task_finders(n)',
  audience: 'task_finders_name(n)',
  body: 'n.description',
  bodyJoin: '',
  bodyBytes: 'coalesce(octet_length(n.description), 0)',
  event: `e.type IN ('task.created', 'task.updated')`,
  // $3: the lexeme of a reader, without the reader.
  findable: `(SELECT string_agg(format('''%s''', $3::text || k.key), ' | ')::tsquery && $4::tsquery FROM (
        SELECT $2::uuid::text AS key
        UNION
        SELECT 'f' || f.owner_id FROM task_folder_members p JOIN task_folders f ON f.tenant_id = $1 AND f.id = p.folder_id
         WHERE p.tenant_id = $1 AND p.user_id = $2 AND p.role IS NOT NULL) k)`,
};
