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
export {
  type ByDay,
  FREQUENCIES,
  formatRule,
  type Frequency,
  parseRule,
  type Rule,
  RULE_LIMITS,
  type Until,
  WEEKDAYS,
} from './rule.js';
export {
  type Excluded,
  type Instance,
  instancesOf,
  lastInstance,
  nextInstance,
  type Series,
  type Window,
} from './series.js';
export { type DescribedSeries, describeRule, textLocaleOf } from './text/describe.js';
export { TEXT_LOCALES, type TextLocale } from './text/phrases.js';
export { canonicalZone, Zone, type Transition } from './zone.js';
