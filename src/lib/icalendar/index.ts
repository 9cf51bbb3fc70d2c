export {
  component,
  type Component,
  formatComponent,
  HTML_DESCRIPTIONS,
  openComponent,
  parameterOf,
  propertiesOf,
  property,
  propertyOf,
  ICalendarError,
} from './component.js';
export type { Property } from './component.js';
export { type CalendarItem, parseCalendars, READ_LIMITS, readCalendar } from './reader.js';
export {
  allTimesOf,
  escapeText,
  formatDuration,
  formatTime,
  parseDuration,
  parseTime,
  type Period,
  periodsOf,
  listedTexts,
  singlesOf,
  textList,
  textOf,
  timesOf,
  type TimeValue,
  unescapeText,
} from './values.js';
export { longUidOf, storedUid } from './uids.js';
export { ZoneRules } from './zone-rules.js';
export { vtimezoneText, zonesIn, vtimezoneOf } from './zone-writer.js';
export { CalendarZones, type ResolvedZone, zoneOfName } from './zones.js';
export { isUnnamedZone } from './zone-titles.js';
