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
export { RecurrenceError, type RecurrenceErrorCode } from './errors.js';
export { repairRule } from './repaired-rule.js';
export { formatRule, parseRule, type Rule, RULE_LIMITS, WEEKDAYS, withWallUntil } from './rule.js';
export { type Instance, instancesOf, lastInstance, nextInstance, type Series } from './series.js';
export { describeRule, textLocaleOf } from './text/describe.js';
export { TEXT_LOCALES, type TextLocale } from './text/phrases.js';
export { IANA_NAMES } from './zone-names.js';
export { canonicalZone, isTimeZone, readableZone, Zone, type Transition } from './zone.js';
