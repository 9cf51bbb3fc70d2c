import type { DemoName } from '../demo-data.js';

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
