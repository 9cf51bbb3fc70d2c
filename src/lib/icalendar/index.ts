export {
  component,
  type Component,
  formatComponent,
  linesOf,
  parameterOf,
  propertiesOf,
  property,
  propertyOf,
} from './component.js';
export { ICalendarError, type ICalendarErrorCode } from './errors.js';
export type { Parameter, Property } from './property.js';
export { type CalendarItem, parseCalendars, READ_LIMITS, readCalendar } from './reader.js';
export {
  allTimesOf,
  type Duration,
  escapeText,
  formatDuration,
  formatOffset,
  formatTime,
  parseDuration,
  parseOffset,
  parseTime,
  textList,
  textOf,
  timesOf,
  type TimeValue,
  unescapeText,
} from './values.js';
export { ZoneRules } from './zone-rules.js';
export { vtimezoneOf } from './zone-writer.js';
export { CalendarZones, type ResolvedZone, zoneOfName } from './zones.js';
