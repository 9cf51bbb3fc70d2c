import { addDays } from '../days.mjs';
import { daysBetween } from '../rules.mjs';

const reviewed = '2026-11-28';
const KOREAN_DAYS_OFF = 'Regulations on Holidays of Public Agencies (Presidential Decree), article 2';

export const japanAndKorea = [
  {
    country: 'KR',
    move: { name: 'Korean New Year', to: (date) => addDays(date, -1) },
    dates: (days) => days.datesOf('Korean New Year').filter(isFirstOfLunarYear),
    source: `${KOREAN_DAYS_OFF}, item 4: the last day of the lunar year and the first two days of the next`,
    reviewed,
  },
  {
    country: 'KR',
    add: { name: { en: 'Election Day', ko: '선거일' } },
    dates: ['2020-04-15', '2022-03-09', '2022-06-01', '2024-04-10', '2025-06-03', '2026-06-03', '2028-04-12'],
    source: `${KOREAN_DAYS_OFF}, item 10-2; Public Official Election Act, articles 34 and 35; presidential by-election of 2025 as announced on 8 April 2025`,
    reviewed,
  },
  {
    country: 'KR',
    add: { name: { en: 'Temporary Holiday', ko: '임시공휴일' } },
    dates: ['2020-08-17', '2023-10-02', '2024-10-01', '2025-01-27'],
    source: `${KOREAN_DAYS_OFF}, item 11; decisions of the State Council of 21 July 2020, 5 September 2023, 3 September 2024 and 14 January 2025`,
    reviewed,
  },
  {
    country: 'JP',
    add: { name: { en: "Citizens' Holiday", jp: '国民の休日' } },
    dates: (days) => {
      const holidays = days.rows.filter((row) => row.t === 'public' && !row.o);
      const dates = holidays.flatMap((row) => [...row.dates]).toSorted();
      return days.notOff(daysBetween(dates));
    },
    source:
      'Act on National Holidays (Act No. 178 of 1948), article 3(3): a day between two national holidays',
    reviewed,
  },
];

/** The day before is the last one of the lunar year. */
function isFirstOfLunarYear(date) {
  const parts = new Intl.DateTimeFormat('en-u-ca-dangi', {
    month: 'numeric',
    day: 'numeric',
    timeZone: 'UTC',
  }).formatToParts(new Date(date));
  const value = (type) => parts.find((part) => part.type === type)?.value;
  return value('month') === '1' && value('day') === '1';
}
