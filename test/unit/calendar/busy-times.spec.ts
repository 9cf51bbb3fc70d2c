import fc from 'fast-check';
import {
  BUSY_TYPES,
  type BusyTime,
  mergeTimes,
  viewOf,
} from '../../../src/modules/calendar/model/busy-times.js';
import { suggestTimes } from '../../../src/modules/calendar/free-busy/free-busy.controller.js';

const times = fc.array(
  fc
    .record({
      start: fc.integer({ min: 0, max: 40 }),
      length: fc.integer({ min: 1, max: 15 }),
      type: fc.constantFrom(...BUSY_TYPES),
    })
    .map(({ start, length, type }): BusyTime => ({ start, end: start + length, type })),
  { maxLength: 12 },
);
const typeAt = (list: readonly BusyTime[], at: number) =>
  Math.max(
    -1,
    ...list.filter(({ start, end }) => start <= at && at < end).map(({ type }) => BUSY_TYPES.indexOf(type)),
  );

test('merged times have the highest state of every moment, without overlaps and equal neighbours', () => {
  fc.assert(
    fc.property(times, (list) => {
      const found = mergeTimes(list);
      for (let at = 0; at < 60; at += 1) expect(typeAt(found, at)).toBe(typeAt(list, at));
      for (const [n, next] of found.slice(1).entries()) {
        const last = found[n] as BusyTime;
        expect(last.end).toBeLessThanOrEqual(next.start);
        expect(last.end === next.start && last.type === next.type).toBe(false);
      }
    }),
  );
});

test('the view has one digit for each slot', () => {
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 7 }), (list, slot) => {
      const view = viewOf(mergeTimes(list), 0, 42, slot);
      expect(view).toHaveLength(Math.ceil(42 / slot));
      const digits = [4, 1, 2, 3];
      for (const [n, digit] of [...view].entries()) {
        const moments = Array.from({ length: slot }, (_, m) => typeAt(list, n * slot + m));
        const highest = Math.max(...moments);
        expect(Number(digit)).toBe(highest < 0 ? 0 : digits[highest]);
      }
    }),
  );
});

test('a suggestion lies in the window, and no required attendee is busy', async () => {
  const workingHours = { from: '09:00', to: '17:00', days: [] };
  const user = (isRequired: boolean) =>
    times.map((list) => ({ name: 'x', zone: 'UTC', workingHours, busy: mergeTimes(list), isRequired }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(user(true), user(false)), { minLength: 1, maxLength: 4 }),
      async (users) => {
        const options = { from: 0, to: 42, duration: 4, step: 2, count: 50, withinHours: false, buffer: 1 };
        const found = await suggestTimes(users, options);
        const isBlocked = (busy: readonly BusyTime[], from: number, to: number) =>
          busy.some(
            ({ start, end, type }) =>
              start < to && end > from && (type === 'busy' || type === 'out_of_office'),
          );
        const required = users.filter(({ isRequired }) => isRequired);
        const possible = [];
        for (let start = 0; start + 4 <= 42; start += 2)
          if (!required.some(({ busy }) => isBlocked(busy, start - 1, start + 5))) possible.push(start);
        expect(found.map(({ start }) => start).toSorted((a, b) => a - b)).toEqual(possible);
        const order = found.map(({ score, start }) => [-score, start] as const);
        expect(order).toEqual(order.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]));
      },
    ),
  );
});
