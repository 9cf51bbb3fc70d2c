import { Turns } from '../../../src/lib/turns/index.js';
import { BusyExpansion, type BusySource } from '../../../src/modules/calendar/model/busy-times.js';
import { instantOf, wallOf } from '../../../src/modules/calendar/model/event-times.js';

const instant = (text: string) => instantOf(wallOf(text), null);
const WINDOW = {
  from: instant('2026-03-02'),
  to: instant('2026-03-09'),
  readerZone: 'UTC',
};
const event = (fields: Partial<BusySource> = {}): BusySource => ({
  starts: '2026-03-01T09:00:00',
  ends: '2026-03-01T09:30:00',
  time_zone: 'UTC',
  end_time_zone: null,
  exact_duration: false,
  rules: ['FREQ=DAILY'],
  added: [],
  excluded: [],
  status: 'confirmed',
  show_as: 'busy',
  own_show_as: null,
  responses: [],
  overrides: [],
  zone: 'UTC',
  spanStart: instant('2026-03-01'),
  spanEnd: Number.POSITIVE_INFINITY,
  ...fields,
});
const DENSE = {
  starts: '2026-03-01T00:00:00',
  ends: '2026-03-01T00:02:00',
  rules: [`FREQ=HOURLY;BYMINUTE=${Array.from({ length: 12 }, (_, n) => n * 5).join()}`],
};
const hours = (times: { start: number; end: number }[]) =>
  times.map(({ start, end }) => [(start - WINDOW.from) / 3600, (end - WINDOW.from) / 3600]);
const expansion = (budget: number) => new BusyExpansion(new Turns(), budget);

test('a dense series within the budget is exact', async () => {
  const all = new BusyExpansion();
  all.add([event(DENSE)], WINDOW);
  const [result] = await all.run();
  expect(result?.isApproximate).toBe(false);
  expect(result?.busy).toHaveLength(7 * 24 * 12);
});

test('beyond the budget the rest of a series is one busy time, and other events stay exact', async () => {
  const all = expansion(1_000);
  const dense = Array.from({ length: 20 }, () => event(DENSE));
  all.add(
    [
      ...dense,
      event({
        rules: [],
        starts: '2026-03-08T09:00:00',
        ends: '2026-03-08T10:00:00',
        show_as: 'out_of_office',
      }),
    ],
    WINDOW,
  );
  all.add([event()], WINDOW);
  all.add([event({ ...DENSE, spanEnd: instant('2026-03-04') })], WINDOW);
  const [first, second, third] = await all.run();
  expect(first?.isApproximate).toBe(true);
  // Never shorter than the exact times: until the end of the window the member is busy.
  expect(hours(first!.busy).at(-1)?.[1]).toBe(7 * 24);
  expect(first!.busy.length).toBeLessThan(1_000);
  expect(first!.busy.find(({ type }) => type === 'out_of_office')).toEqual({
    start: instant('2026-03-08T09:00:00'),
    end: instant('2026-03-08T10:00:00'),
    type: 'out_of_office',
  });
  expect(second?.isApproximate).toBe(false);
  expect(hours(second!.busy)).toEqual(Array.from({ length: 7 }, (_, day) => [day * 24 + 9, day * 24 + 9.5]));
  expect(hours(third!.busy).at(-1)?.[1]).toBe(2 * 24);
});

test('single events are exact whatever their number', async () => {
  const all = expansion(10);
  const at = (n: number) => new Date((WINDOW.from + n * 600) * 1000).toISOString().slice(0, 19);
  const events = Array.from({ length: 100 }, (_, n) =>
    event({ rules: [], starts: at(n), ends: at(n + 0.5) }),
  );
  all.add([event(DENSE), ...events], WINDOW);
  all.add(events, WINDOW);
  const [, second] = await all.run();
  expect(second?.isApproximate).toBe(false);
  expect(second?.busy).toHaveLength(100);
});

test('events that occupy no time cost nothing', async () => {
  const all = expansion(100);
  const declined = [{ recurrence_key: '', response: 'declined' as const, uninvited: false }];
  all.add(
    [
      event({ ...DENSE, show_as: 'free' }),
      event({ ...DENSE, status: 'cancelled' }),
      event({ ...DENSE, responses: declined }),
    ],
    WINDOW,
  );
  all.add([event()], WINDOW);
  const [first, second] = await all.run();
  expect(first).toEqual({ busy: [], isApproximate: false });
  expect(second).toMatchObject({ isApproximate: false, busy: { length: 7 } });
});

test('an instance that starts before the window and lasts into it, in steps, is busy', async () => {
  const all = new BusyExpansion();
  const long = event({
    ...DENSE,
    ends: '2026-03-01T12:00:00',
    rules: ['FREQ=HOURLY;UNTIL=20260302T060000Z'],
  });
  all.add([long], WINDOW);
  expect(hours((await all.run())[0]!.busy)).toEqual([[0, 18]]);
});

test('other work gets its turn during an expansion', async () => {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  // Each step lasts a whole slice on this clock.
  let now = 0;
  const all = new BusyExpansion(new Turns(10, () => (now += 10)), 2_000);
  all.add(
    Array.from({ length: 10 }, () => event(DENSE)),
    WINDOW,
  );
  await all.run();
  isDone = true;
  // 2,000 instances in steps of 128 and more.
  expect(turns).toBeGreaterThanOrEqual(9);
});
