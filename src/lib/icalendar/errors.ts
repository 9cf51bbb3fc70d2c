export type ICalendarErrorCode =
  /** No VCALENDAR in the text. */
  | 'no_calendar'
  /** The text ends inside a component. */
  | 'truncated'
  /** More than the limits: bytes of a line or a component, depth. */
  | 'too_large'
  /** A value that its property does not allow. */
  | 'invalid_value'
  /** A TZID without a VTIMEZONE that names no known zone. */
  | 'unknown_time_zone';

/** A text that is not iCalendar, or more than this library reads. */
export class ICalendarError extends Error {
  override readonly name = 'ICalendarError';

  /** @param property name of the property or component with the error */
  constructor(
    readonly code: ICalendarErrorCode,
    message: string,
    readonly property?: string,
  ) {
    super(message);
  }
}
