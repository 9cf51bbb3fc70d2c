import {
  type OpenTask,
  rejectAttachment,
  rejectWrite,
} from '../../../src/modules/tasks/parts/task-part-writes.js';

const task = (change: Partial<OpenTask> = {}): OpenTask => ({
  role: 'editor',
  revision: 3,
  deleted_at: null,
  subtasks: 0,
  comments: 0,
  attachments: 49,
  ...change,
});
const DELETED = { deleted_at: '2026-11-29T12:00:00.000Z' };

describe('a write of a part of a task', () => {
  it.each([
    [{ role: 'viewer' }, 'viewer', undefined],
    [{ role: 'viewer' }, 'editor', 'forbidden'],
    [{ role: 'editor' }, 'editor', undefined],
    [{ role: 'owner' }, 'editor', undefined],
    [{ ...DELETED }, 'viewer', 'deleted'],
    [{ role: 'viewer', ...DELETED }, 'editor', 'forbidden'],
  ] as const)('of %j by a %s: %s', (change, needed, code) => {
    expect(rejectWrite(task(change), needed)?.kind.code).toBe(code);
  });

  it('of a task in the trash is rejected with its revision', () => {
    expect(rejectWrite(task(DELETED), 'editor')?.body).toMatchObject({ revision: 3, ...DELETED });
  });

  it.each([
    [{}, undefined],
    [{ attachments: 50 }, 'too_many_attachments'],
    [{ role: 'viewer', attachments: 50 }, 'forbidden'],
    [{ ...DELETED, attachments: 50 }, 'deleted'],
  ] as const)('as a further attachment of %j: %s', (change, code) => {
    expect(rejectAttachment(task(change))?.kind.code).toBe(code);
  });
});
