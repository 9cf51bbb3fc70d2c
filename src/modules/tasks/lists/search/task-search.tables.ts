import type { SearchTables } from '../../../../platform/search/search-tables.js';
import { TASK_SUMMARY_BYTES } from '../../task.entity.js';

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
  readers: 'task_finders(item)',
  audience: 'task_finders_name(item)',
  body: 'item.description',
  bodyBytes: 'coalesce(octet_length(item.description), 0)',
  hitBytes: TASK_SUMMARY_BYTES,
  event: `event.type IN ('task.created', 'task.updated')`,
  // $3: the prefix of the lexemes of readers; the key of a reader follows it.
  findable: `(SELECT string_agg(format('''%s''', $3::text || keys.key), ' | ')::tsquery && $4::tsquery FROM (
        SELECT $2::uuid::text AS key
        UNION
        SELECT 'f' || folder.owner_id FROM task_folder_members member JOIN task_folders folder ON folder.tenant_id = $1 AND folder.id = member.folder_id
         WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.role IS NOT NULL) keys)`,
};
