import { from } from '../rules.mjs';
import { yearly } from '../days.mjs';

const reviewed = '2026-11-28';
const LK_GAZETTE =
  'Holidays Act 29 of 1971 of Sri Lanka, section 10: notices in the Gazette on the public holidays of 2024 and 2025';
const LK_ONE_YEAR =
  'Holidays Act 29 of 1971 of Sri Lanka: days of the moon, named for each year; date-holidays has those of 2026 in all years';
const BD_LISTS =
  'Lists of general holidays of the Ministry of Public Administration of Bangladesh for 2024 and 2025';
const BD_MOON = 'Days of the moon, which date-holidays keeps on one date of the year';

/** Names and days of 2024 and 2025. */
const SRI_LANKA = [
  ['Duruthu Full Moon Poya Day', '2024-01-25', '2025-01-13'],
  ['Navam Full Moon Poya Day', '2024-02-23', '2025-02-12'],
  ['Mahasivarathri Day', '2024-03-08', '2025-02-26'],
  ['Madin Full Moon Poya Day', '2024-03-24', '2025-03-13'],
  ['Id-Ul-Fitr (Ramazan Festival Day)', '2024-04-11', '2025-03-31'],
  ['Bak Full Moon Poya Day', '2024-04-23', '2025-04-12'],
  ['Day following Vesak Full Moon Poya Day', '2024-05-24', '2025-05-13'],
  ['Id-Ul-Alha (Hadji Festival Day)', '2024-06-17', '2025-06-07'],
  ['Poson Full Moon Poya Day', '2024-06-21', '2025-06-10'],
  ['Esala Full Moon Poya Day', '2024-07-20', '2025-07-10'],
  ['Nikini Full Moon Poya Day', '2024-08-19', '2025-08-08'],
  ["Milad-Un-Nabi (Holy Prophet's Birthday)", '2024-09-16', '2025-09-05'],
  ['Binara Full Moon Poya Day', '2024-09-17', '2025-09-07'],
  ['Vap Full Moon Poya Day', '2024-10-17', '2025-10-06'],
  ['Deepavali Festival Day', '2024-10-31', '2025-10-20'],
  ['Il Full Moon Poya Day', '2024-11-15', '2025-11-05'],
  ['Unduvap Full Moon Poya Day', '2024-12-14', '2025-12-04'],
];

const isOfGazette = (date) => date.startsWith('2024') || date.startsWith('2025');
const removedOutside2026 = (name) => ({
  country: 'LK',
  remove: { name },
  dates: (days) => days.datesOf(name).filter((date) => !date.startsWith('2026') && !isOfGazette(date)),
  source: LK_ONE_YEAR,
  reviewed,
});

const sriLanka = [
  ...SRI_LANKA.flatMap(([name, of2024, of2025]) => [
    removedOutside2026(name),
    {
      country: 'LK',
      move: { name, to: (date) => (date.startsWith('2024') ? of2024 : of2025) },
      dates: (days) => days.datesOf(name).filter(isOfGazette),
      source: LK_GAZETTE,
      reviewed,
    },
  ]),
  ...['Adhi Poson Full Moon Poya Day', 'Labour Day and Vesak Full Moon Poya Day'].map((name) => ({
    country: 'LK',
    remove: { name },
    dates: (days) => days.datesOf(name).filter((date) => !date.startsWith('2026')),
    source: LK_ONE_YEAR,
    reviewed,
  })),
  {
    country: 'LK',
    add: { name: { en: 'Labour Day', si: 'ලෝක කම්කරු දිනය', ta: 'உலக தொழிலாளர் தினம்' } },
    dates: (days) => days.notOff(yearly('05-01')),
    source: 'Holidays Act 29 of 1971 of Sri Lanka, schedule: 1 May',
    reviewed,
  },
  {
    country: 'LK',
    add: { name: { en: 'Vesak Full Moon Poya Day', si: 'වෙසක් පුර පසළොස්වක පෝය දිනය', ta: 'வெசாக் பௌர்ணமி தினம்' } },
    dates: ['2024-05-23', '2025-05-12'],
    source: LK_GAZETTE,
    reviewed,
  },
  ...[
    ['Sinhala and Tamil New Year', '2024-04-14', '2024-04-13'],
    ['Day before Sinhala and Tamil New Year', '2024-04-13', '2024-04-12'],
  ].map(([name, date, target]) => ({
    country: 'LK',
    move: { name, to: () => target },
    dates: [date],
    source: LK_GAZETTE,
    reviewed,
  })),
];

const moved = (name, date, target) => ({
  country: 'BD',
  move: { name, to: () => target },
  dates: [date],
  source: BD_LISTS,
  reviewed,
});

const bangladesh = [
  ...["Buddha's Birthday", 'Krishna Janmashtami', 'Durga Puja'].map((name) => ({
    country: 'BD',
    remove: { name },
    dates: (days) => days.datesOf(name).filter((date) => date >= '2021' && !isOfGazette(date)),
    source: BD_MOON,
    reviewed,
  })),
  moved("Buddha's Birthday", '2024-05-19', '2024-05-22'),
  moved("Buddha's Birthday", '2025-05-19', '2025-05-11'),
  moved('Krishna Janmashtami', '2024-08-24', '2024-08-26'),
  moved('Krishna Janmashtami', '2025-08-24', '2025-08-16'),
  moved('Durga Puja', '2024-10-08', '2024-10-13'),
  moved('Durga Puja', '2025-10-08', '2025-10-02'),
  moved('Feast of the Sacrifice (Eid al-Adha)', '2024-06-16', '2024-06-17'),
  moved('End of Ramadan (Eid al-Fitr)', '2025-03-30', '2025-03-31'),
  moved('Feast of the Sacrifice (Eid al-Adha)', '2025-06-06', '2025-06-07'),
  moved('Day of Ashura', '2024-07-16', '2024-07-17'),
  moved('Day of Ashura', '2025-07-05', '2025-07-06'),
  moved('Birthday of Muhammad (Mawlid)', '2024-09-15', '2024-09-16'),
  moved('Birthday of Muhammad (Mawlid)', '2025-09-04', '2025-09-06'),
  {
    country: 'BD',
    remove: { name: 'National Mourning Day' },
    dates: yearly('08-15', 2024),
    source:
      'Decisions of the Council of Advisers of Bangladesh of 13 August and 17 October 2024: no longer a holiday',
    reviewed,
  },
  {
    country: 'BD',
    remove: { name: "Mujib's Birthday & Children's Day" },
    dates: (days) => from(days.datesOf("Mujib's Birthday & Children's Day"), '2025'),
    source: 'Decision of the Council of Advisers of Bangladesh of 17 October 2024: no longer a holiday',
    reviewed,
  },
  {
    country: 'BD',
    add: { name: { en: 'July Mass Uprising Day', bn: 'জুলাই গণ-অভ্যুত্থান দিবস' } },
    dates: yearly('08-05', 2025),
    source: 'Notification of the Cabinet Division of Bangladesh of 2 July 2025',
    reviewed,
  },
];

export const sriLankaAndBangladesh = [...sriLanka, ...bangladesh];
