import type { DemoName } from '../demo-data.js';

export interface DemoTask {
  owner: DemoName;
  /** Days from today to the due time, at ten in the morning UTC. */
  inDays: number;
  fields: {
    title: string;
    description?: string;
    priority?: string;
    group?: string;
    labels?: string[];
    status?: string;
  };
  /** Whether the task is in the shared folder. */
  shared?: boolean;
  assignees?: DemoName[];
  recurrence?: string;
  subtasks?: { title: string; done?: boolean }[];
  comments?: [DemoName, string][];
  attachment?: { name: string; type: string; content: string };
  done?: boolean;
  trashed?: boolean;
}

export const TASK_FOLDER = { name: 'Offsite', color: '#2f80ed' };

export const TASKS: DemoTask[] = [
  {
    owner: 'alice',
    inDays: 3,
    fields: {
      title: 'Book the rooms',
      description: '<p>Two nights, six people. Ask for a quote first.</p>',
      priority: 'high',
      labels: ['planning'],
    },
    shared: true,
    assignees: ['bob'],
    subtasks: [{ title: 'Ask for a quote', done: true }, { title: 'Sign the contract' }],
    comments: [
      ['bob', 'The hotel by the lake has six rooms left.'],
      ['alice', 'Please take them.'],
      ['carol', 'I would share a room.'],
    ],
    attachment: { name: 'quote.txt', type: 'text/plain', content: 'Six rooms, two nights: 1,860 EUR\n' },
  },
  {
    owner: 'alice',
    inDays: 7,
    fields: { title: 'Collect topics for the agenda', priority: 'normal', group: 'Agenda' },
    shared: true,
    assignees: ['carol', 'bob'],
  },
  {
    owner: 'alice',
    inDays: 1,
    fields: { title: 'Weekly report', priority: 'normal', labels: ['report'] },
    recurrence: 'FREQ=WEEKLY',
  },
  { owner: 'alice', inDays: -2, fields: { title: 'Renew the domain', priority: 'urgent' } },
  { owner: 'alice', inDays: 9, fields: { title: 'Rent bicycles' }, trashed: true },
  {
    owner: 'bob',
    inDays: 2,
    fields: { title: 'Check the fire extinguishers', group: 'Office' },
    recurrence: 'FREQ=MONTHLY;INTERVAL=6',
    assignees: ['carol'],
  },
  { owner: 'bob', inDays: 5, fields: { title: 'Order whiteboard pens', priority: 'low' }, trashed: true },
  { owner: 'carol', inDays: 4, fields: { title: 'Prepare the usability talk', labels: ['research'] } },
  { owner: 'carol', inDays: -1, fields: { title: 'Send the survey' }, done: true },
  { owner: 'carol', inDays: 6, fields: { title: 'Print badges' }, trashed: true },
];
