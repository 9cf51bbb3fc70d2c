import { yearly } from '../days.mjs';
import { from, nextWorkingDays, shifted } from '../rules.mjs';

const reviewed = '2026-11-28';
const BG_CODE = 'Labour Code of Bulgaria';
const added = (country, name, dates, source, observed) => ({
  country,
  add: observed ? { name, observed } : { name },
  dates,
  source,
  reviewed,
});

/** Days of Easter have no substitute. */
const BG_SUBSTITUTED = [
  ["New Year's Day", 'Нова година'],
  ['Liberation Day', 'Ден на Освобождението на България'],
  ['Labour Day', 'Ден на труда'],
  ["St. George's Day", 'Гергьовден'],
  [
    'Bulgarian Education and Culture, and Slavonic Literature Day',
    'Ден на българската просвета и култура и на славянската писменост',
  ],
  ['Unification Day', 'Ден на Съединението'],
  ['Independence Day', 'Ден на Независимостта'],
];
const BG_CHRISTMAS = ['Christmas Eve', 'Christmas Day', 'Second Day of Christmas'];

const bulgaria = [
  added(
    'BG',
    { en: 'Second Day of Christmas', bg: 'Рождество Христово' },
    yearly('12-26'),
    `${BG_CODE}, article 154(1): 25 and 26 December`,
  ),
  added(
    'BG',
    { en: 'Holy Saturday', bg: 'Велика събота' },
    (days) => shifted(days.datesOf('Good Friday'), 1),
    `${BG_CODE}, article 154(1): Good Friday, Holy Saturday, Easter Sunday and Monday`,
  ),
  added(
    'BG',
    { en: 'Day off', bg: 'Неприсъствен ден' },
    ['2025-12-31', '2026-01-02'],
    'Decision of the Council of Ministers of Bulgaria of 19 November 2025, for the introduction of the euro',
  ),
  ...BG_SUBSTITUTED.map(([en, bg]) =>
    added(
      'BG',
      { en: `${en} (substitute day)`, bg: `${bg} (почивен ден)` },
      (days) => nextWorkingDays(days.datesOf(en), days),
      `${BG_CODE}, article 154(2): the first working days after`,
      true,
    ),
  ),
  added(
    'BG',
    { en: 'Christmas (substitute day)', bg: 'Рождество Христово (почивен ден)' },
    (days) =>
      nextWorkingDays(
        BG_CHRISTMAS.flatMap((name) => days.datesOf(name)),
        days,
      ),
    `${BG_CODE}, article 154(2): the first working days after`,
    true,
  ),
];

/** Martial law since 24 February 2022. Later years follow the law of peace until a review says otherwise. */
const UA_LAW =
  'Law of Ukraine 2136-IX on labour relations under martial law, article 6(6): the days off of the Labour Code do not apply';
const UA_FIRST = '2022-02-24';
const UA_LAST = '2026-12-31';
const isOwnDay = (name) => (date) =>
  (name !== "International Women's Day" || date.endsWith('03-08')) &&
  (name !== 'Christmas Day' || date.endsWith('12-25')) &&
  (name !== 'Statehood Day' || date.endsWith('07-28') || date.endsWith('07-15'));
const UA_SHIFTED = ["International Women's Day", 'Christmas Day', 'Statehood Day'];

const ukraine = [
  ...UA_SHIFTED.map((name) => ({
    country: 'UA',
    remove: { name },
    dates: (days) => from(days.datesOf(name), UA_FIRST, UA_LAST).filter((date) => !isOwnDay(name)(date)),
    source: UA_LAW,
    reviewed,
  })),
  ...[
    'Orthodox Easter',
    'Victory Day',
    'Pentecost',
    'Constitution Day',
    'New Year',
    'Labour Day',
    'Defenders of Ukraine Day',
    'Independence Day',
  ].map((name) => ({
    country: 'UA',
    remove: { name: `${name} (substitute day)` },
    dates: (days) => from(days.datesOf(`${name} (substitute day)`), UA_FIRST, UA_LAST),
    source: UA_LAW,
    reviewed,
  })),
  ...[
    'New Year',
    "International Women's Day",
    'Orthodox Easter',
    'Labour Day',
    'Victory Day',
    'Pentecost',
    'Constitution Day',
    'Statehood Day',
    'Independence Day',
    'Defenders of Ukraine Day',
    'Christmas Day',
  ].map((name) => ({
    country: 'UA',
    retype: { name, to: 'observance' },
    dates: (days) => from(days.datesOf(name), UA_FIRST, UA_LAST),
    source: UA_LAW,
    reviewed,
  })),
];

const others = [
  added(
    'SK',
    { en: 'Day of victory over fascism', sk: 'Deň víťazstva nad fašizmom' },
    yearly('05-08', 2027),
    'Act 241/1993 of Slovakia, amended by the consolidation act of 2025: a working day in 2026 only',
  ),
  added(
    'SK',
    { en: 'Day of Our Lady of the Seven Sorrows', sk: 'Sedembolestná Panna Mária' },
    yearly('09-15', 2027),
    'Act 241/1993 of Slovakia, amended by the consolidation act of 2025: a working day in 2026 only',
  ),
  added(
    'HU',
    { en: 'Adjusted day off', hu: 'Pihenőnap' },
    [
      '2024-08-19',
      '2024-12-24',
      '2024-12-27',
      '2025-05-02',
      '2025-10-24',
      '2025-12-24',
      '2026-01-02',
      '2026-08-21',
      '2026-12-24',
    ],
    'Decrees of the Ministry for National Economy of Hungary on working days around holidays in 2024, 2025 and 2026',
  ),
  added(
    'LV',
    { en: 'Adjusted day off', lv: 'Brīvdiena' },
    ['2024-12-23', '2024-12-30', '2025-05-02', '2025-11-17', '2026-01-02', '2026-06-22'],
    'Orders of the Cabinet of Ministers of Latvia on moved working days in 2024, 2025 and 2026',
  ),
  added(
    'RU',
    { en: 'Transferred day off', ru: 'Выходной (перенесён)' },
    [
      '2024-04-29',
      '2024-04-30',
      '2024-05-10',
      '2024-12-30',
      '2024-12-31',
      '2025-05-02',
      '2025-05-08',
      '2025-06-13',
      '2025-11-03',
      '2025-12-31',
      '2026-01-09',
      '2026-12-31',
    ],
    'Resolutions of the Government of Russia 1314 of 10 August 2023, 1335 of 4 October 2024 and 1466 of 24 September 2025',
  ),
  {
    country: 'GR',
    move: { name: 'Labour Day', to: () => '2024-05-07' },
    dates: ['2024-05-01'],
    source: 'Decision of the Minister of Labour of Greece for 2024: 1 May was in Holy Week',
    reviewed,
  },
];

const montenegro = [
  ...[
    'Christmas Eve',
    'Christmas Day',
    'Boxing Day',
    'Pesach',
    'Good Friday',
    'Easter Sunday',
    'End of Ramadan (Eid al-Fitr)',
    'Feast of the Sacrifice (Eid al-Adha)',
    'Yom Kippur',
    "All Saints' Day",
  ].map((name) => ({
    country: 'ME',
    retype: { name, to: 'optional' },
    source:
      'Law of Montenegro on celebrating religious holidays: a day off for the believers of the religion only',
    reviewed,
  })),
  added(
    'ME',
    { en: 'Njegoš Day', sr: 'Његошев дан', hr: 'Njegošev dan', bs: 'Njegošev dan' },
    [...yearly('11-13', 2022), '2023-11-14', '2024-11-14'],
    'Law of Montenegro on state and other holidays (Official Gazette 145/21); in 2023 and 2024 the Ministry of Labour named the day after, too',
  ),
];

const belarusAndArmenia = [
  added(
    'BY',
    { en: "New Year's Day", be: 'Новы год', ru: 'Новый год' },
    yearly('01-02'),
    'Edict 157 of the President of Belarus of 26 March 1998 on holidays, amended in 2019: 1 and 2 January',
  ),
  added(
    'BY',
    { en: 'Transferred day off', be: 'Выходны (перанесены)', ru: 'Выходной (перенесён)' },
    ['2024-05-13', '2024-11-08', '2025-01-06', '2025-04-28', '2025-07-04', '2025-12-26', '2026-04-20'],
    'Resolutions of the Council of Ministers of Belarus on moved working days in 2024, 2025 and 2026',
  ),
  {
    country: 'AM',
    remove: { name: 'Pre-Christmas holidays' },
    dates: (days) => from(days.datesOf('Pre-Christmas holidays'), '2022'),
    source:
      'Law of Armenia on holidays and memorial days, amended in 2021: 31 December, 1, 2 and 6 January are days off',
    reviewed,
  },
];

const liechtenstein = ['Staatsfeiertag', "All Saints' Day"].map((name) => ({
  country: 'LI',
  retype: { name, type: 'observance', to: 'public' },
  source:
    'Labour Act of Liechtenstein (LR 822.10), article 18(2), in the version of 1986: 15 August and 1 November',
  reviewed: '2026-11-30',
}));

const romania = ['Epiphany', 'Saint John the Baptist'].map((name) => ({
  country: 'RO',
  retype: { name, to: 'observance' },
  dates: (days) => days.datesOf(name).filter((date) => date < '2024'),
  source: 'Law 52/2023 of Romania, published on 6 March 2023: 6 and 7 January are days off from 2024 on',
  reviewed: '2026-11-30',
}));

export const europe = [
  ...liechtenstein,
  ...romania,
  ...bulgaria,
  ...ukraine,
  ...montenegro,
  ...belarusAndArmenia,
  ...others,
];
