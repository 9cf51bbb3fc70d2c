import {
  type Choice,
  choose,
  type OpenDevices,
  type PresenceRow,
  refresh,
  sweep,
} from '../../../src/modules/presence/model/presence-rules.js';

const now = new Date('2026-06-01T12:00:00.000Z');
const at = (seconds: number): Date => new Date(now.getTime() + seconds * 1_000);

const row = (change: Partial<PresenceRow> = {}): PresenceRow => ({
  choice: null,
  text: '',
  choice_until: null,
  hidden_at: null,
  due_at: null,
  status: 'offline',
  shown_text: '',
  shown_until: null,
  last_active_at: null,
  ...change,
});

const NONE: OpenDevices = { isConnected: false, isActive: false, activeAt: null };
const IDLE: OpenDevices = { isConnected: true, isActive: false, activeAt: at(-60) };
const ACTIVE: OpenDevices = { isConnected: true, isActive: true, activeAt: at(-5) };

describe('the status that other users see', () => {
  test.each<[string, Partial<PresenceRow>, OpenDevices]>([
    ['online', {}, ACTIVE],
    ['away', {}, IDLE],
    ['offline', { status: 'online' }, NONE],
    ['dnd', { choice: 'dnd' }, ACTIVE],
    ['dnd', { choice: 'dnd', choice_until: at(1) }, IDLE],
    ['offline', { choice: 'dnd', status: 'dnd' }, NONE],
    ['online', { choice: 'dnd', choice_until: now }, ACTIVE],
    ['offline', { choice: 'invisible', status: 'online', hidden_at: now }, ACTIVE],
    ['away', { choice: 'invisible', status: 'away', hidden_at: at(1) }, ACTIVE],
    ['online', { choice: 'invisible', choice_until: now, hidden_at: at(1) }, ACTIVE],
  ])('is %s: %j with the devices %j', (status, change, devices) => {
    expect(refresh(row(change), devices, now).status).toBe(status);
  });

  test('changes with the time of the last activity, which nobody sees of an invisible user', () => {
    const seen = row({ status: 'online', last_active_at: at(-10) });
    expect(refresh(seen, ACTIVE, now)).toBe(seen);
    expect(refresh(seen, IDLE, now)).toEqual({ ...seen, status: 'away' });
    expect(refresh(row({ last_active_at: at(-90) }), IDLE, now).last_active_at).toEqual(at(-60));
    const hidden = { ...seen, choice: 'invisible', hidden_at: now } as const;
    expect(refresh(hidden, ACTIVE, now)).toEqual({ ...hidden, status: 'offline' });
  });
});

describe('the text that other users see', () => {
  test('is shown while its user is offline, until its end', () => {
    expect(refresh(row({ text: 'Lunch', choice_until: at(1) }), NONE, now).shown_text).toBe('Lunch');
    const ended = row({ text: 'Lunch', shown_text: 'Lunch', choice_until: now });
    expect(refresh(ended, NONE, now).shown_text).toBe('');
  });

  test('of an invisible user is that of before, until its end', () => {
    const hidden = { choice: 'invisible', text: 'Secret', shown_text: 'Lunch', hidden_at: at(-1) } as const;
    expect(refresh(row({ ...hidden, shown_until: at(1) }), ACTIVE, now).shown_text).toBe('Lunch');
    expect(refresh(row({ ...hidden, shown_until: now }), ACTIVE, now).shown_text).toBe('');
    expect(refresh(row({ ...hidden, choice_until: now }), ACTIVE, now).shown_text).toBe('');
  });
});

describe('a choice', () => {
  const by = (before: PresenceRow, choice: Partial<Choice>, devices = ACTIVE) =>
    choose(
      before,
      devices,
      { choice: null, text: '', choice_until: null, ...choice },
      { now, graceMs: 10_000 },
    );

  test('is in force at once, until its end', () => {
    expect(by(row({ status: 'online' }), { choice: 'dnd', text: 'Focus', choice_until: at(60) })).toEqual(
      row({
        choice: 'dnd',
        text: 'Focus',
        choice_until: at(60),
        due_at: at(60),
        status: 'dnd',
        shown_text: 'Focus',
        last_active_at: now,
      }),
    );
  });

  test('without a status follows the devices', () => {
    const before = row({ choice: 'dnd', text: 'Focus', choice_until: at(60), due_at: at(60), status: 'dnd' });
    expect(by(before, {}, IDLE)).toEqual(row({ status: 'away', last_active_at: at(-60) }));
  });

  test('of invisible hides the user after the grace period, with the text of before', () => {
    const before = row({ text: 'Lunch', shown_text: 'Lunch', choice_until: at(60), status: 'online' });
    const hidden = by(before, { choice: 'invisible', text: 'Secret', choice_until: at(90) });
    expect(hidden).toEqual(
      row({
        choice: 'invisible',
        text: 'Secret',
        choice_until: at(90),
        hidden_at: at(10),
        due_at: at(10),
        status: 'online',
        shown_text: 'Lunch',
        shown_until: at(60),
        last_active_at: now,
      }),
    );
    const again = choose(
      hidden,
      ACTIVE,
      { choice: 'invisible', text: 'Other', choice_until: null },
      {
        now: at(5),
        graceMs: 10_000,
      },
    );
    expect(again).toEqual({ ...hidden, text: 'Other', choice_until: null });
  });

  test('of invisible after the end of another one shows what others see after that end', () => {
    const ended = { choice: 'dnd', text: 'Talk', choice_until: at(-1), due_at: at(-1) } as const;
    const shown = { status: 'dnd', shown_text: 'Talk' } as const;
    const choice = { choice: 'invisible', text: '', choice_until: null } as const;
    const hidden = choose(row({ ...ended, ...shown }), ACTIVE, choice, { now, graceMs: 30_000 });
    expect(hidden).toMatchObject({
      status: 'online',
      shown_text: '',
      choice: 'invisible',
      hidden_at: at(30),
    });
    const swept = sweep(row({ ...ended, ...shown }), ACTIVE, null, now);
    const { status, shown_text } = choose(swept, ACTIVE, choice, { now, graceMs: 30_000 });
    expect([hidden.status, hidden.shown_text]).toEqual([status, shown_text]);
  });

  test('after invisible shows the user again', () => {
    const hidden = row({
      choice: 'invisible',
      hidden_at: at(-1),
      last_active_at: at(-30),
      shown_text: 'Lunch',
    });
    expect(by(hidden, { text: 'Back' })).toEqual(
      row({ text: 'Back', status: 'online', shown_text: 'Back', last_active_at: at(-5) }),
    );
  });
});

describe('a sweep', () => {
  test('records the last activity on expired devices', () => {
    const before = row({ status: 'online', last_active_at: at(-90) });
    expect(sweep(before, NONE, at(-12), now)).toEqual(row({ last_active_at: at(-12) }));
    expect(sweep(before, ACTIVE, at(-100), now)).toEqual(before);
    const hidden = row({ choice: 'invisible', hidden_at: at(-1), last_active_at: at(-90) });
    expect(sweep(hidden, NONE, at(-12), now)).toEqual(hidden);
  });

  test('ends a choice at its time', () => {
    const chosen = { choice: 'dnd', text: 'Focus', status: 'dnd', shown_text: 'Focus' } as const;
    expect(sweep(row({ ...chosen, choice_until: now, due_at: now }), ACTIVE, null, now)).toEqual(
      row({ status: 'online', last_active_at: at(-5) }),
    );
    const later = row({ ...chosen, choice_until: at(1), due_at: at(1) });
    expect(sweep(later, ACTIVE, null, now)).toEqual(later);
  });

  test('hides an invisible user, and waits for the end of the text, then of the choice', () => {
    const hidden = row({
      choice: 'invisible',
      choice_until: at(60),
      hidden_at: now,
      due_at: now,
      status: 'online',
      shown_text: 'Lunch',
      shown_until: at(30),
    });
    const offline = { ...hidden, status: 'offline', due_at: at(30) } as const;
    expect(sweep(hidden, ACTIVE, null, now)).toEqual(offline);
    const silent = { ...offline, shown_text: '', due_at: at(60) };
    expect(sweep(offline, ACTIVE, null, at(30))).toEqual(silent);
    expect(sweep(silent, ACTIVE, null, at(60))).toMatchObject({
      choice: null,
      status: 'online',
      due_at: null,
    });
  });
});
