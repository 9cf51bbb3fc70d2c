export {
  civilOf,
  DAY,
  dayOf,
  daysInMonth,
  formatDay,
  formatWallTime,
  parseWallTime,
  weekdayOf,
} from './civil.js';
export { continuedRule, movedRule, namesDays, type SeriesStart, withMovedUntil } from './moved-rule.js';
export {
  RecurrenceError,
  type RecurrenceErrorCode,
  repairRule,
  formatRule,
  parseRule,
  type Rule,
  RULE_LIMITS,
  WEEKDAYS,
  withWallUntil,
} from './rule.js';
export { type Instance, instancesOf, lastInstance, nextInstance, type Series } from './series.js';
export { describeRule, textLocaleOf } from './text/describe.js';
export { TEXT_LOCALES, type TextLocale } from './text/phrases.js';
export { IANA_NAMES, canonicalZone, isTimeZone, readableZone, Zone, type Transition } from './zone.js';
