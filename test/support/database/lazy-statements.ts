/** Requests whose statements are created at the first request. */
export const LAZY_STATEMENTS = [
  '/notes',
  '/notes?include=content',
  '/tasks',
  '/tasks?status=open&assignee=me',
  '/search/notes?q=word',
  '/search/tasks?q=word',
  '/search/calendar?q=word',
  '/notes/changes',
  '/task_folders',
];
