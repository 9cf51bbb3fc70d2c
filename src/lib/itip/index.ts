export {
  isOfAttendee,
  ITIP_METHODS,
  ItipError,
  type ItipMethod,
  compareVersions,
  type Version,
} from './methods.js';
export { type ItipMessage, type ItipPart, parseItip } from './message.js';
export {
  addressOfPerson,
  addressOfUri,
  type Attendee,
  attendeesOf,
  domainOf,
  type Organizer,
  organizerOf,
  sameMailbox,
  maySendFor,
  MAX_ATTENDEES,
  uriOfAddress,
  withoutTag,
} from './people.js';
export { composeItipMail } from './mail.js';
