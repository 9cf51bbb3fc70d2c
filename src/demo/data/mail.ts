import type { DemoName } from '../demo-data.js';

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
