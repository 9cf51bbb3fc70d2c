import { ApiError } from '../../../src/platform/http/errors.js';
import { QUOTAS } from '../../../src/platform/quotas/quotas.js';
import {
  type ChangeFacts,
  type Decision,
  deleteMessage,
  type EditCommand,
  editMessage,
  type MentionedMember,
  type MessageInput,
  type MessageRow,
  reactToMessage,
  type SendFacts,
  sendMessage,
} from '../../../src/modules/chat/model/message-rules.js';

const now = new Date('2026-06-01T12:00:00.000Z');
const later = new Date('2026-06-01T12:00:01.000Z');

/** The code of an error, the outcome without a change, or `ok`. */
function outcomeOf(decision: Decision<object>): string {
  if (decision instanceof ApiError) return decision.kind.code;
  return 'outcome' in decision ? decision.outcome : 'ok';
}

function changed<Change extends object>(decision: Decision<Change>): Change {
  expect(outcomeOf(decision)).toBe('ok');
  return decision as Change;
}

describe('a new message', () => {
  const input = (change: Partial<MessageInput> = {}): MessageInput => ({
    id: 'new',
    client_msg_id: 'client',
    fingerprint: 'aa',
    body: 'Hello',
    format: 'plain',
    reply_to: null,
    mentions: [],
    attachments: [],
    via: null,
    tsv: `'hello':1`,
    ...change,
  });
  const send = (
    facts: Partial<SendFacts> = {},
    change: Partial<MessageInput> = {},
    sender: { id: string; guestName: string | null } = { id: 'ann', guestName: null },
  ) =>
    sendMessage(
      {
        role: 'member',
        isArchived: false,
        lastSeq: 7,
        isPartnerInactive: false,
        sent: null,
        repliedSeq: null,
        mentioned: [],
        files: new Map(),
        ...facts,
      },
      sender,
      input(change),
    );

  test('has the mentions that are members, the files in their order, and the number of what it replies to', () => {
    const files = new Map([
      ['a', { id: 'a' }],
      ['b', { id: 'b' }],
    ]);
    const facts = { mentioned: ['bob'], repliedSeq: 3, files };
    const wanted = { mentions: ['eve', 'bob'], reply_to: 'first', attachments: ['b', 'a'] };
    expect(changed(send(facts, wanted))).toEqual({
      ...input(),
      kind: 'text',
      event: null,
      sender_id: 'ann',
      guest_name: null,
      reply_to: 'first',
      reply_to_seq: 3,
      mentions: ['bob'],
      attachments: [{ id: 'b' }, { id: 'a' }],
    });
  });

  test('is a repeated one where its id was sent, also in an archived or full room', () => {
    const sent = { seq: 4, fingerprint: 'aa' };
    const closed = { isArchived: true, lastSeq: QUOTAS.item.messages_of_chat_room };
    expect(send({ ...closed, sent })).toEqual({ outcome: 'duplicate', seq: 4 });
    expect(outcomeOf(send({ ...closed, sent }, { fingerprint: 'bb' }))).toBe('idempotency_key_reused');
  });

  test.each<[string, Partial<SendFacts>, Partial<MessageInput>]>([
    ['not_found', { role: null, sent: { seq: 1, fingerprint: 'aa' } }, {}],
    ['room_archived', { isArchived: true, lastSeq: QUOTAS.item.messages_of_chat_room }, {}],
    ['quota_exceeded', { lastSeq: QUOTAS.item.messages_of_chat_room, isPartnerInactive: true }, {}],
    ['not_found', { isPartnerInactive: true }, { reply_to: 'unknown' }],
    ['unknown_reply', {}, { reply_to: 'unknown', attachments: ['unknown'] }],
    ['unknown_attachment', { files: new Map([['a', {}]]) }, { attachments: ['a', 'unknown'] }],
  ])('is rejected with %s: %j', (code, facts, change) => {
    expect(outcomeOf(send(facts, change))).toBe(code);
  });

  test('of a guest needs no membership', () => {
    const message = changed(send({ role: null }, {}, { id: 'gina', guestName: 'Gina' }));
    expect([message.sender_id, message.guest_name]).toEqual(['gina', 'Gina']);
    expect(outcomeOf(send({ role: null }))).toBe('not_found');
  });

  test('is accepted up to the quota', () => {
    expect(outcomeOf(send({ lastSeq: QUOTAS.item.messages_of_chat_room - 1 }))).toBe('ok');
  });
});

const message = (change: Partial<MessageRow> = {}): MessageRow => ({
  seq: 5,
  mod_seq: 9,
  sender_id: 'ann',
  kind: 'text',
  body: 'Hello',
  format: 'plain',
  isDeleted: false,
  mentions: [],
  reactions: [],
  files: 0,
  ...change,
});

const facts = (change: Partial<MessageRow> = {}, room: Partial<ChangeFacts> = {}): ChangeFacts => ({
  now,
  isArchived: false,
  role: 'member',
  message: message(change),
  ...room,
});

const rejections = (decide: (facts: ChangeFacts) => Decision<object>, cases: [string, ChangeFacts][]) => {
  for (const [code, given] of cases) expect([code, outcomeOf(decide(given))]).toEqual([code, code]);
};

describe('an edit', () => {
  const edit = (given: ChangeFacts, change: Partial<EditCommand> = {}, members: MentionedMember[] = []) =>
    editMessage(given, members, {
      userId: 'ann',
      base: null,
      body: 'Better',
      format: null,
      mentions: null,
      tsv: `'better':1`,
      ...change,
    });
  const member = (id: string, change: Partial<MentionedMember> = {}): MentionedMember => ({
    id,
    notify: 'all',
    muted_until: null,
    ...change,
  });

  test('replaces the text; format and mentions stay', () => {
    const given = facts({ mentions: ['bob'], format: 'markdown' });
    expect(changed(edit(given))).toEqual({
      message: given.message,
      columns: {
        body: 'Better',
        format: 'markdown',
        mentions: ['bob'],
        tsv: `'better':1`,
        edited_at: now,
      },
      event: 'edited',
      notified: [],
    });
  });

  test('of the same text, format and mentions changes nothing', () => {
    const same = { body: 'Hello' };
    expect(edit(facts(), same)).toEqual({ outcome: 'unchanged', seq: 5 });
    expect(outcomeOf(edit(facts(), { ...same, format: 'markdown' }))).toBe('ok');
    expect(outcomeOf(edit(facts({ mentions: ['bob'] }), { ...same, mentions: ['bob'] }))).toBe('unchanged');
    expect(outcomeOf(edit(facts({ mentions: ['bob'] }), { ...same, mentions: [] }))).toBe('ok');
  });

  test('keeps mentioned users who have left, and drops other users who are no members', () => {
    const given = facts({ mentions: ['left', 'zoe'] });
    const mentions = ['unknown', 'left', 'bob'];
    expect(changed(edit(given, { mentions }, [member('bob')])).columns.mentions).toEqual(['bob', 'left']);
  });

  test('notifies newly mentioned members who want to know', () => {
    const members = [
      member('ann'),
      member('bob'),
      member('eve', { notify: 'mentions' }),
      member('max', { notify: 'none' }),
      member('muted', { muted_until: later }),
      member('over', { muted_until: now }),
      member('zoe'),
    ];
    const mentions = members.map(({ id }) => id);
    expect(changed(edit(facts({ mentions: ['zoe'] }), { mentions }, members)).notified).toEqual([
      'bob',
      'eve',
      'over',
    ]);
  });

  test('is rejected, the first reason first', () => {
    rejections(
      (given) => edit(given, { base: 8 }),
      [
        ['not_found', facts({}, { role: null, message: null })],
        ['not_found', facts({}, { message: null })],
        ['forbidden', facts({ sender_id: 'bob', isDeleted: true })],
        ['forbidden', facts({ kind: 'call' })],
        ['message_deleted', facts({ isDeleted: true }, { isArchived: true })],
        ['room_archived', facts({}, { isArchived: true })],
        ['conflict', facts()],
        ['ok', facts({ mod_seq: 8 })],
      ],
    );
  });
});

describe('a deletion', () => {
  const remove = (given: ChangeFacts, command = { userId: 'ann', any: false }) =>
    deleteMessage(given, command);

  test('leaves a message without content', () => {
    const { columns, event } = changed(remove(facts({ mentions: ['bob'], files: 2 })));
    expect(columns).toEqual({
      body: '',
      mentions: [],
      attachments: [],
      reactions: [],
      tsv: '',
      deleted_at: now,
      deleted_by: 'ann',
    });
    expect(event).toBe('deleted');
  });

  test('is for the sender, moderators, owners and members with the permission, also in an archived room', () => {
    const bob = { userId: 'bob', any: false };
    expect(outcomeOf(remove(facts(), bob))).toBe('forbidden');
    expect(outcomeOf(remove(facts(), { ...bob, any: true }))).toBe('ok');
    for (const role of ['moderator', 'owner'] as const)
      expect(outcomeOf(remove(facts({}, { role }), bob))).toBe('ok');
    expect(outcomeOf(remove(facts({}, { isArchived: true })))).toBe('ok');
  });

  test('of a deleted message changes nothing; of other kinds it is forbidden', () => {
    expect(remove(facts({ isDeleted: true }))).toEqual({ outcome: 'unchanged', seq: 5 });
    rejections(remove, [
      ['not_found', facts({}, { role: null, message: null })],
      ['not_found', facts({}, { message: null })],
      ['forbidden', facts({ kind: 'system' }, { role: 'owner' })],
      ['forbidden', facts({ kind: 'call' }, { role: 'owner' })],
    ]);
  });
});

describe('a reaction', () => {
  const react = (given: ChangeFacts, emoji = '👍', on = true) =>
    reactToMessage(given, { userId: 'bob', emoji, on });
  const kinds = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ emoji: `:${n}:`, count: 1, user_ids: ['ann'] }));

  test('is added and removed, without an event', () => {
    const reactions = [{ emoji: '👍', count: 1, user_ids: ['bob'] }];
    const given = facts();
    expect(changed(react(given))).toEqual({ message: given.message, columns: { reactions }, event: null });
    expect(react(facts({ reactions }))).toEqual({ outcome: 'unchanged', seq: 5 });
    expect(changed(react(facts({ reactions }), '👍', false)).columns).toEqual({ reactions: [] });
    expect(outcomeOf(react(facts(), '👍', false))).toBe('unchanged');
    expect(outcomeOf(react(facts({ kind: 'call' })))).toBe('ok');
  });

  test('is rejected, the first reason first', () => {
    rejections(react, [
      ['not_found', facts({}, { role: null, message: null })],
      ['not_found', facts({}, { message: null })],
      ['forbidden', facts({ kind: 'system', isDeleted: true })],
      ['message_deleted', facts({ isDeleted: true }, { isArchived: true })],
      ['room_archived', facts({}, { isArchived: true })],
      ['too_many_reactions', facts({ reactions: kinds(20) })],
      ['ok', facts({ reactions: kinds(19) })],
    ]);
    expect(outcomeOf(react(facts({ reactions: kinds(20) }), ':3:'))).toBe('ok');
  });
});
