export { ITIP_METHODS, ItipError, type ItipErrorCode, type ItipMethod } from './methods.js';
export { type ItipMessage, type ItipPart, parseItip, partsOf } from './message.js';
export {
  addressOfUri,
  type Attendee,
  attendeesOf,
  type Organizer,
  organizerOf,
  sameMailbox,
  maySendFor,
  MAX_ATTENDEES,
} from './people.js';
export { compareVersions, type Freshness, type Version } from './version.js';
export { composeItipMail, type ItipMail } from './mail.js';
