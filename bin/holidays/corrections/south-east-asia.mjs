import { addDays, yearly } from '../days.mjs';
import { from, nextWorkingDayOfBlocks, nextWorkingDays } from '../rules.mjs';

const reviewed = '2026-11-28';
const VN_LABOUR_CODE = 'Labour Code of Viet Nam (45/2019/QH14)';
const TH_CABINET = 'Resolutions of the Thai Cabinet on the public holidays of 2024, 2025 and 2026';
const TH_SUBSTITUTES =
  'Order of the Office of the Prime Minister of Thailand: the next working day for a holiday on a weekend';
const ID_DECREE =
  'Joint decrees of three ministers of Indonesia (SKB 3 Menteri) on national holidays of 2024, 2025 and 2026';
const MY_HOLIDAYS =
  "Official holidays of the Prime Minister's Department of Malaysia for 2024, 2025 and 2026";
const PH_PROCLAMATIONS =
  'Proclamations of the President of the Philippines 368 (2024), 727 (2025) and 1006 (2026)';
const SG_2027 =
  'Ministry of Manpower of Singapore, public holidays of 2027, as vacanza/holidays records them; the new moons agree';
const EID = 'End of Ramadan (Eid al-Fitr)';
const SACRIFICE = 'Feast of the Sacrifice (Eid al-Adha)';
const MAWLID = 'Birthday of Muhammad (Mawlid)';

/** The holiday is on `target`, not on `date`. */
const moved = (country, name, date, target, source) => ({
  country,
  move: { name, to: () => target },
  dates: [date],
  source,
  reviewed,
});

const added = (country, name, dates, source, observed) => ({
  country,
  add: observed ? { name, observed } : { name },
  dates,
  source,
  reviewed,
});

const vietNam = [
  added(
    'VN',
    { en: 'Vietnamese New Year Holidays', vi: 'Tết Nguyên Đán' },
    [
      '2020-01-23',
      '2020-01-29',
      '2021-02-10',
      '2021-02-16',
      '2023-01-20',
      '2023-01-26',
      '2024-02-08',
      '2024-02-14',
      '2025-01-27',
    ],
    `${VN_LABOUR_CODE}, article 112(1)(b); announcements of the Ministry of Labour (later Home Affairs) for these years`,
  ),
  added(
    'VN',
    { en: 'National Day', vi: 'Quốc khánh' },
    ['2021-09-03', '2022-09-01', '2023-09-01', '2024-09-03', '2025-09-01', '2026-09-01'],
    `${VN_LABOUR_CODE}, article 112(1)(đ): 2 September and one day beside it, named by the Prime Minister`,
  ),
  added(
    'VN',
    { en: 'Adjusted day off', vi: 'Ngày nghỉ hoán đổi' },
    ['2024-04-29', '2025-05-02', '2026-08-31'],
    'Decisions of the Prime Minister on exchanged working days: for 4 May 2024, 26 April 2025 and 22 August 2026',
  ),
  ...[
    ["New Year's Day", 'Tết Dương lịch'],
    ['Hung Kings Commemorations', 'Giỗ Tổ Hùng Vương'],
    ['Day of liberating the South for national reunification', 'Ngày Chiến thắng'],
    ['Labour Day', 'Ngày Quốc tế Lao động'],
    ['National Day', 'Quốc khánh'],
  ].map(([en, vi]) =>
    added(
      'VN',
      { en: `${en} (substitute day)`, vi: `${vi} (nghỉ bù)` },
      (days) => nextWorkingDays(days.datesOf(en), days),
      `${VN_LABOUR_CODE}, article 111(3): the next working day`,
      true,
    ),
  ),
];

const TH_SINGLE = [
  'Makha Bucha',
  'Chakri Memorial Day',
  'Coronation Day',
  'Vesak Day',
  'National Labour Day',
  "Queen Suthida's Birthday",
  "King's Birthday",
  "The Queen Mother's Birthday",
  'King Bhumibol Adulyadej Memorial Day',
  'King Chulalongkorn Day',
  "King Bhumibol Adulyadej's Birthday",
  'Constitution Day',
];
/** Holidays that follow one another have one substitute. */
const TH_BLOCKS = [
  [['Songkran Festival'], (date) => date.slice(0, 4)],
  [['Asalha Puja', 'Buddhist Lent'], (date) => date.slice(0, 4)],
  // 31 December and 1 January.
  [["New Year's Eve", "New Year's Day"], (date) => addDays(date, 1).slice(0, 4)],
];

const thailand = [
  moved('TH', 'Asalha Puja', '2024-07-19', '2024-07-20', TH_CABINET),
  moved('TH', 'Buddhist Lent', '2024-07-20', '2024-07-21', TH_CABINET),
  moved('TH', 'Makha Bucha', '2025-02-13', '2025-02-12', TH_CABINET),
  moved('TH', 'Vesak Day', '2025-05-12', '2025-05-11', TH_CABINET),
  ...[
    ['Makha Bucha', 'วันมาฆบูชา', '2027-02-21'],
    ['Vesak Day', 'วันวิสาขบูชา', '2027-05-20'],
    ['Asalha Puja', 'วันอาสาฬหบูชา', '2027-07-18'],
    ['Buddhist Lent', 'วันเข้าพรรษา', '2027-07-19'],
  ].map(([en, th, date]) =>
    added(
      'TH',
      { en, th },
      [date],
      'Thai lunar calendar: full moons of the third, sixth and eighth month, and the day after',
    ),
  ),
  added(
    'TH',
    { en: 'National Labour Day', th: 'วันแรงงานแห่งชาติ' },
    yearly('05-01'),
    'Labour Protection Act B.E. 2541 of Thailand, section 29: a holiday of all employees (offices of the state are open)',
  ),
  added(
    'TH',
    { en: 'Special holiday', th: 'วันหยุดพิเศษ' },
    ['2024-04-12', '2024-12-30', '2025-06-02', '2025-08-11', '2026-01-02'],
    TH_CABINET,
  ),
  ...TH_SINGLE.map((name) =>
    added(
      'TH',
      { en: `${name} (substitute day)`, th: 'วันหยุดชดเชย' },
      (days) => nextWorkingDays(from(days.datesOf(name), '2024'), days),
      TH_SUBSTITUTES,
      true,
    ),
  ),
  ...TH_BLOCKS.map(([names, blockOf]) =>
    added(
      'TH',
      { en: `${names[0]} (substitute day)`, th: 'วันหยุดชดเชย' },
      (days) => {
        const dates = from(names.flatMap((name) => days.datesOf(name)).toSorted(), '2024');
        return nextWorkingDayOfBlocks(Object.values(Object.groupBy(dates, blockOf)), days);
      },
      TH_SUBSTITUTES,
      true,
    ),
  ),
];

const indonesia = [
  moved('ID', SACRIFICE, '2024-06-16', '2024-06-17', ID_DECREE),
  moved('ID', MAWLID, '2024-09-15', '2024-09-16', ID_DECREE),
  // Rows of the first and of the second day: the first one moves behind the second.
  moved('ID', EID, '2025-03-30', '2025-04-01', ID_DECREE),
  moved('ID', EID, '2026-03-20', '2026-03-22', ID_DECREE),
  moved('ID', 'Islamic New Year', '2025-06-26', '2025-06-27', ID_DECREE),
  added(
    'ID',
    { en: 'Easter Sunday', id: 'Kebangkitan Yesus Kristus (Paskah)' },
    (days) => from(days.datesOf('Good Friday'), '2024').map((date) => addDays(date, 2)),
    'Presidential Decree of Indonesia 8/2024 on holidays and the joint decrees since 2024',
  ),
  added(
    'ID',
    { en: 'Election Day', id: 'Hari Pemilihan' },
    ['2024-02-14', '2024-11-27'],
    'Presidential Decrees of Indonesia 10/2024 (general election) and 33/2024 (regional elections)',
  ),
];

const malaysia = [
  // Some states have a second day.
  moved('MY', SACRIFICE, '2024-06-17', '2024-06-18', MY_HOLIDAYS),
  moved('MY', SACRIFICE, '2024-06-16', '2024-06-17', MY_HOLIDAYS),
  moved('MY', MAWLID, '2024-09-15', '2024-09-16', MY_HOLIDAYS),
  moved('MY', EID, '2025-03-30', '2025-04-01', MY_HOLIDAYS),
  moved('MY', 'Islamic New Year', '2025-06-26', '2025-06-27', MY_HOLIDAYS),
  moved('MY', MAWLID, '2025-09-04', '2025-09-05', MY_HOLIDAYS),
  added(
    'MY',
    { en: 'Vesak Day', ms: 'Hari Wesak' },
    ['2027-05-20'],
    'Holidays Act 1951 of Malaysia, first schedule: full moon of May',
  ),
  added(
    'MY',
    { en: 'Additional holiday of Malaysia Day', ms: 'Cuti Peristiwa' },
    ['2025-09-15'],
    "Announcement of the Prime Minister's Department of Malaysia under section 8 of the Holidays Act 1951, August 2025",
  ),
];

const singapore = [
  moved(
    'SG',
    'Hari Raya Haji',
    '2024-06-16',
    '2024-06-17',
    'Ministry of Manpower of Singapore, public holidays of 2024',
  ),
  moved('SG', 'Hari Raya Puasa', '2027-03-09', '2027-03-10', SG_2027),
  moved('SG', 'Hari Raya Haji', '2027-05-16', '2027-05-17', SG_2027),
  added('SG', { en: 'Vesak Day' }, ['2027-05-20'], SG_2027),
  added(
    'SG',
    { en: 'Polling Day' },
    ['2020-07-10', '2025-05-03'],
    'Parliamentary Elections Act 1954 of Singapore, section 35, and the writs of election of 2020 and 2025',
  ),
];

const becomesPublic = (name, source, dates) => ({
  country: 'PH',
  retype: { name, type: 'optional', to: 'public' },
  dates,
  source,
  reviewed,
});

/** Special (non-working) days are days off. */
const philippines = [
  moved(
    'PH',
    SACRIFICE,
    '2024-06-16',
    '2024-06-17',
    'Proclamation 579 of the President of the Philippines (2024)',
  ),
  moved('PH', EID, '2025-03-30', '2025-04-01', 'Proclamation 839 of the President of the Philippines (2025)'),
  {
    country: 'PH',
    retype: { name: 'Easter Sunday', to: 'observance' },
    source: 'Republic Act 9492, section 1: not among the holidays',
    reviewed,
  },
  becomesPublic('Ninoy Aquino Day', 'Republic Acts 9256 and 9492: special day'),
  moved(
    'PH',
    'Ninoy Aquino Day',
    '2024-08-21',
    '2024-08-23',
    'Proclamation 665 of the President of the Philippines (2024)',
  ),
  becomesPublic("All Saints' Day", 'Republic Act 9492: special day'),
  becomesPublic("New Year's Eve", 'Republic Act 9492: special day', yearly('12-31', 2023)),
  becomesPublic(
    'Feast of the Immaculate Conception of the Blessed Virgin Mary',
    'Republic Act 10966: special non-working holiday',
  ),
  becomesPublic('Easter Saturday', PH_PROCLAMATIONS, (days) =>
    from(days.datesOf('Easter Saturday', 'optional'), '2024', '2027'),
  ),
  becomesPublic('Chinese New Year', PH_PROCLAMATIONS, (days) =>
    from(days.datesOf('Chinese New Year', 'optional'), '2024', '2027'),
  ),
  becomesPublic('Christmas Eve', PH_PROCLAMATIONS, yearly('12-24', 2024, 2026)),
  becomesPublic("All Souls' Day", PH_PROCLAMATIONS, ['2024-11-02', '2026-11-02']),
  added(
    'PH',
    { en: 'Additional special (non-working) day', fil: 'Karagdagang espesyal na araw' },
    ['2024-02-09', '2025-10-31'],
    'Proclamations of the President of the Philippines 453 (9 February 2024) and 727 (31 October 2025)',
  ),
  added(
    'PH',
    { en: 'Election Day', fil: 'Araw ng Halalan' },
    ['2025-05-12'],
    'Proclamation 878 of the President of the Philippines (2025)',
  ),
];

export const southEastAsia = [
  ...vietNam,
  ...thailand,
  ...indonesia,
  ...malaysia,
  ...singapore,
  ...philippines,
];
