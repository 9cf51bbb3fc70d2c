import { addDays, isWeekend, weekday, yearly } from '../days.mjs';
import { from, shifted } from '../rules.mjs';

const reviewed = '2026-11-28';
const SACRIFICE = 'Feast of the Sacrifice (Eid al-Adha)';
const MAWLID = 'Birthday of Muhammad (Mawlid)';
const EID = 'End of Ramadan (Eid al-Fitr)';
const NG_ACT = 'Public Holidays Act of Nigeria, schedule';
const NG_MINISTRY = 'Announcements of the Ministry of Interior of Nigeria, 2024 and 2025';
const EG_DECREES =
  'Decrees of the Prime Minister of Egypt on the days off of 2024, 2025 and 2026: moved to a Thursday or Sunday';

const added = (country, name, dates, source) => ({ country, add: { name }, dates, source, reviewed });
const moved = (country, name, date, target, source) => ({
  country,
  move: { name, to: () => target },
  dates: [date],
  source,
  reviewed,
});

const nigeria = [
  ...[
    ["Children's Day", 'a day of schools'],
    ['National Youth Day', 'no day off'],
    ['Islamic New Year', 'a day off in some states only'],
  ].map(([name, why]) => ({
    country: 'NG',
    retype: { name, to: 'observance' },
    source: `${NG_ACT}: not named; ${why}`,
    reviewed,
  })),
  moved('NG', MAWLID, '2024-09-15', '2024-09-16', NG_MINISTRY),
  moved('NG', MAWLID, '2025-09-04', '2025-09-05', NG_MINISTRY),
  added('NG', { en: 'Id el Kabir holiday' }, ['2024-06-18', '2025-06-09'], NG_MINISTRY),
  added('NG', { en: 'Id el Fitr holiday' }, ['2025-04-01'], NG_MINISTRY),
  added('NG', { en: 'Day of mourning for President Buhari' }, ['2025-07-15'], NG_MINISTRY),
];

const kenya = [
  added(
    'KE',
    { en: 'National Tree Growing Day', sw: 'Siku ya Kitaifa ya Upanzi wa Miti' },
    ['2023-11-13', '2024-05-10'],
    'Notices in the Kenya Gazette of 6 November 2023 and 8 May 2024',
  ),
  added(
    'KE',
    { en: 'Inauguration of the Deputy President', sw: 'Kuapishwa kwa Naibu Rais' },
    ['2024-11-01'],
    'Notice in the Kenya Gazette of 31 October 2024',
  ),
  added(
    'KE',
    { en: 'Idd-ul-Fitr holiday', sw: 'Sikukuu ya Idd-ul-Fitr' },
    ['2025-03-31'],
    'Notice in the Kenya Gazette, March 2025',
  ),
  moved('KE', SACRIFICE, '2024-06-16', '2024-06-17', 'Notice in the Kenya Gazette, June 2024'),
];

const egypt = [
  ['Labour Day', '2024-05-01', '2024-05-05'],
  ['Islamic New Year', '2024-07-07', '2024-07-11'],
  ['Revolution Day', '2024-07-23', '2024-07-25'],
  ['30 June Day', '2025-06-30', '2025-07-03'],
  ['Revolution Day', '2025-07-23', '2025-07-24'],
  ['Armed Forces Day', '2025-10-06', '2025-10-09'],
  ['National Police Day', '2026-01-25', '2026-01-29'],
  ['Revolution Day 2011', '2026-01-25', '2026-01-29'],
].map(([name, date, target]) => moved('EG', name, date, target, EG_DECREES));

const arafat = added(
  'EG',
  { en: 'Arafat Day', ar: 'وقفة عيد الأضحى' },
  (days) => shifted(days.datesOf(SACRIFICE), -1),
  'Yearly decrees of the Prime Minister of Egypt: the eve of Eid al-Adha is a day off',
);

const america = [
  {
    country: 'MX',
    move: { name: 'Change of Federal Government', to: (date) => date.replace('12-01', '10-01') },
    dates: (days) => from(days.datesOf('Change of Federal Government'), '2024'),
    source:
      'Federal Labour Law of Mexico, article 74(VII), and article 83 of the Constitution: 1 October from 2024 on',
    reviewed,
  },
  added(
    'CL',
    { en: 'Holy Saturday', es: 'Sábado Santo' },
    (days) => days.datesOf('Good Friday').map((date) => addDays(date, 1)),
    'Law 2977 of Chile: Friday and Saturday of Holy Week',
  ),
];

const southernAfrica = [
  added(
    'BW',
    { en: 'Botswana Day Holiday' },
    (days) => days.notOff(yearly('10-01')),
    'Public Holidays Act of Botswana, schedule: Botswana Day and the day after',
  ),
  added(
    'AO',
    { en: 'Liberation Day of Southern Africa', pt: 'Dia da Libertação da África Austral' },
    yearly('03-23'),
    'Law 11/18 of Angola on national holidays, article 2',
  ),
];

/** The Mondays after the dates that are Sundays. */
const mondays = (dates) => dates.filter((date) => weekday(date) === 0).map((date) => addDays(date, 1));

const NA_ACT =
  'Public Holidays Act 26 of 1990 of Namibia, and the decision of the Cabinet of 2024: from 2025 on';
const ZW_ACT = 'Public Holidays and Prohibition of Business Act of Zimbabwe, chapter 10:21';
const otherAfrica = [
  added('NA', { en: 'Genocide Remembrance Day' }, yearly('05-28', 2025), NA_ACT),
  added('NA', { en: 'Public Holiday' }, (days) => mondays(days.datesOf('Genocide Remembrance Day')), NA_ACT),
  added('ZW', { en: 'Robert Gabriel Mugabe National Youth Day' }, yearly('02-21'), ZW_ACT),
  added(
    'ZW',
    { en: 'Easter Saturday' },
    (days) => shifted(days.datesOf('Good Friday'), 1).filter((date) => !days.isOff(date)),
    ZW_ACT,
  ),
  ...['Robert Gabriel Mugabe National Youth Day', 'Africa Day'].map((name) =>
    added(
      'ZW',
      { en: `${name} (substitute day)` },
      (days) => days.notOff(mondays(days.datesOf(name))),
      `${ZW_ACT}, section 2: the Monday after a Sunday`,
    ),
  ),
  {
    country: 'TN',
    move: { name: 'Fête de la Révolution et de la Jeunesse', to: (date) => date.replace('01-14', '12-17') },
    dates: yearly('01-14', 2022),
    source: 'Presidential decree 2021-223 of Tunisia of 7 December 2021',
    reviewed,
  },
  ...[EID, SACRIFICE, MAWLID].map((name) => ({
    country: 'MA',
    resize: { name, days: 2 },
    source: 'Decree 2-77-169 of Morocco on paid holidays of the administration: two days each',
    reviewed,
  })),
  added(
    'MA',
    { en: 'Amazigh New Year', ar: 'رأس السنة الأمازيغية', fr: 'Nouvel an amazigh' },
    yearly('01-14', 2024),
    'Decision of the King of Morocco of 3 May 2023',
  ),
  added(
    'RW',
    { en: 'Public Holiday (substitute day)' },
    (days) =>
      days.notOff([
        ...new Set(
          [
            "New Year's Day",
            'Public Holiday',
            'Heroes Day',
            'Labour Day',
            'Independence Day',
            'Liberation Day',
            EID,
            SACRIFICE,
            'Assumption',
            'Christmas Day',
            'Boxing Day',
          ]
            .flatMap((name) => days.datesOf(name))
            .filter(isWeekend)
            .map((date) => addDays(date, weekday(date) === 0 ? 1 : 2)),
        ),
      ]),
    'Presidential order of Rwanda on public holidays: the Monday after a holiday on a weekend, except 7 April',
  ),
];

/** Tuesday: Monday; Wednesday and Thursday: Friday of the week; Saturday: the day before; Sunday: the day after. */
const EC_SHIFTS = [1, 0, -1, 2, 1, 0, -1];
const EC_LAW = 'Law of Ecuador on long weekends, Registro Oficial 906 of 20 December 2016, article 1';
const ecuador = [
  {
    country: 'EC',
    move: { name: 'Independence of Guayaquil', to: (date) => date.replace('09-10', '10-09') },
    source: 'Labour Code of Ecuador, article 65: 9 October',
    reviewed,
  },
  {
    country: 'EC',
    retype: { name: 'Maundy Thursday', to: 'observance' },
    source: 'Labour Code of Ecuador, article 65: not among the days off',
    reviewed,
  },
  ...[
    'Labour Day',
    'The Battle of Pichincha',
    'Declaration of Independence of Quito',
    'Independence of Guayaquil',
  ].map((name) => ({
    country: 'EC',
    move: { name, to: (date) => addDays(date, EC_SHIFTS[weekday(date)]) },
    dates: (days) => days.datesOf(name).filter((date) => EC_SHIFTS[weekday(date)] !== 0),
    source: EC_LAW,
    reviewed,
  })),
];

const GH_ACT =
  'Public Holidays and Commemorative Days (Amendment) Act 2025 of Ghana, and the notices of the Ministry of the Interior of June and July 2025';
const GH_NOTICES = 'Notices of the Ministry of the Interior of Ghana of January and March 2026';
const ghana = [
  // In 2025 the Ministry moved the day.
  added('GH', { en: 'Republic Day' }, ['2025-07-04', ...yearly('07-01', 2026)], GH_ACT),
  ...['Founders Day', 'Founders Day (substitute day)'].map((name) => ({
    country: 'GH',
    remove: { name },
    dates: (days) => from(days.datesOf(name), '2025'),
    source: `${GH_ACT}: 4 August is none from 2025 on`,
    reviewed: '2026-11-30',
  })),
  added('GH', { en: 'Shaqq Day' }, (days) => from(shifted(days.datesOf(EID), 1), '2026'), GH_ACT),
  added('GH', { en: 'Shaqq Day (substitute day)' }, ['2026-03-23'], GH_NOTICES),
  moved('GH', 'Constitution Day', '2026-01-07', '2026-01-09', GH_NOTICES),
];

const CR_CODE = 'Labour Code of Costa Rica, article 148';
const CR_MONDAYS = 'Law 9875 of Costa Rica on holidays that move to Mondays';
const costaRica = [
  {
    country: 'CR',
    remove: { name: 'Columbus Day' },
    source: `${CR_CODE}, as amended by law 9803 of 2020: 1 December instead of 12 October`,
    reviewed: '2026-11-30',
  },
  added(
    'CR',
    { en: 'Army Abolition Day', es: 'Día de la Abolición del Ejército' },
    ['2020-11-30', '2021-11-29', '2022-12-05', ...yearly('12-01', 2023)],
    `${CR_CODE}, as amended by law 9803 of 2020; in 2020 to 2022 moved by law 9875`,
  ),
  added(
    'CR',
    {
      en: 'Day of the Black Person and Afro-Costa Rican Culture',
      es: 'Día de la Persona Negra y la Cultura Afrocostarricense',
    },
    ['2022-09-04', '2023-09-03', ...yearly('08-31', 2024)],
    `${CR_CODE}, as amended by law 10050 of 2021; in 2022 and 2023 on the next Sunday`,
  ),
  ...[
    ['Guanacaste Day', '2020-07-25', '2020-07-27'],
    ["Mother's Day", '2020-08-15', '2020-08-17'],
    ['Independence Day', '2020-09-15', '2020-09-14'],
    ['Labour Day', '2021-05-01', '2021-05-03'],
    ['Guanacaste Day', '2021-07-25', '2021-07-26'],
    ['Independence Day', '2021-09-15', '2021-09-13'],
    ['Independence Day', '2022-09-15', '2022-09-19'],
    ['Gesta Heroica de Juan Santamaría', '2023-04-11', '2023-04-10'],
    ['Guanacaste Day', '2023-07-25', '2023-07-24'],
    ["Mother's Day", '2023-08-15', '2023-08-14'],
    ['Gesta Heroica de Juan Santamaría', '2024-04-11', '2024-04-15'],
  ].map(([name, date, target]) => moved('CR', name, date, target, CR_MONDAYS)),
];

const RECONCILIATION = 'National Day for Truth and Reconciliation';
const canada = [
  [2022, 2022, ['NT', 'NU', 'PE'], 'PE: Employment Standards Act; NT, NU: labour standards laws, as amended'],
  [
    2023,
    2023,
    ['BC', 'NT', 'NU', 'PE', 'YT'],
    'BC: National Day for Truth and Reconciliation Act of 2023; YT: law of 2022',
  ],
  [
    2024,
    undefined,
    ['BC', 'MB', 'NT', 'NU', 'PE', 'YT'],
    'MB: The Orange Shirt Day Act and The Employment Standards Code, as amended in 2023',
  ],
].map(([first, last, regions, source]) => ({
  country: 'CA',
  retype: { name: RECONCILIATION, type: 'observance', to: 'public' },
  dates: yearly('09-30', first, last),
  regions,
  source,
  reviewed: '2026-12-01',
}));

export const africaAndAmerica = [
  ...canada,
  ...ghana,
  ...costaRica,
  ...otherAfrica,
  ...ecuador,
  ...southernAfrica,
  ...nigeria,
  ...kenya,
  ...egypt,
  arafat,
  ...america,
];
