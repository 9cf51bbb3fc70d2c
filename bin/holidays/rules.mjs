// Rules of laws by which days off follow from others.
import { addDays, isWeekend, weekday, YEARS } from './days.mjs';

const isOfYears = (date) => Number(date.slice(0, 4)) >= YEARS[0] && Number(date.slice(0, 4)) <= YEARS.at(-1);

/** @returns the next working day (direction 1) or the one before (-1) */
export function workingDay(date, direction, isTaken) {
  let day = addDays(date, direction);
  while (isWeekend(day) || isTaken(day)) day = addDays(day, direction);
  return day;
}

/** One substitute for each holiday on a weekend: the next working day, in the order of the holidays. */
export function nextWorkingDays(dates, days) {
  const given = new Set();
  for (const date of dates.toSorted())
    if (isWeekend(date)) given.add(workingDay(date, 1, (day) => days.isOff(day) || given.has(day)));
  return [...given].filter(isOfYears);
}

/** As `nextWorkingDays`, but at most one for each block of holidays. */
export const nextWorkingDayOfBlocks = (blocks, days) =>
  blocks
    .filter((block) => block.some(isWeekend))
    .map((block) => workingDay(block.findLast(isWeekend), 1, (day) => days.isOff(day)))
    .filter(isOfYears);

/** Saturday: the working day before; Sunday: the one after. */
export const nearestWorkingDays = (dates, days) =>
  dates
    .filter(isWeekend)
    .map((date) => workingDay(date, weekday(date) === 6 ? -1 : 1, (day) => days.isOff(day)))
    .filter(isOfYears);

/** Days between two holidays that are no holidays themselves; Sundays do not count. */
export const daysBetween = (dates) =>
  dates
    .filter((date) => !dates.includes(addDays(date, 1)) && dates.includes(addDays(date, 2)))
    .map((date) => addDays(date, 1))
    .filter((day) => weekday(day) !== 0);

export const shifted = (dates, days) => dates.map((date) => addDays(date, days)).filter(isOfYears);

export const from = (dates, first, last = '9999') => dates.filter((date) => date >= first && date <= last);
