export const DEMO_TENANT = { slug: 'demo', name: 'Demo Workspace', domains: ['demo.example'] };

/** Known to everybody who reads this: the demo workspace is for trying things out, never for real data. */
export const DEMO_PASSWORD = 'demo workspace password';

export const DEMO_USERS = [
  { email: 'alice@demo.example', name: 'Alice Martin', role: 'owner' },
  { email: 'bob@demo.example', name: 'Bob Okafor', role: 'admin' },
  { email: 'carol@demo.example', name: 'Carol Nguyen', role: 'member' },
] as const;

export const DEMO_NOTES = [
  {
    title: 'Welcome',
    labels: ['start here'],
    content:
      '<h1>Welcome</h1><p>This note lives in the demo workspace. Update it with the revision you read: <code>PATCH /apis/v1/notes/{id}</code> with <code>base_revision</code>.</p>',
  },
  {
    title: 'Team offsite',
    labels: ['planning', '2026'],
    content: '<h2>Agenda</h2><ol><li>Travel</li><li>Rooms</li><li>Budget</li></ol>',
  },
  {
    title: 'Việc cần làm 待办事项 قائمة المهام',
    labels: ['languages'],
    content: '<p dir="auto">Any language, any script: tiếng Việt, 中文, العربية.</p>',
  },
];

export const DEMO_TASK_FOLDER = {
  name: 'Offsite',
  color: '#2f80ed',
  members: [{ email: 'bob@demo.example', role: 'editor' as const }],
};

/** `in_days`: due so many days after the demo workspace was made. */
export const DEMO_TASKS = [
  {
    title: 'Book the rooms',
    description: '<p>Two nights, six people. Ask for a quote first.</p>',
    priority: 'high' as const,
    in_days: 3,
    assignees: [{ email: 'bob@demo.example' }],
    reminders: [{ minutes_before: 60 }],
    filed: true,
  },
  {
    title: 'Collect topics for the agenda',
    priority: 'normal' as const,
    in_days: 7,
    group: 'Agenda',
    filed: true,
  },
  {
    title: 'Weekly report',
    priority: 'normal' as const,
    in_days: 1,
    recurrence: { rrule: 'FREQ=WEEKLY', from: 'schedule' as const },
    filed: false,
  },
];
