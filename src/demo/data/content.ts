import type { DemoName } from '../demo-client.js';

export const DEMO_ADDRESSBOOK = { name: 'Partners', color: '#27ae60', default_country: 'CZ' };

/** Contacts of the category `partners` are in the shared address book. */
export const CONTACTS = [
  {
    external_id: 'maria-silva',
    name: { given: 'Maria', family: 'Silva' },
    organization: { name: 'Acme', units: ['Research'] },
    job_title: 'Head of Research',
    emails: [{ value: 'maria.silva@partner.example', types: ['work'], primary: true }],
    phones: [{ value: '601 123 456', types: ['cell'] }],
    addresses: [
      { street: 'Street 1', locality: 'Prague', postal_code: '110 00', country_code: 'CZ', types: ['work'] },
    ],
    dates: [{ type: 'birthday', month: 4, day: 30 }],
    categories: ['partners'],
  },
  {
    external_id: 'acme',
    kind: 'org',
    organization: { name: 'Acme' },
    phones: ['+420 224 000 000'],
    urls: ['https://partner.example'],
    categories: ['partners'],
  },
  {
    external_id: 'wang-xiaoming',
    full_name: '王小明',
    emails: ['wang@partner.example'],
    notes: 'Speaks at the offsite.',
    categories: ['speakers'],
  },
  {
    external_id: 'jose-angstrom',
    full_name: 'José Ångström',
    nicknames: ['Pepe'],
    phones: [{ value: '+46 8 123 456 78', types: ['home'] }],
    categories: ['friends'],
  },
];

/** The contacts of the phone of each user. */
export const PHONE_CONTACTS = [
  { external_id: 'home', full_name: 'Home', phones: [{ value: '+49 30 901820', types: ['home'] }] },
  { external_id: 'taxi', full_name: 'Taxi', phones: [{ value: '+49 30 202020', types: ['work'] }] },
];

export const SELF_CARD = { organization: { name: 'Demo Workspace', units: ['Research'] }, nicknames: ['Al'] };

/** A conversation: each message is a reply to the one before. */
export const THREAD: {
  from: DemoName;
  to: DemoName[];
  subject: string;
  html: string;
  withAgenda?: boolean;
}[] = [
  {
    from: 'alice',
    to: ['bob', 'carol'],
    subject: 'Offsite in May',
    html: '<p>Hello both,</p><p>the draft of the agenda is attached. Which week suits you?</p>',
    withAgenda: true,
  },
  {
    from: 'bob',
    to: ['alice', 'carol'],
    subject: 'Re: Offsite in May',
    html: '<p>The second week, please.</p>',
  },
  {
    from: 'carol',
    to: ['alice', 'bob'],
    subject: 'Re: Offsite in May',
    html: '<p>Fine with me. I book the train.</p>',
  },
];

export const AGENDA = { filename: 'agenda.txt', text: 'Travel\nRooms\nBudget\nTalks\n' };

/** The attachment that the examples of the API description download. */
export const HELLO = { filename: 'hello.txt', text: 'Hello' };

/** A mailbox of each user. */
export const OWN_MAILBOX = 'Archive';

/** The first message of each inbox. */
export const LETTERS: { from: DemoName; to: DemoName; subject: string; text: string }[] = [
  { from: 'bob', to: 'alice', subject: 'Keys of the new office', text: 'They are at the reception.' },
  { from: 'carol', to: 'bob', subject: 'Survey results', text: '42 responses so far.' },
  {
    from: 'alice',
    to: 'carol',
    subject: 'Your talk',
    text: 'Twenty minutes, with questions. Is that enough?',
  },
];

export interface DemoNote {
  owner: DemoName;
  title: string;
  content: string;
  labels: string[];
  /** Name of a folder of the owner. */
  folder?: string;
  invited?: DemoName[];
  /** Later texts, each of which becomes a revision. */
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

/** The first user creates the room; the messages follow in order. */
export interface DemoRoom {
  fields: { type: 'direct' | 'group' | 'channel'; name?: string; topic?: string; visibility?: 'tenant' };
  members: [DemoName, ...DemoName[]];
  messages: [DemoName, string][];
}

export const ROOMS: DemoRoom[] = [
  {
    fields: { type: 'channel', name: 'General', topic: 'News for all of us', visibility: 'tenant' },
    members: ['alice', 'bob', 'carol'],
    messages: [
      ['alice', 'Welcome! The agenda of the offsite is in the note *Team offsite*.'],
      ['bob', 'The fire drill is on Thursday at ten.'],
      ['carol', 'Thank you. I bring the badges.'],
    ],
  },
  {
    fields: { type: 'direct' },
    members: ['alice', 'bob'],
    messages: [
      ['alice', 'Did the hotel confirm the six rooms?'],
      ['bob', 'Yes, the contract is attached to the task.'],
    ],
  },
  {
    fields: { type: 'direct' },
    members: ['bob', 'carol'],
    messages: [['carol', 'May I borrow the projector on Monday?']],
  },
];

/** A call that has ended, in the room with this name. */
export const CALL = { room: 'General', title: 'Offsite planning', minutes: 25 };

/** A link for guests, and the guest who has used it. */
export const GUEST_LINK = {
  invite: { kind: 'link', name: 'Hotel', require_approval: true },
  claim: { name: 'Helena Hotel', email: 'helena@hotel.example' },
};

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
