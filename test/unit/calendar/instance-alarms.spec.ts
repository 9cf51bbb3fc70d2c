import { CalendarZones, parseCalendars } from '../../../src/lib/icalendar/index.js';
import { readEvent, type ReadEvent } from '../../../src/modules/calendar/model/vevent-reader.js';
import { EventClock } from '../../../src/modules/calendar/model/vevent-times.js';

const WHOLE = ['DTSTART:20300107T090000Z', 'RRULE:FREQ=DAILY'];
const alarm = (...lines: string[]) => ['BEGIN:VALARM', 'ACTION:DISPLAY', ...lines, 'END:VALARM'];
const vevent = (...lines: string[]) => ['BEGIN:VEVENT', 'UID:a', ...lines, 'END:VEVENT'];

function read(...events: string[][]): ReadEvent {
  const text = ['BEGIN:VCALENDAR', ...events.flat(), 'END:VCALENDAR', ''].join('\r\n');
  const [calendar] = parseCalendars(text);
  const [master, ...instances] = calendar!.components;
  return readEvent(master!, instances, new EventClock(new CalendarZones(calendar!), null));
}
const day = (n: number): string => new Date(Date.UTC(2030, 0, 7 + n)).toISOString().slice(0, 10);
const instance = (n: number, ...lines: string[]) =>
  vevent(`RECURRENCE-ID:${day(n).replaceAll('-', '')}T090000Z`, ...lines);

describe('the alarms of an instance', () => {
  test('that are those of its series, in another order, are not stored', () => {
    const [one, other] = [alarm('TRIGGER:-PT5M'), alarm('TRIGGER:PT5M')];
    const { instanceAlarms } = read(vevent(...WHOLE, ...one, ...other), instance(1, ...other, ...one));
    expect(instanceAlarms).toEqual({});
  });

  test('that is cancelled, and of an alarm at a moment of the whole series, are no other ones', () => {
    const fixed = alarm('TRIGGER;VALUE=DATE-TIME:20300107T080000Z');
    const whole = vevent(...WHOLE, ...alarm('TRIGGER:-PT5M'), ...fixed);
    const found = read(
      whole,
      instance(1, 'STATUS:CANCELLED'),
      instance(2, ...fixed, ...alarm('TRIGGER:-PT5M')),
    );
    expect([found.instanceAlarms, found.alarms.length]).toEqual([{}, 1]);
  });

  test('follow the calendar where neither the series nor the instance states reminders', () => {
    const { instanceAlarms, reminders } = read(vevent(...WHOLE), instance(1, ...alarm('TRIGGER:PT5M')));
    expect(reminders).toBeNull();
    expect(instanceAlarms).toMatchObject({ [`${day(1)}T09:00:00`]: { reminders: null, alarms: [{}] } });
  });

  test('of very many instances keep methods and times, then follow the series with a warning', () => {
    const own = (n: number) => alarm(`TRIGGER:-PT${1 + (n % 50)}M`, `UID:${'x'.repeat(100)}${n}`);
    const { instanceAlarms, warnings } = read(
      vevent(...WHOLE, ...alarm('TRIGGER:-PT55M')),
      ...Array.from({ length: 1_000 }, (_, n) => instance(n + 1, ...own(n))),
    );
    expect(JSON.stringify(instanceAlarms).length).toBeLessThan(32 * 1024);
    const all = Object.values(instanceAlarms);
    expect(all.length).toBeGreaterThan(150);
    expect(all.slice(0, 30).every(({ reminders }) => reminders?.[0]?.alarm)).toBe(true);
    expect(all.slice(-50).some(({ reminders }) => reminders?.[0]?.alarm)).toBe(false);
    expect(warnings).toMatchObject([{ code: 'value_too_large', message: expect.stringContaining('VALARM') }]);
  });

  test('of very many instances that differ in texts only are those of the series beyond the limit', () => {
    const own = (n: number) =>
      alarm('TRIGGER:-PT5M', `ACKNOWLEDGED:20300101T00${10 + (n % 50)}00Z`, `UID:${n}`);
    const { instanceAlarms, warnings } = read(
      vevent(...WHOLE, ...alarm('TRIGGER:-PT5M', 'UID:series')),
      ...Array.from({ length: 500 }, (_, n) => instance(n + 1, ...own(n))),
    );
    const all = Object.values(instanceAlarms);
    expect(all.length).toBeGreaterThan(20);
    expect(all.every(({ reminders }) => reminders?.[0]?.alarm)).toBe(true);
    expect(JSON.stringify(instanceAlarms).length).toBeLessThan(16 * 1024);
    expect(warnings.map(({ code }) => code)).toEqual(['value_too_large']);
  });
});
