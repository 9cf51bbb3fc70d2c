import { weekday } from '../days.mjs';
import { from, nearestWorkingDays, nextWorkingDays, shifted, workingDay } from '../rules.mjs';

const reviewed = '2026-11-28';
const ACT = 'Act on Memorial Days and Holidays of 28 May 2025';
const RULES = `Regulations on Memorial Days and Holidays, from 30 May 2025 on ${ACT}`;
const SPRING = [
  "Chinese New Year's Eve",
  'Chinese New Year',
  'The second day of the Chinese New Year',
  'The third day of the Chinese New Year',
];
/** Holidays on a Saturday have the Friday before, on a Sunday the Monday after. The order counts: see Children's Day. */
const SINGLE = [
  ['Founding of the Republic of China', '開國紀念日'],
  ['Peace Memorial Day', '和平紀念日'],
  ['Tomb Sweeping Day', '民族掃墓節'],
  ['Labour Day', '勞動節'],
  ['Dragon Boat Festival', '端午節'],
  ['Mid-Autumn Festival', '中秋節'],
  ["Teachers' Day", '孔子誕辰紀念日'],
  ['National Day / Double Tenth Day', '國慶日'],
  ['Taiwan Retrocession Day', '臺灣光復暨金門古寧頭大捷紀念日'],
  ['Constitution Day', '行憲紀念日'],
];

const remove = (name, source, type = 'public') => ({
  country: 'TW',
  remove: { name, type },
  source,
  reviewed,
});

const becomesPublic = (name, first) => ({
  country: 'TW',
  retype: { name, type: 'observance', to: 'public' },
  dates: (days) => from(days.datesOf(name, 'observance'), first),
  source: `${ACT}: a day off for all, in force since 30 May 2025`,
  reviewed,
});

const substitute = (en, zh, dates) => ({
  country: 'TW',
  add: { name: { en: `${en} (substitute day)`, zh: `${zh}（補假）` }, observed: true },
  dates,
  source: `${RULES}: substitutes of holidays on a day of rest`,
  reviewed,
});

export const taiwan = [
  remove('The forth day of the Chinese New Year', `${RULES}: Spring Festival ends with the third day`),
  remove('Chinese New Year Holiday', `${RULES}: Spring Festival ends with the third day`),
  ...[
    'Founding of the Republic of China',
    'Peace Memorial Day',
    "Children's Day",
    'Tomb Sweeping Day',
    'Dragon Boat Festival',
    'Mid-Autumn Festival',
    'National Day / Double Tenth Day',
  ].map((name) => remove(`${name} (substitute day)`, `${RULES}: the substitutes are computed below`)),
  {
    ...remove('Labour Day (substitute day)', `${ACT}: the substitutes are computed below`, 'observance'),
    dates: (days) => from(days.datesOf('Labour Day (substitute day)', 'observance'), '2026'),
  },
  becomesPublic("Teachers' Day", '2025-05-30'),
  becomesPublic('Taiwan Retrocession Day', '2025-05-30'),
  becomesPublic('Constitution Day', '2025-05-30'),
  becomesPublic('Labour Day', '2025-05-30'),
  {
    country: 'TW',
    add: { name: { en: "Little New Year's Eve", zh: '小年夜' } },
    dates: (days) => from(shifted(days.datesOf("Chinese New Year's Eve"), -1), '2025-05-30'),
    source: `${ACT}: the day before New Year's Eve`,
    reviewed,
  },
  substitute('Spring Festival', '春節', (days) =>
    nextWorkingDays(
      [...SPRING, "Little New Year's Eve"].flatMap((name) => days.datesOf(name)),
      days,
    ),
  ),
  ...SINGLE.map(([name, zh]) => substitute(name, zh, (days) => nearestWorkingDays(days.datesOf(name), days))),
  substitute("Children's Day", '兒童節', (days) => {
    const tombSweeping = new Set(days.datesOf('Tomb Sweeping Day'));
    const dates = days.datesOf("Children's Day");
    // On the same day: the day before, of a Thursday the day after.
    const both = dates.filter((date) => tombSweeping.has(date));
    return [
      ...nearestWorkingDays(
        dates.filter((date) => !tombSweeping.has(date)),
        days,
      ),
      ...both.map((date) => workingDay(date, weekday(date) === 4 ? 1 : -1, (day) => days.isOff(day))),
    ];
  }),
  {
    country: 'TW',
    add: { name: { en: 'Adjusted day off', zh: '調整放假' } },
    dates: [
      '2020-01-23',
      '2020-06-26',
      '2020-10-02',
      '2021-02-10',
      '2021-09-20',
      '2022-02-04',
      '2023-01-20',
      '2023-01-27',
      '2023-02-27',
      '2023-04-03',
      '2023-06-23',
      '2023-10-09',
      '2024-02-08',
      '2025-01-27',
    ],
    source:
      'Office calendars of the Directorate-General of Personnel Administration for 2020 to 2025; none are adjusted since 2026',
    reviewed,
  },
];
