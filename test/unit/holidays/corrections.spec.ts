import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  CatalogueFile,
  HOLIDAYS,
  type HolidayRow,
} from '../../../src/modules/holidays/catalogue/catalogue-file.js';
import { HolidayCatalogue } from '../../../src/modules/holidays/catalogue/holiday-catalogue.js';

const FOLDER = path.resolve('bin/holidays');

/** Modules of the compile script, which the service does not have. */
interface Scripts {
  corrections: {
    country: string;
    source: string;
    reviewed: string;
    add?: { name: Record<string, string> };
  }[];
  fingerprint: () => string;
  changeOf: (entry: object) => string[];
  applyOverlay: (compiled: object[], entries: object[]) => void;
  compareWithSecondSource: (
    countries: [string, HolidayRow[]][],
  ) => { code: string; more: string[]; fewer: string[] }[];
}

async function scripts(): Promise<Scripts> {
  const parts = ['corrections/index.mjs', 'overlay.mjs', 'compare.mjs'];
  const modules = await Promise.all(
    parts.map(async (part) => (await import(pathToFileURL(path.join(FOLDER, part)).href)) as object),
  );
  return Object.assign({}, ...modules) as Scripts;
}

const daysOff = async (country: string, from: string, to: string): Promise<string[]> => {
  const found = await new HolidayCatalogue().holidays({
    country,
    region: null,
    from,
    to,
    types: ['public'],
    language: 'en',
  });
  return [...new Set(found.flatMap((each) => span(each.date, each.end_date)))].filter(
    (day) => day >= from && day <= to,
  );
};

function span(first: string, last: string): string[] {
  const days: string[] = [];
  for (let day = Date.parse(first); day <= Date.parse(last); day += 86_400_000)
    days.push(new Date(day).toISOString().slice(0, 10));
  return days;
}

describe('corrected holidays', () => {
  test.each([
    ['KR', '2024-02-09', '2024-02-13', '2024-02-09 2024-02-10 2024-02-11 2024-02-12'],
    ['KR', '2025-01-24', '2025-02-01', '2025-01-27 2025-01-28 2025-01-29 2025-01-30'],
    ['KR', '2026-02-14', '2026-02-20', '2026-02-16 2026-02-17 2026-02-18'],
    ['KR', '2027-02-05', '2027-02-11', '2027-02-06 2027-02-07 2027-02-08 2027-02-09'],
    ['KR', '2028-01-24', '2028-01-31', '2028-01-26 2028-01-27 2028-01-28'],
    ['KR', '2029-02-10', '2029-02-17', '2029-02-12 2029-02-13 2029-02-14'],
    ['KR', '2025-06-01', '2025-06-07', '2025-06-03 2025-06-06'],
    ['JP', '2032-09-18', '2032-09-24', '2032-09-20 2032-09-21 2032-09-22'],
    ['JP', '2026-09-19', '2026-09-25', '2026-09-21 2026-09-22 2026-09-23'],
    ['BG', '2026-05-20', '2026-05-31', '2026-05-24 2026-05-25'],
    ['BG', '2026-09-01', '2026-09-20', '2026-09-06 2026-09-07'],
    ['BG', '2026-12-20', '2026-12-31', '2026-12-24 2026-12-25 2026-12-26 2026-12-28'],
    ['BG', '2027-04-29', '2027-05-05', '2027-04-30 2027-05-01 2027-05-02 2027-05-03 2027-05-04'],
    ['BG', '2027-12-20', '2027-12-31', '2027-12-24 2027-12-25 2027-12-26 2027-12-27 2027-12-28'],
    ['LI', '2025-08-10', '2025-08-20', '2025-08-15'],
    ['LI', '2026-10-30', '2026-11-05', '2026-11-01'],
    ['CR', '2020-10-01', '2020-12-10', '2020-11-30'],
    ['CR', '2022-08-20', '2022-09-20', '2022-09-04 2022-09-19'],
    ['CR', '2024-04-10', '2024-04-20', '2024-04-15'],
    ['CR', '2026-08-20', '2026-12-10', '2026-08-31 2026-09-15 2026-12-01'],
    ['GH', '2024-06-25', '2024-08-10', '2024-08-04 2024-08-05'],
    ['GH', '2025-06-25', '2025-09-22', '2025-07-04 2025-09-21 2025-09-22'],
    ['GH', '2026-01-05', '2026-01-20', '2026-01-09'],
    ['GH', '2026-03-15', '2026-03-25', '2026-03-20 2026-03-21 2026-03-23'],
    ['GH', '2026-06-25', '2026-08-10', '2026-07-01'],
    ['RO', '2023-01-03', '2023-01-10', ''],
    ['RO', '2024-01-03', '2024-01-10', '2024-01-06 2024-01-07'],
    ['NA', '2025-05-27', '2025-05-30', '2025-05-28 2025-05-29'],
    ['NA', '2028-05-27', '2028-05-30', '2028-05-28 2028-05-29'],
    ['ZW', '2027-02-20', '2027-02-23', '2027-02-21 2027-02-22'],
    ['ZW', '2026-04-02', '2026-04-07', '2026-04-03 2026-04-04 2026-04-06'],
    ['TN', '2022-01-10', '2022-01-20', ''],
    ['TN', '2026-12-10', '2026-12-20', '2026-12-17'],
    ['MA', '2026-01-10', '2026-01-15', '2026-01-11 2026-01-14'],
    ['MA', '2026-03-18', '2026-03-23', '2026-03-20 2026-03-21'],
    ['RW', '2026-07-01', '2026-07-07', '2026-07-01 2026-07-04 2026-07-06'],
    ['EC', '2025-10-07', '2025-10-12', '2025-10-10'],
    ['EC', '2026-09-09', '2026-09-11', ''],
    ['EC', '2027-08-08', '2027-08-11', '2027-08-09'],
    [
      'AZ',
      '2025-03-19',
      '2025-03-27',
      '2025-03-20 2025-03-21 2025-03-22 2025-03-23 2025-03-24 2025-03-25 2025-03-26',
    ],
    ['AZ', '2025-11-07', '2025-11-13', '2025-11-08 2025-11-09 2025-11-10 2025-11-11'],
    ['AZ', '2026-10-17', '2026-10-20', ''],
    ['TW', '2025-09-25', '2025-09-30', '2025-09-28 2025-09-29'],
    ['TW', '2025-10-20', '2025-10-27', '2025-10-24 2025-10-25'],
    ['TW', '2025-12-20', '2025-12-31', '2025-12-25'],
    ['TW', '2025-04-30', '2025-05-02', ''],
    ['TW', '2026-04-30', '2026-05-02', '2026-05-01'],
    ['TW', '2026-02-14', '2026-02-22', '2026-02-15 2026-02-16 2026-02-17 2026-02-18 2026-02-19 2026-02-20'],
    ['TW', '2024-04-01', '2024-04-07', '2024-04-04 2024-04-05'],
    ['TW', '2020-04-01', '2020-04-07', '2020-04-02 2020-04-03 2020-04-04'],
    ['TW', '2021-04-01', '2021-04-07', '2021-04-02 2021-04-04 2021-04-05'],
    ['CN', '2026-03-08', '2026-03-08', ''],
    ['CN', '2027-02-04', '2027-02-12', '2027-02-05 2027-02-06 2027-02-07 2027-02-08 2027-02-09 2027-02-10'],
    ['CN', '2025-06-01', '2025-06-03', '2025-06-01 2025-06-02'],
    ['VN', '2026-04-26', '2026-04-27', '2026-04-26 2026-04-27'],
    ['ID', '2026-03-20', '2026-03-23', '2026-03-21 2026-03-22'],
    ['TR', '2026-05-26', '2026-05-31', '2026-05-27 2026-05-28 2026-05-29 2026-05-30'],
    ['UA', '2025-08-20', '2025-08-30', ''],
    ['UA', '2021-08-24', '2021-08-24', '2021-08-24'],
    ['SK', '2026-05-02', '2026-05-31', ''],
    ['SK', '2027-05-02', '2027-05-31', '2027-05-08'],
    ['BY', '2026-01-01', '2026-01-06', '2026-01-01 2026-01-02'],
    ['BW', '2026-09-29', '2026-10-02', '2026-09-30 2026-10-01'],
    ['AM', '2026-01-03', '2026-01-05', ''],
    ['LK', '2025-05-01', '2025-05-13', '2025-05-01 2025-05-12 2025-05-13'],
    ['ME', '2026-01-06', '2026-01-08', ''],
    ['MX', '2030-10-01', '2030-10-01', '2030-10-01'],
  ])('%s from %s to %s', async (country, from, to, days) => {
    expect((await daysOff(country, from, to)).join(' ')).toBe(days);
  });

  test('Korean New Year is three days around the first of the lunar year, with a substitute for a Sunday, in all years', async () => {
    const rows = await new CatalogueFile().holidays('KR');
    const row = rows.find((each) => each.n['en'] === 'Korean New Year');
    const firsts = row!.d
      .split(';')
      .map((day, index) => `${2020 + index}-${day.slice(0, 2)}-${day.slice(2)}`);
    expect(firsts).toHaveLength(26);
    for (const first of firsts) {
      const after = new Date(Date.parse(first) + 4 * 86_400_000).toISOString().slice(0, 10);
      const days = span(first, after).slice(0, 3);
      const hasSunday = days.some((day) => new Date(day).getUTCDay() === 0);
      const off = (await daysOff('KR', first, after)).filter((day) => !days.includes(day));
      expect({ first, substitute: off.length > 0 }).toEqual({ first, substitute: hasSunday });
    }
  });

  test('a day that becomes a day off keeps its names', async () => {
    const rows = await new CatalogueFile().holidays('TW');
    const names = rows.filter((row) => row.n['en'] === "Teachers' Day");
    expect(names.map((row) => row.t).toSorted()).toEqual(['observance', 'public']);
    expect(new Set(names.map((row) => row.n['zh'])).size).toBe(1);
  });

  test.each([
    ['ON', 2026, null],
    ['QC', 2026, null],
    ['BC', 2022, 'observance'],
    ['BC', 2023, 'public'],
    ['YT', 2023, 'public'],
    ['MB', 2023, 'observance'],
    ['MB', 2026, 'public'],
    ['NT', 2026, 'public'],
    ['NU', 2026, 'public'],
    ['PE', 2026, 'public'],
  ])('30 September in %s in %d is %s', async (region, year, type) => {
    const found = await new HolidayCatalogue().holidays({
      country: 'CA',
      region,
      from: `${year}-09-30`,
      to: `${year}-09-30`,
      types: ['public', 'observance'],
      language: 'en',
    });
    const stated = found.filter(({ date }) => date === `${year}-09-30`).map((each) => each.type);
    expect([...new Set(stated)]).toEqual(type === null ? [] : [type]);
  });
});

describe('overlay', () => {
  test('each correction has one change, a source, the date of its review, and names in English', async () => {
    const { corrections, changeOf } = await scripts();
    expect(corrections.length).toBeGreaterThan(100);
    for (const entry of corrections) {
      expect(changeOf(entry)).toHaveLength(1);
      expect(entry.country).toMatch(/^[A-Z]{2}$/);
      expect(entry.source.length).toBeGreaterThan(20);
      expect(entry.reviewed).toMatch(/^20\d\d-\d\d-\d\d$/);
      if (entry.add) expect(entry.add.name['en']).toBeTruthy();
    }
  });

  test('the compiled file has the present corrections', async () => {
    const { fingerprint } = await scripts();
    const [header] = (await readFile(HOLIDAYS, 'utf8')).split('\n', 1);
    expect((JSON.parse(header!) as { corrections: string }).corrections).toBe(fingerprint());
  });

  test.each([
    [
      'a removed day that is absent',
      { remove: { name: 'Day' }, dates: ['2024-01-02'] },
      '2024-01-02 is absent',
    ],
    [
      'an added day that is present',
      { add: { name: { en: 'Day' } }, dates: ['2024-01-01'] },
      '2024-01-01 is present',
    ],
    [
      'a substitute on a day off',
      { add: { name: { en: 'Other' }, observed: true }, dates: ['2024-01-01'] },
      'is present',
    ],
    ['a moved day that is there', { move: { name: 'Day', to: (date: string) => date } }, 'does not move'],
    ['a length that it has', { resize: { name: 'Day', days: 1 } }, 'has 1 days'],
    ['a rule without a day', { add: { name: { en: 'Other' } }, dates: () => [] }, 'no dates'],
  ])('%s fails the compile', async (_, change, message) => {
    const { applyOverlay } = await scripts();
    const compiled = [
      { country: { country: 'XX' }, holidays: [{ n: { en: 'Day' }, t: 'public', d: '0101' }] },
    ];
    expect(() => applyOverlay(compiled, [{ country: 'XX', ...change }])).toThrow(message);
  });

  test('days are added, moved, retyped and shortened', async () => {
    const { applyOverlay } = await scripts();
    const compiled = [
      {
        country: { country: 'XX' },
        holidays: [
          { n: { en: 'Day' }, t: 'public', d: '0101' },
          { n: { en: 'Feast' }, t: 'public', d: '0601', l: 3, r: ['A'] },
        ],
      },
    ];
    applyOverlay(compiled, [
      { country: 'XX', move: { name: 'Day', to: () => '2020-01-02' }, dates: ['2020-01-01'] },
      { country: 'XX', retype: { name: 'Day', to: 'observance' }, dates: ['2021-01-01'] },
      { country: 'XX', resize: { name: 'Feast', days: 2 } },
      { country: 'XX', regions: ['A'], add: { name: { en: 'New' } }, dates: ['2045-12-31'] },
    ]);
    const years = (...first: string[]): string =>
      [...first, ...Array<string>(26 - first.length).fill('0101')].join(';');
    expect(JSON.parse(JSON.stringify(compiled[0]!.holidays))).toEqual([
      { n: { en: 'Day' }, t: 'public', d: years('0102', '') },
      { n: { en: 'Day' }, t: 'observance', d: `;0101${';'.repeat(24)}` },
      { n: { en: 'Feast' }, t: 'public', d: '0601', l: 2, r: ['A'] },
      { n: { en: 'New' }, t: 'public', d: `${';'.repeat(25)}1231`, r: ['A'] },
    ]);
  });
});

test('no country differs in more days from the second source than recorded', async () => {
  const { compareWithSecondSource } = await scripts();
  const [header, ...lines] = (await readFile(HOLIDAYS, 'utf8')).trimEnd().split('\n');
  const { countries } = JSON.parse(header!) as { countries: { country: string }[] };
  const recorded = JSON.parse(await readFile(path.join(FOLDER, 'differences.json'), 'utf8')) as Record<
    string,
    [number, number]
  >;
  const found = compareWithSecondSource(
    countries.map(({ country }, index) => [country, JSON.parse(lines[index]!) as HolidayRow[]]),
  );
  expect(found.length).toBeGreaterThan(200);
  for (const { code, more, fewer } of found) {
    const [mostMore, mostFewer] = recorded[code] ?? [0, 0];
    expect({ code, grown: more.length > mostMore || fewer.length > mostFewer }).toEqual({
      code,
      grown: false,
    });
  }
});
