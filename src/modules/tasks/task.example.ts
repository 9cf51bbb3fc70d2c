import type { TaskResponse } from './task.response.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00.000Z';
const BOB = { id: ID, email: 'bob@example.com', name: 'Bob Okafor' };

/** A task as the documentation shows it where no schema can show it. */
export const TASK_EXAMPLE: TaskResponse = {
  id: ID,
  title: 'Book the rooms',
  description: '<p>Two nights, six people</p>',
  status: 'open',
  done: false,
  completed_at: null,
  date: '2026-12-01',
  due_at: null,
  time_zone: 'Europe/Paris',
  recurrence: null,
  next_task_id: null,
  reminders: [],
  priority: 'normal',
  group: 'Travel',
  folder_id: null,
  labels: ['offsite'],
  assignees: [BOB],
  references: [],
  subtasks: [],
  attachments: [],
  comments_count: 0,
  position: 'h0Uu5K2fQxT',
  role: 'owner',
  revision: 4,
  created_by: ID,
  creator: BOB,
  created_at: TIME,
  updated_at: TIME,
  updated_by: ID,
  deleted: false,
  deleted_at: null,
  deleted_by: null,
  purge_at: null,
};
