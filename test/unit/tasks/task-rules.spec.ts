import { ApiError, Errors } from '../../../src/platform/http/errors.js';
import type { TaskChange, TaskRow } from '../../../src/modules/tasks/model/rules/task-row.js';
import {
  createTask,
  type Decision,
  type NewTaskFacts,
  purgeTask,
  type TaskFacts,
  trashTask,
  type TrashCommand,
  type UpdateCommand,
  updateTask,
} from '../../../src/modules/tasks/model/rules/task-rules.js';

const now = new Date('2026-06-01T12:00:00.000Z');
const earlier = new Date('2026-05-01T12:00:00.000Z');

const newFacts = (change: Partial<NewTaskFacts> = {}): NewTaskFacts => ({
  now,
  folderRole: null,
  endPosition: 'hEnd',
  inactive: [],
  timeZone: 'Europe/Paris',
  ...change,
});

const create = (patch: object, facts: Partial<NewTaskFacts> = {}, more: object = {}) =>
  createTask(newFacts(facts), { id: 'new', userId: 'alice', patch: { title: 'Task', ...patch }, ...more });

/** A task that exists. */
function task(patch: object = {}, change: Partial<TaskRow> = {}): TaskRow {
  const created = createTask(newFacts({ now: earlier }), {
    id: 'task',
    userId: 'alice',
    patch: { title: 'Task', ...patch },
  }) as TaskChange;
  return { ...created.task, position: 'hOld', revision: 3, ...change };
}

const facts = (change: Partial<TaskFacts> = {}): TaskFacts => ({
  now,
  folderRole: null,
  untouchedNext: null,
  endPosition: 'hEnd',
  inactive: [],
  task: task(),
  role: 'owner',
  seenFolder: null,
  ownUid: null,
  ...change,
});

const update = (
  patch: UpdateCommand['patch'],
  change: Partial<TaskFacts> = {},
  more: Partial<UpdateCommand> = {},
) => updateTask(facts(change), { userId: 'bob', patch, base: null, nextId: 'next', ...more });

const trash = (change: Partial<TaskFacts> = {}, more: Partial<TrashCommand> = {}) =>
  trashTask(facts(change), { userId: 'alice', isRestore: false, base: null, keepDays: 30, ...more });

/** The code of an error and of its first detail, the word of a decision, or `ok`. */
function outcomeOf(decision: Decision): string {
  if (typeof decision === 'string') return decision;
  if (!(decision instanceof ApiError)) return 'ok';
  const { details } = decision.body as { details?: { code: string }[] };
  return details?.[0]?.code ?? decision.kind.code;
}

function changed(decision: Decision): TaskChange {
  expect(outcomeOf(decision)).toBe('ok');
  return decision as TaskChange;
}

const deleted = { deleted_at: earlier, deleted_by: 'alice' };

describe('a new task', () => {
  test('has the defaults, at the end of the list', () => {
    const { task: made, activity, events, links, next } = changed(create({ description: '<p>d</p>' }));
    expect(made).toMatchObject({
      id: 'new',
      creator_id: 'alice',
      title: 'Task',
      description: '<p>d</p>',
      status: 0,
      priority: 2,
      time_zone: 'Europe/Paris',
      position: 'hEnd',
      revision: 1,
      completed_at: null,
      created_at: now,
      due_stage: 0,
    });
    expect([activity, events]).toEqual([{ type: 'created', data: {} }, [{ type: 'task.created', data: {} }]]);
    expect([links, next]).toEqual([null, null]);
  });

  test('that is done has the time of its completion', () => {
    expect(changed(create({ status: 2 })).task.completed_at).toEqual(now);
  });

  test.each([
    ['in a folder that the caller does not see', { folder_id: 'f' }, {}, 'unknown_folder'],
    ['in a folder that the caller reads', { folder_id: 'f' }, { folderRole: 'viewer' }, 'unknown_folder'],
    ['in a folder that the caller writes to', { folder_id: 'f' }, { folderRole: 'editor' }, 'ok'],
    ['that repeats without a date', { recurrence: { rrule: 'FREQ=DAILY', from: 'schedule' } }, {}, 'no_date'],
    ['of deactivated members', { assignee_ids: ['c'] }, { inactive: ['c'] }, 'unknown_user'],
  ] as const)('%s: %s', (_, patch, change, outcome) => {
    expect(outcomeOf(create(patch, change))).toBe(outcome);
  });

  test('reports its assignees, and the notes that link back', () => {
    const refs = [
      { type: 'note', id: 'n1' },
      { type: 'note', id: 'n2' },
    ];
    const patch = { assignee_ids: ['bob'], refs, linkable_notes: ['n2'] };
    const { events, links } = changed(create(patch));
    expect(events[1]).toEqual({ type: 'task.assigned', data: { added: ['bob'], removed: [] } });
    expect(links).toEqual({ present: ['n2'], removed: [] });
    // The caller that makes a task from a note links the notes.
    expect(changed(create(patch, {}, { linkedNotes: ['n1', 'n2'] }))).toMatchObject({
      links: null,
      task: { linked_notes: ['n1', 'n2'] },
    });
  });
});

describe('a change of a task', () => {
  const error = Errors.validationFailed.with({ details: [] });

  test.each([
    ['by users who do not see it', { role: null }, { error, base: 1 }, 'not_found'],
    ['by viewers', { role: 'viewer' }, { error, base: 1 }, 'forbidden'],
    ['in the trash', { role: 'editor', task: task({}, deleted) }, { error, base: 1 }, 'deleted'],
    ['by an invalid request', { role: 'editor' }, { error, base: 1 }, 'validation_failed'],
    ['of an earlier revision', { role: 'editor' }, { base: 2 }, 'conflict'],
    ['of its revision', { role: 'editor' }, { base: 3 }, 'ok'],
    ['of any revision', { role: 'owner' }, {}, 'ok'],
    ['to deactivated assignees', { inactive: ['c'] }, {}, 'unknown_user'],
  ] as const)('%s: %s', (_, change, more, outcome) => {
    expect(outcomeOf(update({ title: 'New' }, change, more))).toBe(outcome);
  });

  test('of a task in the trash names its revision', () => {
    expect((update({}, { task: task({}, deleted) }) as ApiError).body).toMatchObject({
      revision: 3,
      deleted_at: earlier.toISOString(),
    });
  });

  test('to what it is already changes nothing', () => {
    const stored = task({ labels: ['l'], due_at: new Date('2026-07-01T10:00:00Z') });
    const { title, labels, due_at, date, time_zone, position } = stored;
    expect(
      update({ title, labels, due_at, date, time_zone, position, folder_id: null }, { task: stored }),
    ).toBe('unchanged');
  });

  test('states old and new values of short fields, and names the others', () => {
    const {
      task: made,
      activity,
      events,
    } = changed(
      update({ title: 'New', priority: 4, description: '<p>x</p>', date: '2026-07-01', group: 'g' }),
    );
    expect(activity).toEqual({
      type: 'updated',
      data: {
        title: { from: 'Task', to: 'New' },
        priority: { from: 'normal', to: 'high' },
        group: { from: null, to: 'g' },
        date: { from: null, to: '2026-07-01' },
        description: true,
      },
    });
    expect(events).toEqual([{ type: 'task.updated', data: { changed: Object.keys(activity.data) } }]);
    expect(made).toMatchObject({ revision: 4, updated_at: now, updated_by: 'bob', due_stage: 1 });
  });

  test('keeps the order of times when the clock goes back', () => {
    const later = new Date('2027-01-01T00:00:00Z');
    expect(changed(update({ title: 'x' }, { task: task({}, { updated_at: later }) })).task.updated_at).toBe(
      later,
    );
  });

  test('of the assignees reports who came and who went', () => {
    const { events, isLastView } = changed(
      update({ assignee_ids: ['b', 'c'] }, { role: 'editor', task: task({ assignee_ids: ['a', 'b'] }) }),
    );
    expect(events[1]).toEqual({ type: 'task.assigned', data: { added: ['c'], removed: ['a'] } });
    expect(isLastView).toBe(true);
  });

  test('of the name removes what programs stored of it', () => {
    const property = [] as never[];
    const icalendar = {
      properties: { SUMMARY: property, DESCRIPTION: property, COMPLETED: property, 'X-A': property },
      alarms: [],
      others: [],
    };
    const names = (patch: UpdateCommand['patch'], status = 0) =>
      Object.keys(
        changed(update(patch, { task: task({ icalendar }, { status }) })).task.icalendar!.properties,
      );
    expect(names({ title: 'x' })).toEqual(['DESCRIPTION', 'X-A']);
    expect(names({ description: null, priority: 1 })).toEqual(['SUMMARY', 'DESCRIPTION', 'X-A']);
    expect(names({ priority: 1 }, 2)).toEqual(['SUMMARY', 'DESCRIPTION', 'COMPLETED', 'X-A']);
    expect(names({ title: 'x', icalendar })).toHaveLength(4);
  });
});

describe('the folder of a task', () => {
  test.each([
    ['the creator takes it out of a folder', 'owner', 'f', 'f', null, null, 'ok'],
    ['the creator moves it to a folder without access', 'owner', null, null, 'g', null, 'unknown_folder'],
    ['the creator moves it to a folder to read', 'owner', null, null, 'g', 'viewer', 'unknown_folder'],
    ['an editor moves it', 'editor', 'f', 'f', 'g', 'editor', 'ok'],
    ['an assignee files a task without a folder', 'editor', null, null, 'g', 'editor', 'forbidden'],
    ['an assignee moves it out of a folder without access', 'editor', 'f', null, 'g', 'owner', 'forbidden'],
  ] as const)('%s', (_, role, folder_id, seenFolder, wanted, folderRole, outcome) => {
    const decision = update(
      { folder_id: wanted },
      { role, seenFolder, folderRole, task: task({}, { folder_id }) },
    );
    expect(outcomeOf(decision)).toBe(outcome);
    if (outcome === 'ok')
      expect((decision as TaskChange).task).toMatchObject({ folder_id: wanted, position: 'hEnd' });
  });

  test('stays where the caller sends back what the caller sees', () => {
    expect(update({ folder_id: null }, { role: 'editor', task: task({}, { folder_id: 'f' }) })).toBe(
      'unchanged',
    );
  });

  test('a place in the order is kept, and the end of the list is a change of its own', () => {
    const moved = update({ folder_id: 'g', position: 'hX' }, { folderRole: 'owner' });
    expect(changed(moved).task.position).toBe('hX');
    expect(changed(update({ last: true })).activity.data).toEqual({ position: true });
  });
});

describe('the completion of a task', () => {
  const then = new Date('2026-05-20T10:00:00.000Z');

  test.each([
    ['earlier', then, then],
    ['in the future', new Date('2026-06-01T12:00:01.000Z'), now],
    ['in no year of tasks', new Date('1899-12-31T23:59:59.000Z'), now],
  ])('has the time that a program states: %s', (_, stated, expected) => {
    const patch = { status: 2, completed_at: stated };
    expect(changed(create(patch)).task.completed_at).toEqual(expected);
    expect(changed(update(patch)).task.completed_at).toEqual(expected);
  });

  test('is when the interval of the next task begins', () => {
    const daily = { rrule: 'FREQ=DAILY;INTERVAL=3', from: 'completion' } as const;
    const old = task({ date: '2026-05-20', recurrence: daily, time_zone: 'UTC' });
    const { next } = changed(update({ status: 2, completed_at: then }, { task: old }));
    expect(next?.task).toMatchObject({ date: '2026-05-23', completed_at: null, created_at: now });
  });

  const recurrence = { rrule: 'FREQ=WEEKLY', from: 'schedule' } as const;
  const repeating = (change: Partial<TaskRow> = {}) =>
    task(
      {
        date: '2026-06-01',
        recurrence,
        time_zone: 'UTC',
        reminders: [{ minutes_before: 10 }, { at: '2026-06-01T05:00:00Z' }],
        assignee_ids: ['bob'],
        uid: 'u',
      },
      change,
    );

  test('and its revocation are reported', () => {
    const done = changed(update({ status: 2 }));
    expect(done.task).toMatchObject({ completed_at: now, next_task_id: null });
    expect([done.activity.type, done.events.at(-1)]).toEqual([
      'completed',
      { type: 'task.completed', data: { next_task_id: null } },
    ]);
    const reopened = changed(update({ reopen: true }, { task: done.task }));
    expect([reopened.activity.type, reopened.task.status, reopened.task.completed_at]).toEqual([
      'reopened',
      0,
      null,
    ]);
    expect(update({ reopen: true })).toBe('unchanged');
  });

  test('creates the next occurrence, an open copy on its date', () => {
    const { task: done, next } = changed(update({ status: 2 }, { task: repeating({ comments_count: 2 }) }));
    expect(done.next_task_id).toBe('next');
    expect(next!.task).toMatchObject({
      id: 'next',
      date: '2026-06-08',
      status: 0,
      completed_at: null,
      next_task_id: null,
      uid: null,
      comments_count: 0,
      revision: 1,
      reminders: [{ minutes_before: 10 }, { at: '2026-06-08T05:00:00.000Z' }],
      recurrence: { ...recurrence, start: '2026-06-01', scheduled: '2026-06-08' },
      next_due_at: new Date('2026-06-08T00:00:00Z'),
    });
    expect([next!.activity, next!.events]).toEqual([
      { type: 'created', data: { repeats: 'task' } },
      [
        { type: 'task.created', data: { repeats: 'task' } },
        { type: 'task.assigned', data: { added: ['bob'], removed: [] } },
      ],
    ]);
  });

  test('creates it once, and not after the end of the series', () => {
    expect(changed(update({ status: 2 }, { task: repeating({ next_task_id: 'x' }) })).next).toBeNull();
    const ended = task({ date: '2026-06-01', recurrence: { ...recurrence, rrule: 'FREQ=DAILY;COUNT=1' } });
    expect(changed(update({ status: 2 }, { task: ended })).next).toBeNull();
  });

  test('uses the fields of the completing request', () => {
    const completed = update({ status: 2, recurrence, date: '2026-06-03' });
    expect(changed(completed).next!.task.date).toBe('2026-06-10');
    expect(changed(update({ status: 2, recurrence: null }, { task: repeating() })).next).toBeNull();
  });
});

describe('the links of notes to a task', () => {
  const linked = task({}, { linked_notes: ['n1', 'n2'], refs: [] });
  const note = (id: string) => ({ type: 'note', id }) as const;

  test.each([
    ['a field that notes do not show', { priority: 1 }, null],
    ['the title', { title: 'x' }, { present: ['n1', 'n2'], removed: [] }],
    ['a removed reference', { refs: [note('n1')] }, { present: ['n1'], removed: ['n2'] }],
    ['a note that the caller may not edit', { refs: [note('n1'), note('n2'), note('n3')] }, null],
    [
      'a further note',
      { refs: [note('n1'), note('n2'), note('n3')], linkable_notes: ['n3'] },
      { present: ['n1', 'n2', 'n3'], removed: [] },
    ],
  ])('after a change of %s', (_, patch, links) => {
    expect(changed(update(patch, { task: linked })).links).toEqual(links);
  });

  test('go with the task to the trash, and return with it', () => {
    expect(changed(trash({ task: linked })).links).toEqual({ present: [], removed: ['n1', 'n2'] });
    const restored = trash({ task: { ...linked, ...deleted } }, { isRestore: true });
    expect(changed(restored).links).toEqual({ present: ['n1', 'n2'], removed: [] });
  });
});

describe('the trash', () => {
  test.each([
    ['without access', { role: null }, {}, 'not_found'],
    ['by an editor', { role: 'editor' }, {}, 'forbidden'],
    ['of a task in the trash', { task: task({}, deleted) }, {}, 'deleted'],
    ['of an earlier revision', {}, { base: 1 }, 'conflict'],
    ['of a task outside of it', {}, { isRestore: true, base: 1 }, 'unchanged'],
    ['and the way back', { task: task({}, deleted) }, { isRestore: true }, 'ok'],
  ] as const)('%s: %s', (_, change, more, outcome) => {
    expect(outcomeOf(trash(change, more))).toBe(outcome);
  });

  test('keeps a task for its days, or for ever, without events', () => {
    const stored = task({ date: '2026-07-01' });
    const { task: trashed, activity, events } = changed(trash({ task: stored }));
    expect(trashed).toMatchObject({
      deleted_at: now,
      deleted_by: 'alice',
      purge_at: new Date('2026-07-01T12:00:00.000Z'),
      next_due_at: null,
      due_stage: 0,
      revision: 3,
    });
    expect([activity.type, events]).toEqual(['deleted', [{ type: 'task.deleted', data: {} }]]);
    expect(changed(trash({}, { keepDays: 0 })).task.purge_at).toBeNull();
    const restored = changed(trash({ task: trashed }, { isRestore: true }));
    expect(restored.task).toMatchObject({ deleted_at: null, deleted_by: null, purge_at: null, due_stage: 1 });
    expect([restored.activity.type, restored.events]).toEqual([
      'restored',
      [{ type: 'task.restored', data: {} }],
    ]);
  });
});

describe('a purge', () => {
  test('of a task in the trash is one event, by the user who moved it there', () => {
    expect(purgeTask(task({}, { deleted_at: earlier, deleted_by: 'bob' }))).toEqual({
      actor: 'bob',
      events: [{ type: 'task.purged', data: {} }],
    });
  });

  test('of a task outside the trash reports its deletion first, by the caller', () => {
    expect(purgeTask(task(), 'alice')).toEqual({
      actor: 'alice',
      events: [
        { type: 'task.deleted', data: {} },
        { type: 'task.purged', data: {} },
      ],
    });
  });

  test('by a caller names the caller, also where another user moved the task to the trash', () => {
    expect(purgeTask(task({}, { deleted_at: earlier, deleted_by: 'bob' }), 'alice').actor).toBe('alice');
  });
});
