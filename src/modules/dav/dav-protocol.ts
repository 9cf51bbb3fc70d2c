import { DAV_PATH } from './model/paths.js';

/** The value of the DAV header: classes and extensions that the server supports. */
export const DAV_CLASSES =
  '1, 3, access-control, extended-mkcol, calendar-access, calendar-auto-schedule, addressbook';

export const METHODS = [
  'OPTIONS',
  'GET',
  'HEAD',
  'PUT',
  'DELETE',
  'POST',
  'PROPFIND',
  'PROPPATCH',
  'REPORT',
  'MKCOL',
  'MKCALENDAR',
] as const;

export const XML_TYPE = 'application/xml; charset=utf-8';

/** The operation of the API that is below the same path. */
export const PROFILE_PATH = `${DAV_PATH}/profile`;

/** Paths at which programs look for the server (RFC 6764). */
export const WELL_KNOWN = ['/.well-known/caldav', '/.well-known/carddav'] as const;
