import type { DemoName } from '../demo-data.js';

export interface DemoNote {
  owner: DemoName;
  title: string;
  content: string;
  labels: string[];
  /** Name of a folder of the owner. */
  folder?: string;
  invited?: DemoName[];
  /** Later texts: each becomes a revision. */
  revisions?: string[];
  trashed?: boolean;
}

export const NOTE_FOLDERS: Record<DemoName, string[]> = {
  alice: ['Projects', 'Personal'],
  bob: ['Facilities'],
  carol: ['Research'],
};

export const NOTES: DemoNote[] = [
  {
    owner: 'alice',
    title: 'Welcome',
    labels: ['start here'],
    content:
      '<h1>Welcome</h1><p>This note is part of the demo workspace. Update it with the revision that you read: <code>PATCH /apis/v1/notes/{id}</code> with <code>base_revision</code>.</p>',
    invited: ['bob', 'carol'],
  },
  {
    owner: 'alice',
    title: 'Team offsite',
    labels: ['planning', '2026'],
    folder: 'Projects',
    content: '<h2>Agenda</h2><ol><li>Travel</li><li>Rooms</li><li>Budget</li></ol>',
    revisions: [
      '<h2>Agenda</h2><ol><li>Travel</li><li>Rooms</li><li>Budget</li><li>Talks</li></ol>',
      '<h2>Agenda</h2><ol><li>Travel</li><li>Rooms</li><li>Budget: <b>4,000 €</b></li><li>Talks</li></ol>',
    ],
    invited: ['bob'],
  },
  {
    owner: 'alice',
    title: 'Việc cần làm 待办事项 قائمة المهام',
    labels: ['languages'],
    folder: 'Personal',
    content: '<p dir="auto">Any language, any script: tiếng Việt, 中文, العربية.</p>',
  },
  {
    owner: 'alice',
    title: 'Old packing list',
    labels: [],
    content: '<p>Tent, boots, map</p>',
    trashed: true,
  },
  {
    owner: 'bob',
    title: 'Meeting rooms',
    labels: ['office'],
    folder: 'Facilities',
    content:
      '<table><tbody><tr><th>Room</th><th>Seats</th></tr><tr><td>North</td><td>8</td></tr><tr><td>South</td><td>14</td></tr></tbody></table>',
    invited: ['alice', 'carol'],
  },
  {
    owner: 'bob',
    title: 'Cancelled workshop',
    labels: ['office'],
    content: '<p>Moved to spring.</p>',
    trashed: true,
  },
  {
    owner: 'carol',
    title: 'Interview notes',
    labels: ['research', 'planning'],
    folder: 'Research',
    content:
      '<h2>Findings</h2><ul><li>Search is the first thing people try.</li><li>Long mails stay unread.</li></ul>',
    invited: ['alice'],
  },
  {
    owner: 'carol',
    title: 'Discarded draft',
    labels: ['research'],
    content: '<p>Too long.</p>',
    trashed: true,
  },
];
