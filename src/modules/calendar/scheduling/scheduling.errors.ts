import { defineError } from '../../../platform/http/api-error.js';

export const SchedulingErrors = {
  messageNotFound: defineError(404, 'not_found', 'The calendar has no such scheduling message.'),
  notYourMethod: defineError(403, 'method_not_allowed', 'You cannot send this method for this event.'),
  notApplicable: defineError(
    409,
    'method_not_applicable',
    'The event is not in the state that this method reports: CANCEL needs a cancelled event or instance, DECLINECOUNTER a proposal of each recipient. Added dates are sent by REQUEST.',
  ),
  senderMismatch: defineError(
    403,
    'sender_mismatch',
    'The sender is not the organizer or attendee that the message names, or no mail proves it.',
  ),
  invalidIcs: defineError(422, 'invalid_ics', 'The text is not a scheduling message with an event.'),
  unknownMethod: defineError(422, 'unknown_method', 'The METHOD is missing or unknown.'),
  multipleUids: defineError(422, 'multiple_uids', 'A message concerns one event.'),
  unknownRecipient: defineError(
    422,
    'unknown_recipient',
    'A recipient is not an attendee outside of the workspace, or there is no recipient.',
  ),
  noMail: defineError(503, 'no_mail', 'This installation has no mail service, or you have no mail account.'),
} as const;
