import { addDays, yearly } from '../days.mjs';
import { nextWorkingDays } from '../rules.mjs';

const reviewed = '2026-11-28';
const EID = 'End of Ramadan (Eid al-Fitr)';
const SACRIFICE = 'Feast of the Sacrifice (Eid al-Adha)';

const added = (country, name, dates, source) => ({ country, add: { name }, dates, source, reviewed });

/** Central government offices; the states have their own lists. */
const INDIA = {
  Holi: ['2024-03-25', '2025-03-14', '2026-03-04'],
  'Maha Shivaratri': ['2025-02-26'],
  'Ram Navami': ['2024-04-17', '2026-03-26'],
  'Mahavir Jayanti': ['2024-04-21', '2025-04-10', '2026-03-31'],
  'Buddha Purnima': ['2024-05-23', '2025-05-12', '2026-05-01'],
  'Id-ul-Fitr': ['2024-04-11', '2025-03-31', '2026-03-21'],
  'Id-ul-Zuha (Bakrid)': ['2024-06-17', '2025-06-07', '2026-05-27'],
  Muharram: ['2024-07-17', '2025-07-06', '2026-06-26'],
  'Janmashtami (Vaishnava)': ['2024-08-26', '2025-08-16', '2026-09-04'],
  'Milad-un-Nabi': ['2024-09-16', '2025-09-05', '2026-08-26'],
  Dussehra: ['2024-10-12', '2025-10-02', '2026-10-20'],
  'Diwali (Deepavali)': ['2024-10-31', '2025-10-20', '2026-11-08'],
  "Guru Nanak's Birthday": ['2024-11-15', '2025-11-05', '2026-11-24'],
};
const INDIA_HINDI = {
  Holi: 'होली',
  'Maha Shivaratri': 'महा शिवरात्रि',
  'Ram Navami': 'राम नवमी',
  'Mahavir Jayanti': 'महावीर जयंती',
  'Buddha Purnima': 'बुद्ध पूर्णिमा',
  'Id-ul-Fitr': 'ईद-उल-फितर',
  'Id-ul-Zuha (Bakrid)': 'ईद-उल-जुहा (बकरीद)',
  Muharram: 'मुहर्रम',
  'Janmashtami (Vaishnava)': 'जन्माष्टमी (वैष्णव)',
  'Milad-un-Nabi': 'मिलाद-उन-नबी',
  Dussehra: 'दशहरा',
  'Diwali (Deepavali)': 'दिवाली (दीपावली)',
  "Guru Nanak's Birthday": 'गुरु नानक जयंती',
};

const india = Object.entries(INDIA).map(([en, dates]) => ({
  country: 'IN',
  regions: [''],
  add: { name: { en, hi: INDIA_HINDI[en] } },
  dates,
  source:
    'Department of Personnel and Training of India, holidays of central government offices in 2024, 2025 and 2026, annexure I',
  reviewed,
}));

const turkey = [
  [EID, 3],
  [SACRIFICE, 4],
].map(([name, days]) => ({
  country: 'TR',
  resize: { name, days },
  source:
    'Law 2429 of Türkiye on national and general holidays, article 2(B): after the half day of the eve, 3 and 4 days',
  reviewed,
}));

const AE_RESOLUTION = 'Resolution of the Cabinet of the United Arab Emirates 27 of 2024 on public holidays';
const emirates = [
  ...["Laylat al-Mi'raj", 'First day of Ramadan'].map((name) => ({
    country: 'AE',
    retype: { name, to: 'observance' },
    source: `${AE_RESOLUTION}: not among the public holidays`,
    reviewed,
  })),
  {
    country: 'AE',
    move: { name: 'Birthday of Muhammad (Mawlid)', to: () => '2025-09-05' },
    dates: ['2025-09-04'],
    source: 'Federal Authority for Government Human Resources of the United Arab Emirates, August 2025',
    reviewed,
  },
  added(
    'AE',
    { en: 'Arafat Day', ar: 'وقفة عرفة' },
    (days) => days.datesOf(SACRIFICE).map((date) => addDays(date, -1)),
    `${AE_RESOLUTION}: the ninth of Dhu al-Hijjah`,
  ),
  added(
    'AE',
    { en: 'National Day', ar: 'اليوم الوطني' },
    yearly('12-03'),
    `${AE_RESOLUTION}: 2 and 3 December`,
  ),
  added(
    'AE',
    { en: 'Eid al-Fitr holiday', ar: 'عطلة عيد الفطر' },
    ['2024-04-08', '2024-04-09'],
    'Federal Authority for Government Human Resources of the United Arab Emirates, April 2024',
  ),
];

const AZ_CODE = 'Labour Code of Azerbaijan';
const AZ_SUBSTITUTES = `${AZ_CODE}, article 105(5): the next working days`;
const NOVRUZ = 'Spring Festival';
const novruz = (days) =>
  days.datesOf(NOVRUZ).flatMap((first) => [0, 1, 2, 3, 4].map((day) => addDays(first, day)));
const azerbaijan = [
  {
    country: 'AZ',
    resize: { name: NOVRUZ, days: 5 },
    source: `${AZ_CODE}, article 105(2): five days`,
    reviewed,
  },
  {
    country: 'AZ',
    retype: { name: "Martyrs' Day", type: 'observance', to: 'public' },
    source: `${AZ_CODE}, article 106: 20 January`,
    reviewed,
  },
  added('AZ', { en: 'Victory Day', az: 'Zəfər Günü' }, yearly('11-08', 2021), `${AZ_CODE}, article 105(2)`),
  {
    country: 'AZ',
    remove: { name: 'Independence Day (substitute day)' },
    source: `${AZ_CODE}, article 105(2): a working day`,
    reviewed,
  },
  ...['Independence Day', 'Constitution Day', 'National Revival Day'].map((name) => ({
    country: 'AZ',
    retype: { name, to: 'observance' },
    source: `${AZ_CODE}, article 105(2): a working day`,
    reviewed,
  })),
  added(
    'AZ',
    { en: 'Spring Festival (substitute day)', az: 'Novruz bayramı (istirahət günü)' },
    (days) => nextWorkingDays(novruz(days), days),
    AZ_SUBSTITUTES,
  ),
  added(
    'AZ',
    { en: 'Victory Day (substitute day)', az: 'Zəfər Günü (istirahət günü)' },
    (days) => nextWorkingDays(days.datesOf('Victory Day'), days),
    AZ_SUBSTITUTES,
  ),
];

const caucasusAndCentralAsia = [
  ...azerbaijan,
  added(
    'GE',
    {
      en: 'Day of Family Purity and Respect for Parents',
      ge: 'ოჯახის სიწმინდისა და მშობლების პატივისცემის დღე',
    },
    yearly('05-17', 2025),
    'Labour Code of Georgia, article 30, amended in 2024',
  ),
  added(
    'GE',
    { en: 'Day off', ge: 'უქმე დღე' },
    ['2024-05-17'],
    'Decree of the Government of Georgia, May 2024',
  ),
  added(
    'KZ',
    { en: 'Transferred day off', kk: 'Демалыс күні', ru: 'Выходной (перенесён)' },
    ['2024-05-08', '2025-01-03'],
    'Orders of the Government of Kazakhstan: for 4 May 2024 and 5 January 2025',
  ),
];

export const southAndWestAsia = [...india, ...turkey, ...emirates, ...caucasusAndCentralAsia];
