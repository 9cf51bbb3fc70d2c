import fc from 'fast-check';
import {
  describeRule,
  formatWallTime,
  parseRule,
  parseWallTime,
  TEXT_LOCALES,
  textLocaleOf,
  type TextLocale,
} from '../../../src/lib/recurrence/index.js';
import { runs } from '../../support/property-runs.ts';

const SERIES = { start: parseWallTime('2026-03-03T09:00')!, zone: 'Europe/Berlin', isDate: false };
const text = (rule: string, locale: TextLocale = 'en', more = {}): string =>
  describeRule(parseRule(rule), { ...SERIES, ...more }, locale);

test.each([
  ['FREQ=DAILY', 'Every day'],
  ['FREQ=HOURLY;INTERVAL=3', 'Every 3 hours'],
  ['FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR', 'Every weekday'],
  ['FREQ=WEEKLY;BYDAY=FR,TH,WE,TU,MO;COUNT=10', 'Every weekday, 10 times'],
  ['FREQ=WEEKLY;INTERVAL=2;BYDAY=FR,MO', 'Every 2 weeks on Monday and Friday'],
  ['FREQ=MONTHLY', 'Every month on day 3'],
  ['FREQ=MONTHLY;BYMONTHDAY=1,-1', 'Every month on the last day and day 1'],
  ['FREQ=MONTHLY;BYDAY=1MO,-2FR', 'Every month on the first Monday and the second to last Friday'],
  ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1', 'Every month on the last weekday'],
  [
    'FREQ=MONTHLY;BYDAY=TU,WE,TH;BYSETPOS=3',
    'Every month on Tuesday, Wednesday and Thursday, only the third of these',
  ],
  ['FREQ=YEARLY', 'Every year on 3 March'],
  ['FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU', 'Every year on the last Sunday in March'],
  ['FREQ=YEARLY;BYYEARDAY=100', 'Every year on day 100 of the year'],
  ['FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO', 'Every year on Monday in week 20 of the year'],
  ['FREQ=DAILY;BYHOUR=9,17;COUNT=1', 'Every day at 09:00 and 17:00, once'],
  ['FREQ=WEEKLY;UNTIL=20261231T230000Z', 'Every week, until 1 January 2027'],
])('%s: %s', (rule, expected) => expect(text(rule)).toBe(expected));

test.each<[TextLocale, string, string]>([
  ['de', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR', 'Alle 2 Wochen am Montag und Freitag'],
  ['de', 'FREQ=MONTHLY;BYDAY=-1MO', 'Jeden Monat am letzten Montag'],
  ['de', 'FREQ=YEARLY;UNTIL=20301231', 'Jedes Jahr am 3. März, bis 31. Dezember 2030'],
  ['de', 'FREQ=MONTHLY;BYMONTHDAY=15;BYMONTH=1,7', 'Jeden Monat am 15. im Januar und Juli'],
  ['pt', 'FREQ=WEEKLY;BYDAY=MO,SA', 'Todas as semanas na segunda-feira e no sábado'],
  ['pt', 'FREQ=MONTHLY;BYDAY=1MO,-1SU', 'Todos os meses na primeira segunda-feira e no último domingo'],
  ['pt', 'FREQ=YEARLY', 'Todos os anos em 3 de março'],
  ['vi', 'FREQ=WEEKLY;BYDAY=MO,SU', 'Mỗi tuần vào thứ Hai và Chủ Nhật'],
  ['vi', 'FREQ=MONTHLY;BYDAY=-1FR', 'Mỗi tháng vào thứ Sáu cuối cùng'],
  ['vi', 'FREQ=YEARLY', 'Mỗi năm vào ngày 3 tháng 3'],
])('in %s: %s', (locale, rule, expected) => expect(text(rule, locale)).toBe(expected));

test('the language follows the locale', () => {
  expect(['de-AT', 'pt_BR', 'vi', 'fr', null].map(textLocaleOf)).toEqual(['de', 'pt', 'vi', 'en', 'en']);
});

test('any rule has a text without gaps in every language', () => {
  const lists: [string, string[]][] = [
    ['BYMONTH', ['1', '2,12']],
    ['BYMONTHDAY', ['31', '-1,-9', '1,2,3']],
    ['BYDAY', ['MO', 'SA,SU', '2TU,-3WE', '-1FR,5SU']],
    ['BYSETPOS', ['1', '-1,-7', '12']],
    ['BYYEARDAY', ['1', '-1,-100']],
    ['BYWEEKNO', ['1,53', '-2']],
    ['BYHOUR', ['0', '9,17']],
  ];
  const part = ([name, values]: [string, string[]]) =>
    fc.option(fc.constantFrom(...values.map((value) => `${name}=${value}`)));
  const rules = fc
    .tuple(fc.constantFrom('YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY'), ...lists.map(part))
    .map(([freq, ...parts]) => [`FREQ=${freq}`, ...parts.filter(Boolean)].join(';'));
  fc.assert(
    fc.property(rules, fc.constantFrom(...TEXT_LOCALES), fc.boolean(), (rule, locale, isDate) => {
      let parsed;
      try {
        parsed = parseRule(rule);
      } catch {
        return;
      }
      const found = describeRule(parsed, { ...SERIES, isDate }, locale);
      expect(found).not.toMatch(/undefined|null|NaN| {2}| ,|^\s|\s$/);
      expect(found).not.toMatch(isDate ? /\d\d:\d\d/ : /^$/);
    }),
    { numRuns: runs(300) },
  );
});

test.each<[string, string | null]>([
  ['2026-03-02T09:08:07', '2026-03-02T09:08:07'],
  ['2026-03-02T09:08', '2026-03-02T09:08:00'],
  ['20260302T090807', '2026-03-02T09:08:07'],
  ['20260302T0908', '2026-03-02T09:08:00'],
  ['2026-0302T09:0807', '2026-03-02T09:08:07'],
  ['20260302', '2026-03-02T00:00:00'],
  ['2026-03-02', '2026-03-02T00:00:00'],
  ['0000-02-29', '0000-02-29T00:00:00'],
  ['2026-12-31T23:59:60', '2026-12-31T23:59:59'],
  ['', null],
  ['2026', null],
  ['2026-3-2', null],
  ['2026-02-29', null],
  ['2026-13-01', null],
  ['2026-00-10', null],
  ['2026-01-00', null],
  ['2026-03-02Z', null],
  ['2026-03-02T', null],
  ['2026-03-02T09', null],
  ['2026-03-02T09:', null],
  ['2026-03-02T09:08:', null],
  ['2026-03-02T09:08:7', null],
  ['2026-03-02T24:00', null],
  ['2026-03-02T09:60', null],
  ['2026-03-02T09:08:61', null],
  ['2026-03-02T09:08:07Z', null],
  ['2026-03-02t09:08', null],
  ['2026-03-02 09:08', null],
  [' 2026-03-02', null],
  ['2026-03-02T09:08:07 ', null],
  ['-026-03-02', null],
  ['２０２６-03-02', null],
])('the wall time %j is %s', (written, expected) => {
  const wall = parseWallTime(written);
  expect(wall === null ? null : formatWallTime(wall)).toBe(expected);
});
