import { span, YEARS } from '../days.mjs';
import { from, nextWorkingDays, shifted } from '../rules.mjs';

const reviewed = '2026-11-28';
const REGULATION = 'Regulation on Public Holidays for National Annual Festivals and Memorial Days';
const NAMES = {
  newYear: { en: "New Year's Day", zh: '元旦' },
  spring: { en: 'Spring Festival', zh: '春节' },
  qingming: { en: 'Qingming Festival', zh: '清明节' },
  labour: { en: 'Labour Day', zh: '劳动节' },
  dragonBoat: { en: 'Dragon Boat Festival', zh: '端午节' },
  autumn: { en: 'Mid-Autumn Festival', zh: '中秋节' },
  national: { en: 'National Day', zh: '国庆节' },
};

/** Days off of each notice, weekends in them included. Working days on weekends are no holidays. */
const NOTICES = [
  [
    '2019-11-21',
    [
      ['spring', '2020-01-24', '2020-01-30'],
      ['qingming', '2020-04-04', '2020-04-06'],
      ['labour', '2020-05-01', '2020-05-05'],
      ['dragonBoat', '2020-06-25', '2020-06-27'],
      ['national', '2020-10-01', '2020-10-08'],
    ],
  ],
  [
    '2021-10-25',
    [
      ['newYear', '2022-01-01', '2022-01-03'],
      ['spring', '2022-01-31', '2022-02-06'],
      ['qingming', '2022-04-03', '2022-04-05'],
      ['labour', '2022-04-30', '2022-05-04'],
      ['dragonBoat', '2022-06-03', '2022-06-05'],
      ['autumn', '2022-09-10', '2022-09-12'],
      ['national', '2022-10-01', '2022-10-07'],
    ],
  ],
  [
    '2022-12-08',
    [
      ['newYear', '2022-12-31', '2023-01-02'],
      ['spring', '2023-01-21', '2023-01-27'],
      ['labour', '2023-04-29', '2023-05-03'],
      ['dragonBoat', '2023-06-22', '2023-06-24'],
      ['national', '2023-09-29', '2023-10-06'],
    ],
  ],
  [
    '2023-10-25',
    [
      ['spring', '2024-02-10', '2024-02-17'],
      ['qingming', '2024-04-04', '2024-04-06'],
      ['labour', '2024-05-01', '2024-05-05'],
      ['autumn', '2024-09-15', '2024-09-17'],
      ['national', '2024-10-01', '2024-10-07'],
    ],
  ],
  [
    '2024-11-12',
    [
      ['spring', '2025-01-28', '2025-02-04'],
      ['qingming', '2025-04-04', '2025-04-06'],
      ['labour', '2025-05-01', '2025-05-05'],
      ['dragonBoat', '2025-05-31', '2025-06-02'],
      ['national', '2025-10-01', '2025-10-08'],
    ],
  ],
  [
    '2025-11-04',
    [
      ['newYear', '2026-01-01', '2026-01-03'],
      ['spring', '2026-02-15', '2026-02-23'],
      ['qingming', '2026-04-04', '2026-04-06'],
      ['labour', '2026-05-01', '2026-05-05'],
      ['dragonBoat', '2026-06-19', '2026-06-21'],
      ['autumn', '2026-09-25', '2026-09-27'],
      ['national', '2026-10-01', '2026-10-07'],
    ],
  ],
];
/** Years after the last notice: the days of the law only. */
const FIRST_OPEN = '2027-01-01';

const groupDay = (name) => ({
  country: 'CN',
  retype: { name, to: 'observance' },
  source: `${REGULATION}, article 3: a half day for a group of citizens (women, youth, children, soldiers), no public day off`,
  reviewed,
});

const arranged = NOTICES.flatMap(([date, festivals]) =>
  festivals.map(([festival, first, last]) => ({
    country: 'CN',
    add: { name: NAMES[festival] },
    dates: (days) => days.notOff(span(first, last)),
    source: `Notice of the General Office of the State Council on the arrangement of holidays, ${String(date)}`,
    reviewed,
  })),
);

export const china = [
  groupDay("International Women's Day"),
  groupDay('Youth Day'),
  groupDay("Children's Day"),
  groupDay('Army Day'),
  {
    country: 'CN',
    remove: { name: 'Spring Festival' },
    dates: ['2024-02-09'],
    source: `${REGULATION}, version of 2013, article 2; the notice of 25 October 2023 leaves the eve to the employers`,
    reviewed,
  },
  ...arranged,
  {
    country: 'CN',
    add: { name: NAMES.spring },
    // Two days after the first day: the eve comes first in the data.
    dates: (days) =>
      days.notOff(
        YEARS.flatMap((year) =>
          shifted(
            days
              .datesOf('Spring Festival')
              .filter((date) => date.startsWith(`${year}`))
              .slice(0, 1),
            3,
          ),
        ).filter((date) => date >= FIRST_OPEN),
      ),
    source: `${REGULATION}, version of 10 November 2024, article 2(2): the eve and the first three days of the lunar year`,
    reviewed,
  },
  {
    country: 'CN',
    add: { name: NAMES.labour },
    dates: (days) => days.notOff(shifted(from(days.datesOf('Labour Day'), FIRST_OPEN), 1)),
    source: `${REGULATION}, version of 10 November 2024, article 2(4): 1 and 2 May`,
    reviewed,
  },
  {
    country: 'CN',
    add: { name: { en: 'Substitute day', zh: '补假' }, observed: true },
    dates: (days) =>
      nextWorkingDays(
        days.rows.filter((row) => row.t === 'public').flatMap((row) => from([...row.dates], FIRST_OPEN)),
        days,
      ),
    source: `${REGULATION}, article 6: holidays on Saturdays and Sundays are made up on working days; the notice of each year names them`,
    reviewed,
  },
];
