// What the description offers to send. Each is accepted as it stands, once the ids in it are those of one's own mailboxes;
// messages are numbered from 1 in each mailbox, so that of a first letter is right.

export const INBOX = '6b0108e57d46ea6fe43d660f';
export const TRASH = '6b0108e57d46ea6fe43d6611';
export const DRAFTS = '6b0108e57d46ea6fe43d6612';

/** As OpenAPI has the examples of a body: Swagger UI offers the first, and the others in a list. */
type Examples = Record<string, { summary: string; value: object }>;

/** Somebody of the demo workspace: an address elsewhere would only bring a report that it cannot be reached. */
const TO = [{ name: 'Bob Okafor', address: 'bob@demo.example' }];

const LETTER = {
  to: TO,
  subject: 'Plan',
  text: 'Hello Bob',
  html: '<p>Hello <b>Bob</b></p>',
  attachments: [{ filename: 'hello.txt', contentType: 'text/plain', content: 'SGVsbG8=' }],
};
const REPLY = { text: 'Thank you', reference: { mailbox: INBOX, id: 1, action: 'reply' } };
const FORWARD = {
  to: TO,
  text: 'For you',
  reference: { mailbox: INBOX, id: 1, action: 'forward', attachments: true },
};

export const CREATE_DRAFT: Examples = {
  letter: { summary: 'A letter with an attachment', value: { mailbox: DRAFTS, ...LETTER } },
  reply: {
    summary: 'A reply: recipients and subject come from the message',
    value: { mailbox: DRAFTS, ...REPLY },
  },
  forward: { summary: 'A forward, with the attachments', value: { mailbox: DRAFTS, ...FORWARD } },
  version: {
    summary: 'A new version of a draft',
    value: {
      mailbox: DRAFTS,
      to: TO,
      subject: 'Plan, second version',
      text: 'Hello Bob',
      replacePrevious: { mailbox: DRAFTS, id: 1 },
    },
  },
};

export const SUBMIT_DRAFT: Examples = {
  draft: { summary: 'The draft', value: { mailbox_id: DRAFTS, message_id: '1' } },
};

export const CREATE_MESSAGE: Examples = {
  letter: { summary: 'A draft, to be submitted', value: { draft: true, ...LETTER } },
  reply: { summary: 'A reply, to be submitted', value: { draft: true, ...REPLY } },
  forward: { summary: 'A forward, to be submitted', value: { draft: true, ...FORWARD } },
  note: {
    summary: 'A message that only lies there',
    value: { subject: 'Note to myself', text: 'Book the rooms', unseen: true },
  },
};

export const CREATE_MAILBOX: Examples = {
  mailbox: { summary: 'A mailbox', value: { path: 'Projects/Alpha' } },
  retention: {
    summary: 'A mailbox that keeps messages for a year',
    value: { path: 'Newsletters', retention: 31_536_000_000, subscribed: true },
  },
};

export const UPDATE_MAILBOX: Examples = {
  rename: { summary: 'Another name', value: { path: 'Projects/Beta' } },
  subscription: { summary: 'Not subscribed', value: { subscribed: false } },
};

export const UPDATE_MESSAGES: Examples = {
  seen: { summary: 'Mark as seen', value: { message: [1], seen: true } },
  unseen: { summary: 'Mark as not seen', value: { message: [1, 2], seen: false } },
  move: { summary: 'Move to the trash', value: { message: [1], moveTo: TRASH } },
  restore: { summary: 'Move back to where they came from', value: { message: [1], restoreToOrigin: true } },
};

export const UPDATE_MESSAGE: Examples = {
  flag: { summary: 'Seen and flagged', value: { seen: true, flagged: true } },
  unseen: { summary: 'Not seen', value: { seen: false } },
  move: { summary: 'Move to the trash', value: { moveTo: TRASH } },
};

export const SUBMIT_MESSAGE: Examples = {
  now: { summary: 'Send it now', value: {} },
  later: { summary: 'Not before that time', value: { sendTime: '2027-01-01T10:00:00Z' } },
};
