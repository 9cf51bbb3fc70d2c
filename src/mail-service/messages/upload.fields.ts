import Joi from 'joi';
import { fields } from '../http/fields.js';
import { mailErrors } from '../mail-error.js';

const MAX_TEXT = 1_048_576;
const MAX_RECIPIENTS = 1_000;

const name = Joi.string().empty('').max(255);
/** An address, also with a quoted local part (RFC 5321 4.1.2), which Joi does not know: replies go to such addresses too. */
const usable = Joi.string()
  .max(320)
  .when(Joi.string().pattern(/^"/), {
    // oxlint-disable-next-line unicorn/no-thenable -- a member of Joi's conditions
    then: Joi.string().pattern(/^"(?:[ !#-[\]-~]|\\[ -~]){1,62}"@[a-z0-9][a-z0-9.-]*$/i, 'address'),
    otherwise: Joi.string().email({ tlds: false }),
  })
  .required();
const address = (): Joi.ObjectSchema => Joi.object({ name, address: usable });

/** WildDuck drops invalid addresses of `to`. Here they are rejected by `rejectUnusable`, which names them. */
const uncheckedAddress = Joi.object({ name, address: Joi.any() });

/** @throws MailError 422 that names the unusable addresses */
export function rejectUnusable(to: readonly { address?: unknown }[]): void {
  const details: Record<string, string> = {};
  for (const [n, { address = '' }] of to.entries()) {
    // An empty address is a field of a form that is not filled in.
    if (address !== '' && usable.validate(address).error !== undefined)
      details[`to,${n},address`] = `${JSON.stringify(address).slice(0, 320)} is not a valid address`;
  }
  if (Object.keys(details).length > 0) throw mailErrors.invalidRecipients(details);
}

const attachment = Joi.object({
  // WildDuck lacks it: an attachment of the draft that `replacePrevious` names.
  keep: Joi.string()
    .regex(/^ATT\d+$/i)
    .uppercase(),
  filename: Joi.string().empty('').max(255),
  contentType: Joi.string().empty('').max(255),
  encoding: Joi.string().empty('').max(32).default('base64'),
  contentDisposition: Joi.string().empty('').trim().lowercase().valid('inline', 'attachment'),
  // Empty files are attached too.
  content: Joi.string().allow('').when('keep', { is: Joi.exist(), otherwise: Joi.required() }),
  cid: Joi.string().empty('').max(255),
});

/** An object, or its JSON text. */
export const metaData = Joi.alternatives(Joi.object(), Joi.string().empty('').max(MAX_TEXT)).custom(
  (value: unknown, helpers) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    try {
      const object: unknown = JSON.parse(text);
      if (text.length <= MAX_TEXT && typeof object === 'object' && object !== null && !Array.isArray(object))
        return object;
    } catch {
      // Reported below.
    }
    return helpers.error('any.invalid');
  },
);

const header = Joi.object({
  key: Joi.string()
    .empty('')
    .max(255)
    .regex(/^[!-9;-~]+$/),
  value: Joi.string().empty('').max(102_400),
});

/** The body of an upload. The order of the fields is the order of validation errors. */
export const upload: Joi.SchemaMap = {
  date: fields.time(),
  unseen: fields.flag().default(false),
  flagged: fields.flag().default(false),
  draft: fields.flag().default(false),
  raw: Joi.string(),
  from: address(),
  replyTo: address(),
  to: Joi.array().items(uncheckedAddress).max(MAX_RECIPIENTS),
  cc: Joi.array().items(address()).max(MAX_RECIPIENTS),
  bcc: Joi.array().items(address()).max(MAX_RECIPIENTS),
  headers: Joi.array().items(header).max(100),
  subject: Joi.string().empty('').max(2048),
  text: Joi.string().empty('').max(MAX_TEXT),
  html: Joi.string().empty('').max(MAX_TEXT),
  files: Joi.array().items(fields.id()),
  attachments: Joi.array().items(attachment).max(1_000),
  metaData,
  reference: Joi.object({
    mailbox: fields.id().required(),
    id: Joi.number().required(),
    action: Joi.string().valid('reply', 'replyAll', 'forward').required(),
    attachments: Joi.alternatives(
      fields.flag(),
      Joi.array().items(
        Joi.string()
          .regex(/^ATT\d+$/i)
          .uppercase(),
      ),
    ),
  }),
  replacePrevious: Joi.object({ mailbox: fields.id(), id: Joi.number().required() }),
};
